#include "heed/data/masking.h"

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/text/tokenizer.h"

namespace heed::data {
namespace {

// Keeps these random numbers apart from those of shuffles, initial weights and dropout.
constexpr std::uint64_t masking_place = 0x6d61736b;

constexpr double share_masked = 0.8, share_replaced = 0.1;

constexpr int first_ordinary = text::Tokenizer::end + 1;

// Any but the special tokens and the mask, which follows them.
int ordinary_token(const MaskingOptions& options, Rng& rng) {
  const auto count = static_cast<std::uint64_t>(options.vocabulary - first_ordinary - 1);
  const int token = first_ordinary + static_cast<int>(rng.below(count));
  return token < options.mask ? token : token + 1;
}

int shown_token(int token, const MaskingOptions& options, Rng& rng) {
  const double draw = rng.uniform();
  if (draw < share_masked) return options.mask;
  return draw < share_masked + share_replaced ? ordinary_token(options, rng) : token;
}

}  // namespace

Masking::Masking(const MaskingOptions& options) : options_(options) {
  check(options.mask >= first_ordinary && options.mask < options.vocabulary &&
            options.vocabulary > first_ordinary + 1,
        "masking: expected a mask and other tokens after the ", first_ordinary,
        " special ones, got the mask ", options.mask, " of ", options.vocabulary);
}

MaskedLine Masking::apply(std::span<const int> ids, Index epoch, Index line) const {
  check(ids.size() >= 2, "masking: expected a token and the end token, got ", ids.size());
  const std::uint64_t key =
      random_key(options_.seed, static_cast<std::uint64_t>(epoch), masking_place);
  Rng rng(random_key(key, static_cast<std::uint64_t>(line), 0));

  MaskedLine masked{{ids.begin(), ids.end()}, {}, {}};
  const Index length = std::ssize(ids) - 1;
  for (Index place = 0; place < length; ++place) {
    if (rng.uniform() < options_.share) masked.places.push_back(place);
  }
  if (masked.places.empty()) masked.places.push_back(static_cast<Index>(rng.below(length)));
  for (const Index place : masked.places) {
    masked.hidden.push_back(ids[place]);
    masked.ids[place] = shown_token(ids[place], options_, rng);
  }
  return masked;
}

}  // namespace heed::data
