#include "heed/core/tensor.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <unordered_set>
#include <utility>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/core/storage.h"
#include "heed/kernels/elementwise.h"

namespace heed {

// A node of the autograd graph: a leaf that accumulates a gradient, or a result with its backward
// function.
class Node {
 public:
  Node(std::vector<std::shared_ptr<Node>> inputs, detail::AnyBackward backward_function)
      : is_leaf_(inputs.empty()),
        inputs_(std::move(inputs)),
        backward_(std::move(backward_function)),
        order_(next_order++) {}

  bool is_leaf() const { return is_leaf_; }
  bool is_freed() const { return !is_leaf_ && inputs_.empty(); }  // backward() has been here
  std::uint64_t order() const { return order_; }
  const std::vector<std::shared_ptr<Node>>& inputs() const { return inputs_; }
  Tensor& gradient() { return gradient_; }

  // The first gradient is moved in; later ones are added, in place unless its values are shared.
  void add_gradient(Tensor gradient) {
    if (!gradient_.is_defined()) {
      gradient_ = std::move(gradient);
      return;
    }
    assert(gradient.shape() == gradient_.shape());
    if (gradient_.shares_values()) gradient_ = gradient_.clone();
    float* sum = gradient_.data();
    const float* part = gradient.data();
    parallel_ranges(gradient_.size(), 1 << 16, [&](Index begin, Index end) {
      kernels::add(sum + begin, sum + begin, part + begin, end - begin);
    });
  }

  // The gradient so far, for a backward function that adds to it in place.
  Tensor take_gradient() {
    if (!gradient_.is_defined() || gradient_.shares_values()) return {};
    return std::exchange(gradient_, Tensor());
  }

  // Propagates the gradient to the inputs, then frees what was saved for it.
  void run_backward() {
    const Tensor dy = std::exchange(gradient_, Tensor());
    Gradients gradients = backward_(dy, [this](std::size_t input) {
      return inputs_[input] ? inputs_[input]->take_gradient() : Tensor();
    });
    backward_ = nullptr;
    assert(gradients.size() == inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i] && gradients[i].is_defined())
        inputs_[i]->add_gradient(std::move(gradients[i]));
    }
    inputs_.clear();
  }

 private:
  static std::atomic<std::uint64_t> next_order;

  bool is_leaf_;
  std::vector<std::shared_ptr<Node>> inputs_;
  detail::AnyBackward backward_;
  Tensor gradient_;
  std::uint64_t order_;
};

std::atomic<std::uint64_t> Node::next_order{0};

namespace {

thread_local bool grad_enabled = true;

// The nodes from `last` down to the leaves, which are left out, latest first. Refuses a graph of
// which backward() has freed a part: the gradients behind that part would be missing.
std::vector<std::shared_ptr<Node>> reverse_order(const std::shared_ptr<Node>& last) {
  std::vector<std::shared_ptr<Node>> nodes{last};
  std::unordered_set<const Node*> seen{last.get()};
  for (std::size_t next = 0; next < nodes.size(); ++next) {
    const Node& node = *nodes[next];  // owned, so it stays where it is when `nodes` grows
    check(!node.is_freed(),
          "backward: expected a graph that backward() has not been through, found one of which it "
          "has freed a part; add up the losses, or compute the result again");
    for (const auto& input : node.inputs()) {
      if (input && !input->is_leaf() && seen.insert(input.get()).second) nodes.push_back(input);
    }
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const auto& a, const auto& b) { return a->order() > b->order(); });
  return nodes;
}

}  // namespace

Tensor Tensor::empty(const Shape& shape) {
  Tensor tensor;
  tensor.shape_ = shape;
  tensor.size_ = shape.size();
  tensor.storage_ = allocate_floats(tensor.size_);
  return tensor;
}

Tensor Tensor::meta(const Shape& shape) {
  static float no_value = 0;
  Tensor tensor;
  tensor.shape_ = shape;
  tensor.size_ = shape.size();
  tensor.storage_ = std::shared_ptr<float>(std::shared_ptr<void>(), &no_value);
  return tensor;
}

