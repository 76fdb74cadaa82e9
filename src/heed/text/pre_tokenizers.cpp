#include "heed/text/pre_tokenizers.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "heed/base/utf8.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/code_points.h"
#include "heed/text/component.h"
#include "heed/text/metaspace.h"
#include "heed/text/split_behavior.h"
#include "heed/text/text_pattern.h"
#include "heed/text/unicode_classes.h"
#include "heed/text/unicode_scripts.h"

namespace heed::text {
namespace {

using io::JsonFields;

// Each character of a class is a delimiter.
template <typename IsDelimiter>
PreTokenizer split_on_characters(IsDelimiter is_delimiter, SplitBehavior behavior) {
  return [=](TextPieces& pieces) {
    std::vector<ByteRange> delimiters;
    pieces.split([&](std::string_view text, std::vector<ByteRange>& parts) {
      delimiters.clear();
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        if (is_delimiter(next_code_point(text, at))) delimiters.push_back({begin, at});
      }
      split_parts(parts_of(delimiters, text.size()), behavior, parts);
    });
  };
}

PreTokenizer read_whitespace_split(const JsonFields&) {
  return split_on_characters(is_white_space, SplitBehavior::removed);
}

PreTokenizer read_bert(const JsonFields&) {
  return [spaces = split_on_characters(is_white_space, SplitBehavior::removed),
          punctuation =
              split_on_characters(is_punctuation, SplitBehavior::isolated)](TextPieces& pieces) {
    spaces(pieces);
    punctuation(pieces);
  };
}

SplitBehavior read_behavior(const JsonFields& fields, const std::string& otherwise) {
  return parse_choice<SplitBehavior>(fields.text_or("behavior", otherwise),
                                     fields.place("behavior"), ErrorKind::model);
}

PreTokenizer read_punctuation(const JsonFields& fields) {
  return split_on_characters(is_punctuation, read_behavior(fields, "Isolated"));
}

PreTokenizer read_digits(const JsonFields& fields) {
  const bool is_each = fields.boolean_or("individual_digits", false);
  return split_on_characters(is_numeric,
                             is_each ? SplitBehavior::isolated : SplitBehavior::contiguous);
}

PreTokenizer read_delimiter(const JsonFields& fields) {
  const char32_t delimiter = to_code_points(one_character(fields, "delimiter")).front();
  return split_on_characters([delimiter](char32_t c) { return c == delimiter; },
                             SplitBehavior::removed);
}

// Words and runs of other characters, without the spaces: \w+|[^\w\s]+
PreTokenizer read_whitespace(const JsonFields&) {
  enum class Class { space, word, other };
  const auto class_of = [](char32_t c) {
    if (is_word_character(c)) return Class::word;
    return is_white_space(c) ? Class::space : Class::other;
  };
  return [class_of](TextPieces& pieces) {
    pieces.split([&](std::string_view text, std::vector<ByteRange>& parts) {
      Class last = Class::space;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const Class next = class_of(next_code_point(text, at));
        if (next != Class::space && next == last) {
          parts.back().end = at;
        } else if (next != Class::space) {
          parts.push_back({begin, at});
        }
        last = next;
      }
    });
  };
}

// Han stands for all that Japanese is written in, and a space belongs to any script.
Script script_for_splitting(char32_t c) {
  constexpr char32_t prolonged_sound_mark = 0x30fc;
  if (c == prolonged_sound_mark) return Script::han;
  if (c == ' ') return Script::any;
  const Script script = script_of(c);
  return script == Script::hiragana || script == Script::katakana ? Script::han : script;
}

PreTokenizer read_unicode_scripts(const JsonFields&) {
  return [](TextPieces& pieces) {
    pieces.split([](std::string_view text, std::vector<ByteRange>& parts) {
      Script last = Script::any;  // of the characters so far
      bool is_first = true;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const Script script = script_for_splitting(next_code_point(text, at));
        const bool begins = script != Script::any && (is_first || last != script);
        if (begins) parts.push_back({begin, at});
        if (!parts.empty()) parts.back().end = at;
        if (script != Script::any) {
          last = script;
          is_first = false;
        }
      }
    });
  };
}

PreTokenizer read_fixed_length(const JsonFields& fields) {
  const std::int64_t length = fields.integer_or("length", 5, {.min = 1});
  return [length](TextPieces& pieces) {
    pieces.split([&](std::string_view text, std::vector<ByteRange>& parts) {
      std::int64_t count = 0;
      for (std::size_t at = 0; at < text.size(); ++count) {
        const std::size_t begin = at;
        next_code_point(text, at);
        if (count % length == 0) parts.push_back({begin, at});
        parts.back().end = at;
      }
    });
  };
}

PreTokenizer split_on_pattern(TextPattern pattern, SplitBehavior behavior, bool is_inverted) {
  return [=](TextPieces& pieces) {
    pieces.split([&](std::string_view text, std::vector<ByteRange>& parts) {
      std::vector<TextPart> found = parts_of(pattern.find_all(text), text.size());
      if (is_inverted) {
        for (TextPart& part : found) part.is_match = !part.is_match;
      }
      split_parts(found, behavior, parts);
    });
  };
}

