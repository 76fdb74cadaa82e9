"""A row of the table: what was measured, its baseline, and its target."""
import dataclasses
import statistics

from table.limits import limit_of


@dataclasses.dataclass
class Bar:
    """The target of a measured number, if there is one, and its format: "{:.2f}", "{:.0%}"."""
    form: str
    at_least: float = None
    at_most: float = None

    def text(self):
        if self.at_least is not None:
            return ">= " + self.form.format(self.at_least)
        return "<= " + self.form.format(self.at_most) if self.at_most is not None else "-"

    def verdict(self, value):
        if self.at_least is None and self.at_most is None:
            return "-"
        reached = value >= self.at_least if self.at_least is not None else value <= self.at_most
        return "yes" if reached else "short"


@dataclasses.dataclass
class Row:
    work: str
    ours: str = "-"
    rival: str = "-"
    measured: str = "-"  # the number that the target is about: median, lowest, highest
    bar: str = "-"
    reached: str = "-"  # yes, or short
    share: str = "-"  # of what the machine can do
    note: str = ""


COLUMNS = ("work", "Heed", "baseline", "ratio (lowest-highest)", "target", "met", "of limit")


def cells(row):
    met = "no" if row.reached == "short" else row.reached
    return (row.work, row.ours, row.rival, row.measured, row.bar, met, row.share)


def remarks(row_):
    """Footnotes of a row; if it misses its target, what limits it."""
    limit = limit_of(row_.work) if row_.reached == "short" else ""
    return [remark for remark in (row_.note, limit and f"limited by: {limit}") if remark]


def row(work, ours, rival, samples, bar, shares=None, note=""):
    """`samples`: the number that the target is about, one per round; `shares` likewise."""
    middle = statistics.median(samples)
    form = bar.form.format
    spread = f" ({form(min(samples))}-{form(max(samples))})" if len(samples) > 1 else ""
    return Row(work, ours, rival, form(middle) + spread, bar.text(),
               bar.verdict(middle),
               f"{statistics.median(shares):.0%}" if shares else "-", note)


def median_text(values, form):
    return form.format(statistics.median(values))


def ratios(numerators, denominators):
    """Round by round, so a temporary slowdown of the machine falls on both."""
    return [n / d for n, d in zip(numerators, denominators)]


def text_table(rows):
    lines = [COLUMNS] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    out = []
    for line, row_ in zip(lines, [None] + rows):
        out.append("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        out += ["    " + remark for remark in (remarks(row_) if row_ else ())]
    out.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(out)


def markdown_table(rows):
    def line(parts):
        return "| " + " | ".join(parts) + " |"

    out = [line(COLUMNS), line(["---"] + ["---:"] * 3 + ["---"] * 2 + ["---:"])]
    said = []  # each remark once, numbered
    for row_ in rows:
        said += [remark for remark in remarks(row_) if remark not in said]
        numbers = "".join(f" [{1 + said.index(remark)}]" for remark in remarks(row_))
        first, *others = cells(row_)
        out.append(line([first + numbers] + others))
    return "\n".join(out + [""] + [f"{number}. {remark}" for number, remark in enumerate(said, 1)])