Tensor Tensor::zeros(const Shape& shape) { return full(shape, 0); }

Tensor Tensor::full(const Shape& shape, float value) {
  Tensor tensor = empty(shape);
  parallel_ranges(tensor.size_, 1 << 17, [&](Index begin, Index end) {
    std::fill(tensor.data() + begin, tensor.data() + end, value);
  });
  return tensor;
}

Tensor Tensor::from(std::span<const float> values, const Shape& shape) {
  check(std::ssize(values) == shape.size(), "tensor: expected ", shape.size(), " values for ",
        shape, ", got ", values.size());
  Tensor tensor = empty(shape);
  std::copy(values.begin(), values.end(), tensor.data());
  return tensor;
}

Tensor Tensor::from(std::initializer_list<float> values, const Shape& shape) {
  return from(std::span(values.begin(), values.size()), shape);
}

Tensor Tensor::randn(const Shape& shape, Rng& rng) {
  Tensor tensor = empty(shape);
  for (float& value : tensor.values()) value = static_cast<float>(rng.normal());
  return tensor;
}

float Tensor::item() const {
  check(size_ == 1, "item: expected one value, got ", shape_);
  return *data();
}

Tensor Tensor::clone() const { return from(values(), shape_); }

Tensor Tensor::detach() const {
  Tensor tensor = *this;
  tensor.node_ = nullptr;
  return tensor;
}

Tensor Tensor::view(const Shape& shape) const {
  check(shape.size() == size_, "view: ", shape_, " cannot be viewed as ", shape);
  Tensor tensor = detach();
  tensor.shape_ = shape;
  return tensor;
}

void Tensor::require_gradient() {
  if (!node_) node_ = std::make_shared<Node>(std::vector<std::shared_ptr<Node>>{}, nullptr);
}

const Tensor& Tensor::gradient() const {
  check(node_ != nullptr, "gradient: this tensor does not require one");
  return node_->gradient();
}

Tensor& Tensor::gradient() {
  check(node_ != nullptr, "gradient: this tensor does not require one");
  return node_->gradient();
}

void Tensor::clear_gradient() {
  if (node_) node_->gradient() = Tensor();
}

Tensor detail::record_node(Tensor y, const std::vector<Tensor>& inputs,
                           AnyBackward backward_function) {
  const bool is_needed = std::any_of(inputs.begin(), inputs.end(),
                                     [](const Tensor& input) { return input.needs_gradient(); });
  if (!grad_enabled || !is_needed) return y;
  std::vector<std::shared_ptr<Node>> nodes;
  nodes.reserve(inputs.size());
  for (const Tensor& input : inputs) nodes.push_back(input.node_);
  y.node_ = std::make_shared<Node>(std::move(nodes), std::move(backward_function));
  return y;
}

void backward(const Tensor& loss) {
  check(loss.size() == 1, "backward: expected a loss of one value, got ", loss.shape());
  backward(loss, Tensor::full(loss.shape(), 1));
}

void backward(Tensor result, const Tensor& gradient) {
  check(result.needs_gradient(), "backward: no input of this result requires a gradient");
  check(result.shape() == gradient.shape(), "backward: expected a gradient of shape ",
        result.shape(), ", got ", gradient.shape());
  const std::shared_ptr<Node> last = std::move(result.node_);
  result = Tensor();
  if (last->is_leaf()) return last->add_gradient(gradient);
  const std::vector<std::shared_ptr<Node>> nodes = reverse_order(last);
  last->add_gradient(gradient);
  for (const auto& node : nodes) {
    check_cancelled();
    node->run_backward();
  }
}

NoGrad::NoGrad() : before_(grad_enabled) { grad_enabled = false; }
NoGrad::~NoGrad() { grad_enabled = before_; }
bool is_grad_enabled() { return grad_enabled; }

}  // namespace heed
