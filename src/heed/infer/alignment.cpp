#include "heed/infer/alignment.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/infer/attention_watcher.h"
#include "heed/infer/packing.h"

namespace heed::infer {
namespace {

Index num_words(std::span<const Index> words) { return words.empty() ? 0 : words.back() + 1; }

// [target words, source words]: weights summed over heads and pieces. The number of heads and of
// the target word's pieces is the same in a whole row, so the largest sum is the largest mean.
std::vector<double> word_weights(const Tensor& weights, std::span<const Index> source_words,
                                 std::span<const Index> target_words) {
  const Index columns = num_words(source_words);
  const Index heads = weights.dim(0), queries = weights.dim(1), keys = weights.dim(2);
  std::vector<double> sums(num_words(target_words) * columns, 0.0);
  for (Index h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < target_words.size(); ++i) {
      const float* row = weights.data() + (h * queries + static_cast<Index>(i)) * keys;
      for (std::size_t j = 0; j < source_words.size(); ++j) {
        sums[target_words[i] * columns + source_words[j]] += row[j];
      }
    }
  }
  return sums;
}

}  // namespace

std::vector<AlignedWords> align_words(const Tensor& weights, std::span<const Index> source_words,
                                      std::span<const Index> target_words) {
  check(weights.rank() == 3 && weights.dim(1) >= std::ssize(target_words) &&
            weights.dim(2) >= std::ssize(source_words),
        "alignment: expected weights [heads, at least ", target_words.size(), ", at least ",
        source_words.size(), "], got ", weights.shape());
  const std::vector<double> sums = word_weights(weights, source_words, target_words);
  const Index columns = num_words(source_words);
  std::vector<AlignedWords> alignment;
  for (Index target = 0; target < num_words(target_words) && columns > 0; ++target) {
    const auto row = sums.begin() + target * columns;
    alignment.push_back({std::max_element(row, row + columns) - row, target});
  }
  std::ranges::sort(alignment);
  return alignment;
}

std::vector<Tensor> cross_attention_weights(const models::TranslationModel& model,
                                            std::span<const std::vector<int>> sources,
                                            std::span<const std::vector<int>> targets,
                                            Index first_layer, const nn::AttentionHook* hook) {
  const Index num_layers = model.config().decoder_layers;
  check(first_layer >= 0 && first_layer < num_layers, "alignment: expected a layer from 0 to ",
        num_layers - 1, ", got ", first_layer);
  const NoGrad no_grad;
  AttentionWatcher watcher("decoder", "cross_attention", {first_layer, num_layers});
  auto context = nn::ForwardContext::inference(&watcher, hook);
  const Packed memory = model.encode(pack_sources(sources, model.config().tokens), context);
  model.decode(pack_targets(targets, model.config().tokens), memory, context);

  std::vector<Tensor> weights;
  for (std::size_t i = 0; i < sources.size(); ++i) weights.push_back(watcher.weights(i));
  return weights;
}

std::vector<Tensor> alignment_weights(const models::TranslationModel& model,
                                      std::span<const std::vector<int>> sources,
                                      std::span<const std::vector<int>> targets,
                                      const nn::AttentionHook* hook) {
  const models::TransformerConfig& config = model.config();
  const Index first_layer = std::max<Index>(config.decoder_layers - 2, 0);
  std::vector<Tensor> weights = cross_attention_weights(model, sources, targets, first_layer, hook);
  if (config.guided_alignment == 0) return weights;
  static_assert(models::alignment_head == 0, "the trained head is the first of these");
  for (Tensor& heads : weights) {
    const Index rows = heads.dim(1), columns = heads.dim(2);
    heads =
        Tensor::from(std::as_const(heads).values().first(static_cast<std::size_t>(rows * columns)),
                     {1, rows, columns});
  }
  return weights;
}

}  // namespace heed::infer
