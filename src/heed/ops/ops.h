// The differentiable functions on tensors, in one header.
//
// | header          | functions                                                                  |
// | --------------- | -------------------------------------------------------------------------- |
// | operators.h     | a + b, a - b, a * b, with tensors and with a number; -a                    |
// | elementwise.h   | add, subtract, multiply, add_scalar, scale, sum, reshape                   |
// |                 | relu, gelu, quick_gelu, silu, swiglu; dropout, add_dropout                 |
// | matmul.h        | matmul, with either operand transposed                                     |
// | linear.h        | linear: x weight^T + bias, for a tensor or a packed weight                 |
// | packed_matrix.h | PackedMatrix: a weight packed for inference, f32 to int4                   |
// | embedding.h     | embedding, gather_rows                                                     |
// | positions.h     | sinusoidal_table, add_positions, rotary, alibi_slopes, buckets_by_distance |
// | norm.h          | layer_norm, rms_norm, unit_vectors                                         |
// | softmax.h       | softmax, log_softmax                                                       |
// | similarity.h    | dot, cosine and scaled dot similarity                                      |
// | attention.h     | attention, self_attention, attention_reference                             |
// | pooling.h       | mean_rows                                                                  |
// | cross_entropy.h | cross_entropy; binary_cross_entropy.h: binary_cross_entropy                |
//
// A function returns its result joined to the autograd graph if an input needs a gradient;
// backward(loss) of core/tensor.h then leaves gradients in the leaves.
#pragma once

#include "heed/ops/attention.h"
#include "heed/ops/binary_cross_entropy.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/linear.h"
#include "heed/ops/matmul.h"
#include "heed/ops/norm.h"
#include "heed/ops/operators.h"
#include "heed/ops/packed_matrix.h"
#include "heed/ops/pooling.h"
#include "heed/ops/positions.h"
#include "heed/ops/similarity.h"
#include "heed/ops/softmax.h"
