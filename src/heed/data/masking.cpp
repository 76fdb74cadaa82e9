#include "heed/data/masking.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"

namespace heed::data {
namespace {

// Keeps these random numbers apart from those of shuffles, initial weights and dropout.
constexpr std::uint64_t masking_place = 0x6d61736b;

constexpr double share_masked = 0.8, share_replaced = 0.1;

}  // namespace

MaskingOptions masking_options(const text::Tokenizer& tokenizer, std::uint64_t seed) {
  check_as(ErrorKind::model, tokenizer.mask().has_value(),
           "masking: expected a tokenizer with a mask token, found none");
  MaskingOptions options{.mask = *tokenizer.mask(), .seed = seed};
  for (int id = 0; id < tokenizer.size(); ++id) {
    if (tokenizer.is_special(id)) options.special.push_back(id);
    const bool is_text =
        id != options.mask && id != tokenizer.tokens().unknown && !tokenizer.is_special(id);
    if (is_text) options.ordinary.push_back(id);
  }
  return options;
}

Masking::Masking(MaskingOptions options) : options_(std::move(options)) {
  check(!options_.ordinary.empty(), "masking: expected tokens that are not special, got none");
  check(std::ranges::is_sorted(options_.special) &&
            !std::ranges::binary_search(options_.special, options_.mask),
        "masking: expected special tokens in order and without the mask, ", options_.mask);
}

int Masking::shown_token(int token, Rng& rng) const {
  const double draw = rng.uniform();
  if (draw < share_masked) return options_.mask;
  if (draw >= share_masked + share_replaced) return token;
  return options_.ordinary[static_cast<std::size_t>(rng.below(options_.ordinary.size()))];
}

MaskedLine Masking::apply(std::span<const int> ids, Index epoch, Index line) const {
  const std::uint64_t key =
      random_key(options_.seed, static_cast<std::uint64_t>(epoch), masking_place);
  Rng rng(random_key(key, static_cast<std::uint64_t>(line), 0));

  MaskedLine masked{{ids.begin(), ids.end()}, {}, {}};
  std::vector<Index> places;  // of tokens that may be chosen
  for (Index place = 0; place < std::ssize(ids); ++place) {
    if (!std::ranges::binary_search(options_.special, ids[place])) places.push_back(place);
  }
  check(!places.empty(), "masking: expected a token that is not special, got none");
  for (const Index place : places) {
    if (rng.uniform() < options_.share) masked.places.push_back(place);
  }
  if (masked.places.empty()) masked.places.push_back(places[rng.below(places.size())]);
  for (const Index place : masked.places) {
    masked.hidden.push_back(ids[place]);
    masked.ids[place] = shown_token(ids[place], rng);
  }
  return masked;
}

}  // namespace heed::data
