"""Decoding: translation, one long sequence, quantized weights, and start-up time."""
import json
import statistics

from table.machine import BUILD, ROOT, column, take_turns, tell
from table.row import Bar, median_text, ratios, row

SENTENCES = "{:,.0f} sentences/s"


def trained_model(machine):
    """A tiny model folder and a note about it. Trains a model when there is none."""
    model = machine.model or ROOT / "build" / "multi30k"
    if (model / "model.safetensors").exists():
        return model, ""
    data = machine.needs_data()
    model = machine.work / "model"
    tell(f"  no trained model in {machine.model or 'build/multi30k'}: training one, at most 2 minutes")
    machine.heed("train", "--preset", "tiny", "--source", data / "train.en", "--target", data / "train.de",
                 "--model", model, "--warm-up", 50, "--learning-rate", 0.003, "--average", 1, "--after",
                 "200u,2m", "--threads", machine.threads, "--quiet")
    return model, "a model of 200 updates, because there is no trained one"


def test_lines(machine):
    return (machine.needs_data() / "test_2016_flickr.en").read_text()


def translate(machine, model, beam, threads=None):
    return machine.heed("translate", "--model", model, "--beam", beam, "--threads",
                        threads or machine.threads, stdin=test_lines(machine))


def translation(machine):
    """Our time is that of the whole program, with loading and tokenizer; the baseline's is its search alone."""
    machine.needs_torch()
    model, note = trained_model(machine)
    lines = test_lines(machine)
    count = lines.count("\n")
    source_ids = machine.work / "source.ids"
    source_ids.write_text(machine.filtered("token_ids", "encode", model, stdin=lines))
    rows = []
    for beam, bar in ((5, 3), (1, 5)):
        target_ids = machine.work / f"target_beam{beam}.ids"
        found = take_turns(5, peak=machine.peak, heed=lambda: translate(machine, model, beam),
                           torch=lambda: machine.rival("torch_translation.py", model, source_ids, target_ids,
                                                       beam, machine.threads))
        seconds, rival_seconds = [s for s, _ in found["heed"]], column(found["torch"], "seconds")
        gflop = translation_gflop(model, source_ids.read_text(), target_ids.read_text(), beam)
        shares = [gflop / s / fma for s, (fma, _) in zip(seconds, found["peak"])]
        name = "greedy" if beam == 1 else f"beam {beam}"
        remarks = [note] if note else []
        if beam == 1:  # half of the products are the integer argmax
            remarks.append("the share counts all products as if they were f32")
        rows.append(row(f"translation of test_2016_flickr, tiny, {name}, whole program; baseline: the same search in PyTorch",
                        median_text([count / s for s in seconds], SENTENCES),
                        median_text([count / s for s in rival_seconds], SENTENCES),
                        ratios(rival_seconds, seconds), Bar("{:.2f}", at_least=bar), shares,
                        "; ".join(remarks)))
        theirs = machine.filtered("token_ids", "decode", model, stdin=target_ids.read_text())
        ours = found["heed"][0][1]
        equal = sum(a == b for a, b in zip(ours.splitlines(), theirs.splitlines()))
    rows.append(row("sanity check: lines that both translate identically, greedy", f"{equal:,} lines",
                    f"{count:,} lines", [equal / count], Bar("{:.1%}", at_least=0.99)))
    return rows


def translation_gflop(model, sources, targets, beam):
    """GFLOP of the matrix products of a translation, from the sizes in config.json (docs/file_formats.md):
    source and target each with an end token, and `beam` rows for each target token."""
    config = json.loads((model / "config.json").read_text())
    dim, hidden, vocabulary = config["d_model"], config["ffn_dim"], config["vocab_size"]
    total = 0
    for source, target in zip(sources.splitlines(), targets.splitlines()):
        s, t = len(source.split()) + 1, len(target.split()) + 1
        encoder_layer = s * (4 * dim * dim + 2 * dim * hidden) + 2 * dim * s * s
        decoder_layer = s * 2 * dim * dim + beam * (t * (6 * dim * dim + 2 * dim * hidden)
                                                    + 2 * dim * (t * (t + 1) / 2 + t * s))
        total += config["encoder_layers"] * encoder_layer + config["decoder_layers"] * decoder_layer \
            + beam * t * dim * vocabulary
    return 2e-9 * total


def one_sequence(machine):
    programs = {"peak": machine.peak, "heed": lambda: machine.ours("gpt2_speed", "decode", machine.threads)}
    if machine.python:
        programs["torch"] = lambda: machine.rival("torch_gpt2.py", "decode", machine.threads)
    found = take_turns(5, **programs)
    speeds = column(found["heed"], "tokens_per_second")
    rates = [speed * found["heed"][0]["gigabytes_per_token"][0] for speed in speeds]
    bandwidths = [read for _, read in found["peak"]]
    note = ""
    if machine.python:
        note = "; ".join(f"{what}: Heed {median_text(column(found['heed'], name), '{:.1f}')}, PyTorch "
                         f"{median_text(column(found['torch'], name), '{:.1f}')} tokens/s"
                         for what, name in (("decoding", "tokens_per_second"),
                                            ("512-token prompt", "prompt_tokens_per_second")))
    shares = ratios(rates, bandwidths)
    return [row("single-sequence decoding, GPT-2-small shape, weights and KV cache read; baseline: memory bandwidth",
                median_text(rates, "{:.1f} GB/s"), median_text(bandwidths, "{:.1f} GB/s"), shares,
                Bar("{:.1%}", at_least=0.85), shares, note)]


# Target throughput of each weight format, relative to f32.
QUANTIZED_TARGETS = (("f16", 1.75), ("int8", 3), ("int4", None))


def quantized_weights(machine):
    """Single-sequence decoding with quantized weights; the baseline is our own f32. Without a prompt, as llama.cpp
    measures itself, and after one, whose keys and values are f32 and have to be read as well."""
    return (quantized_weights_after(machine, 1, "without a prompt")
            + quantized_weights_after(machine, 512, "after a 512-token prompt"))


def quantized_weights_after(machine, prompt, name_of_prompt):
    formats = ["f32"] + [name for name, _ in QUANTIZED_TARGETS]
    found = take_turns(5, **{name: lambda name=name: machine.ours("gpt2_speed", "decode", machine.threads, 128, name,
                                                                  prompt)
                             for name in formats})
    speeds = {name: column(found[name], "tokens_per_second") for name in formats}
    return [row(f"decoding {name} / f32, GPT-2-small shape, 128 tokens {name_of_prompt}",
                median_text(speeds[name], "{:.1f} tokens/s"),
                median_text(speeds["f32"], "{:.1f} tokens/s"), ratios(speeds[name], speeds["f32"]),
                Bar("{:.2f}", at_least=bar),
                note=f"weights and KV cache read: {found[name][0]['gigabytes_per_token'][0]:.3f} GB per token, "
                     f"{found['f32'][0]['gigabytes_per_token'][0]:.3f} with f32")
            for name, bar in QUANTIZED_TARGETS]


def start(machine):
    model, note = trained_model(machine)
    milliseconds = [1000 * machine.heed("translate", "--model", model, stdin="a man sleeps .\n")[0]
                    for _ in range(20)]
    return [row("start-up: heed translate on one short line, tiny model, exec to exit, 20 runs",
                f"{statistics.median(milliseconds):.0f} ms", "-", milliseconds,
                Bar("{:.0f} ms", at_most=50), note=note)]
