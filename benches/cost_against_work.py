#!/usr/bin/env python3
"""How the time of rankece grows with its work, over three decades of rows, replicates, groups and resamples.

usage: cost_against_work.py [rows] [sorted] [replicates] [groups] [resamples] [--rankece PROGRAM] [--runs N]
  [--threads N] [--small]
Prints at each size the median time that a clock on the wall shows for the work, without start and reading, and that
of the processor for the whole process less its start; and of each the slope of a straight line through the logarithms:
time grows as work^slope. n log n has slopes of 1.06 to 1.11 over these decades of rows; the rest should have 1. On a
machine that others use the processor's time is the one to look at: work of a few milliseconds is not interrupted, longer
work is, which makes the clock's slopes too steep. Its slope leaves out sizes of less than 5 ms, which the start hides.
"""
import argparse
import math
import os
import re
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def run(command):
    """Seconds by the clock and of the processor, and what was said on standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, processor, done.stderr


def computed(command):
    """Seconds between reading and writing, as --timings tells them, and of the processor for all."""
    _, processor, told = run([*command, "--timings"])
    return float(re.search(r"^computed \d+ rows in ([\d.]+) s", told, re.MULTILINE)[1]), processor


def slope(points):
    """Of the least-squares line through the logarithms."""
    x = [math.log(work) for work, _ in points]
    y = [math.log(seconds) for _, seconds in points]
    x_mean, y_mean = statistics.fmean(x), statistics.fmean(y)
    return (sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y))
            / sum((a - x_mean) ** 2 for a in x))


# Of the processor; below it the start of a process, which varies, hides the work.
LEAST_SECONDS = 0.005


def measure(title, works, runs, start, times_of):
    """Times each work in turn, round by round, so that what else the machine does meets all of them; `start` is the
    processor's time of a process with next to no work."""
    clock, processor = {work: [] for work in works}, {work: [] for work in works}
    for _ in range(runs):
        for work in works:
            by_clock, by_processor = times_of(work)
            clock[work].append(by_clock)
            processor[work].append(by_processor - start)
    print(title)
    for work in works:
        own, of_processor = statistics.median(clock[work]), statistics.median(processor[work])
        print(f"  {work:>9}  clock {own:10.6f} s ({min(clock[work]):.4g} to {max(clock[work]):.4g})"
              f"  processor {of_processor:10.6f} s, {of_processor / work * 1e9:10.1f} ns each")
    by_clock = [(work, statistics.median(clock[work])) for work in works]
    by_processor = [(work, statistics.median(processor[work])) for work in works]
    by_processor = [point for point in by_processor if point[1] >= LEAST_SECONDS]
    line = f"  slope: clock {slope(by_clock):.3f}"
    if len(by_processor) > 2:
        line += f", processor {slope(by_processor):.3f} from {by_processor[0][0]} on"
    print(line, flush=True)


class Work:
    def __init__(self, options, folder):
        self.options = options
        self.folder = Path(folder)
        self.common = ["--backend", "cpu", "--threads", options.threads, "--quiet"]

    def sizes(self, first, small):
        """Half decades over three decades; over one to see that the script runs."""
        decades = 1 if self.options.small else 3
        start = small if self.options.small else first
        return [round(start * 10 ** (step / 2)) for step in range(2 * decades + 1)]

    def evaluate(self, *arguments):
        return computed([self.options.rankece, "evaluate", *arguments, *self.common])

    def start_of_evaluate(self):
        """The processor's time of a process that evaluates ten rows."""
        return statistics.median(self.evaluate(*self.files(10, False), "--tests", "asymptotic")[1] for _ in range(5))

    def files(self, rows, ordered):
        """Uniform confidences of f32 and calibrated labels."""
        name = f"{rows}{'-sorted' if ordered else ''}"
        z_file, y_file = self.folder / f"z-{name}.npy", self.folder / f"y-{name}.npy"
        if not z_file.exists():
            rng = np.random.default_rng(1)
            z = rng.random(rows, dtype=np.float32)
            if ordered:
                z.sort()
            np.save(z_file, z)
            np.save(y_file, (rng.random(rows) < z).astype(np.uint8))
        return [z_file, "--labels", y_file]

    def rows(self):
        self.of_rows("rows, drawn: all but resampling tests, neighbour interval, 10 bins", False)

    def sorted(self):
        self.of_rows("rows, sorted: the same", True)

    def of_rows(self, title, ordered):
        measure(title, self.sizes(10_000, 1_000), self.options.runs, self.start_of_evaluate(),
                lambda rows: self.evaluate(*self.files(rows, ordered), "--tests",
                                           "asymptotic,conditional,finite-sample,spiegelhalter"))

    def replicates(self):
        command = [self.options.rankece, "power", "--law", "beta:0.15", "--curve", "quartic", "--n", 1000, "--tests",
                   "asymptotic", "--format", "csv", *self.common]
        # Without what a process and the tables of the model take.
        starts = [run([*command, "--replicates", 1]) for _ in range(5)]
        clock, processor = (statistics.median(start[kind] for start in starts) for kind in (0, 1))

        def times_of(replicates):
            by_clock, by_processor, _ = run([*command, "--replicates", replicates])
            return max(by_clock - clock, 1e-6), by_processor
        measure("replicates of n = 1,000, beta:0.15, quartic: asymptotic test", self.sizes(1_000, 1_000),
                self.options.runs, processor, times_of)

    def groups(self):
        def file(groups):
            path = self.folder / f"groups-{groups}.csv"
            if not path.exists():
                rng = np.random.default_rng(1)
                with path.open("w") as lines:
                    lines.write("confidence,label,group\n")
                    for group in range(groups):
                        z = rng.random(100)
                        y = rng.random(100) < z
                        lines.writelines(f"{a:.6f},{int(b)},{group}\n" for a, b in zip(z, y))
            return path
        measure("groups of 100 rows: default tests, 99 resamples", self.sizes(10, 10), self.options.runs,
                self.start_of_evaluate(), lambda groups: self.evaluate(file(groups), "--group-by", "group", "--resamples", 99))

    def resamples(self):
        for test in ("adaptive", "monte-carlo"):
            measure(f"resamples of n = 1,000: {test}", self.sizes(1_000, 100), self.options.runs,
                    self.start_of_evaluate(), lambda resamples: self.evaluate(*self.files(1000, False), "--tests", test, "--interval", "none",
                                                    "--resamples", resamples))


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown processor"


def main():
    everything = ["rows", "sorted", "replicates", "groups", "resamples"]
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", nargs="*", metavar="|".join(everything))
    arguments.add_argument("--rankece", default=str(HERE.parent / "target/release/rankece"))
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--small", action="store_true", help="one decade, to see that the script runs")
    options = arguments.parse_intermixed_args()
    for what in options.what:
        if what not in everything:
            arguments.error(f"{what} is not measured; there are {', '.join(everything)}")
    load = os.getloadavg()[0]
    print(f"{time.strftime('%Y-%m-%d')}, {processor()}, {os.cpu_count()} cores, {options.threads} thread(s);"
          f" median of {options.runs} runs; load of the machine before: {load:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        work = Work(options, folder)
        for what in options.what or everything:
            getattr(work, what)()
    print(f"load of the machine after: {os.getloadavg()[0]:.1f}, of which this was {options.threads}")


if __name__ == "__main__":
    main()
