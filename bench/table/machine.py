"""Runs our programs and the baselines, and reads the `name value` lines that they print."""
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"


# OpenBLAS selects its kernels by the name of the processor, and falls back to slow ones for unknown names.
CORE_TYPES = ("Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids")
SGEMM = """
import time, torch
a, b = torch.rand(1024, 1024), torch.rand(1024, 1024)
torch.mm(a, b)
best = float("inf")
for _ in range(10):
    start = time.perf_counter()
    torch.mm(a, b)
    best = min(best, time.perf_counter() - start)
print("sgemm_gflops", 2 * 1024**3 / best / 1e9)
"""


class CannotRun(Exception):
    """A row cannot be measured on this machine; the message says what is missing."""


def tell(*words):
    print(*words, file=sys.stderr, flush=True)


def processor_name():
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


class Machine:
    def __init__(self, data, model, threads):
        self.data, self.model, self.threads = data, model, threads
        self.work = BUILD / "table"
        self.work.mkdir(parents=True, exist_ok=True)
        self.python, self.torch_version = self._find_torch()
        self._rival_environment = None

    @staticmethod
    def _find_torch():
        for candidate in (os.environ.get("PYTHON"), "python3", "/usr/bin/python3"):
            if candidate and shutil.which(candidate):
                found = subprocess.run([candidate, "-c", "import torch; print(torch.__version__)"],
                                       capture_output=True, text=True)
                if found.returncode == 0:
                    return candidate, found.stdout.strip()
        return None, None

    def needs_torch(self):
        if self.python is None:
            raise CannotRun("no python3 with torch; scripts/install_packages bench installs one")

    def needs_data(self):
        """The folder with train, val and test_2016_flickr, each .en and .de."""
        for folder in ([self.data, self.data / "multi30k"] if self.data else []):
            if (folder / "train.en").exists():
                return folder
        raise CannotRun("no data; give a folder with multi30k/train.en in it")

    # Our programs and the baselines: name -> the values printed under it.

    def ours(self, program, *args):
        path = BUILD / program
        if not path.exists():
            raise CannotRun(f"no {path}; build it with cmake --build --preset bench")
        return self._values([str(path), *map(str, args)])

    def rival(self, script, *args):
        self.needs_torch()
        return self._values([self.python, str(ROOT / "bench" / "versus_torch" / script), *map(str, args)],
                            self.rival_environment())

    def rival_environment(self):
        """Threads, allocator and BLAS kernels that make PyTorch fastest on this machine; determined once."""
        if self._rival_environment is None:
            environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads)}
            allocators = sorted(pathlib.Path("/usr/lib").glob("*/libtcmalloc_minimal.so.4"))
            if allocators:
                environment["LD_PRELOAD"] = str(allocators[0])
            self._rival_environment = self._with_fastest_blas(environment)
        return self._rival_environment

    def _with_fastest_blas(self, environment):
        choices = {environment.get("OPENBLAS_CORETYPE", "default"): environment}
        if platform.machine() == "x86_64":
            choices |= {core: {**environment, "OPENBLAS_CORETYPE": core} for core in CORE_TYPES}
        speeds = {}
        for core, candidate in choices.items():
            try:
                speeds[core] = self._values([self.python, "-c", SGEMM], candidate)["sgemm_gflops"][0]
            except CannotRun:  # instructions that this processor lacks
                continue
        if not speeds:
            raise CannotRun("PyTorch cannot multiply matrices on this machine")
        # Equal kernels differ by noise: a choice other than the default must be clearly faster.
        best = max(speeds, key=speeds.get)
        if "default" in speeds and speeds[best] < 1.05 * speeds["default"]:
            best = "default"
        tell("PyTorch's sgemm in GFLOP/s by OPENBLAS_CORETYPE: "
             + ", ".join(f"{core} {speed:.0f}" for core, speed in speeds.items()) + f"; using {best}")
        self.rival_blas = f"OpenBLAS kernels {best}, {speeds[best]:.0f} GFLOP/s"
        return choices[best]

    def heed(self, *args, stdin=None):
        """The whole program, from exec to exit: seconds and standard output."""
        start = time.perf_counter()
        done = subprocess.run([str(BUILD / "heed"), *map(str, args)], input=stdin, capture_output=True,
                              text=True)
        seconds = time.perf_counter() - start
        self._check(done)
        return seconds, done.stdout

    def peak(self, threads=None):
        """FMA peak in GFLOP/s, and read bandwidth in GB/s."""
        found = self.ours("peak_bench", threads or self.threads)
        return found["fma_gflops"][0], found["read_gigabytes_per_second"][0]

    def filtered(self, program, *args, stdin):
        done = subprocess.run([str(BUILD / program), *map(str, args)], input=stdin, capture_output=True,
                              text=True)
        self._check(done)
        return done.stdout

    def _values(self, command, environment=None):
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self._check(done)
        values = {}
        for line in done.stdout.splitlines():
            name, value = line.split()
            values.setdefault(name, []).append(float(value))
        return values

    @staticmethod
    def _check(done):
        if done.returncode != 0:
            complaint = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise CannotRun(f"{' '.join(done.args[:2])} ended with {done.returncode}: {complaint}")


def take_turns(num_rounds, **programs):
    """Interleaved: each program once per round, so other load on the machine falls on all of them."""
    results = {name: [] for name in programs}
    for number in range(num_rounds):
        for name, run in programs.items():
            tell(f"  round {number + 1} of {num_rounds}: {name.replace('_', ' ')}")
            results[name].append(run())
    return results


def column(results, name):
    """The value under this name for each round; the median if a program prints several."""
    return [statistics.median(result[name]) for result in results]
