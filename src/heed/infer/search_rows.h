// The model's side of a search: a row of its KV cache for every live hypothesis.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/infer/attention_watcher.h"
#include "heed/models/packed_ids.h"
#include "heed/nn/attention_hook.h"
#include "heed/nn/stack_cache.h"

namespace heed::models {
class LanguageModel;
class TranslationModel;
}  // namespace heed::models

namespace heed::infer {

class SearchRows {
 public:
  virtual ~SearchRows() = default;

  // The next token of each row -> the decoder's output, [rows, D]. At first every sequence has
  // rows_per_sequence equal rows.
  virtual Tensor step(std::span<const int> tokens) = 0;
  virtual Tensor logits(const Tensor& decoded) const = 0;  // [N, D] -> [N, V]
  // Row r becomes what row rows[r] was.
  virtual void reorder(std::span<const Index> rows) = 0;
  virtual Index num_rows() const = 0;
  // After a step: the weights of each row's attention to the tokens of its source, without the end
  // token; none when they are not watched.
  virtual std::vector<std::vector<float>> attention() const = 0;
};

struct SearchRowsOptions {
  Index rows_per_sequence = 1;
  bool has_attention = false;
  const nn::AttentionHook* hook = nullptr;
};

// `model` must outlive the rows.
std::unique_ptr<SearchRows> search_rows(const models::TranslationModel& model,
                                        const models::PackedIds& sources,
                                        const SearchRowsOptions& options);
// The first step reads the prompts, whose last tokens are those that it gets.
std::unique_ptr<SearchRows> search_rows(const models::LanguageModel& model,
                                        const models::PackedIds& prompts,
                                        const SearchRowsOptions& options);

}  // namespace heed::infer
