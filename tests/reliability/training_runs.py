"""Small training runs for `crash` and `faults`: their data, their commands, and what is left in their folders."""
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/heed"
TEMPORARY = ".heed-tmp"
DATA = tuple(f"{part}.{end}" for part in ("train", "valid") for end in ("en", "de", "tsv"))

SMALL = ["--width", "64", "--feed-forward", "128", "--heads", "2"]
PAIRS = ["--source", "train.en", "--target", "train.de", "--valid-source", "valid.en", "--valid-target", "valid.de"]
ONE_LAYER = ["--preset", "demo", "--encoder-layers", "1", "--decoder-layers", "1", "--vocabulary", "150",
             "--batch-tokens", "256", "--max-length", "64", "--validation-metrics", "none"]
TRANSLATION = PAIRS + SMALL + ONE_LAYER
TEXT = ["--text", "train.en", "--valid-text", "valid.en", "--preset", "char", "--decoder-layers", "1", "--context",
        "32", "--batch-tokens", "128"] + SMALL
CLASSES = ["--labelled", "train.tsv", "--valid-labelled", "valid.tsv", "--preset", "classes", "--encoder-layers", "1",
           "--vocabulary", "150", "--batch-tokens", "256", "--max-length", "64"] + SMALL
OFTEN = ["--save-every", "5u", "--validate-every", "10u", "--after", "60u"]

# The base model of the fine-tuning run is made from the first task and is called `base`.
TASKS = {
    "translation": TRANSLATION + OFTEN + ["--average", "3", "--keep", "4"],
    "text": TEXT + OFTEN + ["--keep", "3"],
    "classes": CLASSES + OFTEN + ["--average", "2"],
    "lora": PAIRS + OFTEN + ["--from", "base", "--lora", "4", "--preset", "demo", "--batch-tokens", "256",
                             "--max-length", "64", "--vocabulary", "150", "--validation-metrics", "none"],
    "ema": TRANSLATION + OFTEN + ["--ema", "0.9", "--bpe-dropout", "0.1", "--accumulate", "2", "--keep", "3"],
}


class Failure(Exception):
    """What Heed did wrong."""


class Programs:
    """Starts processes, and ends all that still run when it is closed."""

    def __init__(self, program, folder):
        self.program, self.folder = str(program), folder
        self.lock, self.running, self.is_closed = threading.Lock(), set(), False

    def start(self, *arguments, environment=None):
        """Heed in the folder of the data. Its output goes to pipes."""
        with self.lock:
            if self.is_closed:
                raise InterruptedError
            process = subprocess.Popen([self.program, *map(str, arguments)], cwd=self.folder, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={**os.environ, **(environment or {})})
            self.running.add(process)
        return process

    def finish(self, process, text="", timeout=120):
        """Waits for its end: exit code, standard output, standard error."""
        try:
            out, err = process.communicate(text.encode(), timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"still runs after {timeout} seconds: {' '.join(process.args)}") from None
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
            with self.lock:
                self.running.discard(process)
        return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def run(self, *arguments, text="", environment=None):
        return self.finish(self.start(*arguments, environment=environment), text)

    def expect_success(self, *arguments, text=""):
        code, out, err = self.run(*arguments, text=text)
        if code != 0:
            raise Failure(f"heed {' '.join(map(str, arguments))}: ended with {code}: {err.strip()}")
        return out

    def close(self):
        with self.lock:
            self.is_closed = True
            running = list(self.running)
        for process in running:
            with contextlib.suppress(OSError):
                process.kill()


@contextlib.contextmanager
def programs(program, parent=None):
    """A temporary folder with data in it, and the Programs that run there. Both end with the block."""
    if not os.access(program, os.X_OK):
        sys.exit(f"{program}: expected the program, found none; `make` builds it")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heed_reliability_", dir=parent)).resolve()
    heed = Programs(program.resolve(), folder)
    try:
        make_data(heed)
        yield heed
    finally:
        heed.close()
        shutil.rmtree(folder, ignore_errors=True)


def make_data(heed):
    heed.expect_success("corpus", "--pairs", 200, "--valid-pairs", 8, "--test-pairs", 4, "--output", "corpus")
    for part in ("train", "valid"):
        sides = {side: (heed.folder / f"corpus/{part}.{side}").read_text() for side in ("en", "de")}
        for side, text in sides.items():
            (heed.folder / f"{part}.{side}").write_text(text)
        # Which language is it?
        lines = [f"{side}\t{line}\n" for side, text in sides.items() for line in text.splitlines()]
        (heed.folder / f"{part}.tsv").write_text("".join(lines))


def train(task, model, threads=1):
    """The command of a task in a model folder."""
    return ["train", *TASKS[task], "--model", str(model), "--threads", str(threads), "--quiet"]


def safetensors_content(path):
    """Metadata and a hash of the tensors, without what the clock decides: seconds, and the checksum over them."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    metadata.pop("heed.xxh3", None)
    state = json.loads(metadata.get("state", "{}"))
    state.pop("seconds", None)
    return {**metadata, "state": state, "header": header, "data": hashlib.sha256(data[8 + size:]).hexdigest()}


def metrics_content(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line.pop("seconds", None)
    return lines


def content_of(folder):
    """Every file below the folder and what is in it, in a form that equal runs have in common."""
    content = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        if path.name.startswith("checkpoint.") and path.suffix == ".safetensors":
            content[name] = safetensors_content(path)
        elif path.name == "metrics.jsonl":
            content[name] = metrics_content(path)
        else:
            content[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return content


def modes_of(folder):
    """The permissions of every file below the folder, and where the links lead."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else oct(path.stat().st_mode)
            for path in folder.rglob("*")}


def differences(expected, found):
    """One line for each file that is missing, unexpected or different."""
    lines = []
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            lines.append(f"{name}: missing")
        elif name not in expected:
            lines.append(f"{name}: unexpected")
        elif expected[name] != found[name]:
            lines.append(f"{name}: {first_difference(expected[name], found[name])}")
    return lines


def first_difference(expected, found):
    """Where two contents differ, in a few words."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected.keys() | found.keys():
            if expected.get(key) != found.get(key):
                return f"{key}: " + first_difference(expected.get(key), found.get(key))
    if isinstance(expected, list) and isinstance(found, list):
        for place, (one, other) in enumerate(zip(expected, found)):
            if one != other:
                return f"line {place + 1}: " + first_difference(one, other)
        return f"expected {len(expected)} lines, found {len(found)}"
    return f"expected {str(expected)[:100]}, found {str(found)[:100]}"


def inspect(heed, model):
    """What `heed inspect` says about a model folder; nothing when it is refused in a clean way, with code 4."""
    code, out, err = heed.run("inspect", model, "--json")
    if code == 4 and err.startswith("heed: ") and err.count("\n") == 1 and not out:
        return None
    if code != 0:
        raise Failure(f"inspect ended with {code}: {err.strip()}")
    report = json.loads(out)
    if "unreadable" in (report["training"] or {}):
        raise Failure(f"inspect: {report['training']['unreadable']}")
    return report


def print_table(header, rows):
    """Text on the left, numbers on the right."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for line in cells:
        print("  ".join(cell.ljust(width) if place == 0 else cell.rjust(width)
                        for place, (cell, width) in enumerate(zip(line, widths))), flush=True)
