#!/usr/bin/env python3
"""Attention alone in PyTorch: 8 heads of 64, one sequence, f32. The baseline of attention_bench.

  torch_attention.py LENGTH causal|full forward|backward THREADS [SAMPLES]

scaled_dot_product_attention where this torch has it, otherwise the composition of matmul and softmax.
"""
import sys

import torch
import torch.nn.functional as F

from measuring import prepare, report, reset_peak_resident, seconds_per_call, status_megabytes

NUM_HEADS, HEAD_DIM = 8, 64


def attention_function(length, is_causal):
    if hasattr(F, "scaled_dot_product_attention"):
        return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    mask = torch.triu(torch.full((length, length), float("-inf")), 1) if is_causal else None

    def naive(q, k, v):
        scores = torch.matmul(q * HEAD_DIM ** -0.5, k.transpose(-1, -2))
        if is_causal:
            scores = scores + mask
        return torch.matmul(F.softmax(scores, -1), v)
    return naive


def main(length, is_causal, with_backward, samples):
    shape = (1, NUM_HEADS, length, HEAD_DIM)
    q, k, v = (torch.randn(shape, requires_grad=with_backward) for _ in range(3))
    gradient = torch.randn(shape)
    attention = attention_function(length, is_causal)

    def call():
        if with_backward:
            q.grad = k.grad = v.grad = None
            attention(q, k, v).backward(gradient)
        else:
            with torch.inference_mode():
                attention(q, k, v)

    torch.randn(64, 64).mm(torch.randn(64, 64))  # allocates the buffers of the BLAS library
    before = status_megabytes("VmRSS")
    reset_peak_resident()
    for seconds in seconds_per_call(samples, call):
        report("seconds", seconds)
    report("extra_megabytes", status_megabytes("VmHWM") - before)


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6) or sys.argv[2] not in ("causal", "full") \
            or sys.argv[3] not in ("forward", "backward"):
        sys.exit(__doc__)
    prepare(int(sys.argv[4]))
    main(int(sys.argv[1]), sys.argv[2] == "causal", sys.argv[3] == "backward",
         int(sys.argv[5]) if len(sys.argv) > 5 else 5)
