"""Shared by all baselines: threads, samples, memory, and `name value` lines."""
import time

import torch


def prepare(threads):
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)


def report(name, value):
    print(name, value, flush=True)


def seconds_of(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def seconds_per_call(count, work):
    """As bench/support/samples.h: each sample is the mean over the calls of a tenth of a second."""
    first = seconds_of(work)
    samples = [first] if first > 15 else []
    once = first if first > 0.1 else seconds_of(work)
    calls = max(1, int(0.1 / once))
    while len(samples) < count:
        samples.append(seconds_of(lambda: [work() for _ in range(calls)] and None) / calls)
    return samples


def status_megabytes(name):
    """VmRSS is the resident memory now, VmHWM its peak."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def reset_peak_resident():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