PreTokenizer read_split(const JsonFields& fields) {
  return split_on_pattern(TextPattern::read(fields), read_behavior(fields, ""),
                          fields.boolean_or("invert", false));
}

// The words of GPT-2.
PreTokenizer split_into_words(const std::string& name) {
  constexpr std::string_view words =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  return split_on_pattern(TextPattern(Regex(words, name)), SplitBehavior::isolated,
                          /*is_inverted=*/false);
}

void add_space_before(TextPieces& pieces) {
  pieces.rewrite([&](const TextPiece& piece, AlignedText& text) {
    const AlignedText& from = pieces.text();
    if (from.bytes[piece.range.begin] != ' ') text.append(" ", from.sources[piece.range.begin]);
    text.append(from, piece.range.begin, piece.range.end);
  });
}

void use_byte_characters(TextPieces& pieces) {
  pieces.rewrite([&](const TextPiece& piece, AlignedText& text) {
    append_byte_characters(text, pieces.text(), piece.range.begin, piece.range.end);
  });
}

PreTokenizer read_byte_level(const JsonFields& fields) {
  const bool adds_space = fields.boolean("add_prefix_space");
  PreTokenizer split = [](TextPieces&) {};
  if (fields.boolean_or("use_regex", true)) split = split_into_words(fields.place("use_regex"));
  return [=](TextPieces& pieces) {
    if (adds_space) add_space_before(pieces);
    split(pieces);
    use_byte_characters(pieces);
  };
}

// Spaces become the character that stands for them, and a piece may get one before it.
void write_metaspaces(TextPieces& pieces, const Metaspace& metaspace) {
  pieces.rewrite([&](const TextPiece& piece, AlignedText& text) {
    const AlignedText& from = pieces.text();
    const std::string_view bytes = pieces.bytes(piece);
    const bool is_place =
        metaspace.prepend_scheme == PrependScheme::always ||
        (metaspace.prepend_scheme == PrependScheme::first && piece.source_begin == 0);
    if (is_place && !bytes.starts_with(' ') && !bytes.starts_with(metaspace.replacement)) {
      text.append(metaspace.replacement, from.sources[piece.range.begin]);
    }
    for (std::size_t at = piece.range.begin; at < piece.range.end; ++at) {
      if (from.bytes[at] == ' ') {
        text.append(metaspace.replacement, from.sources[at]);
      } else {
        text.append(std::string_view(from.bytes).substr(at, 1), from.sources[at]);
      }
    }
  });
}

PreTokenizer read_metaspace_pre_tokenizer(const JsonFields& fields) {
  const Metaspace metaspace = read_metaspace(fields);
  PreTokenizer split = [](TextPieces&) {};
  if (metaspace.splits) {
    split = split_on_pattern(TextPattern(metaspace.replacement), SplitBehavior::merged_with_next,
                             /*is_inverted=*/false);
  }
  return [=](TextPieces& pieces) {
    write_metaspaces(pieces, metaspace);
    split(pieces);
  };
}

PreTokenizer read_sequence(const JsonFields& fields) {
  std::vector<PreTokenizer> steps;
  for (const JsonFields& step : fields.optional_objects("pretokenizers")) {
    steps.push_back(read_pre_tokenizer(step));
  }
  return [steps, name = fields.place("pretokenizers")](TextPieces& pieces) {
    const std::size_t size = pieces.text().size();
    for (const PreTokenizer& step : steps) {
      step(pieces);
      check_growth(name, size, pieces.text().size());
    }
  };
}

constexpr std::array kinds{
    ComponentKind<PreTokenizer>{"BertPreTokenizer", read_bert},
    ComponentKind<PreTokenizer>{"ByteLevel", read_byte_level},
    ComponentKind<PreTokenizer>{"CharDelimiterSplit", read_delimiter},
    ComponentKind<PreTokenizer>{"Digits", read_digits},
    ComponentKind<PreTokenizer>{"FixedLength", read_fixed_length},
    ComponentKind<PreTokenizer>{"Metaspace", read_metaspace_pre_tokenizer},
    ComponentKind<PreTokenizer>{"Punctuation", read_punctuation},
    ComponentKind<PreTokenizer>{"Sequence", read_sequence},
    ComponentKind<PreTokenizer>{"Split", read_split},
    ComponentKind<PreTokenizer>{"UnicodeScripts", read_unicode_scripts},
    ComponentKind<PreTokenizer>{"Whitespace", read_whitespace},
    ComponentKind<PreTokenizer>{"WhitespaceSplit", read_whitespace_split},
};

}  // namespace

PreTokenizer read_pre_tokenizer(const io::JsonFields& fields) {
  return read_component<PreTokenizer>(fields, kinds);
}

}  // namespace heed::text
