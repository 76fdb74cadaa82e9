#include "heed/ops/attention.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/attention_few_queries.h"
#include "heed/ops/attention_checks.h"
#include "heed/ops/norm.h"

namespace heed::ops {

AttentionMask AttentionMask::of_cells(const std::vector<bool>& may_see, Index num_keys) {
  auto dense = std::make_shared<DenseMask>();
  dense->query_stride = num_keys;
  for (const bool is_visible : may_see) {
    dense->values.push_back(is_visible ? 0 : -std::numeric_limits<float>::infinity());
  }
  return {.causal = false, .window = 0, .dense = std::move(dense)};
}

namespace {

constexpr Index page_rows = kernels::attention_page_rows;

// Pieces of short sequences are little work: a thread takes ranges of them, of about this many
// multiply-adds.
constexpr Index min_range_work = 1 << 16;

// Everything that the kernels need for one call, forward and backward.
struct Plan {
  Packed query, key;
  Tensor value;
  AttentionSizes sizes;
  AttentionMask mask;
  AttentionOptions options;
  float scale;
  const PagedKeys* paged;  // set: the rows of the key's spans are in its pages
  Tensor logsumexp;        // [N, H]

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

  kernels::AttentionInput input(Index sequence, Index head) const {
    const Index group = sizes.group_of(head);
    return {query_rows(query.values, sequence, head, sizes.key_dim),
            paged_rows(key.values, sequence, group, sizes.key_dim),
            paged_rows(value, sequence, group, sizes.value_dim), sizes_of(sequence)};
  }

