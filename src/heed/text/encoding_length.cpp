#include "heed/text/encoding_length.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

constexpr std::int64_t max_length = 1 << 20;

Side read_side(const io::JsonFields& fields) {
  return fields.choice_or("direction", "Right", {"Left", "Right"}) == "Left" ? Side::left
                                                                             : Side::right;
}

// "BatchLongest" or {"Fixed": 128}; a text alone is the longest of its batch.
std::optional<std::size_t> read_fixed_size(const io::JsonFields& fields) {
  if (!fields.has("strategy") || !fields.json().at("strategy").is_object()) {
    fields.choice_or("strategy", "BatchLongest", {"BatchLongest"});
    return std::nullopt;
  }
  const io::IntegerRange range{.min = 0, .max = max_length};
  return static_cast<std::size_t>(fields.object("strategy").integer("Fixed", range));
}

}  // namespace

Truncation::Truncation(const io::JsonFields& fields)
    : place_(fields.place("max_length")),
      max_length_(static_cast<std::size_t>(fields.integer("max_length", {.min = 0}))),
      side_(read_side(fields)) {
  const std::string strategy =
      fields.choice_or("strategy", "LongestFirst", {"LongestFirst", "OnlyFirst", "OnlySecond"});
  strategy_ = strategy == "LongestFirst" ? Strategy::longest_first
              : strategy == "OnlyFirst"  ? Strategy::only_first
                                         : Strategy::only_second;
}

void Truncation::shorten(Encoding& text, std::size_t size) const {
  if (text.size() <= size) return;
  if (side_ == Side::right) {
    text.keep(0, size);
  } else {
    text.keep(text.size() - size, text.size());
  }
}

// The longer one alone if that is enough, and otherwise both to halves.
void Truncation::shorten_both(Encoding& text, Encoding& second, std::size_t max_size) const {
  std::size_t shorter = text.size(), longer = second.size();
  const bool is_swapped = shorter > longer;
  if (is_swapped) std::swap(shorter, longer);
  longer = shorter > max_size ? shorter : std::max(shorter, max_size - shorter);
  if (shorter + longer > max_size) {
    shorter = max_size / 2;
    longer = shorter + max_size % 2;
  }
  if (is_swapped) std::swap(shorter, longer);
  shorten(text, shorter);
  shorten(second, longer);
}

void Truncation::apply(Encoding& text, Encoding* second, std::size_t num_added) const {
  check_as(ErrorKind::model, num_added <= max_length_, place_, ": expected at least ", num_added,
           ", for the special tokens, found ", max_length_);
  const std::size_t max_size = max_length_ - num_added;
  const std::size_t size = text.size() + (second ? second->size() : 0);
  if (size <= max_size) return;
  if (max_size == 0) {
    shorten(text, 0);
    if (second) shorten(*second, 0);
    return;
  }
  if (strategy_ == Strategy::longest_first) {
    return second ? shorten_both(text, *second, max_size) : shorten(text, max_size);
  }
  Encoding* target = strategy_ == Strategy::only_first ? &text : second;
  const std::size_t to_remove = size - max_size;
  check_as(ErrorKind::model, target != nullptr && target->size() > to_remove, place_,
           ": expected a text that the strategy can shorten by ", to_remove,
           " tokens, found one of ", target ? target->size() : 0);
  shorten(*target, target->size() - to_remove);
}

Padding::Padding(const io::JsonFields& fields)
    : fixed_(read_fixed_size(fields)), side_(read_side(fields)) {
  if (fields.has("pad_to_multiple_of")) {
    const io::IntegerRange range{.min = 0, .max = max_length};
    multiple_ = static_cast<std::size_t>(fields.integer("pad_to_multiple_of", range));
  }
  const io::IntegerRange ids{.min = 0, .max = Vocabulary::max_ids - 1};
  token_ = {.id = static_cast<int>(fields.integer_or("pad_id", 0, ids)),
            .token = fields.text_or("pad_token", "[PAD]"),
            .offsets = {},
            .type_id = static_cast<int>(fields.integer_or("pad_type_id", 0, ids)),
            .attention = 0,
            .special = 1};
}

void Padding::apply(Encoding& text) const {
  std::size_t size = fixed_.value_or(text.size());
  if (multiple_ && *multiple_ > 0) size = (size + *multiple_ - 1) / *multiple_ * *multiple_;
  if (text.size() >= size) return;
  Encoding padding;
  for (std::size_t i = text.size(); i < size; ++i) padding.push_back(token_);
  if (side_ == Side::right) {
    text.append(padding);
  } else {
    padding.append(text);
    text = std::move(padding);
  }
}

}  // namespace heed::text
