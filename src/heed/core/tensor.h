// Tensor: a shape over shared floats, and its node in the autograd graph.
//
// An operation returns its result through `record`, with its backward function: from the
// gradient of the result to the gradients of the inputs. `backward(loss)` runs these functions in
// the reverse order of their creation and leaves gradients in the leaves, the tensors that require
// one.
#pragma once

#include <concepts>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <vector>

#include "heed/core/shape.h"

namespace heed {

class Rng;
class Node;
class Tensor;

// One gradient per input, in their order; an undefined tensor means "no gradient".
using Gradients = std::vector<Tensor>;

// Moves out the gradient that an input has accumulated so far, to be added to in place; undefined
// if there is none yet, or if its values are shared. What is taken must be returned among the
// gradients.
using TakeGradient = std::function<Tensor(std::size_t input)>;

namespace detail {
using AnyBackward = std::function<Gradients(const Tensor& dy, const TakeGradient& take)>;
Tensor record_node(Tensor y, const std::vector<Tensor>& inputs, AnyBackward backward_function);
}  // namespace detail

class Tensor {
 public:
  Tensor() = default;  // undefined: no shape, no values

  static Tensor empty(const Shape& shape);  // uninitialised
  // A shape without memory, for counting and naming parameters. Its values must not be touched.
  static Tensor meta(const Shape& shape);
  static Tensor zeros(const Shape& shape);
  static Tensor full(const Shape& shape, float value);
  static Tensor from(std::span<const float> values, const Shape& shape);
  static Tensor from(std::initializer_list<float> values, const Shape& shape);
  static Tensor randn(const Shape& shape, Rng& rng);

  bool is_defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  Index dim(int axis) const { return shape_.dim(axis); }
  Index size() const { return size_; }

  float* data() { return storage_.get(); }
  const float* data() const { return storage_.get(); }
  std::span<float> values() & { return {data(), static_cast<std::size_t>(size_)}; }
  std::span<const float> values() const& { return {data(), static_cast<std::size_t>(size_)}; }
  void values() const&& = delete;  // the span would dangle
  float item() const;              // the value of a tensor of size 1

  Tensor clone() const;                   // a copy of the values, outside the graph
  Tensor detach() const;                  // the same values, outside the graph
  Tensor view(const Shape& shape) const;  // the same in another shape, outside the graph
  bool shares_values() const { return storage_.use_count() > 1; }

  // A leaf requires a gradient; every result that depends on it joins the graph.
  bool needs_gradient() const { return node_ != nullptr; }
  void require_gradient();
  // The gradient that backward() left in a leaf; undefined when there is none.
  const Tensor& gradient() const;
  Tensor& gradient();
  void clear_gradient();

 private:
  friend class Node;
  friend Tensor detail::record_node(Tensor, const std::vector<Tensor>&, detail::AnyBackward);
  friend void backward(Tensor, const Tensor&);

  Shape shape_;
  Index size_ = 0;
  std::shared_ptr<float> storage_;
  std::shared_ptr<Node> node_;
};

// The shape, then the values as nested lists; long axes of a large tensor are elided:
//   Tensor [2, 2]
//   [[ 1,  2],
//    [ 3, -4]]
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// Adds the result `y` to the autograd graph if any input needs a gradient and gradients are
// enabled. The backward function takes dy, or dy and a TakeGradient. If it needs `y`, it must
// capture it before this call, so that no node owns itself.
template <typename BackwardFunction>
Tensor record(Tensor y, const std::vector<Tensor>& inputs, BackwardFunction backward_function) {
  if constexpr (std::invocable<BackwardFunction&, const Tensor&>) {
    return detail::record_node(std::move(y), inputs,
                               [backward_function = std::move(backward_function)](
                                   const Tensor& dy, const TakeGradient&) mutable -> Gradients {
                                 return backward_function(dy);
                               });
  } else {
    return detail::record_node(std::move(y), inputs, std::move(backward_function));
  }
}

// Adds d(loss)/d(leaf) to the gradient of every leaf. `loss` has one element, unless the gradient
// to start from is given. The graph is freed on the way, so a second call through any part of it is
// refused; a result that is moved in is released first.
void backward(const Tensor& loss);
void backward(Tensor result, const Tensor& gradient);

// While one of these lives, this thread builds no graph: for decoding and validation.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
bool is_grad_enabled();

}  // namespace heed
