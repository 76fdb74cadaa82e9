#include "heed/nn/key_value_cache.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::nn {
namespace {

constexpr Index first_capacity = 16;

void copy_rows(Tensor& to, Index to_row, const Tensor& from, Index from_row, Index count,
               Index width) {
  if (count == 0) return;  // there may be no storage yet
  std::memcpy(to.data() + to_row * width, from.data() + from_row * width,
              static_cast<std::size_t>(count * width) * sizeof(float));
}

}  // namespace

KeyValueCache::KeyValueCache(Index num_rows) : slots_(num_rows), lengths_(num_rows, 0) {
  std::iota(slots_.begin(), slots_.end(), Index{0});
}

KeysAndValues KeyValueCache::append(const KeysAndValues& fresh) {
  const Index num_rows = static_cast<Index>(slots_.size());
  check(fresh.keys.spans.count() == num_rows, "key/value cache: expected ", num_rows,
        " sequences, got ", fresh.keys.spans.count());
  width_ = fresh.keys.values.dim(-1);

  Index longest = 0;
  for (Index row = 0; row < num_rows; ++row) {
    longest = std::max(longest, lengths_[row] + fresh.keys.spans[row].length);
  }
  reserve(num_rows, longest);

  std::vector<Span> spans(num_rows);
  for (Index row = 0; row < num_rows; ++row) {
    const Span& added = fresh.keys.spans[row];
    const Index begin = slots_[row] * capacity_;
    copy_rows(keys_, begin + lengths_[row], fresh.keys.values, added.begin, added.length, width_);
    copy_rows(values_, begin + lengths_[row], fresh.values, added.begin, added.length, width_);
    lengths_[row] += added.length;
    spans[row] = {begin, lengths_[row]};
  }
  return {{keys_, Spans(std::move(spans))}, values_};
}

void KeyValueCache::reorder(std::span<const Index> rows) {
  const Index num_rows = static_cast<Index>(slots_.size());
  std::vector<bool> is_kept(num_rows, false);
  std::vector<Index> slots(rows.size()), lengths(rows.size());
  std::vector<std::size_t> repeated;  // the new rows that need a slot of their own
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check(rows[i] >= 0 && rows[i] < num_rows, "key/value cache: expected a row below ", num_rows,
          ", got ", rows[i]);
    slots[i] = slots_[rows[i]];
    lengths[i] = lengths_[rows[i]];
    if (is_kept[rows[i]]) repeated.push_back(i);
    is_kept[rows[i]] = true;
  }

  reserve(static_cast<Index>(rows.size()), capacity_);
  std::vector<bool> is_used(num_slots_, false);
  for (const Index slot : slots) is_used[slot] = true;
  Index next_free = 0;
  std::vector<Index> sources;
  for (const std::size_t i : repeated) {
    while (is_used[next_free]) ++next_free;
    sources.push_back(slots[i]);
    slots[i] = next_free++;
  }
  parallel_for(static_cast<Index>(repeated.size()), [&](Index copy) {
    const std::size_t i = repeated[copy];
    copy_slot(sources[copy], slots[i], lengths[i]);
  });
  slots_ = std::move(slots);
  lengths_ = std::move(lengths);
}

void KeyValueCache::copy_slot(Index from, Index to, Index length) {
  copy_rows(keys_, to * capacity_, keys_, from * capacity_, length, width_);
  copy_rows(values_, to * capacity_, values_, from * capacity_, length, width_);
}

// Room for so many slots of so many tokens. Longer slots are made for the rows that still live, so
// that a few that go on for long do not drag along the room of all that have ended.
void KeyValueCache::reserve(Index num_slots, Index capacity) {
  if (num_slots <= num_slots_ && capacity <= capacity_) return;
  const bool is_longer = capacity > capacity_;
  const Index new_capacity =
      is_longer ? std::max({capacity, 2 * capacity_, first_capacity}) : capacity_;
  const Index new_slots = is_longer ? num_slots : std::max(num_slots, 2 * num_slots_);
  Tensor keys = Tensor::empty({new_slots * new_capacity, width_});
  Tensor values = Tensor::empty({new_slots * new_capacity, width_});
  for (Index row = 0; row < std::ssize(slots_); ++row) {
    const Index slot = is_longer ? row : slots_[row];
    const Index from = slots_[row] * capacity_, to = slot * new_capacity;
    copy_rows(keys, to, keys_, from, lengths_[row], width_);
    copy_rows(values, to, values_, from, lengths_[row], width_);
    slots_[row] = slot;
  }
  keys_ = std::move(keys);
  values_ = std::move(values);
  num_slots_ = new_slots;
  capacity_ = new_capacity;
}

StackCache::StackCache(Index num_layers, Index num_rows) : lengths_(num_rows, 0) {
  for (Index layer = 0; layer < num_layers; ++layer) layers_.emplace_back(num_rows);
}

void StackCache::advance(const Spans& added) {
  for (Index row = 0; row < num_rows(); ++row) lengths_[row] += added[row].length;
}

void StackCache::reorder(std::span<const Index> rows) {
  for (KeyValueCache& layer : layers_) layer.reorder(rows);
  std::vector<Index> lengths;
  for (const Index row : rows) lengths.push_back(lengths_.at(row));
  lengths_ = std::move(lengths);
}

Tensor attend_to_itself(const MultiHeadAttention& attention, const Packed& x,
                        const ops::AttentionMask& mask, ForwardContext& context,
                        std::span<const Index> past, KeyValueCache* cache) {
  KeysAndValues seen = attention.keys_and_values(x, past);
  if (cache) seen = cache->append(seen);
  return attention.attend(x, seen, mask, context, past);
}

}  // namespace heed::nn
