#include "heed/nn/key_value_cache.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"

namespace heed::nn {
namespace {

constexpr Index page_rows = kernels::attention_page_rows;

void copy_floats(float* to, const float* from, Index count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

// Of the pages [heads, pages, page_rows, width], a head's row in one of them.
float* row_in(Tensor& x, Index head, Index page, Index row) {
  return x.data() + ((head * x.dim(1) + page) * page_rows + row) * x.dim(3);
}

// So many pages or more, at least twice as many as before.
void grow_pages(Tensor& x, Index num_pages, Index num_heads, Index width) {
  const Index before = x.is_defined() ? x.dim(1) : 0;
  Tensor larger = Tensor::empty({num_heads, std::max(num_pages, 2 * before), page_rows, width});
  for (Index head = 0; before > 0 && head < num_heads; ++head) {
    copy_floats(row_in(larger, head, 0, 0), row_in(x, head, 0, 0), before * page_rows * width);
  }
  x = std::move(larger);
}

void copy_page(Tensor& x, Index from, Index to, Index num_rows) {
  for (Index head = 0; head < x.dim(0); ++head) {
    copy_floats(row_in(x, head, to, 0), row_in(x, head, from, 0), num_rows * x.dim(3));
  }
}

// A token [heads * width] becomes a row of every head.
void write_token(Tensor& x, Index page, Index row, const float* token) {
  const Index width = x.dim(3);
  for (Index head = 0; head < x.dim(0); ++head) {
    copy_floats(row_in(x, head, page, row), token + head * width, width);
  }
}

}  // namespace

KeyValueCache::KeyValueCache(Index num_rows) {
  paged_.lengths.assign(num_rows, 0);
  paged_.pages.resize(num_rows);
}

const ops::PagedKeys& KeyValueCache::append(const KeysAndValues& fresh) {
  const Index num_rows = std::ssize(paged_.lengths);
  check(fresh.keys.spans.count() == num_rows, "key/value cache: expected ", num_rows,
        " sequences, got ", fresh.keys.spans.count());
  std::vector<PageCopy> copies;
  for (Index row = 0; row < num_rows; ++row) {
    reserve_pages(row, fresh.keys.spans[row].length, copies);
  }
  grow_storage(fresh);
  // Before anything is written: the last row that shares a page writes to the page itself.
  parallel_for(std::ssize(copies), [&](Index number) {
    const PageCopy& copy = copies[number];
    for (Tensor* x : {&paged_.keys, &paged_.values}) {
      copy_page(*x, copy.from, copy.to, copy.num_rows);
    }
  });
  for (Index row = 0; row < num_rows; ++row) write(row, fresh);
  return paged_;
}

// Pages of the row's own for so many more tokens.
void KeyValueCache::reserve_pages(Index row, Index num_added, std::vector<PageCopy>& copies) {
  if (num_added == 0) return;
  std::vector<Index>& pages = paged_.pages[row];
  const Index length = paged_.lengths[row], in_last_page = length % page_rows;
  if (in_last_page > 0 && users_[pages.back()] > 1) {
    --users_[pages.back()];
    const Index own = take_page();
    copies.push_back({pages.back(), own, in_last_page});
    pages.back() = own;
  }
  while (std::ssize(pages) * page_rows < length + num_added) pages.push_back(take_page());
}

// A page with one user. It may lie beyond the storage until that grows.
Index KeyValueCache::take_page() {
  if (free_pages_.empty()) {
    users_.push_back(1);
    return std::ssize(users_) - 1;
  }
  const Index page = free_pages_.back();
  free_pages_.pop_back();
  users_[page] = 1;
  return page;
}

void KeyValueCache::grow_storage(const KeysAndValues& fresh) {
  const Index num_pages = std::ssize(users_);
  if (paged_.keys.is_defined() && paged_.keys.dim(1) >= num_pages) return;
  const Index heads = fresh.num_heads;
  grow_pages(paged_.keys, num_pages, heads, fresh.keys.values.dim(-1) / heads);
  grow_pages(paged_.values, num_pages, heads, fresh.values.dim(-1) / heads);
}

void KeyValueCache::write(Index row, const KeysAndValues& fresh) {
  const Span& added = fresh.keys.spans[row];
  const Tensor &keys = fresh.keys.values, &values = fresh.values;
  Index& length = paged_.lengths[row];
  for (Index token = added.begin; token < added.begin + added.length; ++token, ++length) {
    const Index page = paged_.pages[row][length / page_rows], to = length % page_rows;
    write_token(paged_.keys, page, to, keys.data() + token * keys.dim(-1));
    write_token(paged_.values, page, to, values.data() + token * values.dim(-1));
  }
}

void KeyValueCache::reorder(std::span<const Index> rows) {
  const Index num_rows = std::ssize(paged_.lengths);
  std::vector<std::vector<Index>> pages;
  std::vector<Index> lengths;
  for (const Index row : rows) {
    check(row >= 0 && row < num_rows, "key/value cache: expected a row below ", num_rows, ", got ",
          row);
    pages.push_back(paged_.pages[row]);
    lengths.push_back(paged_.lengths[row]);
  }
  for (const std::vector<Index>& row : pages) {
    for (const Index page : row) ++users_[page];
  }
  for (const std::vector<Index>& row : paged_.pages) {
    for (const Index page : row) {
      if (--users_[page] == 0) free_pages_.push_back(page);
    }
  }
  paged_.pages = std::move(pages);
  paged_.lengths = std::move(lengths);
}

}  // namespace heed::nn
