// Training throughput of a preset, on batches that the baseline uses as well.
//
//   training_speed prepare DATA WORK        tokenises DATA/train.en and .de into WORK/train.ids
//   training_speed run WORK PRESET THREADS [NUM_BATCHES] [BATCHES]
//       trains on the first NUM_BATCHES (all) of WORK/BATCHES (batches.txt, one batch per line:
//       line numbers of train.ids), and prints target tokens per second, the GFLOP of their matrix
//       products, and the peak resident memory.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/matrix_work.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/models/translation_model.h"
#include "heed/nn/module.h"
#include "heed/text/lines.h"
#include "heed/text/tokenizer.h"
#include "heed/train/optimizer.h"
#include "heed/train/recipe.h"
#include "support/process_memory.h"
#include "support/samples.h"

namespace heed {
namespace {

using Path = std::filesystem::path;

struct IdPair {
  std::vector<int> source, target;  // without end tokens
};

void prepare(const Path& data, const Path& work) {
  const text::ParallelLines lines = text::read_parallel_lines(data / "train.en", data / "train.de");
  std::vector<std::string> both = lines.source;
  both.insert(both.end(), lines.target.begin(), lines.target.end());
  const text::Tokenizer tokenizer = text::Tokenizer::train(both, {.vocabulary = 10000});
  std::filesystem::create_directories(work);
  std::ofstream out(work / "train.ids");
  for (std::size_t i = 0; i < lines.source.size(); ++i) {
    for (const int id : tokenizer.encode(lines.source[i])) out << id << ' ';
    out << '\t';
    for (const int id : tokenizer.encode(lines.target[i])) out << id << ' ';
    out << '\n';
  }
  check(out.good(), "training_speed: cannot write ", work / "train.ids");
}

std::vector<int> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<int> found;
  for (int number; in >> number;) found.push_back(number);
  return found;
}

std::vector<IdPair> read_ids(const Path& file) {
  std::vector<IdPair> pairs;
  for (const std::string& line : text::read_lines(file)) {
    const std::size_t tab = line.find('\t');
    pairs.push_back({numbers(line.substr(0, tab)), numbers(line.substr(tab + 1))});
  }
  return pairs;
}

models::TranslationBatch make_batch(const std::vector<IdPair>& pairs,
                                    const std::vector<int>& lines) {
  constexpr int end = text::own_tokens::end;
  models::TranslationBatch batch;
  std::vector<Index> source_lengths, target_lengths;
  for (const int line : lines) {
    const IdPair& pair = pairs[static_cast<std::size_t>(line)];
    auto& source = batch.source.ids;
    source.insert(source.end(), pair.source.begin(), pair.source.end());
    source.push_back(end);
    source_lengths.push_back(static_cast<Index>(pair.source.size()) + 1);
    batch.target_input.ids.push_back(end);
    for (const int id : pair.target) {
      batch.target_input.ids.push_back(id);
      batch.target_output.push_back(id);
    }
    batch.target_output.push_back(end);
    target_lengths.push_back(static_cast<Index>(pair.target.size()) + 1);
  }
  batch.source.spans = Spans::of_lengths(source_lengths);
  batch.target_input.spans = Spans::of_lengths(target_lengths);
  return batch;
}

struct Run {
  Path work;
  std::string preset;
  std::string batches;  // file name inside `work`
  std::size_t max_batches = 0;
};

std::vector<models::TranslationBatch> read_batches(const Run& run,
                                                   const std::vector<IdPair>& pairs) {
  std::vector<models::TranslationBatch> batches;
  for (const std::string& line : text::read_lines(run.work / run.batches)) {
    if (batches.size() < run.max_batches) batches.push_back(make_batch(pairs, numbers(line)));
  }
  return batches;
}

int vocabulary_of(const std::vector<IdPair>& pairs) {
  int vocabulary = 0;
  for (const IdPair& pair : pairs) {
    for (const int id : pair.source) vocabulary = std::max(vocabulary, id + 1);
    for (const int id : pair.target) vocabulary = std::max(vocabulary, id + 1);
  }
  return vocabulary;
}

// One update per batch, after a few warm-up updates.
void measure(const Run& run) {
  const std::vector<IdPair> pairs = read_ids(run.work / "train.ids");
  const std::vector<models::TranslationBatch> batches = read_batches(run, pairs);

  train::Recipe recipe = train::recipe_preset(run.preset);
  recipe.model.vocabulary = vocabulary_of(pairs);
  models::TranslationModel model(recipe.model, 1);
  std::vector<nn::NamedTensor> parameters = nn::named_parameters(model);
  for (nn::NamedTensor& parameter : parameters) parameter.value.require_gradient();
  train::Optimizer optimizer(parameters, recipe.training.optimizer);

  std::uint64_t step = 0;
  const auto update = [&](const models::TranslationBatch& batch) {
    auto context = nn::ForwardContext::training(1, ++step);
    backward(model.loss(batch, context).loss);
    optimizer.step(2.5e-6, 1.0 / static_cast<double>(batch.num_target_tokens()));
    optimizer.clear_gradients();
  };
  const std::size_t num_warm_up = (batches.size() + 3) / 4;
  for (std::size_t i = 0; i < num_warm_up; ++i) update(batches[i]);

  double tokens = 0, work = 0;
  const double seconds = seconds_of([&] {
    for (const models::TranslationBatch& batch : batches) {
      update(batch);
      tokens += static_cast<double>(batch.num_target_tokens());
      work += matrix_work(recipe.model, batch);
    }
  });
  std::cout << "tokens_per_second " << tokens / seconds << '\n';
  std::cout << "gflop_per_token " << 1e-9 * work / tokens << '\n';
  std::cout << "gflops " << 1e-9 * work / seconds << '\n';
  std::cout << "peak_megabytes " << peak_resident_bytes() / 1e6 << '\n';
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (args.size() == 3 && args[0] == "prepare") {
      heed::prepare(args[1], args[2]);
    } else if (args.size() >= 4 && args.size() <= 6 && args[0] == "run") {
      heed::set_num_threads(std::stoi(args[3]));
      heed::measure({.work = args[1],
                     .preset = args[2],
                     .batches = args.size() > 5 ? args[5] : "batches.txt",
                     .max_batches = args.size() > 4 ? std::stoul(args[4]) : SIZE_MAX});
    } else {
      std::cerr << "usage: training_speed prepare DATA WORK\n"
                   "       training_speed run WORK PRESET THREADS [NUM_BATCHES] [BATCHES]\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << "training_speed: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
