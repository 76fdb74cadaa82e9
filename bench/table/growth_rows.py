"""Scaling: cost per token against corpus size and mixed lengths, and the speed-up of two threads."""
import json
import random
import shutil
import statistics

from table.decoding_rows import trained_model, translate
from table.machine import CannotRun, column, take_turns, tell
from table.row import Bar, median_text, ratios, row
from table.training_rows import train, training_work

SIZES = (1_000, 29_000, 1_000_000)


def write_corpus(folder, pairs, size):
    """The pairs, repeated in a new order each time."""
    rng = random.Random(1)
    chosen = []
    while len(chosen) < size:
        order = list(pairs)
        rng.shuffle(order)
        chosen += order[:size - len(chosen)]
    folder.mkdir(parents=True, exist_ok=True)
    for side, name in enumerate(("source", "target")):
        (folder / name).write_text("".join(pair[side] + "\n" for pair in chosen))


def microseconds_per_token(machine, folder):
    """One value per update of a training run, without the first ones, from its metrics log."""
    model = folder / "model"
    shutil.rmtree(model, ignore_errors=True)
    # 1,000 sentences do not yield many more than 3,000 pieces, and the network must be the same for all sizes.
    machine.heed("train", "--preset", "tiny", "--vocabulary", 3000, "--source", folder / "source", "--target",
                 folder / "target", "--model", model, "--after", "30u", "--average", 1, "--save-every", "1000u",
                 "--threads", machine.threads, "--quiet")
    updates = [json.loads(line) for line in (model / "training" / "metrics.jsonl").read_text().splitlines()]
    updates = [update for update in updates if update["kind"] == "update"]
    return [1e6 * (now["seconds"] - before["seconds"]) / now["target_tokens"]
            for before, now in zip(updates[4:], updates[5:])]


def corpus(machine):
    data = machine.needs_data()
    sides = [(data / name).read_text().splitlines() for name in ("train.en", "train.de")]
    costs = {size: [] for size in SIZES}
    for size in SIZES + SIZES[:2]:  # the short runs before and after the long one, against drift
        tell(f"  {size:,} sentences")
        folder = machine.work / f"sentences-{size}"
        write_corpus(folder, list(zip(*sides)), size)
        costs[size] += microseconds_per_token(machine, folder)
        shutil.rmtree(folder)
    # Other load only adds time; the lower quartile of the updates has the least of it.
    quick = [statistics.quantiles(costs[size], n=4)[0] for size in SIZES]
    return [row("scaling of training time per token, heed train on 1,000, 29,000 and 1,000,000 sentences: "
                "slowest / fastest", " / ".join(f"{cost:.0f}" for cost in quick) + " us", "-",
                [max(quick) / min(quick)], Bar("{:.2f}", at_most=1.10),
                note="lower quartile of updates 6 to 30, vocabulary 3,000")]


def mixed_lengths(machine):
    """The same sentences in batches of similar lengths and in batches of mixed lengths."""
    work = training_work(machine)
    ids = (work / "train.ids").read_text().splitlines()
    batches = [line.split() for line in (work / "batches.txt").read_text().splitlines()]
    size = {line: len(ids[int(line)].split("\t")[1].split()) + 1 for batch in batches for line in batch}
    limit = sum(size.values()) / len(batches)
    lines = sorted(size, key=int)
    random.Random(1).shuffle(lines)
    mixed, tokens = [[]], 0
    for line in lines:
        if tokens + size[line] / 2 > limit * len(mixed) and len(mixed) < len(batches):
            mixed.append([])
        mixed[-1].append(line)
        tokens += size[line]
    (work / "mixed.txt").write_text("".join(" ".join(batch) + "\n" for batch in mixed))
    found = take_turns(5, sorted=lambda: train(machine, "tiny", len(batches)),
                       mixed=lambda: train(machine, "tiny", len(batches), batches="mixed.txt"))
    costs = {name: [1e6 / speed for speed in column(found[name], "tokens_per_second")] for name in found}
    return [row("cost per token, batches of mixed lengths / batches of similar lengths, tiny preset",
                median_text(costs["mixed"], "{:.0f} us"), median_text(costs["sorted"], "{:.0f} us"),
                ratios(costs["mixed"], costs["sorted"]), Bar("{:.2f}", at_most=1.05))]


def threads(machine):
    if machine.threads < 2:
        raise CannotRun("two threads need two processors")
    model, note = trained_model(machine)
    training = take_turns(5, one=lambda: train(machine, "tiny", 6, threads=1),
                          two=lambda: train(machine, "tiny", 6, threads=2))
    speeds = {name: column(training[name], "tokens_per_second") for name in training}
    lines = take_turns(3, one=lambda: translate(machine, model, 5, threads=1)[0],
                       two=lambda: translate(machine, model, 5, threads=2)[0])
    bar = Bar("{:.2f}", at_least=1.85)
    return [
        row("two threads; baseline: one thread; training, tiny preset",
            median_text(speeds["two"], "{:,.0f} tokens/s"), median_text(speeds["one"], "{:,.0f} tokens/s"),
            ratios(speeds["two"], speeds["one"]), bar),
        row("two threads; baseline: one thread; translation of 1,000 lines, beam 5",
            median_text(lines["two"], "{:.2f} s"), median_text(lines["one"], "{:.2f} s"),
            ratios(lines["one"], lines["two"]), bar, note="; ".join(filter(None, ["3 rounds", note]))),
    ]
