#include "heed/train/validation.h"

#include <algorithm>
#include <span>

#include "heed/data/batch_plan.h"
#include "heed/infer/translator.h"
#include "heed/train/translation_batches.h"

namespace heed::train {
namespace {

// Between two questions whether to stop; large enough for full batches.
constexpr std::size_t lines_at_a_time = 256;

}  // namespace

std::optional<double> validation_loss(const models::TranslationModel& model,
                                      const data::TranslationCorpus& corpus, Index batch_tokens,
                                      const ShouldStop& should_stop) {
  const NoGrad no_grad;
  const auto plan = data::BatchPlan::in_order(corpus.sizes(), batch_tokens);
  double loss = 0;
  Index num_tokens = 0;
  for (Index i = 0; i < plan.size(); ++i) {
    if (should_stop()) return std::nullopt;
    const models::TranslationBatch batch = make_batch(corpus, plan.batch(i));
    auto context = nn::ForwardContext::inference();
    loss += model.loss(batch, context).negative_log_likelihood;
    num_tokens += batch.num_target_tokens();
  }
  return loss / static_cast<double>(num_tokens);
}

std::optional<std::vector<std::string>> validation_translations(
    const models::TranslationModel& model, const text::Tokenizer& tokenizer,
    const std::vector<std::string>& lines, const ShouldStop& should_stop) {
  const infer::Translator translator(model, tokenizer);
  const infer::TranslationOptions options{.search = {.beam_size = 1}, .with_scores = false};
  std::vector<std::string> translations;
  for (std::size_t begin = 0; begin < lines.size(); begin += lines_at_a_time) {
    if (should_stop()) return std::nullopt;
    const auto some =
        std::span(lines).subspan(begin, std::min(lines_at_a_time, lines.size() - begin));
    for (const infer::Translation& translation : translator.translate(some, options)) {
      translations.push_back(translation.text());
    }
  }
  return translations;
}

}  // namespace heed::train
