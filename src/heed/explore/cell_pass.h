// One pass of a model, as the arithmetic of one of its attention weights needs it: shared by the
// parts of cell_arithmetic.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/explore/cell_arithmetic.h"
#include "heed/explore/site_watcher.h"
#include "heed/nn/transformer_block.h"

namespace heed::explore {

using Floats = std::vector<float>;
using FloatSpan = std::span<const float>;

FloatSpan row_of(const Tensor& matrix, Index row);
Floats to_floats(FloatSpan values);

// Consecutive steps, of which a pass shows the last one's result only: those of the others are
// scalar code's.
class CellChain {
 public:
  void add(CellStep step) { steps_.push_back(std::move(step)); }
  std::size_t size() const { return steps_.size(); }

 private:
  friend class CellPass;
  std::vector<CellStep> steps_;
};

class CellPass {
 public:
  // Runs the recorded pass once more. Refuses what cell_arithmetic refuses.
  CellPass(const Recording& recording, const CellPlace& place);

  const Recording& recording() const { return recording_; }
  const ModelSession& session() const { return recording_.session(); }
  const models::TransformerConfig& config() const { return session().config(); }
  const Site& site() const { return site_; }
  const CellPlace& place() const { return place_; }
  const ops::AttentionView& view() const { return watcher_.view; }
  const Tensor& seen(const std::string& name) const { return watcher_.seen.at(name); }
  const Tensor& logits() const { return logits_; }
  Tensor parameter(const std::string& name) const { return session().parameter(name); }

  bool is_cross() const { return site_.part == "cross"; }
  std::string stack() const { return site_.name.substr(0, site_.name.find('.')); }
  // The tokens that a stack reads.
  std::vector<int> tokens_of(const std::string& stack) const;
  // The options of the site's stack, and of its layer with all widths filled in.
  const nn::TransformerOptions& stack_options() const { return stack_options_; }
  const nn::MultiHeadAttentionOptions& options() const { return options_; }
  // The layer whose parameters the site uses, as in encoder.0.self_attention: itself, or the
  // first where all layers have the same.
  std::string weights_name() const;
  ops::Similarity similarity() const;
  Index head_dim() const { return options_.head_dim; }
  float similarity_scale() const;  // that the layer multiplies the products of a pair by
  Index key_value_head() const;    // that the query's head shares with others
  float head_scale() const;        // by the recording's interventions; 1 without any

  // Of this head and query in a stage of the view, [H, queries, keys]: this key, and all keys.
  float cell_of(const std::vector<Tensor>& stage) const;
  FloatSpan row_of_stage(const std::vector<Tensor>& stage) const;
  // Of this head and query in [H, queries].
  float number_of(const std::vector<Tensor>& stage) const;

  void add(CellStep step) { cell_.steps.push_back(std::move(step)); }
  // A step of both tokens, whose result is one number.
  void add_number(std::string id, std::string variant, std::vector<CellRow> rows, float result);
  // Adds a chain that has led to the engine's numbers.
  void add(CellChain chain, FloatSpan engine);
  // The engine's numbers are what is shown; the scalar ones say whether the order is right.
  void expect(FloatSpan engine, FloatSpan scalar);
  Cell take() { return std::move(cell_); }

 private:
  const Recording& recording_;
  const Site& site_;
  CellPlace place_;
  nn::TransformerOptions stack_options_;
  nn::MultiHeadAttentionOptions options_;
  SiteWatcher watcher_;
  Tensor logits_;
  Cell cell_;
};

}  // namespace heed::explore