  // Rows of one sequence and head in a tensor with `heads` heads of `width` side by side.
  template <typename Rows, typename T>
  static Rows head_rows(T& x, const Span& span, Index head, Index width) {
    return {x.data() + span.begin * x.dim(1) + head * width, x.dim(1)};
  }
  kernels::RowsView query_rows(const Tensor& x, Index s, Index head, Index width) const {
    return head_rows<kernels::RowsView>(x, query.spans[s], head, width);
  }
  kernels::RowsView key_rows(const Tensor& x, Index s, Index group, Index width) const {
    return head_rows<kernels::RowsView>(x, key.spans[s], group, width);
  }
  kernels::PagedRows paged_rows(const Tensor& x, Index s, Index group, Index width) const {
    if (paged == nullptr) return key_rows(x, s, group, width);
    const Index page_size = page_rows * width, head_size = x.dim(1) * page_size;
    return {x.data() + group * head_size, width, page_size, paged->pages[s].data()};
  }
  kernels::RowsOut query_rows_out(Tensor& x, Index s, Index head, Index width) const {
    return head_rows<kernels::RowsOut>(x, query.spans[s], head, width);
  }
  kernels::RowsOut key_rows_out(Tensor& x, Index s, Index group, Index width) const {
    return head_rows<kernels::RowsOut>(x, key.spans[s], group, width);
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

// A function of the sizes only, so that the ranges do not depend on the number of threads.
Index pieces_per_range(const Plan& plan, Index count) {
  Index cells = 0;
  for (Index s = 0; s < plan.query.spans.count(); ++s) {
    cells += plan.query.spans[s].length * plan.key.spans[s].length;
  }
  const Index work = cells * plan.sizes.heads * (plan.sizes.key_dim + plan.sizes.value_dim);
  return std::max<Index>(1, min_range_work * count / std::max<Index>(work, 1));
}

// The rows of a sequence and key/value head are prefetched while the previous sequence is
// computed, unless they are so many that the kernels prefetch them block by block.
//
// x is like the query, [N, H * width].
void prefetch_queries(const Plan& plan, const Tensor& x, Index sequence, Index group, Index width) {
  const Index heads_per_group = plan.sizes.heads_per_group();
  const Index count = plan.query.spans[sequence].length;
  if (count > kernels::attention_key_block) return;
  kernels::prefetch_rows(plan.query_rows(x, sequence, group * heads_per_group, width), 0, count,
                         count, heads_per_group * width);
}

void prefetch_keys(const Plan& plan, const Tensor& x, Index sequence, Index group, Index width) {
  const Index count = plan.key.spans[sequence].length;
  if (count > kernels::attention_key_block) return;
  kernels::prefetch_rows(plan.paged_rows(x, sequence, group, width), 0, count, count, width);
}

void prefetch_inputs(const Plan& plan, Index sequence, Index group) {
  prefetch_queries(plan, plan.query.values, sequence, group, plan.sizes.key_dim);
  prefetch_keys(plan, plan.key.values, sequence, group, plan.sizes.key_dim);
  prefetch_keys(plan, plan.value, sequence, group, plan.sizes.value_dim);
}

template <typename Body>
void with_workspace(const Plan& plan, Index count, Body body) {
  parallel_ranges(count, pieces_per_range(plan, count), [&](Index begin, Index end) {
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

// A decoding step: prefetches the next piece, then computes this one.
void run_few_queries(const Plan& plan, const kernels::AttentionOutput& out, const Piece& piece,
                     const Piece* next) {
  if (next) {
    const kernels::AttentionInput input = plan.input(next->sequence, next->head);
    kernels::prefetch_few_queries(input.key, input.value, input.sizes);
  }
  kernels::attention_few_queries(out, plan.input(piece.sequence, piece.head), plan.scale);
}

// The first head of a group prefetches for the next sequence.
void prefetch_next_sequence(const Plan& plan, const Piece& piece, const Tensor& output) {
  const Index next = piece.sequence + 1, group = plan.sizes.group_of(piece.head);
  const bool is_first_of_group = piece.head % plan.sizes.heads_per_group() == 0;
  if (!is_first_of_group || next >= plan.query.spans.count()) return;
  prefetch_inputs(plan, next, group);
  prefetch_queries(plan, output, next, group, plan.sizes.value_dim);
}

Tensor run_forward(Plan& plan, AttentionView* view) {
  const AttentionSizes& sizes = plan.sizes;
  Tensor output = Tensor::empty({plan.query.values.dim(0), sizes.heads * sizes.value_dim});
  if (plan.query.spans.num_tokens() != output.dim(0)) output = Tensor::zeros(output.shape());
  plan.logsumexp = Tensor::empty({plan.query.values.dim(0), sizes.heads});
  if (view) open_view(*view, plan);

  const std::vector<Piece> pieces = forward_pieces(plan);
  with_workspace(plan, std::ssize(pieces), [&](Index number, float* workspace) {
    const Piece& piece = pieces[number];
    const Index s = piece.sequence, head = piece.head;
    const kernels::AttentionOutput out{plan.query_rows_out(output, s, head, sizes.value_dim),
                                       plan.query_rows_out(plan.logsumexp, s, head, 1)};
    const kernels::AttentionRule rule = plan.rule(s, head);
    if (!view && kernels::has_few_queries(plan.sizes_of(s), rule)) {
      return run_few_queries(plan, out, piece,
                             number + 1 < std::ssize(pieces) ? &pieces[number + 1] : nullptr);
    }
    prefetch_next_sequence(plan, piece, output);
    kernels::AttentionRecord record;
    if (view) record = record_for(*view, piece);
    kernels::attention(out, plan.input(s, head), rule, {piece.first, piece.last},
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

Tensor gradient_of(const Tensor& x, const Spans& spans) {
  return spans.num_tokens() == x.dim(0) ? Tensor::empty(x.shape()) : Tensor::zeros(x.shape());
}

// One piece per sequence and key/value head: its query heads add to the same gradients, in order.
Gradients run_backward(const Plan& plan, const Tensor& deltas, const Tensor& doutput) {
  const AttentionSizes& sizes = plan.sizes;
  Tensor dquery = gradient_of(plan.query.values, plan.query.spans);
  Tensor dkey = gradient_of(plan.key.values, plan.key.spans);
  Tensor dvalue = gradient_of(plan.value, plan.key.spans);
  const auto prefetch = [&](Index s, Index group) {
    prefetch_inputs(plan, s, group);
    prefetch_queries(plan, doutput, s, group, sizes.value_dim);
    prefetch_queries(plan, dquery, s, group, sizes.key_dim);
    prefetch_keys(plan, dkey, s, group, sizes.key_dim);
    prefetch_keys(plan, dvalue, s, group, sizes.value_dim);
  };
  const Index num_pieces = plan.query.spans.count() * sizes.groups;
  with_workspace(plan, num_pieces, [&](Index number, float* workspace) {
    const Index s = number / sizes.groups, group = number % sizes.groups;
    if (s + 1 < plan.query.spans.count()) prefetch(s + 1, group);
    const Index first_head = group * sizes.heads_per_group();
    for (Index head = first_head; head < first_head + sizes.heads_per_group(); ++head) {
      const kernels::AttentionGradients gradients{
          plan.query_rows_out(dquery, s, head, sizes.key_dim),
          plan.key_rows_out(dkey, s, group, sizes.key_dim),
          plan.key_rows_out(dvalue, s, group, sizes.value_dim),
          /*accumulate=*/head > first_head};
      const kernels::AttentionSaved saved{plan.query_rows(doutput, s, head, sizes.value_dim),
                                          plan.query_rows(deltas, s, head, 1),
                                          plan.query_rows(plan.logsumexp, s, head, 1)};
      kernels::attention_backward(gradients, plan.input(s, head), saved, plan.rule(s, head),
                                  workspace);
    }
  });
  return {dquery, dkey, dvalue};
}

// `inputs` become those of the autograd graph: query, key, value.
Plan make_plan(const AttentionSizes& sizes, const Packed& query, const Packed& key,
               const Tensor& value, const AttentionMask& mask, const AttentionOptions& options,
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
          /*logsumexp=*/{}};
}

bool joins_graph(const std::vector<Tensor>& inputs) {
  return is_grad_enabled() && std::ranges::any_of(inputs, &Tensor::needs_gradient);
}

}  // namespace

Tensor attention(const Packed& query, const PagedKeys& memory, const AttentionMask& mask,
                 const AttentionOptions& options, AttentionView* view) {
  const Spans keys = checked_spans(memory);
  const AttentionSizes sizes = checked_sizes(query, memory, keys, options);
  std::vector<Tensor> inputs;
  Plan plan = make_plan(sizes, query, {memory.keys, keys}, memory.values, mask, options, inputs);
  check(!joins_graph(inputs), "attention: keys in pages have no gradient");
  plan.paged = &memory;
  return run_forward(plan, view);
}

Tensor attention(const Packed& query, const Packed& key, const Tensor& value,
                 const AttentionMask& mask, const AttentionOptions& options, AttentionView* view) {
  const AttentionSizes sizes = checked_sizes(query, key, value, options);
  std::vector<Tensor> inputs;
  Plan plan = make_plan(sizes, query, key, value, mask, options, inputs);
  if (joins_graph(inputs)) check_disjoint(key.spans);
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

}  // namespace heed::ops
