#include "heed/text/normalizers.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/base64.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/charsmap.h"
#include "heed/text/code_points.h"
#include "heed/text/component.h"
#include "heed/text/text_pattern.h"
#include "heed/text/unicode_classes.h"
#include "heed/text/unicode_normal_forms.h"

namespace heed::text {
namespace {

using io::JsonFields;

// Calls rewrite(rewriter, code point) for each character of the text.
template <typename Rewrite>
void rewrite_characters(AlignedText& text, Rewrite&& rewrite) {
  TextRewriter rewriter(text);
  for (std::size_t at = 0; at < text.size();) {
    rewrite(rewriter, next_code_point(text.bytes, at));
  }
  text = rewriter.take();
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void make_lower_case(AlignedText& text) {
  if (is_ascii(text.bytes)) {
    for (char& c : text.bytes) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    }
    return;
  }
  rewrite_characters(text, [](TextRewriter& rewriter, char32_t c) {
    int change = 0;  // only the first takes the place of the capital
    lower_case(c, [&](char32_t lower) { rewriter.put(lower, std::exchange(change, 1)); });
  });
}

template <typename IsRemoved>
void remove_characters(AlignedText& text, IsRemoved&& is_removed) {
  rewrite_characters(text, [&](TextRewriter& rewriter, char32_t c) {
    if (is_removed(c)) return rewriter.skip(1);
    rewriter.put(c, 0);
  });
}

Normalizer normal_form(NormalForm form) {
  return [form](AlignedText& text) { normalize(text, form); };
}

// --- BERT

void clean_for_bert(AlignedText& text) {
  rewrite_characters(text, [](TextRewriter& rewriter, char32_t c) {
    if (is_bert_control(c)) return rewriter.skip(1);
    rewriter.put(is_white_space(c) ? U' ' : c, 0);
  });
}

void put_spaces_beside_chinese(AlignedText& text) {
  rewrite_characters(text, [](TextRewriter& rewriter, char32_t c) {
    if (!is_chinese(c)) return rewriter.put(c, 0);
    rewriter.put(U' ', 0);
    rewriter.put(c, 1);
    rewriter.put(U' ', 1);
  });
}

Normalizer read_bert(const JsonFields& fields) {
  const bool cleans = fields.boolean_or("clean_text", true);
  const bool separates_chinese = fields.boolean_or("handle_chinese_chars", true);
  const bool lowers = fields.boolean_or("lowercase", true);
  const bool strips_accents = fields.boolean_or("strip_accents", lowers);
  return [=](AlignedText& text) {
    if (cleans) clean_for_bert(text);
    if (separates_chinese) put_spaces_beside_chinese(text);
    if (strips_accents) {
      normalize(text, NormalForm::nfd);
      remove_characters(text, is_nonspacing_mark);
    }
    if (lowers) make_lower_case(text);
  };
}

// --- Strip

// How many bytes of white space the text begins with.
std::size_t leading_space(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (!is_white_space(next_code_point(text, at))) return begin;
  }
  return text.size();
}

// Where the white space begins that the text ends with.
std::size_t trailing_space(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_white_space(next_code_point(text, at))) end = at;
  }
  return end;
}

Normalizer read_strip(const JsonFields& fields) {
  const bool left = fields.boolean("strip_left"), right = fields.boolean("strip_right");
  return [=](AlignedText& text) {
    const std::size_t begin = left ? leading_space(text.bytes) : 0;
    const std::size_t end = right ? trailing_space(text.bytes) : text.size();
    AlignedText stripped = text.part(begin, std::max(begin, end));
    stripped.source_begin = text.source_begin;
    text = std::move(stripped);
  };
}

// --- Nmt

bool is_removed_by_nmt(char32_t c) {
  return (c >= 0x1 && c <= 0x8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f ||
         c == 0x9f;
}

bool is_space_for_nmt(char32_t c) {
  return c == 0x9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 ||
         (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xfeff ||
         c == 0xfffd;
}

void normalize_as_nmt(AlignedText& text) {
  rewrite_characters(text, [](TextRewriter& rewriter, char32_t c) {
    if (is_removed_by_nmt(c)) return rewriter.skip(1);
    rewriter.put(is_space_for_nmt(c) ? U' ' : c, 0);
  });
}

// --- Precompiled

// A character of the result, and what it takes the place of: see TextRewriter.
struct Change {
  char32_t code_point;
  int change;
};

class PrecompiledNormalizer {
 public:
  PrecompiledNormalizer(Charsmap charsmap, std::string name)
      : charsmap_(std::make_shared<Charsmap>(std::move(charsmap))), name_(std::move(name)) {}

  void operator()(AlignedText& text) const {
    std::vector<Change> changes;
    changes.reserve(text.size());
    bool is_changed = false;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = grapheme_end(text.bytes, begin);
      const std::string_view grapheme = std::string_view(text.bytes).substr(begin, end - begin);
      is_changed |= normalize_grapheme(grapheme, changes);
      begin = end;
    }
    if (!is_changed) return;
    TextRewriter rewriter(text);
    for (const Change& change : changes) rewriter.put(change.code_point, change.change);
    text = rewriter.take();
  }

 private:
  static std::size_t grapheme_end(std::string_view text, std::size_t at) {
    utf8proc_int32_t state = 0;
    char32_t last = next_code_point(text, at);
    while (at < text.size()) {
      const std::size_t end = at;
      const char32_t next = next_code_point(text, at);
      if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last),
                                           static_cast<utf8proc_int32_t>(next), &state)) {
        return end;
      }
      last = next;
    }
    return text.size();
  }

  // A short grapheme as a whole, or else each of its characters.
  bool normalize_grapheme(std::string_view grapheme, std::vector<Change>& changes) const {
    constexpr std::size_t max_grapheme_bytes = 5;
    if (grapheme.size() <= max_grapheme_bytes && replace(grapheme, changes)) return true;
    bool is_changed = false;
    for (std::size_t at = 0; at < grapheme.size();) {
      const std::size_t begin = at;
      const char32_t c = next_code_point(grapheme, at);
      if (replace(grapheme.substr(begin, at - begin), changes)) {
        is_changed = true;
      } else {
        changes.push_back({c, 0});
      }
    }
    return is_changed;
  }

  bool replace(std::string_view part, std::vector<Change>& changes) const {
    const std::optional<std::string_view> found = charsmap_->find(part);
    if (!found) return false;
    check_as(ErrorKind::model, is_valid_utf8(*found), name_, ": expected texts in UTF-8, found ",
             excerpt(*found));
    std::size_t count = 0;
    for (std::size_t at = 0; at < found->size(); ++count) {
      changes.push_back({next_code_point(*found, at), 0});
    }
    adjust(changes, static_cast<int>(count) - static_cast<int>(count_code_points(part)));
    return true;
  }

  // More characters than before: the last ones are inserted. Fewer: the last one, which may be one
  // before this part, takes the place of the others too.
  static void adjust(std::vector<Change>& changes, int difference) {
    if (difference < 0 && !changes.empty()) changes.back().change += difference;
    for (int i = 0; i < difference; ++i)
      changes[changes.size() - 1 - static_cast<std::size_t>(i)].change = 1;
  }

  std::shared_ptr<const Charsmap> charsmap_;
  std::string name_;
};

