#!/usr/bin/env python3
"""Translation in PyTorch with the weights of a Heed model: the baseline of `heed translate`.

  torch_translation.py MODEL SOURCE_IDS TARGET_IDS BEAM THREADS

Reads one line of token ids per sentence (from token_ids), writes the ids of the translations, and prints the
seconds of the search alone: no interpreter, no imports, no tokenizer, no loading. Batches of sentences of
similar length, a KV cache, and finished sentences leave their batch.
"""
import json
import os
import struct
import sys

import torch

from measuring import prepare, report, seconds_of
from torch_transformer import END, PAD, TunedModel, attend, pad

BEGIN = 2
MINUS_INFINITY = float("-inf")


def read_safetensors(path):
    """Header length, header, data: docs/file_formats.md."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__":
            assert about["dtype"] == "F32", f"{path}: expected F32, got {about['dtype']} for {name}"
            begin, end = about["data_offsets"]
            numbers = torch.frombuffer(data, dtype=torch.float32, count=(end - begin) // 4, offset=begin)
            tensors[name] = numbers.view(about["shape"]).clone()
    return tensors


def load_model(folder):
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    expected = {"norm_place": "after", "norm_kind": "layer", "activation_function": "relu",
                "tied_embeddings": "all", "similarity": "scaled-dot"}
    for field, value in expected.items():
        assert config[field] == value, f"{folder}: expected {field} {value}, got {config[field]}"
    positions = config["positions"]
    assert positions in ("sinusoidal", "rotary"), f"{folder}: expected sinusoidal or rotary, got {positions}"
    assert config["encoder_layers"] == config["decoder_layers"], f"{folder}: expected equal stacks"
    model = TunedModel(config["vocab_size"], config["d_model"], config["ffn_dim"],
                       config["attention_heads"], config["encoder_layers"], config["dropout"], positions == "rotary")
    tensors = read_safetensors(os.path.join(folder, "model.safetensors"))

    def linear(ours, theirs):
        return {theirs + ".weight": tensors.pop(ours + ".weight"),
                theirs + ".bias": tensors.pop(ours + ".bias")}

    def norm(name):
        return {name + ".weight": tensors.pop(name + ".gain"), name + ".bias": tensors.pop(name + ".bias")}

    def attention(name):
        parts = [linear(f"{name}.{part}", part) for part in ("query", "key", "value")]
        return {**{f"{name}.{kind}": torch.cat([part[f"{role}.{kind}"] for role, part in
                                                zip(("query", "key", "value"), parts)])
                   for kind in ("weight", "bias")},
                **linear(name + ".output", name + ".output")}

    weights = {"embedding.weight": tensors.pop("embedding.weight")}
    for stack, roles in (("encoder", ["self_attention"]),
                         ("decoder", ["self_attention", "cross_attention"])):
        for layer in range(config["encoder_layers"]):
            name = f"{stack}.{layer}"
            for role in roles:
                weights.update(attention(f"{name}.{role}"))
                weights.update(norm(f"{name}.{role}_norm"))
            weights.update(linear(name + ".feed_forward.hidden", name + ".hidden"))
            weights.update(linear(name + ".feed_forward.output", name + ".output"))
            weights.update(norm(name + ".feed_forward_norm"))
    assert not tensors, f"{folder}: expected no other weights, got {sorted(tensors)}"
    model.load_state_dict(weights)
    return model.eval()


class BeamSearch:
    """Beam search over one batch; `beam` rows for each unfinished sentence."""
    def __init__(self, model, sources, beam):
        self.model, self.beam = model, beam
        memory, self.memory_mask = model.encode(sources)
        # Cross-attention keys and values are kept once per sentence, not per hypothesis.
        self.cross = [tuple(part.contiguous() for part in layer.cross_attention.key_value(memory))
                      for layer in model.decoder]
        self.num_live = len(sources)
        self.max_length = 2 * sources.size(1) + 50  # as default_max_length
        head_dim = model.dim // model.num_heads
        self.cache = [[torch.empty(self.num_live * beam, model.num_heads, self.max_length + 1, head_dim)
                       for _ in range(2)] for _ in model.decoder]
        self.live = torch.arange(self.num_live)  # the sentence of each group of rows
        self.tokens = torch.full((self.num_live * beam, 1), END)
        self.scores = torch.zeros(self.num_live, beam)
        self.scores[:, 1:] = MINUS_INFINITY  # all hypotheses of a sentence are still the same
        self.history = torch.zeros(self.num_live, beam, 0, dtype=torch.long)
        self.finished = [[] for _ in range(self.num_live)]

    def run(self):
        for step in range(self.max_length + 1):
            best, parents, words = self.best_candidates(self.log_probabilities(step))
            is_end = words.eq(END)
            if is_end.any():
                self.finish(step, best, parents, is_end)
            kept = [row for row, sentence in enumerate(self.live.tolist())
                    if len(self.finished[sentence]) < self.beam]
            if not kept or step == self.max_length:
                break
            self.go_on(step, best, parents, words, is_end, kept)
        return [max(found)[1] for found in self.finished]

    def decode(self, step):
        model, rows = self.model, self.num_live * self.beam
        x = model.embed(self.tokens, step)
        for layer, (keys, values), (memory_keys, memory_values) in zip(model.decoder, self.cache, self.cross):
            q, k, v = layer.self_attention.query_key_value(x, step)  # [rows, H, 1, K]
            keys[:, :, step:step + 1] = k
            values[:, :, step:step + 1] = v
            mixed = v if step == 0 else attend(q, keys[:, :, :step + 1], values[:, :, :step + 1], None)
            x = layer.self_attention_norm(x + layer.self_attention.output(mixed.reshape(rows, 1, -1)))
            q = layer.cross_attention.query(x)
            q = q.view(self.num_live, self.beam, model.num_heads, -1).transpose(1, 2)  # [B, H, beam, K]
            mixed = attend(q, memory_keys, memory_values, self.memory_mask)
            mixed = mixed.transpose(1, 2).reshape(rows, 1, -1)
            x = layer.cross_attention_norm(x + layer.cross_attention.output(mixed))
            x = layer.feed_forward_norm(x + layer.feed_forward(x))
        return x.view(rows, -1)

    def log_probabilities(self, step):
        logits = torch.mm(self.decode(step), self.model.embedding.weight.t())
        found = torch.log_softmax(logits, -1).view(self.num_live, self.beam, -1)
        found[:, :, PAD] = found[:, :, BEGIN] = MINUS_INFINITY
        if step == 0:
            found[:, :, END] = MINUS_INFINITY
        if step == self.max_length:
            ends = found[:, :, END].clone()
            found.fill_(MINUS_INFINITY)
            found[:, :, END] = ends
        return found

    def best_candidates(self, log_probabilities):
        vocabulary = log_probabilities.size(-1)
        if self.beam == 1:
            best, found = (log_probabilities[:, 0] + self.scores).max(-1, keepdim=True)
        else:
            # Top-k per hypothesis first, then over these lists: cheaper than one top-k of beam x vocabulary.
            count = 2 * self.beam
            best, found = log_probabilities.topk(count, -1)
            best = (best + self.scores[:, :, None]).view(self.num_live, -1)
            found = (found + (torch.arange(self.beam) * vocabulary)[None, :, None]).view(self.num_live, -1)
            best, places = best.topk(count, -1)
            found = found.gather(1, places)
        return best, found // vocabulary, found % vocabulary

    def finish(self, step, best, parents, is_end):
        is_finished = is_end[:, :self.beam] & best[:, :self.beam].gt(MINUS_INFINITY)
        for row, column in is_finished.nonzero().tolist():
            found = self.finished[self.live[row].item()]
            if len(found) < self.beam:
                found.append((best[row, column].item() / (step + 1),
                              self.history[row, parents[row, column]].tolist()))

    def go_on(self, step, best, parents, words, is_end, kept):
        if self.beam > 1:  # the best candidates that do not end
            places = torch.arange(words.size(1))
            order = (is_end.long() * 4 * self.beam + places).argsort(1)[:, :self.beam]
            parents, words, best = (x.gather(1, order) for x in (parents, words, best))
        rows = torch.arange(self.num_live)
        if len(kept) < self.num_live:
            rows = torch.tensor(kept)
            parents, words, best, self.history = (x[rows] for x in (parents, words, best, self.history))
            self.live = self.live[rows]
            self.cross = [(k[rows], v[rows]) for k, v in self.cross]
            if self.memory_mask is not None:
                self.memory_mask = self.memory_mask[rows]
            self.num_live = len(kept)
        rows = (rows[:, None] * self.beam + parents).view(-1)
        if self.beam > 1 or len(rows) != self.cache[0][0].size(0):
            for layer in self.cache:
                for i, old in enumerate(layer):
                    layer[i] = torch.empty(len(rows), *old.shape[1:])
                    layer[i][:, :, :step + 1] = old[:, :, :step + 1].index_select(0, rows)
        past = self.history.gather(1, parents[:, :, None].expand(-1, -1, self.history.size(2)))
        self.history = torch.cat([past, words[:, :, None]], 2)
        self.scores = best
        self.tokens = words.reshape(-1, 1)


@torch.inference_mode()
def translate(model, sources, beam, batch_size=32):
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    translations = [[]] * len(sources)
    for begin in range(0, len(order), batch_size):
        chosen = order[begin:begin + batch_size]
        found = BeamSearch(model, pad([sources[i] for i in chosen]), beam).run()
        for i, ids in zip(chosen, found):
            translations[i] = ids
    return translations


def main(folder, source_file, target_file, beam, threads):
    prepare(threads)
    model = load_model(folder)
    with open(source_file) as lines:
        sources = [[int(i) for i in line.split()] + [END] for line in lines]
    translations = []
    seconds = seconds_of(lambda: translations.extend(translate(model, sources, beam)))
    with open(target_file, "w") as out:
        for ids in translations:
            out.write(" ".join(map(str, ids)) + "\n")
    report("seconds", seconds)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]))
