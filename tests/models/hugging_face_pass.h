// Passes of every class of model over a case: what it computes, and its loss as the reference
// takes it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "heed/models/classifier.h"
#include "heed/models/encoder.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"
#include "heed/ops/binary_cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "models/hugging_face_case.h"

namespace heed::models {

// Keeps the weights of all attention layers and the results of all stacks.
class Recorder : public nn::Watcher {
 public:
  ops::AttentionView* watch(std::string_view name) override { return &views[std::string(name)]; }
  void see(std::string_view name, const Tensor& values) override {
    if (name.ends_with(".final")) results[std::string(name)] = values.detach();
  }
  std::map<std::string, ops::AttentionView> views;
  std::map<std::string, Tensor> results;
};

// logits, or nothing for an encoder without a head.
inline Tensor logits_of(const LanguageModel& model, const HuggingFaceCase& one,
                        nn::ForwardContext& context) {
  return model.logits(model.hidden(one.input(), context));
}
inline Tensor logits_of(const MaskedModel& model, const HuggingFaceCase& one,
                        nn::ForwardContext& context) {
  return model.logits(model.encode(one.input(), context).values);
}
inline Tensor logits_of(const Classifier& model, const HuggingFaceCase& one,
                        nn::ForwardContext& context) {
  return model.logits(one.input(), context);
}
inline Tensor logits_of(const Tagger& model, const HuggingFaceCase& one,
                        nn::ForwardContext& context) {
  std::vector<Index> all(one.input().ids.size());
  for (std::size_t row = 0; row < all.size(); ++row) all[row] = static_cast<Index>(row);
  return model.logits(one.input(), all, context);
}
inline Tensor logits_of(const Encoder& model, const HuggingFaceCase& one,
                        nn::ForwardContext& context) {
  model.encode(one.input(), context);
  return {};
}
inline Tensor logits_of(const ImageClassifier& model, const HuggingFaceCase& one,
                        nn::ForwardContext& context) {
  return model.logits(one.patches(model.config().patch_side), context);
}
inline Tensor logits_of(const TranslationModel& model, const HuggingFaceCase& one,
                        nn::ForwardContext& context) {
  const PaddedRows target = one.target_rows();
  const Packed memory = model.encode(one.input(), context);
  return model.logits(
      model.decode({gather(one["decoder_input_ids"], target), target.spans}, memory, context));
}

// A sum of losses and how many they are.
struct CountedLoss {
  Tensor sum;
  double exact_sum = 0;
  Index count = 0;

  double mean() const { return exact_sum / static_cast<double>(count); }
};

inline CountedLoss counted(const Loss& loss, std::ptrdiff_t count) {
  return {loss.loss, loss.negative_log_likelihood, count};
}

// The rows of the input that have a label, `shift` tokens later, and the labels.
struct Labelled {
  std::vector<Index> rows;
  std::vector<int> labels;
};

inline Labelled labelled(const HuggingFaceCase& one, std::size_t shift) {
  const json& labels = one["labels"];
  const std::size_t width = labels[0].size();
  const std::vector<std::size_t> padded = one.input_rows().rows;
  Labelled found;
  for (std::size_t i = 0; i < padded.size(); ++i) {
    const std::size_t b = padded[i] / width, t = padded[i] % width + shift;
    if (t >= width || labels[b][t] == -100) continue;
    found.rows.push_back(static_cast<Index>(i));
    found.labels.push_back(labels[b][t].get<int>());
  }
  return found;
}

inline CountedLoss loss_of(const LanguageModel& model, const HuggingFaceCase& one,
                           nn::ForwardContext& context) {
  const Labelled next = labelled(one, 1);
  return counted(model.loss({one.input(), next.labels, next.rows}, context),
                 std::ssize(next.labels));
}
inline CountedLoss loss_of(const MaskedModel& model, const HuggingFaceCase& one,
                           nn::ForwardContext& context) {
  const Labelled here = labelled(one, 0);
  return counted(model.loss({one.input(), here.rows, here.labels}, context),
                 std::ssize(here.labels));
}
inline CountedLoss loss_of(const Tagger& model, const HuggingFaceCase& one,
                           nn::ForwardContext& context) {
  const Labelled here = labelled(one, 0);
  if (model.config().labels.size() > 1) {
    return counted(model.loss({one.input(), here.rows, here.labels}, context),
                   std::ssize(here.labels));
  }
  // A discriminator: a yes or no for every token.
  std::vector<float> targets(here.labels.begin(), here.labels.end());
  const Tensor logits = model.logits(one.input(), here.rows, context);
  const Tensor losses = ops::binary_cross_entropy(logits, Tensor::from(targets, logits.shape()));
  const Tensor sum = ops::sum(losses);
  return {sum, sum.item(), std::ssize(here.labels)};
}
inline CountedLoss loss_of(const Classifier& model, const HuggingFaceCase& one,
                           nn::ForwardContext& context) {
  const json& labels = one["labels"];
  const auto count = static_cast<Index>(labels.size());
  if (model.config().problem_type == ProblemType::single_label) {
    return counted(model.loss({one.input(), labels.get<std::vector<int>>()}, context), count);
  }
  std::vector<float> targets;
  for (const json& row : labels) {
    for (const json& value : row.is_array() ? row : json::array({row})) targets.push_back(value);
  }
  const Tensor wanted = Tensor::from(targets, {count, std::ssize(targets) / count});
  return counted(model.loss({one.input(), {}, wanted}, context), count);
}
inline CountedLoss loss_of(const ImageClassifier& model, const HuggingFaceCase& one,
                           nn::ForwardContext& context) {
  const auto classes = one["labels"].get<std::vector<int>>();
  return counted(model.loss({one.patches(model.config().patch_side), classes}, context),
                 std::ssize(classes));
}
inline CountedLoss loss_of(const TranslationModel& model, const HuggingFaceCase& one,
                           nn::ForwardContext& context) {
  const PaddedRows target = one.target_rows();
  const std::vector<int> labels = gather(one["labels"], target);
  return counted(
      model.loss({one.input(), {gather(one["decoder_input_ids"], target), target.spans}, labels},
                 context),
      std::ssize(labels));
}
inline CountedLoss loss_of(const Encoder&, const HuggingFaceCase&, nn::ForwardContext&) {
  return {};
}

}  // namespace heed::models
