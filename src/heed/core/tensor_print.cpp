#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "heed/core/tensor.h"

namespace heed {
namespace {

constexpr Index max_printed_values = 1000;  // of a tensor that is printed whole, as in numpy
constexpr Index edge_items = 3;             // at each end of an axis that is elided
constexpr int digits = 6;

std::string text_of(float value) {
  std::ostringstream text;
  text << std::setprecision(digits) << value;
  return text.str();
}

class TensorPrinter {
 public:
  TensorPrinter(std::ostream& out, const Tensor& tensor)
      : out_(out), tensor_(tensor), is_elided_(tensor.size() > max_printed_values) {
    visit(0, 0, [this](Index offset) {
      width_ = std::max(width_, text_of(tensor_.data()[offset]).size());
    });
  }

  void print(int axis = 0, Index offset = 0) {
    if (axis == tensor_.rank()) {
      out_ << std::setw(static_cast<int>(width_)) << text_of(tensor_.data()[offset]);
      return;
    }
    out_ << '[';
    for_each_item(axis, [&](Index item) {
      if (item > 0) print_separator(axis);
      if (is_cut(axis) && item == tensor_.dim(axis) - edge_items) {
        out_ << "...";
        print_separator(axis);
      }
      print(axis + 1, offset * tensor_.dim(axis) + item);
    });
    out_ << ']';
  }

 private:
  bool is_cut(int axis) const { return is_elided_ && tensor_.dim(axis) > 2 * edge_items; }

  template <typename Body>
  void for_each_item(int axis, Body body) const {
    for (Index item = 0; item < tensor_.dim(axis); ++item) {
      if (is_cut(axis) && item == edge_items) item = tensor_.dim(axis) - edge_items;
      body(item);
    }
  }

  // Values of one row share a line; outer axes begin a new one under their bracket.
  void print_separator(int axis) {
    if (axis + 1 == tensor_.rank()) {
      out_ << ", ";
    } else {
      out_ << ",\n" << std::string(static_cast<std::size_t>(axis) + 1, ' ');
    }
  }

  template <typename Body>
  void visit(int axis, Index offset, const Body& body) const {
    if (axis == tensor_.rank()) return body(offset);
    for_each_item(axis,
                  [&](Index item) { visit(axis + 1, offset * tensor_.dim(axis) + item, body); });
  }

  std::ostream& out_;
  const Tensor& tensor_;
  bool is_elided_;
  std::size_t width_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.is_defined()) return out << "Tensor (undefined)";
  out << "Tensor " << tensor.shape() << '\n';
  TensorPrinter(out, tensor).print();
  return out;
}

}  // namespace heed
