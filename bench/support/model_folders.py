#!/usr/bin/env python3
"""Writes a language model with random weights, to measure how models are loaded and run.

  model_folders.py SHAPE LAYOUT DTYPE FOLDER

SHAPE: gpt2 (GPT-2 small) or llama (12 layers of width 768). LAYOUT: hf (Hugging Face) or heed. DTYPE: F32, F16 or BF16.
The weights of both layouts are the same numbers.
"""
import json
import pathlib
import struct
import sys

import numpy

VOCABULARY, WIDTH, HEADS, KEY_VALUE_HEADS, LAYERS, POSITIONS = 50257, 768, 12, 4, 12, 1024
HIDDEN = {"gpt2": 3072, "llama": 2048}
END = VOCABULARY - 1


def bytes_of(values, dtype):
    if dtype == "F32":
        return values.tobytes()
    if dtype == "F16":
        return values.astype(numpy.float16).tobytes()
    bits = values.view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16).tobytes()


def write_safetensors(path, tensors, dtype):
    """`tensors`: name -> (shape, a function of no arguments that returns the numbers)."""
    size = 4 if dtype == "F32" else 2
    header, place = {"__metadata__": {"format": "pt"}}, 0
    for name, (shape, _) in tensors.items():
        end = place + size * int(numpy.prod(shape))
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [place, end]}
        place = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, values in tensors.values():
            file.write(bytes_of(values(), dtype))


def normal(shape, number):
    """Numbers that depend on `number` alone."""
    return lambda: numpy.random.default_rng(number).standard_normal(shape, dtype=numpy.float32) * numpy.float32(0.02)


def constant(shape, value):
    return lambda: numpy.full(shape, value, dtype=numpy.float32)


class Tensors(dict):
    """Those of our layout, by our names, and the number that each one's values come from."""

    def weight(self, name, *shape):
        self[name] = (shape, normal(shape, len(self)))

    def linear(self, name, rows, columns, has_bias):
        self.weight(name + ".weight", rows, columns)
        if has_bias:
            self.weight(name + ".bias", rows)

    def norm(self, name, has_bias):
        self[name + ".gain"] = ((WIDTH,), constant((WIDTH,), 1))
        if has_bias:
            self[name + ".bias"] = ((WIDTH,), constant((WIDTH,), 0))


def our_tensors(shape):
    is_gpt2 = shape == "gpt2"
    key_value_width = WIDTH if is_gpt2 else WIDTH // HEADS * KEY_VALUE_HEADS
    tensors = Tensors()
    tensors.weight("embedding.weight", VOCABULARY, WIDTH)
    if is_gpt2:
        tensors.weight("decoder.positions.weight", POSITIONS, WIDTH)
    for layer in range(LAYERS):
        block = f"decoder.{layer}."
        tensors.norm(block + "self_attention_norm", is_gpt2)
        for part, rows in (("query", WIDTH), ("key", key_value_width), ("value", key_value_width), ("output", WIDTH)):
            tensors.linear(f"{block}self_attention.{part}", rows, WIDTH, is_gpt2)
        tensors.norm(block + "feed_forward_norm", is_gpt2)
        for part in ("hidden",) if is_gpt2 else ("gate", "hidden"):
            tensors.linear(f"{block}feed_forward.{part}", HIDDEN[shape], WIDTH, is_gpt2)
        tensors.linear(block + "feed_forward.output", WIDTH, HIDDEN[shape], is_gpt2)
    tensors.norm("decoder.norm", is_gpt2)
    return tensors


OUR_SETTINGS = {
    "gpt2": {"positions": "learned", "norm_kind": "layer", "activation_function": "gelu"},
    "llama": {"positions": "rotary", "norm_kind": "rms", "activation_function": "swiglu", "attention_bias": "none",
              "feed_forward_bias": False, "key_value_heads": KEY_VALUE_HEADS},
}


def our_config(shape, dtype):
    # "weights" is the format of what convert has quantized. Halves of other programs are read as they are.
    return {"model_type": "heed-language", "vocab_size": VOCABULARY, "d_model": WIDTH, "encoder_layers": 0,
            "decoder_layers": LAYERS, "ffn_dim": HIDDEN[shape], "attention_heads": HEADS,
            "max_position_embeddings": POSITIONS, "norm_place": "before", "tied_embeddings": "all", "embedding_scale": 1,
            "weights": "f32"} | OUR_SETTINGS[shape]


