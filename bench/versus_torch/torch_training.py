#!/usr/bin/env python3
"""Training throughput of the Transformer in PyTorch. The baseline of training_speed, on the same batches.

  torch_training.py batches WORK     chooses batches by length: WORK/train.ids -> WORK/batches.txt
  torch_training.py run WORK [...]   trains on them; prints target tokens per second and peak memory
"""
import argparse
import os
import random

import torch
import torch.nn as nn

from measuring import prepare, report, seconds_of, status_megabytes
from torch_transformer import END, PAD, StockModel, TunedModel, pad


def read_ids(work):
    sources, targets = [], []
    with open(os.path.join(work, "train.ids")) as lines:
        for line in lines:
            source, target = line.rstrip("\n").split("\t")
            sources.append([int(i) for i in source.split()] + [END])
            targets.append([int(i) for i in target.split()])
    return sources, targets


def make_batches(sources, targets, max_tokens, rng):
    """Sentences of similar length together, sentences x longest side <= max_tokens, in random order."""
    def longest_side(i):
        return max(len(sources[i]), len(targets[i]) + 1)

    order = list(range(len(sources)))
    rng.shuffle(order)
    order.sort(key=lambda i: len(sources[i]))  # stable: random among equal lengths
    order.sort(key=lambda i: len(targets[i]))
    batches, current, longest = [], [], 0
    for i in order:
        if current and max(longest, longest_side(i)) * (len(current) + 1) > max_tokens:
            size = len(current) if len(current) < 8 else len(current) - len(current) % 8
            batches.append(current[:size])
            current = current[size:]
            longest = max(map(longest_side, current), default=0)
        current.append(i)
        longest = max(longest, longest_side(i))
    batches.append(current)
    rng.shuffle(batches)
    return batches


def choose_batches(args):
    batches = make_batches(*read_ids(args.work), args.max_tokens, random.Random(1))
    step = max(1, len(batches) // args.batches)
    with open(os.path.join(args.work, "batches.txt"), "w") as out:
        for batch in batches[::step][:args.batches]:
            out.write(" ".join(map(str, batch)) + "\n")


class FlatAdam:
    """All parameters and all gradients in one tensor each: one set of Adam kernels for all."""
    def __init__(self, model):
        parameters = list(model.parameters())
        count = sum(p.numel() for p in parameters)
        values, self.gradient = torch.empty(count), torch.zeros(count)
        begin = 0
        for p in parameters:
            end = begin + p.numel()
            values[begin:end] = p.data.view(-1)
            p.data = values[begin:end].view_as(p)
            p.grad = self.gradient[begin:end].view_as(p)
            begin = end
        self.parameters = [nn.Parameter(values)]
        self.parameters[0].grad = self.gradient
        self.adam = adam(self.parameters)

    def clear_gradients(self):
        self.gradient.zero_()


class StockAdam:
    def __init__(self, model):
        self.parameters = list(model.parameters())
        self.adam = adam(self.parameters)

    def clear_gradients(self):
        self.adam.zero_grad(set_to_none=True)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=2.5e-6, betas=(0.9, 0.98), eps=1e-8)


def update(model, optimizer, batch):
    optimizer.clear_gradients()
    loss = model.loss(*batch)
    (loss / int(batch[2].ne(PAD).sum())).backward()
    torch.nn.utils.clip_grad_norm_(optimizer.parameters, 25.0)
    optimizer.adam.step()


def run(args):
    prepare(args.threads)
    sources, targets = read_ids(args.work)
    vocabulary = 1 + max(max(map(max, sources)), max(map(max, targets)))
    sizes = (vocabulary, args.dim, args.feed_forward_dim, args.heads, args.layers, args.dropout)
    model = StockModel(*sizes) if args.model == "stock" else TunedModel(*sizes)
    optimizer = StockAdam(model) if args.model == "stock" else FlatAdam(model)
    model.train()

    batches = []
    with open(os.path.join(args.work, "batches.txt")) as lines:
        for line in list(lines)[:args.batches]:
            numbers = [int(i) for i in line.split()]
            batches.append((pad([sources[i] for i in numbers]),
                            pad([[END] + targets[i] for i in numbers]),
                            pad([targets[i] + [END] for i in numbers])))
    num_tokens = sum(int(batch[2].ne(PAD).sum()) for batch in batches)
    for batch in batches[:(len(batches) + 3) // 4]:
        update(model, optimizer, batch)
    seconds = seconds_of(lambda: [update(model, optimizer, batch) for batch in batches])
    report("tokens_per_second", num_tokens / seconds)
    report("peak_megabytes", status_megabytes("VmHWM"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["batches", "run"])
    parser.add_argument("work")
    parser.add_argument("--model", choices=["tuned", "stock"], default="tuned")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--max-tokens", type=int, default=4096)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--feed-forward-dim", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--dropout", type=float, default=0.3)
    arguments = parser.parse_args()
    (choose_batches if arguments.command == "batches" else run)(arguments)
