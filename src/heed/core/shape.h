// The sizes of a tensor's axes, outermost first.
#pragma once

#include <array>
#include <initializer_list>
#include <iosfwd>
#include <span>

#include "heed/base/index.h"

namespace heed {

class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(
      std::span<const Index> sizes);  // refuses negative sizes and more than max_rank axes

  int rank() const { return rank_; }
  // The size of an axis; negative axes count from the last.
  Index dim(int axis) const;
  Index operator[](int axis) const { return sizes_[axis]; }
  Index size() const;  // the product of all sizes, 1 for rank 0
  std::span<const Index> sizes() const { return {sizes_.data(), static_cast<std::size_t>(rank_)}; }

  friend bool operator==(const Shape& a, const Shape& b) = default;

 private:
  std::array<Index, max_rank> sizes_{};
  int rank_ = 0;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);  // [2, 3]

}  // namespace heed
