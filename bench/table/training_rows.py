"""Training next to PyTorch: the same networks, the same batches."""
from table.machine import column, take_turns
from table.row import Bar, median_text, ratios, row

TOKENS = "{:,.0f} tokens/s"

# The sizes that the baseline needs to build our presets; training_speed knows them by name.
RIVAL_SIZES = {
    "tiny": (),
    "base": ("--dim", 512, "--feed-forward-dim", 2048, "--heads", 8, "--layers", 6, "--dropout", 0.1),
}


def training_work(machine):
    """The folder with the batches for both programs; created once."""
    work = machine.work / "training"
    if not (work / "batches.txt").exists():
        machine.ours("training_speed", "prepare", machine.needs_data(), work)
        machine.rival("torch_training.py", "batches", work)
    return work


def train(machine, preset, num_batches, threads=None, batches="batches.txt"):
    return machine.ours("training_speed", "run", training_work(machine), preset,
                        threads or machine.threads, num_batches, batches)


def train_rival(machine, preset, num_batches, model="tuned"):
    return machine.rival("torch_training.py", "run", training_work(machine), "--model", model, "--batches",
                         num_batches, "--threads", machine.threads, *RIVAL_SIZES[preset])


def tiny(machine):
    machine.needs_torch()
    training_work(machine)
    batches = 8
    found = take_turns(5, peak=machine.peak, heed=lambda: train(machine, "tiny", batches),
                       tuned=lambda: train_rival(machine, "tiny", batches),
                       stock=lambda: train_rival(machine, "tiny", batches, "stock"))
    speeds = {name: column(found[name], "tokens_per_second") for name in ("heed", "tuned", "stock")}
    memory = {name: column(found[name], "peak_megabytes") for name in ("heed", "tuned")}
    shares = ratios(column(found["heed"], "gflops"), [fma for fma, _ in found["peak"]])
    is_first_torch = machine.torch_version.startswith("1.")
    ours = median_text(speeds["heed"], TOKENS)
    return [
        row("training, tiny preset, 4,096 tokens per batch; baseline: hand-tuned PyTorch", ours,
            median_text(speeds["tuned"], TOKENS), ratios(speeds["heed"], speeds["tuned"]),
            Bar("{:.2f}", at_least=2.0 if is_first_torch else 1.6), shares),
        row("the same; baseline: nn.Transformer as documented", ours, median_text(speeds["stock"], TOKENS),
            ratios(speeds["heed"], speeds["stock"]), Bar("{:.2f}", at_least=3.5), shares),
        share_row("tiny", found, shares, 0.70),
        row("peak memory in training, tiny preset; baseline: hand-tuned PyTorch",
            median_text(memory["heed"], "{:.0f} MB"), median_text(memory["tuned"], "{:.0f} MB"),
            ratios(memory["heed"], memory["tuned"]), Bar("{:.2f}", at_most=0.5)),
    ]


def base(machine):
    machine.needs_torch()
    training_work(machine)
    batches = 2
    found = take_turns(3, peak=machine.peak, heed=lambda: train(machine, "base", batches),
                       tuned=lambda: train_rival(machine, "base", batches))
    ours, theirs = (column(found[name], "tokens_per_second") for name in ("heed", "tuned"))
    shares = ratios(column(found["heed"], "gflops"), [fma for fma, _ in found["peak"]])
    return [
        row("training, base preset (width 512), 4,096 tokens per batch; baseline: hand-tuned PyTorch",
            median_text(ours, TOKENS), median_text(theirs, TOKENS), ratios(ours, theirs),
            Bar("{:.2f}", at_least=1.3), shares, note="3 rounds"),
        share_row("base", found, shares, 0.80),
    ]


def share_row(preset, found, shares, bar):
    return row(f"matrix products in training, {preset} preset; baseline: FMA peak",
               median_text(column(found["heed"], "gflops"), "{:.0f} GFLOP/s"),
               median_text([fma for fma, _ in found["peak"]], "{:.0f} GFLOP/s"), shares,
               Bar("{:.1%}", at_least=bar), shares)


def gpt2(machine):
    machine.needs_torch()
    found = take_turns(3, peak=machine.peak, heed=lambda: machine.ours("gpt2_speed", "train", machine.threads),
                       torch=lambda: machine.rival("torch_gpt2.py", "train", machine.threads))
    ours, theirs = (column(found[name], "tokens_per_second") for name in ("heed", "torch"))
    work = found["heed"][0]["gflop_per_token"][0]
    shares = [speed * work / fma for speed, (fma, _) in zip(ours, found["peak"])]
    return [row("training, GPT-2-small shape, 4 x 256 tokens; baseline: PyTorch", median_text(ours, TOKENS),
                median_text(theirs, TOKENS), ratios(ours, theirs), Bar("{:.2f}", at_least=1.15), shares,
                note="3 rounds")]