Normalizer read_precompiled(const JsonFields& fields) {
  const std::string name = fields.place("precompiled_charsmap");
  if (!fields.has("precompiled_charsmap")) return [](AlignedText&) {};
  const auto bytes = decode_base64(fields.text("precompiled_charsmap"));
  check_as(ErrorKind::model, bytes.has_value(), name, ": expected base64");
  if (bytes->empty()) return [](AlignedText&) {};
  std::optional<Charsmap> charsmap = Charsmap::read(*bytes);
  check_as(ErrorKind::model, charsmap.has_value(), name,
           ": expected the table of a SentencePiece model, found something else");
  return PrecompiledNormalizer(*std::move(charsmap), name);
}

// --- Others

Normalizer read_replace(const JsonFields& fields) {
  const TextPattern pattern = TextPattern::read(fields);
  const std::string content = read_replacement(fields, pattern), name = fields.place("content");
  return [=](AlignedText& text) {
    const std::vector<ByteRange> matches = pattern.find_all(text.bytes);
    if (matches.empty()) return;
    check_growth(name, text.size(), text.size() + matches.size() * content.size());
    TextRewriter rewriter(text);
    for (const ByteRange& match : matches) {
      rewriter.keep_until(match.begin);
      rewriter.replace_until(match.end, content);
    }
    rewriter.keep_until(text.size());
    text = rewriter.take();
  };
}

Normalizer read_prepend(const JsonFields& fields) {
  return [prefix = fields.text("prepend")](AlignedText& text) { prepend(text, prefix); };
}

void use_byte_characters(AlignedText& text) {
  AlignedText bytes;
  bytes.source_begin = text.source_begin;
  bytes.reserve(2 * text.size());
  append_byte_characters(bytes, text, 0, text.size());
  text = std::move(bytes);
}

Normalizer read_sequence(const JsonFields& fields) {
  std::vector<Normalizer> steps;
  for (const JsonFields& step : fields.optional_objects("normalizers")) {
    steps.push_back(read_normalizer(step));
  }
  return [steps, name = fields.place("normalizers")](AlignedText& text) {
    const std::size_t size = text.size();
    for (const Normalizer& step : steps) {
      step(text);
      check_growth(name, size, text.size());
    }
  };
}

constexpr std::array kinds{
    ComponentKind<Normalizer>{"BertNormalizer", read_bert},
    ComponentKind<Normalizer>{"ByteLevel",
                              [](const JsonFields&) -> Normalizer { return use_byte_characters; }},
    ComponentKind<Normalizer>{"Lowercase",
                              [](const JsonFields&) -> Normalizer { return make_lower_case; }},
    ComponentKind<Normalizer>{"NFC",
                              [](const JsonFields&) { return normal_form(NormalForm::nfc); }},
    ComponentKind<Normalizer>{"NFD",
                              [](const JsonFields&) { return normal_form(NormalForm::nfd); }},
    ComponentKind<Normalizer>{"NFKC",
                              [](const JsonFields&) { return normal_form(NormalForm::nfkc); }},
    ComponentKind<Normalizer>{"NFKD",
                              [](const JsonFields&) { return normal_form(NormalForm::nfkd); }},
    ComponentKind<Normalizer>{"Nmt",
                              [](const JsonFields&) -> Normalizer { return normalize_as_nmt; }},
    ComponentKind<Normalizer>{"Precompiled", read_precompiled},
    ComponentKind<Normalizer>{"Prepend", read_prepend},
    ComponentKind<Normalizer>{"Replace", read_replace},
    ComponentKind<Normalizer>{"Sequence", read_sequence},
    ComponentKind<Normalizer>{"Strip", read_strip},
    ComponentKind<Normalizer>{"StripAccents",
                              [](const JsonFields&) -> Normalizer {
                                return [](AlignedText& text) { remove_characters(text, is_mark); };
                              }},
};

}  // namespace

Normalizer read_normalizer(const io::JsonFields& fields) {
  return read_component<Normalizer>(fields, kinds);
}

}  // namespace heed::text
