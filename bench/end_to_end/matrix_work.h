// FLOP of a training update: the matrix products of its shapes, without padding.
#pragma once

#include "heed/models/translation_model.h"

namespace heed {

// 2 m n k per product: all linear layers, the output projection, and both products of attention;
// causal attention counts unmasked cells only. The backward pass has two products for each forward
// one. Norms, softmax, dropout, the optimizer and recomputation in the backward pass are not
// counted.
inline double matrix_work(const models::TransformerConfig& config,
                          const models::TranslationBatch& batch) {
  const double D = static_cast<double>(config.model_dim);
  const double F = static_cast<double>(config.feed_forward_dim);
  const double V = static_cast<double>(config.vocabulary);
  const double sources = static_cast<double>(batch.source.ids.size());
  const double targets = static_cast<double>(batch.target_output.size());

  double encoder_cells = 0, causal_cells = 0, cross_cells = 0;  // pairs of a query and a key
  for (Index s = 0; s < batch.source.spans.count(); ++s) {
    const double source = static_cast<double>(batch.source.spans[s].length);
    const double target = static_cast<double>(batch.target_input.spans[s].length);
    encoder_cells += source * source;
    causal_cells += target * (target + 1) / 2;
    cross_cells += target * source;
  }
  // Multiply-adds of one layer: query, key, value and output matrices, scores and sums, the
  // feed-forward's two matrices.
  const double encoder_layer = sources * (4 * D * D + 2 * D * F) + 2 * D * encoder_cells;
  const double decoder_layer = targets * (6 * D * D + 2 * D * F) + sources * 2 * D * D +
                               2 * D * (causal_cells + cross_cells);
  const double multiply_adds = static_cast<double>(config.encoder_layers) * encoder_layer +
                               static_cast<double>(config.decoder_layers) * decoder_layer +
                               targets * D * V;
  return 2 * 3 * multiply_adds;
}

}  // namespace heed
