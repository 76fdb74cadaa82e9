"""Attention alone: 8 heads of 64, float, one sequence."""
import math
import statistics

from table.machine import column, take_turns
from table.row import Bar, median_text, ratios, row

LENGTHS = (128, 512, 2048, 8192)


def milliseconds(results):
    return [1000 * seconds for seconds in column(results, "seconds")]


def measure(machine, length, kind, direction):
    args = (length, kind, direction, machine.threads)
    is_long = length >= 8192
    samples = 1 if is_long else 3
    return take_turns(3 if is_long else 5,
                      heed=lambda: machine.ours("attention_bench", *args, samples),
                      torch=lambda: machine.rival("torch_attention.py", *args, samples))


def speed_rows(machine, direction, name):
    machine.needs_torch()
    rows = []
    for kind in ("full", "causal"):
        for length in LENGTHS:
            fma, _ = machine.peak()
            found = measure(machine, length, kind, direction)
            ours, theirs = milliseconds(found["heed"]), milliseconds(found["torch"])
            work = found["heed"][0]["gflop"][0]
            shares = [work / (0.001 * ms) / fma for ms in ours]
            rows.append(row(f"{name}, {kind}, {length:,} tokens; baseline: PyTorch",
                            median_text(ours, "{:.2f} ms"), median_text(theirs, "{:.2f} ms"),
                            ratios(theirs, ours), Bar("{:.2f}", at_least=1.4), shares,
                            note="3 rounds" if length >= 8192 else ""))
            if direction == "backward" and kind == "full" and length == LENGTHS[-1]:
                memory_of_longest = found
    if direction == "backward":
        rows.append(memory_row(memory_of_longest))
    return rows


def memory_row(found):
    ours, theirs = (column(found[name], "extra_megabytes") for name in ("heed", "torch"))
    return row(f"extra memory for attention forward + backward, {LENGTHS[-1]:,} tokens; baseline: PyTorch",
               median_text(ours, "{:.0f} MB"), median_text(theirs, "{:.0f} MB"), ours,
               Bar("{:.0f} MB", at_most=60))


def forward(machine):
    return speed_rows(machine, "forward", "attention forward")


def backward(machine):
    return speed_rows(machine, "backward", "attention forward + backward")


def growth(machine):
    """Slopes of time and memory against length on log-log axes: 2 is quadratic, 1 is linear."""
    lengths = (128, 512, 2048, 8192, 32768)
    found = {length: machine.ours("attention_bench", length, "causal", "backward", machine.threads,
                                  1 if length >= 8192 else 5) for length in lengths}
    seconds = [statistics.median(found[length]["seconds"]) for length in lengths]
    memory = [found[length]["extra_megabytes"][0] for length in lengths]
    shown = "exponent of the length, steepest of four steps"
    return [
        row(f"scaling of attention time, causal, forward + backward, 128 to 32,768 tokens: {shown}",
            f"{1000 * seconds[0]:.2f} ms to {seconds[-1]:.1f} s", "-",
            [steepest(lengths, seconds)], Bar("{:.2f}", at_most=2.10), note="one run per length"),
        row(f"scaling of attention memory, the same: {shown}",
            f"{memory[0]:.1f} MB to {memory[-1]:.0f} MB", "-",
            [steepest(lengths, memory)], Bar("{:.2f}", at_most=1.10), note="one run per length"),
    ]


def steepest(lengths, values):
    """The largest slope between neighbours on log-log axes; the targets leave a tenth for noise."""
    points = list(zip(lengths, values))
    return max(math.log(now / before) / math.log(longer / shorter)
               for (shorter, before), (longer, now) in zip(points, points[1:]))
