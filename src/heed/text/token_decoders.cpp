#include "heed/text/token_decoders.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/utf8.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/byte_tokens.h"
#include "heed/text/code_points.h"
#include "heed/text/component.h"
#include "heed/text/metaspace.h"
#include "heed/text/text_pattern.h"

namespace heed::text {
namespace {

using io::JsonFields;
using Tokens = std::vector<std::string>;

std::size_t size_of(const Tokens& tokens) {
  std::size_t size = 0;
  for (const std::string& token : tokens) size += token.size();
  return size;
}

std::string join(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

// Every place where the text stands. An empty text stands before and after every character.
std::string replace_all(const std::string& text, std::string_view wanted,
                        std::string_view content) {
  std::string replaced;
  for (std::size_t at = 0; at <= text.size();) {
    if (wanted.empty() || std::string_view(text).substr(at).starts_with(wanted)) {
      replaced += content;
      at += wanted.size();
      if (!wanted.empty()) continue;
    }
    if (at == text.size()) break;
    const std::size_t size = std::min(utf8_length(text[at]), text.size() - at);
    replaced.append(text, at, size);
    at += size;
  }
  return replaced;
}

// --- Bytes

std::string bytes_of(const std::string& token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const std::optional<char> byte = byte_of_character(next_code_point(token, at));
    if (!byte) return token;  // an added token
    bytes += *byte;
  }
  return bytes;
}

TokenDecoder read_byte_level(const JsonFields&) {
  return [](Tokens& tokens) {
    std::string bytes;
    for (const std::string& token : tokens) bytes += bytes_of(token);
    tokens = {repair_utf8(bytes)};
  };
}

// A run of bytes is a text, or else every byte of it is U+FFFD.
void add_bytes(std::string bytes, Tokens& to) {
  if (bytes.empty()) return;
  if (is_valid_utf8(bytes)) {
    to.push_back(std::move(bytes));
  } else {
    to.insert(to.end(), bytes.size(), "\xef\xbf\xbd");
  }
}

TokenDecoder read_byte_fallback(const JsonFields&) {
  return [](Tokens& tokens) {
    Tokens decoded;
    std::string bytes;
    for (std::string& token : tokens) {
      if (const auto byte = byte_of_token(token)) {
        bytes += *byte;
        continue;
      }
      add_bytes(std::exchange(bytes, {}), decoded);
      decoded.push_back(std::move(token));
    }
    add_bytes(std::move(bytes), decoded);
    tokens = std::move(decoded);
  };
}

// --- Words

// Spaces that were put before punctuation and before parts of English words.
std::string clean_up(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> replacements[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  if (text.find(' ') == text.npos) return text;
  for (const auto& [wanted, content] : replacements) text = replace_all(text, wanted, content);
  return text;
}

TokenDecoder read_word_piece(const JsonFields& fields) {
  const std::string prefix = fields.text_or("prefix", "##");
  const bool cleans_up = fields.boolean_or("cleanup", true);
  return [=](Tokens& tokens) {
    bool is_first = true;
    for (std::string& token : tokens) {
      if (!std::exchange(is_first, false)) {
        token = token.starts_with(prefix) ? token.substr(prefix.size()) : ' ' + token;
      }
      if (cleans_up) token = clean_up(std::move(token));
    }
  };
}

// What ends a word becomes a space, but for the last word.
TokenDecoder read_bpe(const JsonFields& fields) {
  return
      [suffix = fields.text_or("suffix", "</w>"), name = fields.place("suffix")](Tokens& tokens) {
        const std::size_t size = size_of(tokens);
        for (std::string& token : tokens) {
          token = replace_all(token, suffix, &token == &tokens.back() ? "" : " ");
        }
        check_growth(name, size, size_of(tokens));
      };
}

TokenDecoder read_metaspace_decoder(const JsonFields& fields) {
  return [metaspace = read_metaspace(fields)](Tokens& tokens) {
    bool is_first = true;
    for (std::string& token : tokens) {
      const bool drops =
          std::exchange(is_first, false) && metaspace.prepend_scheme != PrependScheme::never;
      token = replace_all(token, metaspace.replacement, drops ? "" : " ");
    }
  };
}

// Output of a speech model: repeated tokens count once, pauses vanish.
TokenDecoder read_ctc(const JsonFields& fields) {
  const std::string pad = fields.text_or("pad_token", "<pad>");
  const std::string delimiter = fields.text_or("word_delimiter_token", "|");
  const bool cleans_up = fields.boolean_or("cleanup", true);
  return [=](Tokens& tokens) {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      token = replace_all(token, pad, "");
      if (cleans_up) token = replace_all(clean_up(std::move(token)), delimiter, " ");
    }
    std::erase(tokens, "");
  };
}

// --- Others

std::string replace_matches(const std::string& text, const TextPattern& pattern,
                            const std::string& content, const std::string& name) {
  const std::vector<ByteRange> matches = pattern.find_all(text);
  check_growth(name, text.size(), text.size() + matches.size() * content.size());
  std::string replaced;
  for (const TextPart& part : parts_of(matches, text.size())) {
    replaced +=
        part.is_match ? content : text.substr(part.range.begin, part.range.end - part.range.begin);
  }
  return replaced;
}

TokenDecoder read_replace(const JsonFields& fields) {
  const TextPattern pattern = TextPattern::read(fields);
  const std::string content = read_replacement(fields, pattern), name = fields.place("content");
  return [=](Tokens& tokens) {
    for (std::string& token : tokens) token = replace_matches(token, pattern, content, name);
  };
}

TokenDecoder read_fuse(const JsonFields&) {
  return [](Tokens& tokens) { tokens = {join(tokens)}; };
}

// At most so many characters at the beginning and at the end of a token.
TokenDecoder read_strip(const JsonFields& fields) {
  const std::string content = one_character(fields, "content");
  const std::int64_t max_first = fields.integer("start", {.min = 0});
  const std::int64_t max_last = fields.integer("stop", {.min = 0});
  return [=](Tokens& tokens) {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (std::int64_t i = 0; i < max_first && rest.starts_with(content); ++i) {
        rest.remove_prefix(content.size());
      }
      for (std::int64_t i = 0; i < max_last && rest.ends_with(content); ++i) {
        rest.remove_suffix(content.size());
      }
      token = std::string(rest);
    }
  };
}

TokenDecoder read_sequence(const JsonFields& fields) {
  std::vector<TokenDecoder> steps;
  for (const JsonFields& step : fields.optional_objects("decoders")) {
    steps.push_back(read_token_decoder(step));
  }
  return [steps, name = fields.place("decoders")](Tokens& tokens) {
    const std::size_t size = size_of(tokens) + tokens.size();
    for (const TokenDecoder& step : steps) {
      step(tokens);
      check_growth(name, size, size_of(tokens));
    }
  };
}

constexpr std::array kinds{
    ComponentKind<TokenDecoder>{"BPEDecoder", read_bpe},
    ComponentKind<TokenDecoder>{"ByteFallback", read_byte_fallback},
    ComponentKind<TokenDecoder>{"ByteLevel", read_byte_level},
    ComponentKind<TokenDecoder>{"CTC", read_ctc},
    ComponentKind<TokenDecoder>{"Fuse", read_fuse},
    ComponentKind<TokenDecoder>{"Metaspace", read_metaspace_decoder},
    ComponentKind<TokenDecoder>{"Replace", read_replace},
    ComponentKind<TokenDecoder>{"Sequence", read_sequence},
    ComponentKind<TokenDecoder>{"Strip", read_strip},
    ComponentKind<TokenDecoder>{"WordPiece", read_word_piece},
};

}  // namespace

TokenDecoder read_token_decoder(const io::JsonFields& fields) {
  return read_component<TokenDecoder>(fields, kinds);
}

}  // namespace heed::text
