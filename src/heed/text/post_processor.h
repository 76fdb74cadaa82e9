// The section `post_processor` of a tokenizer.json: special tokens around a text or a pair, and
// offsets without spaces.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/io/json_fields.h"
#include "heed/text/encoding.h"
#include "heed/text/sequence_template.h"

namespace heed::text {

// A special token, under the name that templates have for it. It may be several tokens.
struct SpecialToken {
  std::vector<int> ids;
  std::vector<std::string> tokens;
};

// A part of a template: the first text, the second one, or a special token.
struct TemplatePart {
  enum class Kind { first, second, special };
  Kind kind = Kind::first;
  int type_id = 0;
  SpecialToken special = {};
};
using Template = std::vector<TemplatePart>;

class PostProcessor {
 public:
  PostProcessor() = default;  // texts alone, one after another
  // Refuses (ErrorKind::model) what it does not know, by name.
  explicit PostProcessor(const io::JsonFields& fields) { read(fields); }

  std::size_t num_added(bool is_pair) const;  // special tokens
  // The same as one template. Nothing is between the texts of a pair when the file puts other
  // tokens around a pair than around a single text, or has no second text.
  SequenceTemplate sequence() const;
  Encoding process(Encoding text, std::optional<Encoding> second, bool with_special) const;

 private:
  struct Templates {
    Template single, pair;
  };

  void read(const io::JsonFields& fields);
  void set_templates(Templates templates, const io::JsonFields& fields);
  void trim_offsets(Encoding& text) const;

  std::vector<bool> trims_;  // for each trimming of offsets: was a space put before the text?
  std::optional<Templates> templates_;
};

}  // namespace heed::text
