#!/usr/bin/env python3
"""The network of docs/file_formats.md, written again in numpy and float64 from what that page says.

    network_from_the_docs.py HEED MODEL LINES

compares its log-probabilities of the lines with those that the program HEED prints for the folder MODEL, and
exits with 1 if two of them differ by more than 1e-5. A line is source TAB target for a translation model, text for a
language model, a classifier and a tagger, and text with <mask> for a masked model. Tokenizers: BPE.
"""
import json
import math
import struct
import subprocess
import sys

import numpy as np

TOLERANCE = 1e-5
UNKNOWN, BEGIN, END = 1, 2, 3


def read_safetensors(path):
    """{name: float64 array}"""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32", f"{name}: expected F32, found {entry['dtype']}"
        begin, end = entry["data_offsets"]
        values = np.frombuffer(data[begin:end], dtype="<f4")
        tensors[name] = values.reshape(entry["shape"]).astype(np.float64)
    return tensors


def protobuf_fields(data):
    """(number, value) of each field of a message"""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value

    while at < len(data):
        number, wire_type = divmod(varint(), 8)
        if wire_type == 0:
            yield number, varint()
            continue
        size = {1: lambda: 8, 2: varint, 5: lambda: 4}[wire_type]()
        at += size
        yield number, data[at - size:at]


class Tokenizer:
    """BPE of SentencePiece for text whose characters it knows; the other kinds are SentencePiece's own business."""

    def __init__(self, path):
        with open(path, "rb") as file:
            model = list(protobuf_fields(file.read()))
        pieces = [dict(protobuf_fields(value)) for number, value in model if number == 1]
        normalizer = dict(protobuf_fields(dict(model)[3]))
        self.prefix = " " if normalizer.get(3, 1) else ""  # what goes before every text; running text has none
        self.pieces = [piece[1].decode() for piece in pieces]
        self.ids = {piece: id for id, piece in enumerate(self.pieces)}
        self.scores = {piece[1].decode(): struct.unpack("<f", piece[2])[0]
                       for piece in pieces if piece.get(3, 1) == 1}  # the normal ones

    def encode(self, text):
        return self.merge(self.prefix + text)

    def merge(self, text):
        """Joins the pair whose piece has the highest score, the leftmost of equals, until no pair is a piece."""
        parts = list(text.replace(" ", "\u2581"))
        while True:
            pairs = [(self.scores[a + b], -i) for i, (a, b) in enumerate(zip(parts, parts[1:])) if a + b in self.scores]
            if not pairs:
                return [self.ids.get(part, UNKNOWN) for part in parts]
            i = -max(pairs)[1]
            parts[i:i + 2] = [parts[i] + parts[i + 1]]


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def sinusoids(length, dim):
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, dim, 2) / dim)
    table = np.empty((length, 2 * angles.shape[1]))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table[:, :dim]


def rotate(x):
    """RoPE of heads [H, N, K]: rotates the pairs of elements i and i + K / 2 of a head."""
    length, dim = x.shape[1:]
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, dim, 2) / dim)
    a, b = x[..., :dim // 2], x[..., dim // 2:]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], axis=-1)


def alibi_slopes(heads):
    power = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * i / power) for i in range(1, power + 1)]
    return np.array(slopes + [2 ** (-4 * i / power) for i in range(1, 2 * power, 2)])[:heads]


