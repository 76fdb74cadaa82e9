// How fast does a preset train? Works on batches that a rival can be given too.
//
//   training_speed prepare DATA WORK        tokenises DATA/train.en and .de into WORK/train.ids
//   training_speed run WORK PRESET THREADS REPETITIONS
//       trains over the batches of WORK/batches.txt (a line a batch: numbers of lines of train.ids)
//       and prints target tokens a second, a line a repetition.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/models/translation_model.h"
#include "heed/nn/module.h"
#include "heed/text/lines.h"
#include "heed/text/tokenizer.h"
#include "heed/train/optimizer.h"
#include "heed/train/recipe.h"

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
  constexpr int end = text::Tokenizer::end;
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

void run(const Path& work, const std::string& preset, int repetitions) {
  const std::vector<IdPair> pairs = read_ids(work / "train.ids");
  std::vector<models::TranslationBatch> batches;
  int vocabulary = 0;
  for (const IdPair& pair : pairs) {
    for (const int id : pair.source) vocabulary = std::max(vocabulary, id + 1);
    for (const int id : pair.target) vocabulary = std::max(vocabulary, id + 1);
  }
  for (const std::string& line : text::read_lines(work / "batches.txt")) {
    batches.push_back(make_batch(pairs, numbers(line)));
  }

  train::Recipe recipe = train::recipe_preset(preset);
  recipe.model.vocabulary = vocabulary;
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
  for (std::size_t i = 0; i < std::min<std::size_t>(3, batches.size()); ++i) update(batches[i]);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    Index tokens = 0;
    for (const auto& batch : batches) {
      update(batch);
      tokens += batch.num_target_tokens();
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cout << static_cast<double>(tokens) / seconds.count() << std::endl;
  }
  std::cerr << "peak tensor memory " << peak_tensor_bytes() / 1000000 << " MB\n";
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (args.size() == 3 && args[0] == "prepare") {
      heed::prepare(args[1], args[2]);
    } else if (args.size() == 5 && args[0] == "run") {
      heed::set_num_threads(std::stoi(args[3]));
      heed::run(args[1], args[2], std::stoi(args[4]));
    } else {
      std::cerr << "usage: training_speed prepare DATA WORK\n"
                   "       training_speed run WORK PRESET THREADS REPETITIONS\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << "training_speed: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
