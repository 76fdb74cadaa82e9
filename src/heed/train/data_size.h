// The size of training data before it is tokenized, from which a recipe can be chosen.
#pragma once

#include <span>
#include <string>

#include "heed/base/index.h"

namespace heed::train {

// Token counts are estimates: the words, or a quarter of the characters where that is more.
struct TextSize {
  Index lines = 0;
  Index distinct_lines = 0;
  Index tokens = 0;
  Index most_tokens = 0;  // of a line; at most one line in 200 is longer
};

TextSize text_size(std::span<const std::string> lines);

// Of labelled images: how many, and the size of most of them.
struct ImageDataSize {
  Index count = 0;
  Index height = 0;
  Index width = 0;
  Index channels = 1;
};

struct DataSize {
  TextSize source;  // the text itself, if there is no target; the prompts of answers
  TextSize target;  // of classification, the labels
  ImageDataSize images = {};
};

}  // namespace heed::train
