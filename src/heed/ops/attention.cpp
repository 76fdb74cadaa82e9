#include "heed/ops/attention.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/attention_few_queries.h"
#include "heed/ops/attention_checks.h"
#include "heed/ops/attention_plan.h"
#include "heed/ops/attention_prefetch.h"
#include "heed/ops/norm.h"

namespace heed::ops {

AttentionMask AttentionMask::of_cells(const std::vector<bool>& may_see, Index num_keys) {
  auto dense = std::make_shared<DenseMask>();
  dense->query_stride = num_keys;
  for (const bool is_visible : may_see) {
    dense->values.push_back(is_visible ? 0 : -std::numeric_limits<float>::infinity());
  }
  AttentionMask mask;
  mask.dense = std::move(dense);
  return mask;
}

namespace {

// Zeros of the shapes that the kernels fill piece by piece.
void open_view(AttentionView& view, const AttentionPlan& plan) {
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

kernels::AttentionRecord record_for(AttentionView& view, const AttentionPiece& piece) {
  const auto of_head = [&](std::vector<Tensor>& tensors) {
    Tensor& t = tensors[piece.sequence];
    return t.data() + piece.head * (t.size() / t.dim(0));
  };
  return {of_head(view.scores),  of_head(view.capped), of_head(view.masked),
          of_head(view.weights), of_head(view.maxima), of_head(view.sums)};
}

// A decoding step: prefetches the next piece, then computes this one.
void run_few_queries(const AttentionPlan& plan, const kernels::AttentionOutput& out,
                     const AttentionPiece& piece, const kernels::AttentionRule& rule,
                     const AttentionPiece* next) {
  if (next) {
    const kernels::AttentionInput input = plan.input(next->sequence, next->head);
    kernels::prefetch_few_queries(input.key, input.value, input.sizes);
  }
  kernels::attention_few_queries(out, plan.input(piece.sequence, piece.head), rule);
}

// Memory for the rows of all sequences; zeros if there are rows of none.
Tensor make_rows(const Shape& shape, const Spans& spans) {
  return spans.num_tokens() == shape[0] ? Tensor::empty(shape) : Tensor::zeros(shape);
}

Tensor run_forward(AttentionPlan& plan, AttentionView* view) {
  const AttentionSizes& sizes = plan.sizes;
  const Index rows = plan.query.values.dim(0);
  Tensor output = make_rows({rows, sizes.heads * sizes.value_dim}, plan.query.spans);
  plan.logsumexp = Tensor::empty({rows, sizes.heads});
  if (view) open_view(*view, plan);

  const std::vector<AttentionPiece> pieces = forward_pieces(plan);
  parallel_pieces(plan, std::ssize(pieces), [&](Index number, float* workspace) {
    const AttentionPiece& piece = pieces[number];
    const Index s = piece.sequence, head = piece.head;
    const kernels::AttentionOutput out{plan.query_rows_out(output, s, head, sizes.value_dim),
                                       plan.query_rows_out(plan.logsumexp, s, head, 1)};
    const kernels::AttentionRule rule = plan.rule(s, head);
    if (!view && kernels::has_few_queries(plan.sizes_of(s), rule)) {
      return run_few_queries(plan, out, piece, rule,
                             number + 1 < std::ssize(pieces) ? &pieces[number + 1] : nullptr);
    }
    prefetch_next_sequence(plan, piece, output);
    kernels::AttentionRecord record;
    if (view) record = record_for(*view, piece);
    kernels::attention(out, plan.input(s, head), rule, piece.queries, view ? &record : nullptr,
                       workspace);
  });
  return output;
}

// [N, H], for every query and head the dot product of its output and the output's gradient.
Tensor make_deltas(const AttentionPlan& plan, const Tensor& output, const Tensor& doutput) {
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

// [2 R + 1, H], the sum of the sequences' [H, 2 R + 1], which have the scale as a factor.
Tensor sum_distance_gradients(const Tensor& parts, const AttentionPlan& plan) {
  const Index heads = plan.sizes.heads, distances = plan.num_distances();
  Tensor sum = Tensor::zeros({distances, heads});
  for (Index row = 0; row < parts.dim(0); ++row) {
    for (Index i = 0; i < distances; ++i) {
      sum.data()[i * heads + row % heads] += parts.data()[row * distances + i] / plan.scale;
    }
  }
  return sum;
}

// One piece per sequence and key/value head: its query heads add to the same gradients, in order.
Gradients run_backward(const AttentionPlan& plan, const Tensor& deltas, const Tensor& doutput) {
  const AttentionSizes& sizes = plan.sizes;
  Tensor dquery = make_rows(plan.query.values.shape(), plan.query.spans);
  Tensor dkey = make_rows(plan.key.values.shape(), plan.key.spans);
  Tensor dvalue = make_rows(plan.value.shape(), plan.key.spans);
  // Of each sequence and head.
  Tensor ddistances = Tensor::zeros({plan.query.spans.count() * sizes.heads, plan.num_distances()});
  const auto prefetch = [&](Index s, Index group) {
    prefetch_inputs(plan, s, group);
    prefetch_queries(plan, doutput, s, group, sizes.value_dim);
    prefetch_queries(plan, dquery, s, group, sizes.key_dim);
    prefetch_keys(plan, dkey, s, group, sizes.key_dim);
    prefetch_keys(plan, dvalue, s, group, sizes.value_dim);
  };
  const Index num_pieces = plan.query.spans.count() * sizes.groups;
  parallel_pieces(plan, num_pieces, [&](Index number, float* workspace) {
    const Index s = number / sizes.groups, group = number % sizes.groups;
    if (s + 1 < plan.query.spans.count()) prefetch(s + 1, group);
    const Index first_head = group * sizes.heads_per_group();
    for (Index head = first_head; head < first_head + sizes.heads_per_group(); ++head) {
      const kernels::AttentionGradients gradients{
          plan.query_rows_out(dquery, s, head, sizes.key_dim),
          plan.key_rows_out(dkey, s, group, sizes.key_dim),
          plan.key_rows_out(dvalue, s, group, sizes.value_dim),
          /*accumulate=*/head > first_head,
          plan.distance_bias.empty()
              ? nullptr
              : ddistances.data() + (s * sizes.heads + head) * plan.num_distances()};
      const kernels::AttentionSaved saved{plan.query_rows(doutput, s, head, sizes.value_dim),
                                          plan.query_rows(deltas, s, head, 1),
                                          plan.query_rows(plan.logsumexp, s, head, 1)};
      kernels::attention_backward(gradients, plan.input(s, head), saved, plan.rule(s, head),
                                  workspace);
    }
  });
  if (plan.distance_bias.empty()) return {dquery, dkey, dvalue};
  return {dquery, dkey, dvalue, sum_distance_gradients(ddistances, plan)};
}

// The kernels compute dot products; those of unit vectors are cosines. x [rows, heads * key_dim].
Packed dot_product_operand(const Packed& x, Similarity similarity, Index key_dim) {
  if (similarity != Similarity::cosine) return x;
  return {unit_vectors(x.values, key_dim), x.spans};
}

std::vector<Tensor> differentiable_inputs(const Tensor& query, const Tensor& key,
                                          const Tensor& value, const AttentionMask& mask) {
  std::vector<Tensor> inputs{query, key, value};
  if (mask.distance_bias.is_defined()) inputs.push_back(mask.distance_bias);
  return inputs;
}

bool joins_graph(const std::vector<Tensor>& inputs) {
  return is_grad_enabled() && std::ranges::any_of(inputs, &Tensor::needs_gradient);
}

}  // namespace

Tensor attention(const Packed& query, const PagedKeys& memory, const AttentionMask& mask,
                 const AttentionOptions& options, AttentionView* view) {
  const Spans spans = checked_spans(memory);
  const AttentionSizes sizes = checked_sizes(query, memory, spans, options);
  const Packed q = dot_product_operand(query, options.similarity, sizes.key_dim);
  const Packed k = dot_product_operand({memory.keys, spans}, options.similarity, sizes.key_dim);
  check(!joins_graph(differentiable_inputs(q.values, k.values, memory.values, mask)),
        "attention: keys in pages have no gradient");
  AttentionPlan plan = make_plan(q, k, memory.values, sizes, mask, options);
  plan.paged = &memory;
  return run_forward(plan, view);
}

Tensor attention(const Packed& query, const Packed& key, const Tensor& value,
                 const AttentionMask& mask, const AttentionOptions& options, AttentionView* view) {
  const AttentionSizes sizes = checked_sizes(query, key, value, options);
  const Packed q = dot_product_operand(query, options.similarity, sizes.key_dim);
  const Packed k = dot_product_operand(key, options.similarity, sizes.key_dim);
  const std::vector<Tensor> inputs = differentiable_inputs(q.values, k.values, value, mask);
  AttentionPlan plan = make_plan(q, k, value, sizes, mask, options);
  if (joins_graph(inputs)) check_no_shared_keys(key.spans);
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
Packed pack_sequences(const Tensor& x) {
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
        "], one for each head or one for each sequence and head, got ", mask.shape());
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
  const Tensor output =
      attention(pack_sequences(query), pack_sequences(key), pack_sequences(value).values, mask,
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
