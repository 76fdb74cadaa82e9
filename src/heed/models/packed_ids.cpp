#include "heed/models/packed_ids.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::models {
namespace {

// Appends the types of a sequence, whose first and last ones extra tokens have too.
void append_types(std::vector<int>& types, std::span<const int> own, const ExtraTokens& extra) {
  if (extra.prepend) types.push_back(own.empty() ? 0 : own.front());
  types.insert(types.end(), own.begin(), own.end());
  if (extra.append) types.push_back(own.empty() ? 0 : own.back());
}

}  // namespace

PackedIds pack(std::span<const TokenSequence> sequences, const ExtraTokens& extra) {
  const bool has_types = std::ranges::any_of(
      sequences, [](const TokenSequence& sequence) { return !sequence.types.empty(); });
  std::vector<int> ids, types;
  std::vector<Index> lengths;
  for (const auto& [own, own_types] : sequences) {
    const auto begin = std::ssize(ids);
    if (extra.prepend) ids.push_back(*extra.prepend);
    ids.insert(ids.end(), own.begin(), own.end());
    if (extra.append) ids.push_back(*extra.append);
    lengths.push_back(std::ssize(ids) - begin);
    check(own_types.empty() || own_types.size() == own.size(), "pack: expected a type for each of ",
          own.size(), " tokens, got ", own_types.size());
    if (has_types) append_types(types, own_types, extra);
    if (has_types) types.resize(ids.size(), 0);
  }
  return {std::move(ids), Spans::of_lengths(lengths), std::move(types)};
}

PackedIds pack(std::span<const std::span<const int>> sequences, const ExtraTokens& extra) {
  std::vector<TokenSequence> views;
  for (const std::span<const int> ids : sequences) views.push_back({ids});
  return pack(views, extra);
}

PackedIds pack(std::span<const std::vector<int>> sequences, const ExtraTokens& extra) {
  const std::vector<std::span<const int>> views(sequences.begin(), sequences.end());
  return pack(views, extra);
}

PackedIds prepend(int id, const PackedIds& input) {
  std::vector<TokenSequence> sequences;
  for (const Span& span : input.spans) {
    const auto part = [&](const std::vector<int>& all) {
      return all.empty() ? std::span<const int>() : std::span(all).subspan(span.begin, span.length);
    };
    sequences.push_back({part(input.ids), part(input.types)});
  }
  return pack(sequences, {.prepend = id});
}

}  // namespace heed::models
