// Overhead of watchers: a forward pass without one, with one that wants nothing, and with one that
// keeps everything.
#include <benchmark/benchmark.h>

#include <map>
#include <string>

#include "heed/base/parallel.h"
#include "heed/models/language_model.h"
#include "heed/models/presets.h"

namespace heed::nn {
namespace {

struct Indifferent : Watcher {
  ops::AttentionView* watch(std::string_view) override { return nullptr; }
};

struct Keeper : Watcher {
  std::map<std::string, ops::AttentionView> views;
  std::map<std::string, Tensor> seen;
  ops::AttentionView* watch(std::string_view name) override { return &views[std::string(name)]; }
  void see(std::string_view name, const Tensor& values) override {
    seen[std::string(name)] = values;
  }
};

enum Who { nobody, indifferent, keeper };

void BM_LanguagePass(benchmark::State& state) {
  set_num_threads(1);
  const NoGrad no_grad;
  models::TransformerConfig config = models::transformer_preset("char");
  config.vocabulary = 65;
  config.max_positions = 256;  // for the longest text below
  const models::LanguageModel model = models::pack(models::LanguageModel(config, 1));
  const Index length = state.range(1);
  const models::PackedIds ids{std::vector<int>(length, 7), Spans::single(length)};
  Indifferent wants_nothing;
  Keeper keeps_all;
  Watcher* watchers[] = {nullptr, &wants_nothing, &keeps_all};
  auto context = ForwardContext::inference(watchers[state.range(0)]);
  for (auto _ : state) benchmark::DoNotOptimize(model.hidden(ids, context).data());
  state.SetItemsProcessed(state.iterations() * length);
}
BENCHMARK(BM_LanguagePass)
    ->ArgNames({"watcher", "tokens"})
    ->ArgsProduct({{nobody, indifferent, keeper}, {1, 64, 256}});  // a step, a sentence, a context

}  // namespace
}  // namespace heed::nn
