#!/usr/bin/env python3
"""A decoder-only model of the GPT-2-small shape in PyTorch, random weights. The baseline of gpt2_speed.

  torch_gpt2.py train THREADS [UPDATES]    4 sequences of 256 tokens, AdamW included
  torch_gpt2.py decode THREADS [TOKENS]    one sequence with a KV cache, after a 512-token prompt
"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from measuring import prepare, report, seconds_of, status_megabytes

VOCABULARY, WIDTH, NUM_HEADS, NUM_LAYERS, MAX_POSITIONS = 50257, 768, 12, 12, 1024
PROMPT_LENGTH = 512
HAS_FUSED_ATTENTION = hasattr(F, "scaled_dot_product_attention")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query_key_value, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.hidden, self.feed_forward_output = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x, mask, cache, at):
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, NUM_HEADS, -1).transpose(1, 2)
                   for part in self.query_key_value(x).split(WIDTH, -1))
        if cache is not None:
            keys, values = cache
            keys[:, :, at:at + length] = k
            values[:, :, at:at + length] = v
            k, v = keys[:, :, :at + length], values[:, :, :at + length]
        if HAS_FUSED_ATTENTION:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        else:
            scores = torch.matmul(q * q.size(-1) ** -0.5, k.transpose(-1, -2))
            if length > 1:
                scores = scores + mask[:length, :length]
            mixed = torch.matmul(F.softmax(scores, -1), v)
        return self.output(mixed.transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, x, mask, cache=None, at=0):
        x = x + self.attend(self.attention_norm(x), mask, cache, at)
        return x + self.feed_forward_output(F.gelu(self.hidden(self.feed_forward_norm(x))))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(MAX_POSITIONS, WIDTH)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.blocks = nn.ModuleList(Block() for _ in range(NUM_LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        mask = torch.triu(torch.full((MAX_POSITIONS, MAX_POSITIONS), float("-inf")), 1)
        self.register_buffer("mask", mask)

    def forward(self, ids, cache=None, at=0):
        x = self.tokens(ids) + self.positions(torch.arange(at, at + ids.size(1)))
        for layer, block in enumerate(self.blocks):
            x = block(x, self.mask, cache and cache[layer], at)
        return self.norm(x)

    def new_cache(self, capacity):
        shape = (1, NUM_HEADS, capacity, WIDTH // NUM_HEADS)
        return [(torch.zeros(shape), torch.zeros(shape)) for _ in self.blocks]

    def next_token(self, ids, cache, at):
        last = self(ids, cache, at)[0, -1]
        return torch.mv(self.tokens.weight, last).argmax().view(1, 1)


class OneRowLinear(nn.Module):
    """A product with one row as a matrix-vector product: faster than a matrix product."""
    def __init__(self, linear):
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias

    def forward(self, x):
        if x.numel() == self.weight.size(1):
            return torch.addmv(self.bias, self.weight, x.reshape(-1)).view(*x.shape[:-1], -1)
        return F.linear(x, self.weight, self.bias)


def use_one_row_products(module):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, OneRowLinear(child))
        else:
            use_one_row_products(child)


def measure_training(num_updates):
    model = LanguageModel().train()
    fastest = {"fused": True} if HAS_FUSED_ATTENTION else {"foreach": False}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **fastest)
    ids = torch.randint(0, VOCABULARY, (4, 257))

    def update():
        optimizer.zero_grad(set_to_none=True)
        hidden = model(ids[:, :-1]).reshape(-1, WIDTH)
        logits = F.linear(hidden, model.tokens.weight)
        F.cross_entropy(logits, ids[:, 1:].reshape(-1)).backward()
        optimizer.step()

    update()
    for _ in range(num_updates):
        report("tokens_per_second", ids[:, 1:].numel() / seconds_of(update))
    report("peak_megabytes", status_megabytes("VmHWM"))


@torch.inference_mode()
def measure_decoding(num_tokens):
    model = LanguageModel().eval()
    prompt = torch.randint(0, VOCABULARY, (1, PROMPT_LENGTH))

    def run(cache):
        nonlocal token
        for i in range(num_tokens):
            token = model.next_token(token, cache, PROMPT_LENGTH + i)

    def run_prompt(cache):
        nonlocal token
        token = model.next_token(prompt, cache, 0)

    token = None
    cache = model.new_cache(PROMPT_LENGTH + num_tokens)
    run_prompt(cache)
    report("prompt_tokens_per_second", PROMPT_LENGTH / seconds_of(lambda: run_prompt(cache)))
    with_matrices = num_tokens / seconds_of(lambda: run(cache))
    use_one_row_products(model)
    with_vectors = num_tokens / seconds_of(lambda: run(cache))
    report("tokens_per_second", max(with_matrices, with_vectors))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("train", "decode"):
        sys.exit(__doc__)
    prepare(int(sys.argv[2]))
    if sys.argv[1] == "train":
        measure_training(int(sys.argv[3]) if len(sys.argv) > 3 else 2)
    else:
        measure_decoding(int(sys.argv[3]) if len(sys.argv) > 3 else 128)
