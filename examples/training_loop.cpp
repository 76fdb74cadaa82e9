// A training loop by hand: a language model learns a sentence by heart, token by token.
#include <heed/models/language_model.h>
#include <heed/nn/module.h>
#include <heed/text/tokenizer.h>
#include <heed/train/optimizer.h>
#include <heed/train/schedule.h>

#include <iostream>
#include <string>
#include <vector>

int main() {
  using namespace heed;
  const std::vector<std::string> text{"attention is all you need"};
  const auto tokenizer = text::Tokenizer::train(
      text, {.vocabulary = 40, .subwords = text::Subwords::character, .is_running_text = true});

  models::TransformerConfig config = models::transformer_preset("char");
  config.vocabulary = tokenizer.size();
  config.dropout = 0;
  models::LanguageModel model(config, /*seed=*/1);

  // The model reads a token and predicts the next one.
  const std::vector<int> ids = tokenizer.encode(text[0]);
  const std::vector<std::vector<int>> inputs{{ids.begin(), ids.end() - 1}};
  const models::LanguageBatch batch{models::pack(inputs), {ids.begin() + 1, ids.end()}};
  const auto num_targets = static_cast<double>(batch.next.size());

  constexpr Index num_updates = 60;
  train::Optimizer optimizer(nn::named_parameters(model), {.clip = 1});
  const train::Schedule schedule(
      {.kind = train::ScheduleKind::linear, .peak = 0.003, .warm_up = 10}, num_updates);
  for (Index update = 1; update <= num_updates; ++update) {
    auto context = nn::ForwardContext::training(/*seed=*/1, update);
    const models::LanguageLoss result = model.loss(batch, context);
    backward(result.loss);
    optimizer.step(schedule.rate(update), 1 / num_targets);
    optimizer.clear_gradients();
    if (update % 20 == 0) {
      std::cout << "update " << update << ": loss " << result.negative_log_likelihood / num_targets
                << '\n';
    }
  }
}
