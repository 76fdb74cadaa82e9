#include "heed/infer/search_rows.h"

#include "heed/models/language_model.h"
#include "heed/models/translation_model.h"
#include "heed/ops/embedding.h"

namespace heed::infer {
namespace {

std::vector<float> mean_over_heads(const Tensor& weights, Index query) {
  const Index heads = weights.dim(0), queries = weights.dim(1), keys = weights.dim(2);
  std::vector<float> mean(keys, 0.0f);
  for (Index h = 0; h < heads; ++h) {
    const float* row = weights.data() + (h * queries + query) * keys;
    for (Index j = 0; j < keys; ++j) mean[j] += row[j] / static_cast<float>(heads);
  }
  return mean;
}

class TranslationRows : public SearchRows {
 public:
  TranslationRows(const models::TranslationModel& model, const models::PackedIds& sources,
                  const SearchRowsOptions& options)
      : model_(model),
        watcher_("decoder", "cross_attention",
                 {model.config().decoder_layers - 1, model.config().decoder_layers}),
        is_watched_(options.has_attention),
        context_(nn::ForwardContext::inference(is_watched_ ? &watcher_ : nullptr, options.hook)),
        cache_(model.start(model.encode(sources, context_),
                           std::vector<Index>(sources.spans.count(), options.rows_per_sequence))) {}

  Tensor step(std::span<const int> tokens) override {
    num_read_ = std::ssize(tokens);
    return model_.step(tokens, cache_, context_);
  }
  Tensor logits(const Tensor& decoded) const override { return model_.logits(decoded); }
  void reorder(std::span<const Index> rows) override { cache_.reorder(rows); }
  Index num_rows() const override { return cache_.num_rows(); }

  // Mean over the heads of the last layer.
  std::vector<std::vector<float>> attention() const override {
    std::vector<std::vector<float>> rows;
    // The view has the sources that rows are left of.
    for (std::size_t source = 0; is_watched_ && std::ssize(rows) < num_read_; ++source) {
      const Tensor weights = watcher_.weights(source);  // [H, live hypotheses, source]
      for (Index query = 0; query < weights.dim(1); ++query) {
        rows.push_back(mean_over_heads(weights, query));
        rows.back().pop_back();
      }
    }
    return rows;
  }

 private:
  const models::TranslationModel& model_;
  AttentionWatcher watcher_;
  bool is_watched_;
  nn::ForwardContext context_;
  nn::StackCache cache_;
  Index num_read_ = 0;  // rows of the last step
};

class LanguageRows : public SearchRows {
 public:
  LanguageRows(const models::LanguageModel& model, const models::PackedIds& prompts,
               const SearchRowsOptions& options)
      : model_(model),
        prompts_(prompts),
        context_(nn::ForwardContext::inference(nullptr, options.hook)),
        cache_(model.start(prompts.spans.count())) {
    for (Index prompt = 0; prompt < prompts.spans.count(); ++prompt) {
      rows_of_prompts_.insert(rows_of_prompts_.end(),
                              static_cast<std::size_t>(options.rows_per_sequence), prompt);
    }
  }

  Tensor step(std::span<const int> tokens) override {
    if (!rows_of_prompts_.empty()) return read_prompts();
    const std::vector<Index> lengths(tokens.size(), 1);
    return model_.step({{tokens.begin(), tokens.end()}, Spans::of_lengths(lengths)}, cache_,
                       context_);
  }
  Tensor logits(const Tensor& decoded) const override { return model_.logits(decoded); }
  void reorder(std::span<const Index> rows) override { cache_.reorder(rows); }
  Index num_rows() const override {
    return rows_of_prompts_.empty() ? cache_.num_rows() : std::ssize(rows_of_prompts_);
  }
  std::vector<std::vector<float>> attention() const override { return {}; }

 private:
  // Each prompt once.
  Tensor read_prompts() {
    const Tensor hidden = model_.step(prompts_, cache_, context_);
    std::vector<Index> last;
    for (const Index prompt : rows_of_prompts_) {
      const Span& span = prompts_.spans[prompt];
      last.push_back(span.begin + span.length - 1);
    }
    cache_.reorder(rows_of_prompts_);
    rows_of_prompts_.clear();
    return ops::gather_rows(hidden, last);
  }

  const models::LanguageModel& model_;
  models::PackedIds prompts_;
  nn::ForwardContext context_;
  nn::StackCache cache_;
  std::vector<Index> rows_of_prompts_;  // until they are read
};

}  // namespace

std::unique_ptr<SearchRows> search_rows(const models::TranslationModel& model,
                                        const models::PackedIds& sources,
                                        const SearchRowsOptions& options) {
  return std::make_unique<TranslationRows>(model, sources, options);
}

std::unique_ptr<SearchRows> search_rows(const models::LanguageModel& model,
                                        const models::PackedIds& prompts,
                                        const SearchRowsOptions& options) {
  return std::make_unique<LanguageRows>(model, prompts, options);
}

}  // namespace heed::infer
