#include "heed/explore/word_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/cancellation.h"
#include "heed/nn/transformer_block.h"
#include "heed/text/tokenizer.h"

namespace heed::explore {
namespace {

constexpr std::size_t anchors_per_word = 3;
constexpr std::size_t max_anchors = 60;

// Where a word stands after each stage: the stage's name on the page, and in the recording.
struct Stage {
  std::string name;
  std::string seen;
};

bool ends_with_norm(const ModelSession& session, const std::string& stack) {
  const models::TransformerConfig& config = session.config();
  return (stack == "encoder" ? models::encoder_options(config) : models::decoder_options(config))
      .ends_with_norm();
}

std::vector<Stage> stages_of(const Recording& recording, const std::string& stack,
                             Index num_layers) {
  std::vector<Stage> stages{{"embedding", stack + ".words"}, {"position", stack + ".embedded"}};
  for (Index layer = 0; layer < num_layers; ++layer) {
    for (const char* part : {"self_attention", "cross_attention", "feed_forward"}) {
      const std::string seen = fmt::format("{}.{}.after_{}", stack, layer, part);
      if (recording.has_stage(seen)) {
        stages.push_back({fmt::format("{}.{}.{}", stack, layer, part), seen});
      }
    }
  }
  if (ends_with_norm(recording.session(), stack)) {
    stages.push_back({stack + ".final", stack + ".final"});
  }
  return stages;
}

std::vector<WordPath> paths_of(const Recording& recording, const EmbeddingPlane& plane,
                               const std::string& stack, Index num_layers,
                               const std::vector<int>& tokens) {
  const std::vector<Stage> stages = stages_of(recording, stack, num_layers);
  std::vector<WordPath> paths;
  for (std::size_t place = 0; place < tokens.size(); ++place) {
    WordPath path{recording.session().tokenizer().piece(tokens[place]), {}};
    for (const Stage& stage : stages) {
      const Tensor values = in_model_width(recording.session(), recording.stage(stage.seen));
      const std::size_t width = values.dim(-1);
      path.points.push_back(
          {stage.name, plane.project(values.values().subspan(place * width, width))});
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

bool has_text(int id, const text::Tokenizer& tokenizer) {
  return id < tokenizer.size() && id != tokenizer.tokens().unknown && !tokenizer.is_special(id);
}

// The tokens of a table whose directions are most like that of one of them, itself left out.
class Neighbours {
 public:
  Neighbours(const Tensor& table, const text::Tokenizer& tokenizer)
      : table_(table), tokenizer_(tokenizer) {
    for (Index id = 0; id < table_.dim(0); ++id) lengths_.push_back(std::sqrt(dot(id, id)));
  }

  std::vector<int> of(int token, std::size_t count) const {
    check_cancelled();
    std::vector<std::pair<double, int>> others;
    for (int id = 0; id < table_.dim(0); ++id) {
      if (!has_text(id, tokenizer_)) continue;
      const double lengths = lengths_[token] * lengths_[id];
      if (id != token && lengths > 0) others.push_back({-dot(token, id) / lengths, id});
    }
    count = std::min(count, others.size());
    std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(count),
                      others.end());
    std::vector<int> nearest;
    for (std::size_t i = 0; i < count; ++i) nearest.push_back(others[i].second);
    return nearest;
  }

 private:
  double dot(Index a, Index b) const {
    const float *x = table_.data() + a * table_.dim(1), *y = table_.data() + b * table_.dim(1);
    double sum = 0;
    for (Index i = 0; i < table_.dim(1); ++i) sum += double{x[i]} * y[i];
    return sum;
  }

  Tensor table_;
  const text::Tokenizer& tokenizer_;
  std::vector<double> lengths_;
};

std::vector<Anchor> anchors_of(const ModelSession& session, const EmbeddingPlane& plane,
                               const std::vector<int>& tokens) {
  const Tensor table = plane_table(session);
  const Neighbours neighbours(table, session.tokenizer());
  const std::set<int> own(tokens.begin(), tokens.end());
  std::set<int> chosen;
  for (const int token : own) {
    if (!has_text(token, session.tokenizer()) || chosen.size() >= max_anchors) continue;
    for (const int near : neighbours.of(token, anchors_per_word)) {
      if (!own.contains(near)) chosen.insert(near);
    }
  }
  std::vector<Anchor> anchors;
  for (const int id : chosen) {
    const std::size_t width = table.dim(1);
    anchors.push_back({session.tokenizer().piece(id),
                       plane.project(std::as_const(table).values().subspan(id * width, width))});
  }
  return anchors;
}

nlohmann::ordered_json to_json(const std::vector<WordPath>& paths) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const WordPath& path : paths) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const PathPoint& point : path.points) {
      points.push_back({{"stage", point.stage}, {"x", point.at.x}, {"y", point.at.y}});
    }
    all.push_back({{"piece", path.piece}, {"points", points}});
  }
  return all;
}

}  // namespace

WordPaths word_paths(const Recording& recording, const EmbeddingPlane& plane) {
  const ModelSession& session = recording.session();
  const std::vector<int> source = tokens_seen(session, recording.input());
  WordPaths paths;
  const bool has_encoder = session.config().encoder_layers > 0;
  paths.source =
      has_encoder ? paths_of(recording, plane, "encoder", session.config().encoder_layers, source)
                  : paths_of(recording, plane, "decoder", session.config().decoder_layers, source);
  if (session.translation()) {
    paths.target = paths_of(recording, plane, "decoder", session.config().decoder_layers,
                            recording.input().target);
  }
  paths.anchors = anchors_of(session, plane, source);
  return paths;
}

nlohmann::ordered_json to_json(const WordPaths& paths, const EmbeddingPlane& plane) {
  nlohmann::ordered_json anchors = nlohmann::ordered_json::array();
  for (const Anchor& anchor : paths.anchors) {
    anchors.push_back({{"piece", anchor.piece}, {"x", anchor.at.x}, {"y", anchor.at.y}});
  }
  return {{"plane", {{"explained", plane.explained()}}},
          {"anchors", anchors},
          {"side", {{"source", to_json(paths.source)}, {"target", to_json(paths.target)}}}};
}

}  // namespace heed::explore