def their_name(name, shape):
    """Of a tensor that is the same in both layouts; None for those of GPT-2 that are not."""
    if shape == "llama":
        for ours, theirs in (("embedding.weight", "model.embed_tokens.weight"), ("decoder.norm.gain", "model.norm.weight"),
                             ("decoder.", "model.layers."), ("self_attention_norm.gain", "input_layernorm.weight"),
                             ("feed_forward_norm.gain", "post_attention_layernorm.weight"),
                             ("self_attention.query", "self_attn.q_proj"), ("self_attention.key", "self_attn.k_proj"),
                             ("self_attention.value", "self_attn.v_proj"),
                             ("self_attention.output", "self_attn.o_proj"), ("feed_forward.gate", "mlp.gate_proj"),
                             ("feed_forward.hidden", "mlp.up_proj"), ("feed_forward.output", "mlp.down_proj")):
            name = name.replace(ours, theirs)
        return name
    if "self_attention." in name or "feed_forward." in name:
        return None
    for ours, theirs in (("embedding.weight", "wte.weight"), ("decoder.positions.weight", "wpe.weight"),
                         ("decoder.norm", "ln_f"), ("decoder.", "h."), ("self_attention_norm", "ln_1"),
                         ("feed_forward_norm", "ln_2"), (".gain", ".weight")):
        name = name.replace(ours, theirs)
    return "transformer." + name


def transposed(parts):
    """GPT-2 has [in, out], and query, key and value in one."""
    return lambda: numpy.ascontiguousarray(numpy.concatenate([part() for part in parts]).T)


def their_tensors(shape):
    ours, theirs = our_tensors(shape), {}
    for name, tensor in ours.items():
        if their_name(name, shape):
            theirs[their_name(name, shape)] = tensor
    for layer in range(LAYERS) if shape == "gpt2" else ():
        for target, sources in (("attn.c_attn", ("self_attention.query", "self_attention.key", "self_attention.value")),
                                ("attn.c_proj", ("self_attention.output",)), ("mlp.c_fc", ("feed_forward.hidden",)),
                                ("mlp.c_proj", ("feed_forward.output",))):
            for part in (".weight", ".bias"):
                found = [ours[f"decoder.{layer}.{source}{part}"] for source in sources]
                rows = sum(size[0] for size, _ in found)
                size = (found[0][0][1], rows) if part == ".weight" else (rows,)
                theirs[f"transformer.h.{layer}.{target}{part}"] = (size, transposed([values for _, values in found]))
    return theirs


def their_config(shape, dtype):
    names = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
    common = {"vocab_size": VOCABULARY, "bos_token_id": END, "eos_token_id": END, "torch_dtype": names[dtype]}
    if shape == "gpt2":
        return common | {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": WIDTH, "n_head": HEADS,
                         "n_layer": LAYERS, "n_positions": POSITIONS, "n_inner": None,
                         "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}
    return common | {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": WIDTH,
                     "intermediate_size": HIDDEN[shape], "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
                     "num_key_value_heads": KEY_VALUE_HEADS, "max_position_embeddings": POSITIONS,
                     "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True, "hidden_act": "silu",
                     "attention_bias": False, "mlp_bias": False}


def byte_letters():
    """The visible character of each byte, as byte-level BPE writes it."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    return [chr(code) for _, code in sorted([(byte, byte) for byte in visible]
                                            + [(byte, 256 + i) for i, byte in enumerate(others)])]


def byte_level_tokenizer():
    """Bytes, then pairs of them."""
    letters = byte_letters()
    merges = [(a, b) for a in letters for b in letters][:VOCABULARY - len(letters) - 1]
    pieces = letters + [a + b for a, b in merges] + ["<|endoftext|>"]
    end = {"id": END, "content": "<|endoftext|>", "single_word": False, "lstrip": False, "rstrip": False,
           "normalized": False, "special": True}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [end], "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None, "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False,
                      "vocab": {piece: i for i, piece in enumerate(pieces)}, "merges": [f"{a} {b}" for a, b in merges]}}


def field(number, value):
    """A field of a protocol buffer: an integer, a float, or bytes."""
    if isinstance(value, float):
        return bytes([number << 3 | 5]) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def sentence_piece_model():
    """A unigram model of letters and numbered words."""
    special = [("<pad>", 3), ("<unk>", 2), ("<s>", 3), ("</s>", 3)]
    letters = ["\u2581"] + [chr(code) for code in range(33, 127)]
    words = [f"\u2581word{i}" for i in range(VOCABULARY - len(special) - len(letters))]
    pieces = [(name, kind, 0.0) for name, kind in special] + [(piece, 1, -10.0) for piece in letters + words]
    out = b"".join(field(1, field(1, name.encode()) + field(2, score) + field(3, kind)) for name, kind, score in pieces)
    trainer = field(3, 1) + field(4, VOCABULARY) + field(40, 1) + field(41, 2) + field(42, 3) + field(43, 0)
    return out + field(2, trainer) + field(3, field(1, b"identity") + field(3, 1) + field(4, 1) + field(5, 1))


def write_folder(shape, layout, dtype, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    is_hf = layout == "hf"
    config = (their_config if is_hf else our_config)(shape, dtype)
    (folder / "config.json").write_text(json.dumps(config))
    if is_hf:
        (folder / "tokenizer.json").write_text(json.dumps(byte_level_tokenizer()))
    else:
        (folder / "tokenizer.model").write_bytes(sentence_piece_model())
    write_safetensors(folder / "model.safetensors", (their_tensors if is_hf else our_tensors)(shape), dtype)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    write_folder(*sys.argv[1:])
