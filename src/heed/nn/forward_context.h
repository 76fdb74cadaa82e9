// The context of one forward pass besides its input: dropout, watcher and attention hook.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "heed/base/random.h"
#include "heed/nn/attention_hook.h"
#include "heed/ops/attention.h"

namespace heed::nn {

// Sees the inside of any forward pass. The explorer is one; so is --alignment. Watching changes no
// bit of any result.
//
// Stacks are called encoder and decoder (a language model's only stack is its decoder), blocks
// encoder.0, encoder.1 ..., their attention layers encoder.0.self_attention and
// decoder.0.cross_attention. The tensors that can be seen, N rows of this pass and M of the memory:
//   STACK.words                     [N, D]  embedded tokens, before positions
//   STACK.embedded                  [N, D]  with positions, and normalised if there is a norm: the
//                                           input of the first block
//   ATTENTION.input                 [N, D]  the input of the queries (of keys and values too,
//                                           except of the memory)
//   ATTENTION.queries               [N, H * K]  heads side by side, rotated if positions are rotary
//   ATTENTION.keys, .values         [M, G * K]  as used; not of tokens that a cache holds in pages
//   ATTENTION.mixed                 [N, H * K]  outputs of the heads, before the output matrix
//   ATTENTION.output                [N, D]  after it
//   BLOCK.after_self_attention, BLOCK.after_cross_attention, BLOCK.after_feed_forward
//                                   [N, D]  after add & norm (or norm & add) of that sub-layer
//   STACK.final                     [N, D]  the stack's result
class Watcher {
 public:
  virtual ~Watcher() = default;
  // Where attention `name` (decoder.2.cross_attention) leaves its view; null: nowhere.
  virtual ops::AttentionView* watch(std::string_view name) = 0;
  // Called with every tensor of the list above, in the order of the pass. Keep values.detach(), so
  // that the autograd graph can be freed.
  virtual void see(std::string_view name, const Tensor& values) {
    static_cast<void>(name), static_cast<void>(values);
  }
};

// The embedded tokens of each stack, [N, D] before positions, as leaves that require a gradient:
// after backward() they hold the gradient of the result by every token's vector.
using WordLeaves = std::map<std::string, Tensor, std::less<>>;

class ForwardContext {
 public:
  // The watcher and the hook stay alive as long as the context.
  static ForwardContext inference(Watcher* watcher = nullptr, const AttentionHook* hook = nullptr) {
    ForwardContext context;
    context.watcher_ = watcher;
    context.hook_ = hook;
    return context;
  }
  static ForwardContext training(std::uint64_t seed, std::uint64_t step) {
    ForwardContext context;
    context.is_training_ = true;
    context.seed_ = seed;
    context.step_ = step;
    return context;
  }

  // The dropout of the next place in this pass; none outside training. Every call is its own place,
  // so a model that runs its layers in one order draws the same numbers every time.
  ops::Dropout dropout(float probability) {
    if (!is_training_ || probability == 0) return {};
    return {probability, random_key(seed_, step_, place_++)};
  }
  ops::AttentionView* watch(std::string_view name) {
    return watcher_ ? watcher_->watch(name) : nullptr;
  }
  // Shows the tensor LAYER.PART. The name is built only if there is a watcher.
  void see(std::string_view layer, std::string_view part, const Tensor& values) {
    if (watcher_) watcher_->see(std::string(layer) + '.' + std::string(part), values);
  }
  const AttentionHook& hook() const { return hook_ ? *hook_ : no_hook_; }
  bool has_hook() const { return hook_ != nullptr; }
  void set_hook(const AttentionHook* hook) { hook_ = hook; }  // null: none

  // The embedded tokens of a stack: x itself, or a leaf with its values after set_word_leaves.
  Tensor words(std::string_view stack, const Tensor& x) {
    if (!word_leaves_) return x;
    Tensor leaf = x.detach();
    leaf.require_gradient();
    return word_leaves_->insert_or_assign(std::string(stack), leaf).first->second;
  }
  void set_word_leaves(WordLeaves* leaves) { word_leaves_ = leaves; }

 private:
  static inline const AttentionHook no_hook_;

  bool is_training_ = false;
  std::uint64_t seed_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t place_ = 0;
  Watcher* watcher_ = nullptr;
  const AttentionHook* hook_ = nullptr;
  WordLeaves* word_leaves_ = nullptr;
};

}  // namespace heed::nn
