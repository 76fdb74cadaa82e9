#include "heed/explore/attribution.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/ops/embedding.h"
#include "heed/ops/softmax.h"

namespace heed::explore {
namespace {

using models::ModelKind;
using nlohmann::json;

// Is the class predicted from the mean of all positions?
bool looks_from_everywhere(const ModelSession& session) {
  return session.kind() == ModelKind::classifier && !models::puts_begin_first(session.config());
}

// The last layer in which the predicting position looks at the source.
const Site& last_site(const ModelSession& session) {
  const bool is_cross = session.kind() == ModelKind::translation;
  const std::vector<Site>& sites = session.sites();
  const auto match = std::find_if(sites.rbegin(), sites.rend(), [&](const Site& site) {
    return !is_cross || site.part == "cross";
  });
  check(match != sites.rend(), "attribution: expected a model with attention, found none");
  return *match;
}

// weights [H, queries, keys] -> for each key the mean over the heads and some of the queries.
std::vector<double> mean_weights(const Tensor& weights, Index first_query, Index num_queries) {
  const Index heads = weights.dim(0), queries = weights.dim(1), keys = weights.dim(2);
  std::vector<double> mean(static_cast<std::size_t>(keys), 0.0);
  for (Index head = 0; head < heads; ++head) {
    for (Index query = first_query; query < first_query + num_queries; ++query) {
      const float* row = weights.data() + (head * queries + query) * keys;
      for (Index key = 0; key < keys; ++key) mean[key] += row[key];
    }
  }
  for (double& weight : mean) weight /= static_cast<double>(heads * num_queries);
  return mean;
}

std::vector<double> attention_to_inputs(const ModelSession& session, const Prediction& prediction,
                                        const nn::Interventions& interventions) {
  const Tensor weights =
      site_view(session, prediction.input, interventions, last_site(session).name).weights;
  if (looks_from_everywhere(session)) return mean_weights(weights, 0, weights.dim(1));
  return mean_weights(weights, prediction.row, 1);
}

// The dot product of each row with its gradient.
std::vector<double> times_gradient(const Tensor& words) {
  std::vector<double> products(static_cast<std::size_t>(words.dim(0)), 0.0);
  if (!words.gradient().is_defined()) return products;  // nothing leads from here to the prediction
  const Index width = words.dim(1);
  for (Index i = 0; i < words.size(); ++i) {
    products[i / width] += double{words.gradient().data()[i]} * double{words.data()[i]};
  }
  return products;
}

std::vector<double> gradient_x_inputs(const ModelSession& session, const Prediction& prediction,
                                      const nn::Interventions& interventions) {
  nn::WordLeaves leaves;
  auto context = nn::ForwardContext::inference(nullptr, &interventions);
  context.set_word_leaves(&leaves);
  const Tensor logits = teacher_forced_logits(session, prediction.input, context);
  const Tensor log_probabilities =
      ops::log_softmax(ops::gather_rows(logits, {&prediction.row, 1}));  // [1, V]
  Tensor seed = Tensor::zeros(log_probabilities.shape());
  seed.values()[static_cast<std::size_t>(prediction.token)] = 1;
  backward(log_probabilities, seed);
  return times_gradient(leaves.at(session.kind() == ModelKind::language ? "decoder" : "encoder"));
}

bool can_be_left_out(const ModelSession& session, const Prediction& prediction, Index place) {
  const Index count = std::ssize(prediction.input.source);
  const bool predicts_itself =
      session.kind() == ModelKind::masked || session.kind() == ModelKind::tagger;
  return count > 1 && count <= max_left_out && !(predicts_itself && place == prediction.row);
}

// Runs the model once for every token of the source.
void leave_each_out(Attribution& attribution, const ModelSession& session,
                    const nn::Interventions& interventions) {
  const Prediction& prediction = attribution.prediction;
  const Index num_source = std::ssize(prediction.input.source);
  const Index num_added =
      std::ssize(attribution.inputs) - num_source;  // by the model, before the source
  for (Index place = 0; place < num_source; ++place) {
    if (!can_be_left_out(session, prediction, place)) continue;
    const Prediction without = without_token(prediction, session, place);
    const auto moved_interventions = without_token(interventions, session, num_added + place);
    attribution.inputs[num_added + place].leave_one_out =
        attribution.log_probability - log_probability(session, without, moved_interventions);
  }
}

const char* attention_from(const ModelSession& session) {
  if (session.kind() == ModelKind::translation) return "decoder";
  return looks_from_everywhere(session) ? "all" : "position";
}

}  // namespace

Attribution attribution(const ModelSession& session, const PassInput& input,
                        const nn::Interventions& interventions, const PredictionTarget& target) {
  Attribution attribution;
  attribution.prediction = prediction_of(session, input, interventions, target);
  attribution.log_probability = log_probability(session, attribution.prediction, interventions);
  for (const int token : tokens_seen(session, attribution.prediction.input)) {
    attribution.inputs.push_back({.token = token});
  }
  const auto attention = attention_to_inputs(session, attribution.prediction, interventions);
  for (std::size_t i = 0; i < attention.size(); ++i) attribution.inputs[i].attention = attention[i];
  if (session.config().weights == models::WeightFormat::f32) {
    const auto products = gradient_x_inputs(session, attribution.prediction, interventions);
    for (std::size_t i = 0; i < products.size(); ++i) {
      attribution.inputs[i].gradient_x_input = products[i];
    }
  }
  leave_each_out(attribution, session, interventions);
  return attribution;
}

json to_json(const Attribution& attribution, const ModelSession& session) {
  json inputs = json::array();
  for (const TokenAttribution& input : attribution.inputs) {
    json object{{"piece", session.tokenizer().piece(input.token)},
                {"attention", input.attention},
                {"gradient_x_input", nullptr},
                {"leave_one_out", nullptr}};
    if (input.gradient_x_input) object["gradient_x_input"] = *input.gradient_x_input;
    if (input.leave_one_out) object["leave_one_out"] = *input.leave_one_out;
    inputs.push_back(std::move(object));
  }
  return {{"predicted",
           {{"piece", session.column_name(attribution.prediction.token)},
            {"id", attribution.prediction.token},
            {"probability", std::exp(attribution.log_probability)}}},
          {"inputs", std::move(inputs)},
          {"attention_from", attention_from(session)}};
}

}  // namespace heed::explore
