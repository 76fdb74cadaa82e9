// The path of every word through the layers, in one plane.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "heed/explore/embedding_plane.h"
#include "heed/explore/recording.h"

namespace heed::explore {

struct PathPoint {
  std::string stage;
  PlanePoint at;
};

// embedding (its row of the table, scaled), position (with the position added), then for every
// layer self_attention, cross_attention and feed_forward, each after add & norm, as in
// encoder.0.self_attention; at last, where the stack ends with a norm, encoder.final.
struct WordPath {
  std::string piece;
  std::vector<PathPoint> points;
};

// A piece of the vocabulary to see the words against.
struct Anchor {
  std::string piece;
  PlanePoint at;
};

struct WordPaths {
  std::vector<WordPath> source;
  std::vector<WordPath> target;  // of a translation
  std::vector<Anchor> anchors;   // pieces whose embeddings are most like those of the words
};

WordPaths word_paths(const Recording& recording, const EmbeddingPlane& plane);

nlohmann::ordered_json to_json(const WordPaths& paths, const EmbeddingPlane& plane);

}  // namespace heed::explore
