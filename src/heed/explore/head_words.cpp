#include "heed/explore/head_words.h"

namespace heed::explore {
namespace {

// What one token gives to each group of keys.
std::vector<double> group_sums(const float* weights, const TokenGroups& keys) {
  std::vector<double> sums;
  for (const std::vector<Index>& group : keys) {
    double sum = 0;
    for (const Index key : group) sum += weights[key];
    sums.push_back(sum);
  }
  return sums;
}

// Divided by their own sum; all are 0 where that is 0.
void make_shares(std::vector<double>& sums) {
  double total = 0;
  for (const double sum : sums) total += sum;
  if (total == 0) return;
  for (double& sum : sums) sum /= total;
}

}  // namespace

TokenList tokens_of(const Recording& recording, const std::string& side) {
  const ModelSession& session = recording.session();
  const bool is_target = side == "target";
  return token_list(is_target ? recording.input().target : tokens_seen(session, recording.input()),
                    session.tokenizer());
}

TokenGroups token_groups(const TokenList& tokens, const GroupOptions& options) {
  TokenGroups groups;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    if (options.hide_special && tokens.is_special[i]) continue;
    const bool continues =
        options.by_word && !groups.empty() && tokens.words[groups.back().back()] == tokens.words[i];
    if (!continues) groups.emplace_back();
    groups.back().push_back(static_cast<Index>(i));
  }
  return groups;
}

Tensor grouped_weights(const Tensor& weights, const TokenGroups& queries, const TokenGroups& keys,
                       bool renormalise) {
  const Index heads = weights.dim(0);
  Tensor grouped = Tensor::empty({heads, std::ssize(queries), std::ssize(keys)});
  float* next = grouped.data();
  for (Index head = 0; head < heads; ++head) {
    for (const std::vector<Index>& group : queries) {
      std::vector<double> means(keys.size(), 0.0);
      for (const Index query : group) {
        const float* row = weights.data() + (head * weights.dim(1) + query) * weights.dim(2);
        std::vector<double> sums = group_sums(row, keys);
        if (renormalise) make_shares(sums);
        for (std::size_t key = 0; key < keys.size(); ++key) means[key] += sums[key];
      }
      for (const double mean : means) {
        *next++ = static_cast<float>(mean / static_cast<double>(group.size()));
      }
    }
  }
  return grouped;
}

Tensor shown_weights(const Recording& recording, const std::string& site,
                     const GroupOptions& options) {
  const Tensor weights = recording.view(site).weights;
  if (!options.by_word && !options.hide_special) return weights;
  const Site& place = recording.session().site(site);
  const auto groups = [&](const std::string& side) {
    return token_groups(tokens_of(recording, side), options);
  };
  return grouped_weights(weights, groups(place.queries), groups(place.keys), options.hide_special);
}

}  // namespace heed::explore
