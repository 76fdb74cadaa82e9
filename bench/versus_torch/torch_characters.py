#!/usr/bin/env python3
"""The preset `char` in PyTorch, trained on the same characters: the baseline of bench/shakespeare.

  torch_characters.py TRAIN VALID THREADS [UPDATES]

Four blocks of width 128, four heads, 64 characters of context, 12 windows per update, AdamW, cosine decay
from 0.003 to 0 after 100 warm-up updates, as in train/recipe_presets.cpp. Prints the training time without
validation, then the loss over all of VALID.
"""
import math
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

from measuring import prepare, report

WIDTH, NUM_HEADS, NUM_LAYERS, CONTEXT, WINDOWS = 128, 4, 4, 64, 12
PEAK_RATE, WARM_UP, WEIGHT_DECAY, CLIP = 3e-3, 100, 0.1, 1.0
HAS_FUSED_ATTENTION = hasattr(F, "scaled_dot_product_attention")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query_key_value, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.hidden, self.feed_forward_output = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x, mask):
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, NUM_HEADS, -1).transpose(1, 2)
                   for part in self.query_key_value(x).split(WIDTH, -1))
        if HAS_FUSED_ATTENTION:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = torch.matmul(q * q.size(-1) ** -0.5, k.transpose(-1, -2)) + mask
            mixed = torch.matmul(F.softmax(scores, -1), v)
        return self.output(mixed.transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, x, mask):
        x = x + self.attend(self.attention_norm(x), mask)
        return x + self.feed_forward_output(F.gelu(self.hidden(self.feed_forward_norm(x))))


class LanguageModel(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(NUM_LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                is_residual = name.endswith("output.weight")
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * NUM_LAYERS if is_residual else 1))
        self.register_buffer("mask", torch.triu(torch.full((CONTEXT, CONTEXT), float("-inf")), 1))

    def loss(self, ids, reduction="mean"):
        x = self.tokens(ids[:, :-1]) + self.positions.weight
        for block in self.blocks:
            x = block(x, self.mask)
        logits = F.linear(self.norm(x), self.tokens.weight)
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction=reduction)


def new_optimizer(model):
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    fastest = {"fused": True} if HAS_FUSED_ATTENTION else {"foreach": False}
    return torch.optim.AdamW([{"params": matrices, "weight_decay": WEIGHT_DECAY},
                              {"params": others, "weight_decay": 0}],
                             lr=PEAK_RATE, betas=(0.9, 0.99), **fastest)


def rate(update, num_updates):
    if update < WARM_UP:
        return PEAK_RATE * update / WARM_UP
    return PEAK_RATE * (1 + math.cos(math.pi * (update - WARM_UP) / (num_updates - WARM_UP))) / 2


def train(model, text, num_updates):
    optimizer = new_optimizer(model.train())
    for update in range(1, num_updates + 1):
        begins = torch.randint(len(text) - CONTEXT, (WINDOWS,)).tolist()
        batch = torch.stack([text[begin:begin + CONTEXT + 1] for begin in begins])
        for group in optimizer.param_groups:
            group["lr"] = rate(update, num_updates)
        optimizer.zero_grad(set_to_none=True)
        model.loss(batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()


@torch.inference_mode()
def validation_loss(model, text):
    model.eval()
    num_windows = (len(text) - 1) // CONTEXT
    total = sum(model.loss(text[i * CONTEXT:(i + 1) * CONTEXT + 1][None], "sum").item()
                for i in range(num_windows))
    return total / (num_windows * CONTEXT)


def main(train_file, valid_file, num_updates):
    texts = [open(name, encoding="utf-8").read() for name in (train_file, valid_file)]
    ids = {character: i for i, character in enumerate(sorted(set(texts[0] + texts[1])))}
    text, valid = (torch.tensor([ids[character] for character in text]) for text in texts)
    model = LanguageModel(len(ids))
    start = time.perf_counter()
    train(model, text, num_updates)
    report("seconds", time.perf_counter() - start)
    report("validation_loss", validation_loss(model, valid))


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    torch.manual_seed(1)
    prepare(int(sys.argv[3]))
    main(sys.argv[1], sys.argv[2], int(sys.argv[4]) if len(sys.argv) > 4 else 2000)
