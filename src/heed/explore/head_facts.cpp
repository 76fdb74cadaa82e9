#include "heed/explore/head_facts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed::explore {
namespace {

// The weights of one head, [queries, keys].
struct Head {
  std::span<const float> weights;
  Index queries, keys;
  LinkKind kind;

  std::span<const float> row(Index query) const { return weights.subspan(query * keys, keys); }
  Index visible(Index query) const {
    return kind == LinkKind::causal ? std::min(query + 1, keys) : keys;
  }
  // A query that sees one key says nothing about the head.
  Index first_query() const { return kind == LinkKind::causal && queries > 1 ? 1 : 0; }
};

double entropy_of(std::span<const float> row) {
  double bits = 0;
  for (const float weight : row) {
    if (weight > 0) bits -= weight * std::log2(static_cast<double>(weight));
  }
  return bits;
}

double mean_entropy(const Head& head) {
  double sum = 0;
  for (Index query = 0; query < head.queries; ++query) sum += entropy_of(head.row(query));
  return sum / static_cast<double>(head.queries);
}

// The mean weight of the key that `place` names, over the queries that see it; none unless most of
// the queries do.
template <typename Place>
std::optional<double> mean_at(const Head& head, Place place) {
  double sum = 0;
  Index count = 0;
  for (Index query = head.first_query(); query < head.queries; ++query) {
    const Index key = place(query);
    if (key < 0 || key >= head.visible(query)) continue;
    sum += head.row(query)[key];
    ++count;
  }
  if (count == 0 || 2 * count < head.queries - head.first_query()) return std::nullopt;
  return sum / static_cast<double>(count);
}

struct Named {
  std::string label;
  double share;
};

std::vector<Named> shares_of_places(const Head& head) {
  std::vector<Named> shares;
  const auto add = [&](const char* label, auto place) {
    if (const auto share = mean_at(head, place)) shares.push_back({label, *share});
  };
  if (head.kind != LinkKind::cross) {
    add("previous token", [](Index query) { return query - 1; });
    add("same token", [](Index query) { return query; });
    add("next token", [](Index query) { return query + 1; });
  }
  add("first token", [](Index) { return Index{0}; });
  add("last token", [&](Index) { return head.keys - 1; });
  return shares;
}

struct Peaks {
  double mean_weight = 0;
  Index num_keys = 0;  // different ones
};

Peaks peaks_of(const Head& head) {
  Peaks peaks;
  std::set<Index> keys;
  for (Index query = head.first_query(); query < head.queries; ++query) {
    const auto row = head.row(query);
    const auto peak = std::ranges::max_element(row);
    keys.insert(peak - row.begin());
    peaks.mean_weight += *peak;
  }
  peaks.mean_weight /= static_cast<double>(head.queries - head.first_query());
  peaks.num_keys = std::ssize(keys);
  return peaks;
}

// The entropy as a part of what equal weights would have; over queries that see more than one key.
double breadth_of(const Head& head) {
  double sum = 0;
  Index count = 0;
  for (Index query = 0; query < head.queries; ++query) {
    if (head.visible(query) < 2) continue;
    sum += entropy_of(head.row(query)) / std::log2(static_cast<double>(head.visible(query)));
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

Named label_of(const Head& head) {
  const std::vector<Named> named = shares_of_places(head);
  const auto best = std::ranges::max_element(named, {}, &Named::share);
  if (best != named.end() && best->share >= place_threshold) return *best;
  const Peaks peaks = peaks_of(head);
  const bool moves =
      static_cast<double>(peaks.num_keys) >=
      aligned_keys_threshold * static_cast<double>(std::min(head.queries, head.keys));
  if (head.kind == LinkKind::cross && moves && peaks.mean_weight >= aligned_weight_threshold) {
    return {"aligned", peaks.mean_weight};
  }
  const double breadth = breadth_of(head);
  if (breadth >= broad_threshold) return {"broad", breadth};
  return {"mixed", peaks.mean_weight};
}

}  // namespace

std::vector<HeadFact> head_facts(const Tensor& weights, LinkKind kind) {
  check(weights.rank() == 3 && weights.size() > 0,
        "head facts: expected weights [heads, queries, keys], got ", weights.shape());
  const Index queries = weights.dim(1), keys = weights.dim(2);
  std::vector<HeadFact> facts;
  for (Index number = 0; number < weights.dim(0); ++number) {
    const auto cells = weights.values().subspan(number * queries * keys, queries * keys);
    const Head head{cells, queries, keys, kind};
    const Named named = label_of(head);
    facts.push_back({named.label, named.share, mean_entropy(head)});
  }
  return facts;
}

}  // namespace heed::explore
