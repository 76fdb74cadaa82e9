#!/usr/bin/env python3
"""The first token of a GPT-2 in Hugging Face's layout, read and run in PyTorch. The baseline of bench/loading.

  torch_first_token.py FOLDER THREADS IDS

Maps the weights into memory and uses them in place. This PyTorch has no products of f16 on processors, so those become
floats, as they do with torch_dtype="float32"; bf16 stays. IDS: the prompt, with commas. Prints the token and the seconds
without the start of Python and the import of PyTorch.
"""
import json
import math
import mmap
import pathlib
import struct
import sys
import time
import warnings

import torch
import torch.nn.functional as F

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def mapped_tensors(path):
    warnings.filterwarnings("ignore", message="The given buffer is not writable")
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, _ = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        tensor = torch.frombuffer(data, dtype=dtype, count=math.prod(entry["shape"]), offset=8 + length + begin)
        tensor = tensor.view(entry["shape"])
        tensors[name.removeprefix("transformer.")] = tensor.float() if dtype == torch.float16 else tensor
    return tensors


def next_token(tensors, config, ids):
    heads, width = config["n_head"], config["n_embd"]

    def norm(x, name):
        return F.layer_norm(x, (width,), tensors[name + ".weight"], tensors[name + ".bias"], config["layer_norm_epsilon"])

    def linear(x, name):
        return torch.addmm(tensors[name + ".bias"], x, tensors[name + ".weight"])

    def attend(x, name):
        q, k, v = (part.view(len(ids), heads, -1).transpose(0, 1) for part in linear(x, name + ".c_attn").split(width, -1))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(width // heads)
        scores = scores.masked_fill(torch.ones(len(ids), len(ids), dtype=torch.bool).triu(1), -math.inf)
        return linear(torch.matmul(F.softmax(scores, -1), v).transpose(0, 1).reshape(len(ids), width), name + ".c_proj")

    x = tensors["wte.weight"][torch.tensor(ids)] + tensors["wpe.weight"][:len(ids)]
    for layer in range(config["n_layer"]):
        block = f"h.{layer}"
        x = x + attend(norm(x, block + ".ln_1"), block + ".attn")
        hidden = linear(norm(x, block + ".ln_2"), block + ".mlp.c_fc")
        inner = math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden * hidden * hidden)
        x = x + linear(0.5 * hidden * (1 + torch.tanh(inner)), block + ".mlp.c_proj")
    return int(torch.mv(tensors["wte.weight"], norm(x[-1:], "ln_f")[0]).argmax())


@torch.inference_mode()
def main():
    folder, threads, ids = pathlib.Path(sys.argv[1]), int(sys.argv[2]), [int(i) for i in sys.argv[3].split(",")]
    torch.set_num_threads(threads)
    start = time.perf_counter()
    config = json.loads((folder / "config.json").read_text())
    print("token", next_token(mapped_tensors(folder / "model.safetensors"), config, ids))
    print("seconds", time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
