#include "heed/explore/cell_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/explore/exact_arithmetic.h"
#include "heed/ops/matmul.h"
#include "heed/text/tokenizer.h"

namespace heed::explore {
namespace {

using Floats = std::vector<float>;
using FloatSpan = std::span<const float>;

constexpr float norm_epsilon = 1e-5f;  // what ops/norm.h takes unless told otherwise

FloatSpan row_of(const Tensor& matrix, Index row) {
  return matrix.values().subspan(row * matrix.dim(-1), matrix.dim(-1));
}

Floats copied(FloatSpan values) { return {values.begin(), values.end()}; }

bool same_bits(FloatSpan a, FloatSpan b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

// What one pass shows of one attention layer.
struct SiteWatcher : nn::Watcher {
  explicit SiteWatcher(const std::string& site) : site(site) {}
  ops::AttentionView* watch(std::string_view name) override {
    return name == site ? &view : nullptr;
  }
  void see(std::string_view name, const Tensor& values) override {
    if (name.starts_with(site + '.')) seen[std::string(name.substr(site.size() + 1))] = values;
  }
  std::string site;
  ops::AttentionView view;
  std::map<std::string, Tensor> seen;  // input, queries, keys, values, mixed, output
};

// One of the two tokens, and where its vectors are found.
struct Side {
  std::string name;         // query or key
  std::string stack;        // encoder or decoder: where it was embedded
  std::string block_input;  // the stage that this attention reads it from
  bool is_normed = false;   // it goes through the layer's norm first
  Index place = 0;
  int token = 0;
};

class CellMaker {
 public:
  CellMaker(const Recording& recording, const CellPlace& place)
      : recording_(recording),
        session_(recording.session()),
        config_(session_.config()),
        site_(session_.site(place.site)),
        place_(place),
        watcher_(place.site) {
    const NoRecording no_recording;
    auto context = nn::ForwardContext::inference(&watcher_, &recording_.changes());
    logits_ = forced_logits(session_, recording_.input(), context);
    check_place();
    groups_ = config_.num_key_value_heads == 0 ? config_.num_heads : config_.num_key_value_heads;
    head_dim_ = config_.model_dim / config_.num_heads;
    group_ = place_.head / (config_.num_heads / groups_);
  }

  Cell make() {
    const Side query = side_of_query(), key = side_of_key();
    cell_.query = place_.query;
    cell_.key = place_.key;
    cell_.query_piece = session_.tokenizer().piece(query.token);
    cell_.key_piece = session_.tokenizer().piece(key.token);
    for (const Side& side : {query, key}) {
      add_embedding(side);
      add_block_input(side);
    }
    const Floats q = add_projection(query, "query", place_.head, "queries");
    const Floats k = add_projection(key, "key", group_, "keys");
    const Floats v = add_projection(key, "value", group_, "values");
    const bool is_cosine = similarity() == ops::Similarity::cosine;
    add_score(is_cosine ? add_unit(query, q) : q, is_cosine ? add_unit(key, k) : k);
    add_mask();
    add_softmax();
    const Floats share = add_weighted_value(v);
    add_output_share(share);
    add_logit_share(share);
    return std::move(cell_);
  }

 private:
  void check_place() const {
    const Tensor& weights = watcher_.view.weights.at(0);  // [H, queries, keys]
    const auto check_below = [&](const char* what, Index value, Index bound) {
      check_as(ErrorKind::usage, value >= 0 && value < bound, place_.site, ": expected a ", what,
               " from 0 to ", bound - 1, ", found ", value);
    };
    check_below("head", place_.head, weights.dim(0));
    check_below("query", place_.query, weights.dim(1));
    check_below("key", place_.key, weights.dim(2));
  }

  bool is_cross() const { return site_.part == "cross"; }
  std::string stack() const { return site_.name.substr(0, site_.name.find('.')); }

  std::vector<int> tokens_of(const std::string& stack) const {
    const bool is_target = session_.translation() && stack == "decoder";
    return is_target ? recording_.input().target : tokens_seen(session_, recording_.input());
  }

  Side side_of_query() const {
    std::string input = fmt::format("{}.{}.after_feed_forward", stack(), site_.layer - 1);
    if (site_.layer == 0) input = stack() + ".embedded";
    if (is_cross()) input = fmt::format("{}.{}.after_self_attention", stack(), site_.layer);
    return {"query",      stack(),
            input,        config_.norm_place == nn::NormPlace::before,
            place_.query, tokens_of(stack())[place_.query]};
  }
  Side side_of_key() const {
    Side side = side_of_query();
    side.name = "key";
    if (is_cross()) side = {"key", "encoder", "encoder.final", false, 0, 0};
    side.place = place_.key;
    side.token = tokens_of(side.stack)[place_.key];
    return side;
  }

  ops::Similarity similarity() const {
    return recording_.changes().similarity.value_or(config_.similarity);
  }

  CellStep& add(CellStep step) { return cell_.steps.emplace_back(std::move(step)); }
  // The engine's numbers are the result; the scalar ones say whether the order told is right.
  void expect(FloatSpan engine, FloatSpan scalar) {
    cell_.is_exact = cell_.is_exact && same_bits(engine, scalar);
  }
  Tensor parameter(const std::string& name) const { return session_.parameter(name); }

  Tensor table_of(const std::string& stack) const {
    const Tensor own =
        parameter(stack == "encoder" ? "source_embedding.weight" : "target_embedding.weight");
    return own.is_defined() ? own : parameter("embedding.weight");
  }

  void add_embedding(const Side& side) {
    const Tensor table = table_of(side.stack);
    const float scale = std::sqrt(static_cast<float>(config_.model_dim));
    const FloatSpan words = row_of(recording_.stage(side.stack + ".words"), side.place);
    Floats scaled = copied(row_of(table, side.token));
    for (float& value : scaled) value *= scale;
    expect(words, scaled);
    add({"embedding",
         side.name,
         fmt::format("The row of the embedding for “{}”", session_.tokenizer().piece(side.token)),
         R"(e = \sqrt{D}\,E_t)",
         fmt::format("Token {} of the vocabulary; D = {}.", side.token, config_.model_dim),
         "element by element: e_i = E_i * scale",
         {{"E", copied(row_of(table, side.token))}, {"scale", {scale}}},
         copied(words)});
    add_position(side, words);
  }

  void add_position(const Side& side, FloatSpan words) {
    Tensor table;
    if (config_.positions == nn::Positions::sinusoidal) {
      table = nn::shared_sinusoidal_table(side.place + 1, config_.model_dim);
    } else if (config_.positions == nn::Positions::learned) {
      table = parameter(side.stack + ".positions.weight");
    }
    if (!table.is_defined()) return;  // rotary and ALiBi come later, none never
    const FloatSpan position = row_of(table, side.place);
    const FloatSpan embedded = row_of(recording_.stage(side.stack + ".embedded"), side.place);
    Floats sum = copied(words);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += position[i];
    expect(embedded, sum);
    add({"position",
         side.name,
         fmt::format("Plus the row of position {}", side.place),
         R"(x = e + p)",
         config_.positions == nn::Positions::learned
             ? "Positions are learned: a row of their own table."
             : "Sines and cosines of position / 10000^(2 i / D), computed in double precision.",
         "element by element: x_i = e_i + p_i",
         {{"e", copied(words)}, {"p", copied(position)}},
         copied(embedded)});
  }

  void add_block_input(const Side& side) {
    const FloatSpan input = row_of(recording_.stage(side.block_input), side.place);
    const bool is_start = side.block_input.ends_with(".embedded");
    add({"block_input",
         side.name,
         fmt::format("What this layer reads ({})", side.block_input),
         R"(x)",
         is_start ? "The first layer: nothing has happened to the embedding yet."
                  : "What the layers before have made of the embedding.",
         "the numbers above, or those of the layers before",
         {},
         copied(input)});
    if (side.is_normed) add_norm(side, input);
  }

  void add_norm(const Side& side, FloatSpan x) {
    const Tensor gain = parameter(site_.name + "_norm.gain");
    const Tensor bias = parameter(site_.name + "_norm.bias");
    const FloatSpan engine = row_of(watcher_.seen.at("input"), side.place);
    const bool is_layer_norm = bias.is_defined();
    const NormSteps steps = is_layer_norm
                                ? layer_norm_steps(x, gain.values(), bias.values(), norm_epsilon)
                                : rms_norm_steps(x, gain.values(), norm_epsilon);
    expect(engine, steps.result);
    CellStep& step =
        add({"norm",
             side.name,
             is_layer_norm ? "Layer norm" : "RMS norm",
             is_layer_norm ? R"(\hat x = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot g + b)"
                           : R"(\hat x = \frac{x}{\sqrt{\overline{x^2} + \epsilon}} \odot g)",
             is_layer_norm ? "Mean 0 and variance 1, then the learned gain and bias."
                           : "Mean square 1, then the learned gain.",
             norm_order(is_layer_norm),
             {{"x", copied(x)}, {"gain", copied(gain.values())}},
             copied(engine)});
    if (is_layer_norm) step.rows.push_back({"bias", copied(bias.values())});
    step.rows.push_back({"epsilon", {norm_epsilon}});
    if (is_layer_norm) step.rows.push_back({"mean", {steps.mean}});
    step.rows.push_back({"squares", {steps.squares}});
    step.rows.push_back({"inverse", {steps.inverse}});
  }

  static std::string norm_order(bool is_layer_norm) {
    const std::string sum = "Sums: " + lane_sum_order() + ".";
    if (!is_layer_norm) {
      return "squares = sum of x_i * x_i; inverse = 1 / sqrt(squares / D + epsilon); "
             "(x_i * inverse) * gain_i. " +
             sum;
    }
    return "mean = (sum of x_i) / D; squares = sum of (x_i - mean) * (x_i - mean); inverse = 1 / "
           "sqrt(squares / D + epsilon); ((x_i - mean) * inverse) * gain_i + bias_i. " +
           sum;
  }

  // What the attention makes of a token: one head's rows of a matrix. Returns them as the engine
  // uses them.
  Floats add_projection(const Side& side, const std::string& role, Index head,
                        const std::string& seen_as) {
    const bool has_input = !is_cross() || side.name == "query";
    const FloatSpan x = row_of(
        has_input ? watcher_.seen.at("input") : recording_.stage("encoder.final"), side.place);
    const Tensor weight = parameter(fmt::format("{}.{}.weight", site_.name, role));
    const FloatSpan bias = parameter(fmt::format("{}.{}.bias", site_.name, role))
                               .values()
                               .subspan(head * head_dim_, head_dim_);
    const FloatSpan used =
        row_of(watcher_.seen.at(seen_as), side.place).subspan(head * head_dim_, head_dim_);
    const std::string letter = role.substr(0, 1);
    CellStep step{role,
                  side.name,
                  fmt::format("The {}, head {}", role, place_.head),
                  fmt::format(R"({0} = W_{{{0}}}\,x + b_{{{0}}})", letter),
                  fmt::format("W has a row of {} numbers for each of the head's {} numbers.",
                              config_.model_dim, head_dim_),
                  fmt::format("each {0}_c: a = x, b = row c of W: {1}; then {0}_c = s + bias_c",
                              letter, product_sum_order(config_.model_dim)),
                  {{"x", copied(x)}, {"bias", copied(bias)}},
                  {}};
    for (Index c = 0; c < head_dim_; ++c) {
      const FloatSpan row = row_of(weight, head * head_dim_ + c);
      step.rows.push_back({fmt::format("W row {}", c), copied(row)});
      step.result.push_back(product_sum(x, row) + bias[c]);
    }
    const bool is_turned =
        config_.positions == nn::Positions::rotary && !is_cross() && role != "value";
    if (!is_turned) expect(used, step.result);
    const Floats raw = step.result;
    if (!is_turned) step.result = copied(used);
    add(std::move(step));
    if (is_turned) add_turn(side, letter, raw, used);
    return copied(used);
  }

  // Rotary positions: element i and the one half a head away turn together.
  void add_turn(const Side& side, const std::string& letter, const Floats& raw, FloatSpan used) {
    const Index half = head_dim_ / 2;
    const ops::RotaryTable table = nn::shared_rotary_table(side.place + 1, head_dim_);
    const FloatSpan cos = row_of(table.cos, side.place), sin = row_of(table.sin, side.place);
    Floats turned(head_dim_);
    for (Index i = 0; i < half; ++i) {
      turned[i] = raw[i] * cos[i] - raw[i + half] * sin[i];
      turned[i + half] = raw[i] * sin[i] + raw[i + half] * cos[i];
    }
    expect(used, turned);
    add({"position",
         side.name,
         fmt::format("Turned by position {}", side.place),
         R"((a, b) \mapsto (a \cos - b \sin,\; a \sin + b \cos))",
         "Rotary positions turn pairs of numbers by angles that grow with the place.",
         fmt::format("a = {0}_i, b = {0}_(i + {1}); each product is rounded, then their sum",
                     letter, half),
         {{letter, raw}, {"cos", copied(cos)}, {"sin", copied(sin)}},
         copied(used)});
  }

  Floats add_unit(const Side& side, const Floats& x) {
    const UnitSteps steps = unit_steps(x);
    add({"unit",
         side.name,
         fmt::format("The {} with length 1", side.name),
         R"(\hat v = v / |v|)",
         "Cosine compares directions: lengths do not count.",
         "squares = sum of v_i * v_i; inverse = 1 / sqrt(squares); v_i * inverse. Sum: " +
             lane_sum_order(),
         {{"v", x}, {"squares", {steps.squares}}, {"inverse", {steps.inverse}}},
         steps.result});
    return steps.result;
  }

  float cell_of(const std::vector<Tensor>& stage) const {
    const Tensor& t = stage.at(0);
    return t.values()[(place_.head * t.dim(1) + place_.query) * t.dim(2) + place_.key];
  }
  FloatSpan row_of_stage(const std::vector<Tensor>& stage) const {
    const Tensor& t = stage.at(0);
    return t.values().subspan((place_.head * t.dim(1) + place_.query) * t.dim(2), t.dim(2));
  }

  void add_score(const Floats& q, const Floats& k) {
    Floats products;
    for (std::size_t i = 0; i < q.size(); ++i) products.push_back(q[i] * k[i]);
    add({"product",
         "",
         "Query times key, number by number",
         R"(q_i\,k_i)",
         "Each product rounded by itself, to look at. The sum below does not use these.",
         "q_i * k_i",
         {{"q", q}, {"k", k}},
         products});
    const float sum = product_sum(q, k);
    add({"sum",
         "",
         "Their sum: how alike the two are",
         R"(s = \sum_i q_i\,k_i)",
         "",
         "a = q, b = k: " + product_sum_order(head_dim_),
         {{"q", q}, {"k", k}},
         {sum},
         true});
    const float scale = scale_factor(), score = cell_of(watcher_.view.scores);
    expect(FloatSpan(&score, 1), Floats{sum * scale});
    const bool is_scaled = similarity() == ops::Similarity::scaled_dot;
    add({"scale",
         "",
         "Scaled",
         is_scaled ? R"(s / \sqrt{K})" : R"(s \cdot \mathrm{scale})",
         is_scaled ? fmt::format("K = {} is the width of one head.", head_dim_) : std::string(),
         "s * scale",
         {{"s", {sum}}, {"scale", {scale}}},
         {score},
         true});
  }

  float scale_factor() const {
    switch (similarity()) {
      case ops::Similarity::scaled_dot:
        return 1 / std::sqrt(static_cast<float>(head_dim_));
      case ops::Similarity::cosine:
        return nn::default_cosine_scale;
      default:
        return 1;
    }
  }

  void add_mask() {
    const float before = cell_of(watcher_.view.capped), after = cell_of(watcher_.view.masked);
    CellStep step{"mask",
                  "",
                  "The mask",
                  R"(s + m)",
                  mask_note(after),
                  "s unless masked",
                  {{"s", {before}}},
                  {after},
                  true};
    const bool has_alibi = config_.positions == nn::Positions::alibi && !is_cross();
    if (has_alibi) {
      const float slope = ops::alibi_slopes(config_.num_heads)[place_.head];
      const auto distance = static_cast<float>(std::abs(place_.query - place_.key));
      step.formula = R"(s - \mathrm{slope} \cdot |i - j|)";
      step.order = "s - slope * distance: the product is rounded, then the difference";
      step.rows.push_back({"slope", {slope}});
      step.rows.push_back({"distance", {distance}});
      if (std::isfinite(after)) expect(step.result, Floats{before - slope * distance});
    } else if (std::isfinite(after)) {
      expect(step.result, Floats{before});
    }
    add(std::move(step));
  }

  std::string mask_note(float masked) const {
    if (std::isfinite(masked)) return "The query may see this key.";
    if (site_.is_causal && place_.key > place_.query) {
      return "The key stands behind the query, which must not see it: minus infinity.";
    }
    return "This link is forbidden: minus infinity.";
  }

  void add_softmax() {
    const FloatSpan scores = row_of_stage(watcher_.view.masked);
    const float weight = cell_of(watcher_.view.weights), score = scores[place_.key];
    const bool sees_nothing =
        std::ranges::none_of(scores, [](float value) { return std::isfinite(value); });
    if (sees_nothing) {
      add({"weight",
           "",
           "The weight",
           "0",
           "This query may see nothing: all its weights are 0.",
           "0",
           {},
           {weight},
           true});
      return;
    }
    const SoftmaxSteps softmax = softmax_steps(scores);
    add({"max",
         "",
         "The largest score of the query's row",
         R"(M = \max_j s_j)",
         "Taken off first, so that no exponential can become too large.",
         "the largest",
         {{"scores", copied(scores)}},
         {softmax.most},
         true});
    const ExpSteps e = exp_steps(score - softmax.most);
    add({"exp",
         "",
         "The exponential",
         R"(e^{s - M})",
         "A polynomial for what is left beside a power of two.",
         "x = s - M; " + exp_order(),
         {{"s", {score}},
          {"M", {softmax.most}},
          {"constants", exp_constants()},
          {"n", {e.n}},
          {"r", {e.rest}},
          {"y", {e.polynomial}}},
         {e.result},
         true});
    add_row_sum(scores, softmax);
    expect(FloatSpan(&weight, 1), Floats{e.result * softmax.inverse});
    add({"weight",
         "",
         "The weight",
         R"(w = \frac{e^{s - M}}{\sum_j e^{s_j - M}})",
         "The weights of a row sum to 1.",
         "inverse = 1 / sum, rounded; e * inverse",
         {{"e", {e.result}}, {"sum", {softmax.sum}}, {"inverse", {softmax.inverse}}},
         {weight},
         true});
  }

  void add_row_sum(FloatSpan scores, const SoftmaxSteps& softmax) {
    CellStep step{"row_sum",
                  "",
                  "The sum of the row",
                  R"(\sum_j e^{s_j - M})",
                  "Every key's exponential, as above; masked keys give 0.",
                  lane_sum_order(),
                  {{"scores", copied(scores)}},
                  {softmax.sum},
                  true};
    if (softmax.blocks.size() == 1) {
      step.rows.push_back({"exps", softmax.blocks.front().exps});
    } else {
      step.order =
          "keys come in blocks of 128, each with the largest score M so far: the sum so far "
          "is multiplied by shrink = expf(M before - M) if M has grown, then the block's sum "
          "of e^(s_j - M) is added. A block's sum: " +
          lane_sum_order();
      for (const SoftmaxBlock& block : softmax.blocks) {
        const std::string name = fmt::format("from key {}", block.first);
        step.rows.push_back({"M " + name, {block.most}});
        step.rows.push_back({"shrink " + name, {block.shrink}});
        step.rows.push_back({"exps " + name, block.exps});
        step.rows.push_back({"sum " + name, {block.sum}});
      }
    }
    add(std::move(step));
  }

  Floats add_weighted_value(const Floats& v) {
    const float weight = cell_of(watcher_.view.weights);
    Floats share;
    for (const float value : v) share.push_back(weight * value);
    const FloatSpan mixed =
        row_of(watcher_.seen.at("mixed"), place_.query).subspan(place_.head * head_dim_, head_dim_);
    add({"weighted_value",
         "",
         "The weight times the value",
         R"(w\,v)",
         "This key's part of what the head finds for the query. The engine adds e^(s_j - M) v_j "
         "over "
         "all keys and multiplies the sum by 1 / row sum, so the parts together differ from what "
         "the "
         "head found by roundings.",
         "w * v_i",
         {{"w", {weight}}, {"v", v}, {"all keys together", copied(mixed)}},
         share});
    return share;
  }

  // Zeros stand for the other heads: adding 0 * W changes nothing, so this is the engine's product.
  void add_output_share(const Floats& share) {
    const NoRecording no_recording;
    const Tensor weight = parameter(site_.name + ".output.weight");
    const Index first = place_.head * head_dim_;
    Tensor x = Tensor::zeros({1, config_.model_dim});
    std::ranges::copy(share, x.data() + first);
    const Tensor part = ops::linear(x, weight, Tensor());
    CellStep step{
        "output_share",
        "",
        "Its part of the layer's output",
        R"(W_o\,(w\,v))",
        "The head's columns of the output matrix turn it into the width of the model.",
        "each o: a = w v, b = the head's columns of row o of W: " + product_sum_order(head_dim_),
        {{"w v", share}},
        copied(part.values())};
    Floats scalar;
    for (Index o = 0; o < weight.dim(0); ++o) {
      const FloatSpan columns = row_of(weight, o).subspan(first, head_dim_);
      step.rows.push_back({fmt::format("W row {}", o), copied(columns)});
      scalar.push_back(product_sum(share, columns));
    }
    expect(step.result, scalar);
    add(std::move(step));
  }

  // A prediction whose logit may have moved.
  struct Prediction {
    Index row = 0, column = 0;
    std::string name;
  };

  Prediction prediction_at(Index row) const {
    const int token = recording_.predicted_token(row);
    return {row, token, session_.tokenizer().piece(token)};
  }

  std::vector<Prediction> predictions() const {
    if (session_.classifier()) {
      const FloatSpan logits = row_of(logits_, 0);
      const Index best = std::ranges::max_element(logits) - logits.begin();
      return {{0, best, config_.labels.at(best)}};
    }
    std::vector<Prediction> all;
    for (Index row = 0; row < logits_.dim(0); ++row) {
      if (is_wanted(row)) all.push_back(prediction_at(row));
    }
    if (all.empty()) all.push_back(prediction_at(place_.query));
    return all;
  }

  // A token of the target moves what follows it; one of the source all of the target, or the gaps.
  bool is_wanted(Index row) const {
    if (session_.masked()) return recording_.input().source[row] == session_.tokenizer().mask();
    if (session_.language() || site_.queries == "target") return row == place_.query;
    return true;
  }

  float head_scale() const {
    float scale = 1;
    for (const auto& change : recording_.changes().scales) {
      if (change.layer == site_.name && change.head == place_.head) scale = change.scale;
    }
    return scale;
  }

  Tensor logits_without(const Floats& share) const {
    const NoRecording no_recording;
    nn::AttentionChanges changes = recording_.changes();
    Floats taken;
    for (const float value : share) taken.push_back(-(head_scale() * value));
    changes.nudges.push_back({site_.name, place_.head, place_.query, taken});
    auto context = nn::ForwardContext::inference(nullptr, &changes);
    return forced_logits(session_, recording_.input(), context);
  }

  void add_logit_share(const Floats& share) {
    const Tensor without = logits_without(share);
    const std::vector<Prediction> all = predictions();
    CellStep step{
        "logit_share",
        "",
        "How far it moved the answer",
        R"(z_{\text{with}} - z_{\text{without}})",
        all.size() == 1
            ? "The logit of the predicted token in two passes of the whole model: as it "
              "is, and with this one part taken out of what the head found."
            : "Two passes of the whole model: as it is, and with this one part taken out of "
              "what the head found. The result is that of the prediction that moved most.",
        "with - without",
        {},
        {0},
        true};
    for (const Prediction& one : all) {
      const float before = row_of(logits_, one.row)[one.column];
      const float after = row_of(without, one.row)[one.column];
      step.rows.push_back({one.name, {before, after, before - after}});
      if (std::abs(before - after) > std::abs(step.result[0])) step.result[0] = before - after;
    }
    add(std::move(step));
  }

  const Recording& recording_;
  const ModelSession& session_;
  const models::TransformerConfig& config_;
  const Site& site_;
  CellPlace place_;
  SiteWatcher watcher_;
  Tensor logits_;
  Index groups_ = 1, group_ = 0, head_dim_ = 0;
  Cell cell_;
};

nlohmann::ordered_json to_json(const CellStep& step) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const CellRow& row : step.rows) rows.push_back({{"name", row.name}, {"values", row.values}});
  nlohmann::ordered_json json{
      {"id", step.id},     {"side", step.side}, {"title", step.title},   {"formula", step.formula},
      {"note", step.note}, {"rows", rows},      {"result", step.result}, {"order", step.order}};
  if (step.is_number) json["result"] = step.result.front();
  return json;
}

}  // namespace

Cell cell_arithmetic(const Recording& recording, const CellPlace& place) {
  return CellMaker(recording, place).make();
}

nlohmann::ordered_json to_json(const Cell& cell) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const CellStep& step : cell.steps) steps.push_back(to_json(step));
  return {{"query", {{"piece", cell.query_piece}, {"position", cell.query}}},
          {"key", {{"piece", cell.key_piece}, {"position", cell.key}}},
          {"exact", cell.is_exact},
          {"steps", steps}};
}

}  // namespace heed::explore
