#include "heed/core/shape.h"

#include <ostream>

#include "heed/base/error.h"

namespace heed {

Shape::Shape(std::span<const Index> sizes) {
  check(sizes.size() <= max_rank, "shape: expected at most ", max_rank, " axes, got ",
        sizes.size());
  for (const Index size : sizes) {
    check(size >= 0, "shape: expected sizes of 0 or more, got ", size);
    sizes_[rank_++] = size;
  }
}

Index Shape::dim(int axis) const {
  const int from_front = axis < 0 ? axis + rank_ : axis;
  check(from_front >= 0 && from_front < rank_, "shape: no axis ", axis, " in ", *this);
  return sizes_[from_front];
}

Index Shape::size() const {
  Index product = 1;
  for (const Index size : sizes()) product *= size;
  return product;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int axis = 0; axis < shape.rank(); ++axis) out << (axis ? ", " : "") << shape[axis];
  return out << ']';
}

}  // namespace heed
