// The section `model` of a tokenizer.json: segments words into pieces of a vocabulary.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/io/json_fields.h"
#include "heed/text/regex.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

// A piece of a word.
struct WordPart {
  int id = 0;
  ByteRange range;             // in the word
  bool is_as_written = false;  // an unknown part, whose token is its own text
};

class SubwordModel {
 public:
  explicit SubwordModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~SubwordModel() = default;
  SubwordModel(const SubwordModel&) = delete;
  SubwordModel& operator=(const SubwordModel&) = delete;

  // Appends the parts of a word, which is not empty. Any number of threads may call it at the same
  // time. Refuses (ErrorKind::model) an unknown word when the vocabulary has no piece for it.
  virtual void segment(std::string_view word, std::vector<WordPart>& parts) const = 0;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

// Refuses (ErrorKind::model) what it does not know, by name. A model of an older file has no type;
// its other fields say what it is.
std::unique_ptr<SubwordModel> read_subword_model(const io::JsonFields& fields);
std::string_view subword_model_type(const io::JsonFields& fields);  // its name, likewise

}  // namespace heed::text
