// Teacher-forced loss of a translation model on given pairs: the mean of -log p over all target
// tokens.
//
//   translation_loss MODEL SOURCE TARGET [THREADS]
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/data/batch_plan.h"
#include "heed/data/translation_corpus.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "heed/text/lines.h"
#include "heed/train/translation_task.h"

namespace heed {
namespace {

double loss(const std::string& folder, const std::string& source, const std::string& target) {
  constexpr Index batch_tokens = 4096;
  const models::TranslationModelFolder loaded =
      models::load_model_folder<models::TranslationModel>(folder);
  const text::ParallelLines lines = text::read_parallel_lines(source, target);
  const auto corpus =
      data::TranslationCorpus::tokenize(lines.source, lines.target, loaded.tokenizer);
  const auto plan = data::BatchPlan::in_order(corpus.sizes(), batch_tokens);
  const NoGrad no_grad;
  double loss = 0;
  Index num_tokens = 0;
  for (Index i = 0; i < plan.size(); ++i) {
    const models::TranslationBatch batch = train::make_batch(corpus, plan.batch(i));
    auto context = nn::ForwardContext::inference();
    loss += loaded.model.loss(batch, context).negative_log_likelihood;
    num_tokens += batch.num_target_tokens();
  }
  return loss / static_cast<double>(num_tokens);
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() < 3 || args.size() > 4) {
    std::cerr << "usage: translation_loss MODEL SOURCE TARGET [THREADS]\n";
    return 2;
  }
  try {
    if (args.size() > 3) heed::set_num_threads(std::stoi(args[3]));
    std::cout << "loss " << std::setprecision(8) << heed::loss(args[0], args[1], args[2]) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "translation_loss: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
