#include "heed/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/attention_few_queries.h"
#include "heed/ops/embedding.h"
#include "heed/ops/matmul.h"
#include "heed/ops/norm.h"
#include "heed/ops/softmax.h"

namespace heed::ops {

Index num_key_value_heads(const AttentionOptions& options) {
  return options.num_key_value_heads == 0 ? options.num_heads : options.num_key_value_heads;
}

namespace {

// Short sequences are small work: several pieces are taken at a time, as long as they stay below so
// many multiply-adds.
constexpr Index small_turn = 1 << 16;

struct Sizes {
  Index heads, groups;       // H query heads over G key/value heads
  Index key_dim, value_dim;  // K and J
  Index group_of(Index head) const { return head / (heads / groups); }
};

// What holds wherever the keys lie; the value's width is left to the caller.
Sizes checked_sizes(const Packed& query, const AttentionOptions& options) {
  const Index heads = options.num_heads;
  const Index groups = num_key_value_heads(options);
  check(heads > 0 && groups > 0 && heads % groups == 0,
        "attention: expected key/value heads that divide the heads, got ", groups, " and ", heads);
  const Tensor& q = query.values;
  check(q.rank() == 2 && q.dim(1) % heads == 0, "attention: expected a query of ", heads,
        " heads in each row of a matrix, got ", q.shape());
  check(query.spans.end_row() <= q.dim(0),
        "attention: the sequences reach beyond the rows of query ", q.shape());
  check(options.past.empty() || static_cast<Index>(options.past.size()) == query.spans.count(),
        "attention: expected the past of ", query.spans.count(), " sequences, got ",
        options.past.size());
  check(options.alibi_slopes.empty() || static_cast<Index>(options.alibi_slopes.size()) == heads,
        "attention: expected ", heads, " ALiBi slopes, got ", options.alibi_slopes.size());
  check(options.dropout.probability >= 0 && options.dropout.probability < 1,
        "attention: expected a dropout in [0, 1), got ", options.dropout.probability);
  return {heads, groups, q.dim(1) / heads, 0};
}

void check_sequences(const Packed& query, const Spans& keys) {
  check(query.spans.count() == keys.count(),
        "attention: expected as many key sequences as query sequences, got ", keys.count(), " and ",
        query.spans.count());
}

Sizes checked_sizes(const Packed& query, const Packed& key, const Tensor& value,
                    const AttentionOptions& options) {
  Sizes sizes = checked_sizes(query, options);
  const Tensor &q = query.values, &k = key.values;
  check(k.rank() == 2 && value.rank() == 2, "attention: expected matrices, got key ", k.shape(),
        ", value ", value.shape());
  check(k.dim(1) == sizes.key_dim * sizes.groups, "attention: expected query and key of ",
        sizes.heads, " and ", sizes.groups, " heads of one width, got ", q.shape(), " and ",
        k.shape());
  check(value.dim(1) % sizes.groups == 0 && value.dim(0) == k.dim(0),
        "attention: expected a value of ", sizes.groups, " heads and ", k.dim(0), " rows, got ",
        value.shape());
  check_sequences(query, key.spans);
  check(key.spans.end_row() <= k.dim(0), "attention: the sequences reach beyond the rows of key ",
        k.shape());
  sizes.value_dim = value.dim(1) / sizes.groups;
  return sizes;
}

constexpr Index page_rows = kernels::attention_page_rows;

Sizes checked_sizes(const Packed& query, const PagedKeys& memory, const Spans& keys,
                    const AttentionOptions& options) {
  Sizes sizes = checked_sizes(query, options);
  check_sequences(query, keys);
  const Index num_pages = memory.keys.dim(1);
  sizes.value_dim = memory.values.dim(-1);
  const Shape key_shape{sizes.groups, num_pages, page_rows, sizes.key_dim};
  const Shape value_shape{sizes.groups, num_pages, page_rows, sizes.value_dim};
  check(memory.keys.shape() == key_shape && memory.values.shape() == value_shape,
        "attention: expected keys ", key_shape, " and values ", value_shape, ", got ",
        memory.keys.shape(), " and ", memory.values.shape());
  return sizes;
}

void check_dense(const DenseMask& mask, const Packed& query, const Packed& key, Index heads) {
  Index last = -1;
  for (Index s = 0; s < query.spans.count(); ++s) {
    const Index queries = query.spans[s].length, keys = key.spans[s].length;
    if (queries == 0 || keys == 0) continue;
    last = std::max(last, s * mask.sequence_stride + (heads - 1) * mask.head_stride +
                              (queries - 1) * mask.query_stride + keys - 1);
  }
  check(last < static_cast<Index>(mask.values.size()), "attention: expected a mask of at least ",
        last + 1, " values, got ", mask.values.size());
}

// Everything that the kernels need for one call, forward and back.
struct Plan {
  Packed query, key;
  Tensor value;
  Sizes sizes;
  AttentionMask mask;
  AttentionOptions options;
  float scale;
  const PagedKeys* paged;  // set: where the rows of the key's spans lie
  Tensor log_sum;          // [N, H]

