#include "heed/explore/recording.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/explore/finite_outcome.h"
#include "heed/explore/site_watcher.h"
#include "heed/infer/packing.h"
#include "heed/infer/top_tokens.h"
#include "heed/models/finite_weights.h"
#include "heed/models/packed_ids.h"
#include "heed/text/tokenizer.h"

namespace heed::explore {
namespace {

// Views that one recording keeps: 32 MB. A sentence of 30 words in a small model takes less than
// one.
constexpr Index max_view_floats = Index{1} << 23;

constexpr std::string_view mixed_suffix = ".mixed";

bool is_stage(std::string_view name) {
  return name.ends_with(".words") || name.ends_with(".embedded") || name.ends_with(".final") ||
         name.find(".after_") != std::string_view::npos;
}

LinkKind kind_of(const Site& site) {
  if (site.part == "cross") return LinkKind::cross;
  return site.is_causal ? LinkKind::causal : LinkKind::own;
}

models::PackedIds pack_one(const std::vector<int>& ids) {
  return {ids, Spans::single(std::ssize(ids))};
}

// With the types of its parts, as infer packs lines for an encoder.
models::PackedIds pack_source(const ModelSession& session, const PassInput& input) {
  const std::span<const int> ids = input.source;
  return infer::pack_inputs({&ids, 1}, session.tokenizer().sequence());
}

std::vector<RowPrediction> predictions_of(const ModelSession& session, const PassInput& input,
                                          const Tensor& logits) {
  std::vector<RowPrediction> predictions;
  if (session.classifier() || session.encoder()) return predictions;
  const Index width = logits.dim(1);
  for (Index row = 0; row < logits.dim(0); ++row) {
    const auto values = logits.values().subspan(row * width, width);
    const Index best = std::ranges::max_element(values) - values.begin();
    const int token = token_after(session, input, row).value_or(static_cast<int>(best));
    const float score = infer::LogProbabilities::of_logits(values)[token];
    predictions.push_back({token, std::exp(double{score})});
  }
  return predictions;
}

Tensor logits_of(const ModelSession& session, const PassInput& input, nn::ForwardContext& context) {
  if (const auto* model = session.translation()) {
    const Packed memory = model->encode(pack_one(input.source), context);
    return model->logits(model->decode(pack_one(input.target), memory, context));
  }
  if (const auto* model = session.language()) {
    return model->logits(model->hidden(pack_one(input.source), context));
  }
  if (const auto* model = session.classifier())
    return model->logits(pack_source(session, input), context);
  if (const auto* model = session.encoder())
    return model->pooled(pack_source(session, input), context);
  if (const auto* model = session.tagger()) {
    std::vector<Index> all(input.source.size());
    std::iota(all.begin(), all.end(), Index{0});
    return model->logits(pack_source(session, input), all, context);
  }
  const auto* model = session.masked();
  check_as(ErrorKind::usage, model != nullptr,
           "explore: expected a model that reads text, found one for images");
  return model->logits(model->encode(pack_source(session, input), context).values);
}

// Collects what a recording keeps. A layer fills its view before it shows the output of its heads.
class Recorder : public nn::Watcher {
 public:
  explicit Recorder(const ModelSession& session) : session_(session) {}

  ops::AttentionView* watch(std::string_view) override {
    open_ = ops::AttentionView();
    return &*open_;
  }
  void see(std::string_view name, const Tensor& values) override {
    if (is_stage(name)) stages[std::string(name)] = values.detach();
    if (open_ && name.ends_with(mixed_suffix)) {
      close(std::string(name.substr(0, name.size() - mixed_suffix.size())));
    }
  }

  std::map<std::string, std::vector<HeadFact>> facts;
  std::map<std::string, SiteView> views;
  std::map<std::string, Tensor> stages;

 private:
  void close(const std::string& site) {
    const Tensor &scores = open_->masked.at(0), &weights = open_->weights.at(0);
    facts[site] = head_facts(weights, kind_of(session_.site(site)));
    if (num_floats_ + 2 * weights.size() <= max_view_floats) {
      num_floats_ += 2 * weights.size();
      views[site] = {scores, weights};
    }
    open_.reset();
  }

  const ModelSession& session_;
  std::optional<ops::AttentionView> open_;
  Index num_floats_ = 0;
};

}  // namespace

std::vector<int> tokens_seen(const ModelSession& session, const PassInput& input) {
  std::vector<int> ids = input.source;
  if (models::puts_begin_first(session.config())) {
    ids.insert(ids.begin(), session.tokenizer().tokens().begin);
  }
  return ids;
}

int token_type(const ModelSession& session, const PassInput& input, Index place) {
  if (session.config().token_types == 0) return 0;
  models::PackedIds packed = pack_source(session, input);
  if (models::puts_begin_first(session.config())) {
    packed = models::prepend(session.config().tokens.begin, packed);
  }
  return packed.types.empty() ? 0 : packed.types[place];
}

std::optional<int> token_after(const ModelSession& session, const PassInput& input, Index place) {
  if (!session.translation() && !session.language()) return std::nullopt;
  const std::vector<int>& ids = session.translation() ? input.target : input.source;
  return place + 1 < std::ssize(ids) ? std::optional(ids[place + 1]) : input.last;
}

Tensor teacher_forced_logits(const ModelSession& session, const PassInput& input,
                             nn::ForwardContext& context) {
  Tensor logits = logits_of(session, input, context);
  check_finite_outcome(!models::first_not_finite(std::as_const(logits).values()));
  return logits;
}

SiteView site_view(const ModelSession& session, const PassInput& input,
                   const nn::Interventions& interventions, const std::string& site) {
  const NoGrad no_grad;
  SiteWatcher watcher(site);
  auto context = nn::ForwardContext::inference(&watcher, &interventions);
  teacher_forced_logits(session, input, context);
  return {watcher.view.masked.at(0), watcher.view.weights.at(0)};
}

Recording::Recording(std::shared_ptr<const ModelSession> session, PassInput input,
                     nn::Interventions interventions)
    : session_(std::move(session)),
      input_(std::move(input)),
      interventions_(std::move(interventions)) {
  const NoGrad no_grad;
  Recorder recorder(*session_);
  auto context = nn::ForwardContext::inference(&recorder, &interventions_);
  const Tensor logits = teacher_forced_logits(*session_, input_, context);
  predictions_ = predictions_of(*session_, input_, logits);
  facts_ = std::move(recorder.facts);
  views_ = std::move(recorder.views);
  stages_ = std::move(recorder.stages);
}

Tensor Recording::logits() const {
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(nullptr, &interventions_);
  return teacher_forced_logits(*session_, input_, context);
}

Index Recording::num_bytes() const {
  Index num_floats = 0;
  for (const auto& [name, view] : views_) num_floats += view.scores.size() + view.weights.size();
  for (const auto& [name, stage] : stages_) num_floats += stage.size();
  return num_floats * static_cast<Index>(sizeof(float));
}

const std::vector<HeadFact>& Recording::head_facts(const std::string& site) const {
  return facts_.at(session_->site(site).name);
}

SiteView Recording::view(const std::string& site) const {
  const auto entry = views_.find(session_->site(site).name);
  if (entry != views_.end()) return entry->second;
  return site_view(*session_, input_, interventions_, site);
}

const Tensor& Recording::stage(const std::string& name) const {
  const auto entry = stages_.find(name);
  check_as(ErrorKind::usage, entry != stages_.end(), "recording: expected a stage like ",
           stages_.begin()->first, ", found ", name);
  return entry->second;
}

}  // namespace heed::explore
