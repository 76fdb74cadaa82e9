// Tagging: lines of text in, a tag for every word out.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/weight_format.h"
#include "heed/infer/line_options.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
class Tagger;
}

namespace heed::infer {

struct WordTag {
  std::string word;
  std::string tag;  // the most likely one
  double probability = 0;
  int number = 0;  // of the tag, among the tagger's tags
};

// Copies share the model.
class LineTagger {
 public:
  // `weights`: the format to hold the weights in; not given: that of the folder.
  static LineTagger load(const std::string& folder,
                         std::optional<WeightFormat> weights = std::nullopt);
  LineTagger(models::Tagger model, text::Tokenizer tokenizer);

  const std::vector<std::string>& tags() const;

  // The words of one line, which white space separates, with their tags.
  std::vector<WordTag> tag(std::string_view line) const;

  // Those of each line; a blank line has none. Refuses (ErrorKind::data) lines that are longer than
  // the model's learned positions.
  std::vector<std::vector<WordTag>> tag(std::span<const std::string> lines,
                                        const LineOptions& options = {}) const;

 private:
  std::shared_ptr<const models::Tagger> model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
