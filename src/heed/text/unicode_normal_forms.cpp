#include "heed/text/unicode_normal_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "heed/text/code_point_ranges.h"
#include "heed/text/code_points.h"

namespace heed::text {
namespace {

// Since the library's tables were made.
constexpr char32_t newer_canonical = 0x11938;
constexpr CodePointRange newer_compatible[] = {
    {0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},   {0xAB69, 0xAB69},
    {0x10781, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA},
    {0x1E030, 0x1E06D}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9},
};

// A character of a normal form, and what it takes the place of: see TextRewriter.
struct Change {
  char32_t code_point;
  int change;
};

struct FormTraits {
  bool is_compatible;
  bool is_composed;
};

FormTraits traits_of(NormalForm form) {
  return {form == NormalForm::nfkc || form == NormalForm::nfkd,
          form == NormalForm::nfc || form == NormalForm::nfkc};
}

int combining_class(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

bool has_newer_mapping(char32_t c, FormTraits form) {
  return c == newer_canonical || (form.is_compatible && is_in(c, newer_compatible));
}

void decompose(char32_t c, FormTraits form, std::vector<Change>& to) {
  constexpr int max_decomposition = 32;  // U+FDFA has 18
  std::array<utf8proc_int32_t, max_decomposition> parts{};
  int boundary = 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE |
                                                      (form.is_compatible ? UTF8PROC_COMPAT : 0));
  utf8proc_ssize_t count = 0;
  if (!has_newer_mapping(c, form)) {
    count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                    max_decomposition, options, &boundary);
  }
  if (count <= 0 || count > max_decomposition) return to.push_back({c, 0});
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    to.push_back({static_cast<char32_t>(parts[static_cast<std::size_t>(i)]), i == 0 ? 0 : 1});
  }
}

// Canonical order: marks between starters by their class, equal ones as they come.
void sort_marks(std::vector<Change>& text) {
  const auto is_mark = [](const Change& c) { return combining_class(c.code_point) != 0; };
  for (auto begin = std::ranges::find_if(text, is_mark); begin != text.end();) {
    const auto end = std::find_if_not(begin, text.end(), is_mark);
    std::stable_sort(begin, end, [](const Change& a, const Change& b) {
      return combining_class(a.code_point) < combining_class(b.code_point);
    });
    begin = std::find_if(end, text.end(), is_mark);
  }
}

// The composite of two characters; 0 when there is none.
char32_t compose(char32_t first, char32_t second) {
  std::array<utf8proc_int32_t, 2> pair{static_cast<utf8proc_int32_t>(first),
                                       static_cast<utf8proc_int32_t>(second)};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  const bool is_one = utf8proc_normalize_utf32(pair.data(), 2, options) == 1;
  const auto composite = static_cast<char32_t>(pair[0]);
  return is_one && composite != newer_canonical ? composite : 0;
}

// Marks join the starter before them unless one of the same class, or a higher one, is between.
std::vector<Change> compose(const std::vector<Change>& decomposed) {
  std::vector<Change> composed;
  std::size_t starter = decomposed.size();  // in `composed`; none yet
  int last_class = 0;                       // of what follows the starter
  for (const Change& next : decomposed) {
    const int its_class = combining_class(next.code_point);
    const bool is_blocked =
        starter >= composed.size() || (starter + 1 < composed.size() && last_class >= its_class);
    const char32_t composite =
        is_blocked ? 0 : compose(composed[starter].code_point, next.code_point);
    if (composite != 0) {
      composed[starter] = {composite, composed[starter].change + next.change - 1};
      continue;
    }
    if (its_class == 0) starter = composed.size();
    last_class = its_class;
    composed.push_back(next);
  }
  return composed;
}

// Neither changed by a normal form nor by what stands beside it.
bool is_inert(char32_t c) {
  constexpr CodePointRange hangul[] = {{0x1100, 0x11ff}, {0xa960, 0xa97f}, {0xac00, 0xd7ff}};
  constexpr std::uint16_t none = 0xffff;
  if (is_in(c, hangul)) return false;
  const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
  return property->decomp_seqindex == none && property->comb_index == none &&
         property->combining_class == 0;
}

// Not changed by the form, nor by characters of this kind beside it.
bool is_plain(char32_t c, FormTraits form) {
  constexpr char32_t first_with_marks = 0x300;  // all before it are in the form NFC
  const bool keeps = form.is_composed && !form.is_compatible ? c < first_with_marks : c < 0x80;
  return keeps || is_inert(c);
}

// From one character that is not plain to the next that is.
void rewrite(TextRewriter& rewriter, std::string_view part, FormTraits form) {
  std::vector<Change> changes;
  for (std::size_t at = 0; at < part.size();) {
    decompose(next_code_point(part, at), form, changes);
  }
  sort_marks(changes);
  if (form.is_composed) changes = compose(changes);
  for (const Change& change : changes) rewriter.put(change.code_point, change.change);
}

// Of the first character at or after `from` that is not plain; `last_plain` is where the one before
// it begins.
std::size_t find_not_plain(std::string_view text, std::size_t from, FormTraits form,
                           std::size_t& last_plain) {
  last_plain = from;
  for (std::size_t at = from; at < text.size();) {
    const std::size_t begin = at;
    if (!is_plain(next_code_point(text, at), form)) return begin;
    last_plain = begin;
  }
  return text.size();
}

std::size_t find_plain(std::string_view text, std::size_t from, FormTraits form) {
  for (std::size_t at = from; at < text.size();) {
    const std::size_t begin = at;
    if (is_plain(next_code_point(text, at), form)) return begin;
  }
  return text.size();
}

}  // namespace

void normalize(AlignedText& text, NormalForm form) {
  const FormTraits traits = traits_of(form);
  const std::string_view bytes = text.bytes;
  std::size_t last_plain = 0;
  std::size_t begin = find_not_plain(bytes, 0, traits, last_plain);
  if (begin == bytes.size()) return;
  TextRewriter rewriter(text);
  while (begin < bytes.size()) {
    const std::size_t end = find_plain(bytes, begin, traits);
    rewriter.keep_until(last_plain);  // a mark may join the character before it
    rewrite(rewriter, bytes.substr(last_plain, end - last_plain), traits);
    begin = find_not_plain(bytes, end, traits, last_plain);
  }
  rewriter.keep_until(bytes.size());
  text = rewriter.take();
}

}  // namespace heed::text