class Network:
    def __init__(self, folder):
        with open(f"{folder}/config.json") as file:
            self.config = json.load(file)
        self.weights = read_safetensors(f"{folder}/model.safetensors")

    def linear(self, name, x):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, name, x):
        if self.config["norm_kind"] == "layer":
            x = x - x.mean(axis=-1, keepdims=True)
        y = x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + 1e-5) * self.weights[f"{name}.gain"]
        return y + self.weights[f"{name}.bias"] if self.config["norm_kind"] == "layer" else y

    def attention(self, name, x, memory, is_causal, positions):
        heads = self.config["attention_heads"]
        dim = self.config["d_model"] // heads
        groups = self.config["key_value_heads"] or heads

        def split(projection, rows, count):  # [rows, count * K] -> [count, rows, K]
            return self.linear(f"{name}.{projection}", rows).reshape(len(rows), count, dim).transpose(1, 0, 2)

        q, k, v = split("query", x, heads), split("key", memory, groups), split("value", memory, groups)
        if positions == "rotary":
            q, k = rotate(q), rotate(k)
        k, v = np.repeat(k, heads // groups, axis=0), np.repeat(v, heads // groups, axis=0)
        if self.config["similarity"] == "cosine":
            q, k = (y / np.linalg.norm(y, axis=-1, keepdims=True) for y in (q, k))
        scale = {"scaled-dot": 1 / math.sqrt(dim), "dot": 1, "cosine": 10}[self.config["similarity"]]
        scores = scale * q @ k.transpose(0, 2, 1)
        distance = np.arange(len(x))[:, None] - np.arange(len(memory))
        if positions == "alibi":
            scores = scores - alibi_slopes(heads)[:, None, None] * abs(distance)
        if is_causal:
            scores = np.where(distance < 0, -np.inf, scores)
        mixed = (softmax(scores) @ v).transpose(1, 0, 2).reshape(len(x), heads * dim)
        return self.linear(f"{name}.output", mixed)

    def feed_forward(self, name, x):
        h = self.linear(f"{name}.hidden", x)
        if self.config["activation_function"] == "relu":
            h = np.maximum(h, 0)
        elif self.config["activation_function"] == "gelu":
            h = h * (1 + np.vectorize(math.erf)(h / math.sqrt(2))) / 2
        else:
            gate = self.linear(f"{name}.gate", x)
            h = gate / (1 + np.exp(-gate)) * h
        return self.linear(f"{name}.output", h)

    def residual(self, name, x, sub_layer):
        if self.config["norm_place"] == "before":
            return x + sub_layer(self.norm(name, x))
        return self.norm(name, x + sub_layer(x))

    def stack(self, name, table, ids, memory=None):
        """`encoder` or `decoder` of token ids -> [N, D]"""
        dim, positions, is_causal = self.config["d_model"], self.config["positions"], name == "decoder"
        x = math.sqrt(dim) * self.weights[f"{table}.weight"][ids]
        if positions == "sinusoidal":
            x = x + sinusoids(len(ids), dim)
        elif positions == "learned":
            x = x + self.weights[f"{name}.positions.weight"][:len(ids)]
        for layer in range(self.config[f"{name}_layers"]):
            block = f"{name}.{layer}"
            x = self.residual(f"{block}.self_attention_norm", x, lambda h: self.attention(
                f"{block}.self_attention", h, h, is_causal, positions))
            if memory is not None:
                x = self.residual(f"{block}.cross_attention_norm", x, lambda h: self.attention(
                    f"{block}.cross_attention", h, memory, False, "none"))
            x = self.residual(f"{block}.feed_forward_norm", x, lambda h: self.feed_forward(f"{block}.feed_forward", h))
        return self.norm(f"{name}.norm", x) if self.config["norm_place"] == "before" else x

    def token_log_probabilities(self, hidden, table):
        tied = self.config["tied_embeddings"] != "none"
        return log_softmax(hidden @ self.weights[f"{table if tied else 'output'}.weight"].T)

    def translation(self, source, target_input):
        is_one = self.config["tied_embeddings"] == "all"
        source_table, target_table = ["embedding"] * 2 if is_one else ["source_embedding", "target_embedding"]
        memory = self.stack("encoder", source_table, source + [END])
        return self.token_log_probabilities(self.stack("decoder", target_table, target_input, memory), target_table)

    def language(self, ids):
        return self.token_log_probabilities(self.stack("decoder", "embedding", ids), "embedding")

    def masked(self, ids):
        return self.token_log_probabilities(self.stack("encoder", "embedding", ids + [END]), "embedding")

    def classes(self, ids):
        pooling = self.config["pooling"]
        x = self.stack("encoder", "embedding", ([BEGIN] if pooling == "first" else []) + ids + [END])
        if pooling == "attention":
            pooled = softmax(self.weights["pooling.query"] @ x.T / math.sqrt(x.shape[1])) @ x
        else:
            pooled = x[:1] if pooling == "first" else x.mean(axis=0, keepdims=True)
        return log_softmax(self.linear("head", pooled))[0]

    def tags(self, words):
        """A row for each word, which is given as its ids."""
        x = self.stack("encoder", "embedding", sum(words, []) + [END])
        first = np.cumsum([0] + [len(word) for word in words[:-1]])
        return log_softmax(self.linear("head", x[first]))


def heed(program, *arguments, lines):
    """The JSON values that a command prints, one for each line."""
    result = subprocess.run([program, *arguments, "--json"], input="\n".join(lines) + "\n", text=True,
                            stdout=subprocess.PIPE, encoding="utf-8", check=True)
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(objects) == len(lines) > 0, f"{len(lines)} lines gave {len(objects)} results"
    return objects


def scored_tokens(line, rows, ids):
    """(ours, Heed's) for each token of a line; rows [N, V] of ours."""
    printed = [token["id"] for token in line["tokens"]]
    assert printed == ids, f"expected the tokens {ids}, found {printed}"
    return [(row[token["id"]], token["log_probability"]) for row, token in zip(rows, line["tokens"], strict=True)]


def compare_translation(program, folder, network, tokenizer, lines):
    for text, line in zip(lines, heed(program, "score", "--model", folder, "--tokens", lines=lines)):
        source, target = map(tokenizer.encode, text.split("\t"))
        yield from scored_tokens(line, network.translation(source, [END] + target), target + [END])


def compare_language(program, folder, network, tokenizer, lines):
    line_end = tokenizer.ids["\n"]
    for text, line in zip(lines, heed(program, "score", "--model", folder, "--tokens", lines=lines)):
        target = tokenizer.encode(text)
        yield from scored_tokens(line, network.language([line_end] + target), target + [line_end])


def compare_classifier(program, folder, network, tokenizer, lines):
    labels = network.config["labels"]
    results = heed(program, "classify", "--model", folder, "--top", str(len(labels)), lines=lines)
    for text, line in zip(lines, results):
        ours = network.classes(tokenizer.encode(text))
        assert len(line["classes"]) == len(labels)
        for one in line["classes"]:
            yield ours[labels.index(one["label"])], math.log(one["probability"])


def compare_tagger(program, folder, network, tokenizer, lines):
    labels = network.config["labels"]
    for text, words in zip(lines, heed(program, "classify", "--model", folder, lines=lines)):
        assert [word["word"] for word in words] == text.split()
        for row, word in zip(network.tags([tokenizer.encode(word) for word in text.split()]), words, strict=True):
            yield row[labels.index(word["tag"])], math.log(word["probability"])


def compare_masked(program, folder, network, tokenizer, lines):
    mask = [tokenizer.ids["<mask>"]]
    for text, line in zip(lines, heed(program, "fill", "--model", folder, "--top", "5", lines=lines)):
        before, after = text.split(" <mask>")
        ids = tokenizer.encode(before)
        ours = network.masked(ids + mask + tokenizer.merge(after))[len(ids)]
        for word in line["gaps"][0]:
            yield ours[tokenizer.ids["\u2581" + word["word"]]], math.log(word["probability"])


def main(program, folder, lines_path):
    with open(lines_path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    network, tokenizer = Network(folder), Tokenizer(f"{folder}/tokenizer.model")
    compare = {"heed-translation": compare_translation, "heed-language": compare_language,
               "heed-classifier": compare_classifier, "heed-masked": compare_masked,
               "heed-tagger": compare_tagger}[network.config["model_type"]]
    pairs = np.array(list(compare(program, folder, network, tokenizer, lines)))
    difference = abs(pairs[:, 0] - pairs[:, 1]).max()
    print(f"{folder}: largest difference of {len(pairs)} log-probabilities {difference:.1e}")
    return 0 if difference <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