  kernels::AttentionSizes sizes_of(Index sequence) const {
    return {query.spans[sequence].length, key.spans[sequence].length, sizes.key_dim,
            sizes.value_dim};
  }

  kernels::AttentionRule rule(Index sequence, Index head) const {
    kernels::AttentionRule rule;
    rule.scale = scale;
    rule.softcap = options.softcap;
    rule.alibi_slope = options.alibi_slopes.empty() ? 0 : options.alibi_slopes[head];
    rule.is_causal = mask.causal;
    rule.window = mask.window;
    rule.past = options.past.empty() ? 0 : options.past[sequence];
    if (mask.dense) {
      rule.dense = mask.dense->values.data() + sequence * mask.dense->sequence_stride +
                   head * mask.dense->head_stride;
      rule.dense_stride = mask.dense->query_stride;
    }
    rule.dropout = kernels::dropout_rule(options.dropout.probability, options.dropout.key);
    rule.has_dropout = rule.dropout.threshold > 0;
    rule.first_dropout_row = query.spans[sequence].begin * sizes.heads + head;
    rule.dropout_row_step = sizes.heads;
    return rule;
  }

  // Rows of one sequence and head in a tensor with `heads` heads of `width` side by side.
  template <typename Rows, typename T>
  static Rows head_rows(T& x, const Span& span, Index head, Index width) {
    return {x.data() + span.begin * x.dim(1) + head * width, x.dim(1)};
  }
  kernels::HeadRows query_rows(const Tensor& x, Index s, Index head, Index width) const {
    return head_rows<kernels::HeadRows>(x, query.spans[s], head, width);
  }
  kernels::HeadRows key_rows(const Tensor& x, Index s, Index group, Index width) const {
    return head_rows<kernels::HeadRows>(x, key.spans[s], group, width);
  }
  kernels::PagedRows paged_rows(const Tensor& x, Index s, Index group, Index width) const {
    if (paged == nullptr) return key_rows(x, s, group, width);
    const Index page_size = page_rows * width, head_size = x.dim(1) * page_size;
    return {x.data() + group * head_size, width, page_size, paged->pages[s].data()};
  }
  kernels::HeadRowsOut query_rows_out(Tensor& x, Index s, Index head, Index width) const {
    return head_rows<kernels::HeadRowsOut>(x, query.spans[s], head, width);
  }
  kernels::HeadRowsOut key_rows_out(Tensor& x, Index s, Index group, Index width) const {
    return head_rows<kernels::HeadRowsOut>(x, key.spans[s], group, width);
  }
};

struct Piece {
  Index sequence, head, first, last;
};

// One piece per sequence and head, and per so many queries of a long sequence.
std::vector<Piece> forward_pieces(const Plan& plan) {
  std::vector<Piece> pieces;
  for (Index s = 0; s < plan.query.spans.count(); ++s) {
    const Index queries = plan.query.spans[s].length;
    for (Index first = 0; first < queries; first += kernels::attention_max_queries) {
      const Index last = std::min(queries, first + kernels::attention_max_queries);
      for (Index head = 0; head < plan.sizes.heads; ++head)
        pieces.push_back({s, head, first, last});
    }
  }
  return pieces;
}

// A function of the sizes only, so that the turns are the same for any threads.
Index turn_of(const Plan& plan, Index count) {
  Index cells = 0;
  for (Index s = 0; s < plan.query.spans.count(); ++s) {
    cells += plan.query.spans[s].length * plan.key.spans[s].length;
  }
  const Index work = cells * plan.sizes.heads * (plan.sizes.key_dim + plan.sizes.value_dim);
  return std::max<Index>(1, small_turn * count / std::max<Index>(work, 1));
}

// A sequence's rows of a key/value head's queries in x, [N, H * width], and of its keys and values
// are asked for while the sequence before it is worked on: unless they are so many that attention
// asks for them block by block.
void ask_for_queries(const Plan& plan, const Tensor& x, Index sequence, Index group, Index width) {
  const Index heads_per_group = plan.sizes.heads / plan.sizes.groups;
  const Index count = plan.query.spans[sequence].length;
  if (count > kernels::attention_key_block) return;
  kernels::ask_for_rows(plan.query_rows(x, sequence, group * heads_per_group, width), 0, count,
                        count, heads_per_group * width);
}

void ask_for_keys(const Plan& plan, const Tensor& x, Index sequence, Index group, Index width) {
  const Index count = plan.key.spans[sequence].length;
  if (count > kernels::attention_key_block) return;
  kernels::ask_for_rows(plan.paged_rows(x, sequence, group, width), 0, count, count, width);
}

void ask_for_inputs(const Plan& plan, Index sequence, Index group) {
  ask_for_queries(plan, plan.query.values, sequence, group, plan.sizes.key_dim);
  ask_for_keys(plan, plan.key.values, sequence, group, plan.sizes.key_dim);
  ask_for_keys(plan, plan.value, sequence, group, plan.sizes.value_dim);
}

template <typename Body>
void with_workspace(const Plan& plan, Index count, Body body) {
  parallel_ranges(count, turn_of(plan, count), [&](Index begin, Index end) {
    const auto workspace =
        allocate_floats(kernels::attention_workspace(plan.sizes.key_dim, plan.sizes.value_dim));
    for (Index i = begin; i < end; ++i) body(i, workspace.get());
  });
}

void open_view(AttentionView& view, const Plan& plan) {
  const auto open = [&](std::vector<Tensor>& tensors, bool has_keys) {
    tensors.clear();
    for (Index s = 0; s < plan.query.spans.count(); ++s) {
      const Index heads = plan.sizes.heads, queries = plan.query.spans[s].length;
      tensors.push_back(Tensor::zeros(has_keys ? Shape{heads, queries, plan.key.spans[s].length}
                                               : Shape{heads, queries}));
    }
  };
  for (auto* tensors : {&view.scores, &view.capped, &view.masked, &view.weights}) {
    open(*tensors, /*has_keys=*/true);
  }
  for (auto* tensors : {&view.maxima, &view.sums}) open(*tensors, /*has_keys=*/false);
}

kernels::AttentionRecord record_for(AttentionView& view, const Piece& piece) {
  const auto of_head = [&](std::vector<Tensor>& tensors) {
    Tensor& t = tensors[piece.sequence];
    return t.data() + piece.head * (t.size() / t.dim(0));
  };
  return {of_head(view.scores),  of_head(view.capped), of_head(view.masked),
          of_head(view.weights), of_head(view.maxima), of_head(view.sums)};
}

Tensor run_forward(Plan& plan, AttentionView* view) {
  const Sizes& sizes = plan.sizes;
  Tensor output = Tensor::empty({plan.query.values.dim(0), sizes.heads * sizes.value_dim});
  if (plan.query.spans.num_tokens() != output.dim(0)) output = Tensor::zeros(output.shape());
  plan.log_sum = Tensor::empty({plan.query.values.dim(0), sizes.heads});
  if (view) open_view(*view, plan);

  const std::vector<Piece> pieces = forward_pieces(plan);
  const auto keys_of = [&plan](const Piece& piece) {
    const Index group = plan.sizes.group_of(piece.head);
    return plan.paged_rows(plan.key.values, piece.sequence, group, plan.sizes.key_dim);
  };
  const auto values_of = [&plan](const Piece& piece) {
    const Index group = plan.sizes.group_of(piece.head);
    return plan.paged_rows(plan.value, piece.sequence, group, plan.sizes.value_dim);
  };
  with_workspace(plan, static_cast<Index>(pieces.size()), [&](Index number, float* workspace) {
    const Piece& piece = pieces[number];
    const Index s = piece.sequence, head = piece.head;
    const kernels::HeadRowsOut out = plan.query_rows_out(output, s, head, sizes.value_dim);
    const kernels::HeadRowsOut log_sum = plan.query_rows_out(plan.log_sum, s, head, 1);
    const kernels::HeadRows q = plan.query_rows(plan.query.values, s, head, sizes.key_dim);
    const kernels::PagedRows k = keys_of(piece), v = values_of(piece);
    const kernels::AttentionSizes one = plan.sizes_of(s);
    const kernels::AttentionRule rule = plan.rule(s, head);
    if (!view && kernels::has_few_queries(one, rule)) {
      if (number + 1 < std::ssize(pieces)) {
        const Piece& next = pieces[number + 1];
        kernels::prefetch_few_queries(keys_of(next), values_of(next), plan.sizes_of(next.sequence));
      }
      return kernels::attention_few_queries(out, log_sum, q, k, v, one, rule.scale);
    }
    const bool is_first_of_group = head % (sizes.heads / sizes.groups) == 0;
    if (is_first_of_group && s + 1 < plan.query.spans.count()) {
      ask_for_inputs(plan, s + 1, sizes.group_of(head));
      ask_for_queries(plan, output, s + 1, sizes.group_of(head), sizes.value_dim);
    }
    kernels::AttentionRecord record;
    if (view) record = record_for(*view, piece);
    kernels::attention(out, log_sum, q, k, v, one, rule, piece.first, piece.last,
                       view ? &record : nullptr, workspace);
  });
  return output;
}

// [N, H], for every query and head the dot product of its output and the output's gradient.
Tensor make_deltas(const Plan& plan, const Tensor& output, const Tensor& doutput) {
  constexpr Index grain = 256;
  Tensor deltas = Tensor::empty({output.dim(0), plan.sizes.heads});
  const Index width = plan.sizes.value_dim;
  parallel_ranges(deltas.size(), grain, [&, out = deltas.data()](Index begin, Index end) {
    // A head's vector is a row of its own: [N * H, J].
    kernels::attention_deltas({out + begin, 1}, {doutput.data() + begin * width, width},
                              {output.data() + begin * width, width}, end - begin, width);
  });
  return deltas;
}

// One piece per sequence and key/value head: its query heads add to the same gradients, in order.
Gradients run_backward(const Plan& plan, const Tensor& deltas, const Tensor& doutput) {
  const Sizes& sizes = plan.sizes;
  const auto gradient_of = [](const Tensor& x, const Spans& spans) {
    return spans.num_tokens() == x.dim(0) ? Tensor::empty(x.shape()) : Tensor::zeros(x.shape());
  };
  Tensor dquery = gradient_of(plan.query.values, plan.query.spans);
  Tensor dkey = gradient_of(plan.key.values, plan.key.spans);
  Tensor dvalue = gradient_of(plan.value, plan.key.spans);
  with_workspace(
      plan, plan.query.spans.count() * sizes.groups, [&](Index number, float* workspace) {
        const Index s = number / sizes.groups, group = number % sizes.groups;
        const Index heads_per_group = sizes.heads / sizes.groups;
        const Index first_head = group * heads_per_group;
        if (s + 1 < plan.query.spans.count()) {
          ask_for_inputs(plan, s + 1, group);
          ask_for_queries(plan, doutput, s + 1, group, sizes.value_dim);
          ask_for_queries(plan, dquery, s + 1, group, sizes.key_dim);
          ask_for_keys(plan, dkey, s + 1, group, sizes.key_dim);
          ask_for_keys(plan, dvalue, s + 1, group, sizes.value_dim);
        }
        for (Index head = first_head; head < first_head + heads_per_group; ++head) {
          kernels::attention_backward(
              plan.query_rows_out(dquery, s, head, sizes.key_dim),
              plan.key_rows_out(dkey, s, group, sizes.key_dim),
              plan.key_rows_out(dvalue, s, group, sizes.value_dim),
              /*accumulate=*/head > first_head, plan.query_rows(doutput, s, head, sizes.value_dim),
              plan.query_rows(deltas, s, head, 1), plan.query_rows(plan.log_sum, s, head, 1),
              plan.query_rows(plan.query.values, s, head, sizes.key_dim),
              plan.key_rows(plan.key.values, s, group, sizes.key_dim),
              plan.key_rows(plan.value, s, group, sizes.value_dim), plan.sizes_of(s),
              plan.rule(s, head), workspace);
        }
      });
  return {dquery, dkey, dvalue};
}

// Two sequences that share keys would add to the same gradients at the same time.
void check_disjoint(const Spans& spans) {
  std::vector<Span> sorted(spans.begin(), spans.end());
  std::sort(sorted.begin(), sorted.end(), [](Span a, Span b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    check(sorted[i - 1].begin + sorted[i - 1].length <= sorted[i].begin,
          "attention: sequences that share keys have no gradient");
  }
}

// Inputs are those of the record: query, key, value.
Plan make_plan(const Sizes& sizes, const Packed& query, const Packed& key, const Tensor& value,
               const AttentionMask& mask, const AttentionOptions& options,
               std::vector<Tensor>& inputs) {
  if (mask.dense) check_dense(*mask.dense, query, key, sizes.heads);
  inputs = {query.values, key.values, value};
  if (options.similarity == Similarity::cosine) {
    for (Tensor* x : {&inputs[0], &inputs[1]}) *x = unit_vectors(*x, sizes.key_dim);
  }
  return {{inputs[0].detach(), query.spans},
          {inputs[1].detach(), key.spans},
          value.detach(),
          sizes,
          mask,
          options,
          options.scale.value_or(default_scale(options.similarity, sizes.key_dim)),
          /*paged=*/nullptr,
          /*log_sum=*/{}};
}

bool is_recorded(const std::vector<Tensor>& inputs) {
  return is_grad_enabled() && std::ranges::any_of(inputs, &Tensor::needs_gradient);
}

// The sequences' lengths as spans; where their rows lie, the pages say.
Spans checked_spans(const PagedKeys& memory) {
  check(memory.pages.size() == memory.lengths.size(), "attention: expected the pages of ",
        memory.lengths.size(), " sequences, got ", memory.pages.size());
  check(memory.keys.rank() == 4 && memory.values.rank() == 4,
        "attention: expected pages of keys and values, got ", memory.keys.shape(), " and ",
        memory.values.shape());
  const Index num_pages = memory.keys.dim(1);
  std::vector<Span> spans;
  for (std::size_t s = 0; s < memory.lengths.size(); ++s) {
    spans.push_back({0, memory.lengths[s]});
    const std::vector<Index>& pages = memory.pages[s];
    check(std::ssize(pages) * page_rows >= memory.lengths[s], "attention: expected pages for ",
          memory.lengths[s], " keys, got ", pages.size(), " of ", page_rows);
    for (const Index page : pages) {
      check(page >= 0 && page < num_pages, "attention: expected a page below ", num_pages, ", got ",
            page);
    }
  }
  return Spans(std::move(spans));
}

}  // namespace

Tensor attention(const Packed& query, const PagedKeys& memory, const AttentionMask& mask,
                 const AttentionOptions& options, AttentionView* view) {
  const Spans keys = checked_spans(memory);
  const Sizes sizes = checked_sizes(query, memory, keys, options);
  std::vector<Tensor> inputs;
  Plan plan = make_plan(sizes, query, {memory.keys, keys}, memory.values, mask, options, inputs);
  check(!is_recorded(inputs), "attention: keys in pages have no gradient");
  plan.paged = &memory;
  return run_forward(plan, view);
}

Tensor attention(const Packed& query, const Packed& key, const Tensor& value,
                 const AttentionMask& mask, const AttentionOptions& options, AttentionView* view) {
  const Sizes sizes = checked_sizes(query, key, value, options);
  std::vector<Tensor> inputs;
  Plan plan = make_plan(sizes, query, key, value, mask, options, inputs);
  if (is_recorded(inputs)) check_disjoint(key.spans);
  Tensor output = run_forward(plan, view);
  return record(output, inputs,
                [plan = std::move(plan), output](const Tensor& doutput) mutable -> Gradients {
                  const Tensor deltas = make_deltas(plan, output, doutput);
                  output = Tensor();  // the gradients may take its place
                  return run_backward(plan, deltas, doutput);
                });
}

namespace {

void check_plain(const Tensor& query, const Tensor& key, const Tensor& value) {
  const int rank = query.rank();
  check((rank == 2 || rank == 3) && key.rank() == rank && value.rank() == rank,
        "attention: expected query, key and value [L, D] or [B, L, D], got ", query.shape(), ", ",
        key.shape(), " and ", value.shape());
  check(rank == 2 || (key.dim(0) == query.dim(0) && value.dim(0) == query.dim(0)),
        "attention: expected as many sequences in query, key and value, got ", query.shape(), ", ",
        key.shape(), " and ", value.shape());
}

// [L, D] or [B, L, D] as rows of B sequences end to end.
Packed packed(const Tensor& x) {
  if (x.rank() == 2) return {x, Spans::single(x.dim(0))};
  const std::vector<Index> lengths(static_cast<std::size_t>(x.dim(0)), x.dim(1));
  return {reshape(x, {x.dim(0) * x.dim(1), x.dim(2)}), Spans::of_lengths(lengths)};
}

// mask [L, M], [H, L, M] or [B, H, L, M] for `query` and `key`.
std::shared_ptr<const DenseMask> dense_mask(const Tensor& mask, const Tensor& query,
                                            const Tensor& key, Index num_heads) {
  if (!mask.is_defined()) return nullptr;
  const Index sequences = query.rank() == 2 ? 1 : query.dim(0);
  const Index queries = query.dim(-2), keys = key.dim(-2), cells = queries * keys;
  check(mask.shape() == Shape{queries, keys} || mask.shape() == Shape{num_heads, queries, keys} ||
            mask.shape() == Shape{sequences, num_heads, queries, keys},
        "attention: expected a mask [", queries, ", ", keys,
        "], one for each head or one for each ", "sequence and head, got ", mask.shape());
  check(!is_grad_enabled() || !mask.needs_gradient(), "attention: a mask has no gradient");
  return std::make_shared<const DenseMask>(
      DenseMask{.values = {mask.values().begin(), mask.values().end()},
                .sequence_stride = mask.rank() == 4 ? num_heads * cells : 0,
                .head_stride = mask.rank() >= 3 ? cells : 0,
                .query_stride = keys});
}

}  // namespace

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value,
                 const PlainAttentionOptions& options, AttentionView* view) {
  check_plain(query, key, value);
  const AttentionMask mask{.causal = options.causal,
                           .window = options.window,
                           .dense = dense_mask(options.mask, query, key, options.num_heads)};
  const Tensor output = attention(packed(query), packed(key), packed(value).values, mask,
                                  {.num_heads = options.num_heads,
                                   .num_key_value_heads = options.num_key_value_heads,
                                   .similarity = options.similarity,
                                   .scale = options.scale,
                                   .softcap = options.softcap,
                                   .alibi_slopes = options.alibi_slopes,
                                   .dropout = options.dropout},
                                  view);
  if (query.rank() == 2) return output;
  return reshape(output, {query.dim(0), query.dim(1), output.dim(1)});
}

Tensor self_attention(const Packed& x, const AttentionMask& mask, const AttentionOptions& options,
                      AttentionView* view) {
  return attention(x, x, x.values, mask, options, view);
}

namespace {

// Columns [first, first + width) of x, as a product with a matrix of zeros and ones.
Tensor columns(const Tensor& x, Index first, Index width) {
  Tensor pick = Tensor::zeros({x.dim(1), width});
  for (Index i = 0; i < width; ++i) pick.data()[(first + i) * width + i] = 1;
  return matmul(x, pick);
}

Tensor rows(const Tensor& x, const Span& span) {
  std::vector<Index> numbers;
  for (Index i = 0; i < span.length; ++i) numbers.push_back(span.begin + i);
  return gather_rows(x, numbers);
}

// Zeros, and minus infinity where a cell is masked; ALiBi and the dense mask added.
Tensor mask_matrix(const AttentionMask& mask, const AttentionOptions& options, Index sequence,
                   Index head, Index queries, Index keys) {
  Tensor m = Tensor::zeros({queries, keys});
  for (Index i = 0; i < queries; ++i) {
    for (Index j = 0; j < keys; ++j) {
      float& cell = m.data()[i * keys + j];
      const Index distance = std::abs(i - j);
      if (!options.alibi_slopes.empty())
        cell -= options.alibi_slopes[head] * static_cast<float>(distance);
      if (mask.dense) {
        const DenseMask& dense = *mask.dense;
        cell += dense.values[sequence * dense.sequence_stride + head * dense.head_stride +
                             i * dense.query_stride + j];
      }
      const bool is_hidden = (mask.causal && j > i) || (mask.window > 0 && distance >= mask.window);
      if (is_hidden) cell = -std::numeric_limits<float>::infinity();
    }
  }
  return m;
}

}  // namespace

Tensor attention_reference(const Packed& query, const Packed& key, const Tensor& value,
                           const AttentionMask& mask, const AttentionOptions& options) {
  const Sizes sizes = checked_sizes(query, key, value, options);
  check(options.past.empty() && options.dropout.probability == 0 && options.softcap == 0,
        "attention_reference: no past, dropout or softcap");
  const float scale_factor =
      options.scale.value_or(default_scale(options.similarity, sizes.key_dim));
  Tensor output = Tensor::zeros({query.values.dim(0), sizes.heads * sizes.value_dim});
  for (Index s = 0; s < query.spans.count(); ++s) {
    const Span &q_span = query.spans[s], &k_span = key.spans[s];
    for (Index head = 0; head < sizes.heads; ++head) {
      const Index group = sizes.group_of(head);
      const Tensor q = columns(rows(query.values, q_span), head * sizes.key_dim, sizes.key_dim);
      const Tensor k = columns(rows(key.values, k_span), group * sizes.key_dim, sizes.key_dim);
      const Tensor v = columns(rows(value, k_span), group * sizes.value_dim, sizes.value_dim);
      const bool is_cosine = options.similarity == Similarity::cosine;
      const Tensor scores =
          scale(is_cosine ? cosine_similarity(q, k) : dot_similarity(q, k), scale_factor);
      const Tensor m = mask_matrix(mask, options, s, head, q_span.length, k_span.length);
      const Tensor mixed = matmul(softmax(add(scores, m)), v);  // [queries, J]

      // Back to the rows and columns that belong to this sequence and head.
      Tensor place = Tensor::zeros({sizes.value_dim, output.dim(1)});
      for (Index i = 0; i < sizes.value_dim; ++i) {
        place.data()[i * output.dim(1) + head * sizes.value_dim + i] = 1;
      }
      Tensor put = Tensor::zeros({output.dim(0), q_span.length});
      for (Index i = 0; i < q_span.length; ++i)
        put.data()[(q_span.begin + i) * q_span.length + i] = 1;
      output = add(output, matmul(put, matmul(mixed, place)));
    }
  }
  return output;
}

}  // namespace heed::ops
