#include "heed/nn/stack_cache.h"

#include <utility>

#include "heed/nn/key_value_cache.h"

namespace heed::nn {

StackCache::StackCache(Index num_layers, Index num_rows) : lengths_(num_rows, 0) {
  for (Index layer = 0; layer < num_layers; ++layer) self_attention_.emplace_back(num_rows);
}

StackCache::StackCache(std::vector<KeysAndValues> memory, std::vector<Index> sequences)
    : StackCache(std::ssize(memory), std::ssize(sequences)) {
  sequences_ = std::move(sequences);
  for (KeysAndValues& layer : memory) {
    memory_spans_ = layer.keys.spans;
    memory_.push_back({std::move(layer), {}});
  }
}

StackCache::StackCache(StackCache&&) noexcept = default;
StackCache& StackCache::operator=(StackCache&&) noexcept = default;
StackCache::~StackCache() = default;

void StackCache::reorder(std::span<const Index> rows) {
  for (KeyValueCache& layer : self_attention_) layer.reorder(rows);
  std::vector<Index> lengths, sequences;
  for (const Index row : rows) {
    lengths.push_back(lengths_.at(row));
    if (!sequences_.empty()) sequences.push_back(sequences_.at(row));
  }
  lengths_ = std::move(lengths);
  sequences_ = std::move(sequences);
}

// Neighbouring rows of one sequence are queries of one attention problem: its keys are loaded once.
void StackCache::align_memory(const Spans& added) {
  if (memory_.empty()) return;
  std::vector<Span> queries, keys;
  for (Index row = 0; row < num_rows(); ++row) {
    if (row == 0 || sequences_[row] != sequences_[row - 1]) {
      queries.push_back({added[row].begin, 0});
      keys.push_back(memory_spans_[sequences_[row]]);
    }
    queries.back().length += added[row].length;
  }
  const Spans shared_queries(std::move(queries)), shared_keys(std::move(keys));
  for (CrossAttentionMemory& layer : memory_) {
    layer.queries = shared_queries;
    layer.keys_and_values.keys.spans = shared_keys;
  }
}

void StackCache::add_lengths(const Spans& added) {
  for (Index row = 0; row < num_rows(); ++row) lengths_[row] += added[row].length;
}

}  // namespace heed::nn
