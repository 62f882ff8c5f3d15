"""The measurements of run.sh, which says how to call it."""
import argparse
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
STEPS = ["selfcheck", "power", "sort", "resamples", "skce"]
# Seconds that all steps may take together, and one command of ours or a peer's.
LIMIT = 350
LIMIT_OF_COMMAND = 75


class Sizes:
    """How much work: for a GPU, or to see that the script runs."""

    def __init__(self, small):
        self.runs = 2 if small else 5
        # Rows and replicates of a power simulation; ours minus ours with fewer leaves out the start.
        self.power = (1000, 2_000, 12_000) if small else (1000, 20_000_000, 100_000_000)
        self.peer_replicates = 2_000 if small else 500_000
        self.sort = 100_000 if small else 100_000_000
        self.resamples = (20_000, 9, 19) if small else (1_000_000, 999, 2998)
        self.skce = (500, 100) if small else (5000, 100)


class Bench:
    def __init__(self, options):
        self.program = options.program
        self.sizes = Sizes(options.small)
        self.small = options.small
        self.raw = open(options.output, "w") if options.output else None
        self.start = time.monotonic()
        self.table = []
        self.peers = self.libraries()

    def say(self, text):
        print(text, flush=True)
        self.note(text)

    def note(self, text):
        if self.raw:
            print(text, file=self.raw, flush=True)

    def command(self, command, what):
        """Wall time and outcome of a command, or nothing if it failed or took too long, which is said."""
        left = LIMIT - (time.monotonic() - self.start)
        self.note("$ " + " ".join(str(part) for part in command[1:]))
        if left < 5:
            self.say(f"skipped: {what}: the time for all steps is used up")
            return None
        start = time.perf_counter()
        try:
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                                  timeout=min(left, LIMIT_OF_COMMAND))
        except subprocess.TimeoutExpired:
            self.say(f"skipped: {what}: it took more than its time")
            return None
        seconds = time.perf_counter() - start
        self.note(f"{seconds:.4f} s\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        if done.returncode != 0:
            self.say(f"skipped: {what}: exit status {done.returncode}: {done.stderr.strip()[-300:]}")
            return None
        return seconds, done

    def ours(self, *arguments, what):
        command = [self.program, *arguments, "--backend", "gpu", "--quiet"]
        outcome = self.command(command, f"rankece, {what}")
        if outcome and "the CPU took over" in outcome[1].stderr:
            self.say(f"skipped: rankece, {what}: the device failed and the CPU took over")
            return None
        return outcome

    def libraries(self):
        """The libraries there are, each with a GPU under it."""
        probes = {
            "torch": "import torch; assert torch.cuda.is_available(), 'it sees no GPU'; print(torch.__version__)",
            "cupy": "import cupy; assert cupy.cuda.runtime.getDeviceCount(); print(cupy.__version__)",
        }
        found = []
        for name, probe in probes.items():
            done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60)
            if done.returncode == 0:
                self.say(f"{name} {done.stdout.strip()}")
                found.append(name)
            else:
                lines = done.stderr.strip().splitlines() or ["no reason given"]
                self.say(f"skipped: {name}: {lines[-1]}")
        if not found and self.small:
            self.say("NumPy on the CPU stands in, to check the script and the statistics, not the speed")
            found = ["numpy"]
        return found

    def peer(self, name, step, n, count, folder=""):
        command = [sys.executable, HERE / "peers.py", name, step, n, count, self.sizes.runs, folder]
        outcome = self.command(command, f"{name}, {step}")
        return json.loads(outcome[1].stdout.splitlines()[-1]) if outcome else None

    def row(self, work, ours, name, theirs, unit, agree):
        """One line of the table, from seconds of both; `unit` is how many things those are for."""
        if ours is None or theirs is None:
            return
        own, other = statistics.median(ours), statistics.median(theirs)
        if own <= 0:
            self.table.append((work, "too short", "", name, f"{other:.4g} s", f"{unit / other:.3g}/s", "", agree))
            return
        self.table.append((work, f"{own:.4g} s", f"{unit / own:.3g}/s", name, f"{other:.4g} s", f"{unit / other:.3g}/s",
                           f"{other / own:.2f}", agree))

    def selfcheck(self):
        self.command([self.program, "devices"], "devices")
        outcome = self.command([self.program, "selfcheck", "--backend", "gpu"], "selfcheck")
        if outcome:
            self.say("selfcheck: " + (outcome[1].stdout.strip().splitlines() or ["passed"])[-1])

    def power(self):
        n, few, many = self.sizes.power
        ours = lambda replicates: self.ours("power", "--law", "uniform", "--curve", "quadratic", "--n", n, "--tests",
                                            "asymptotic", "--replicates", replicates, "--format", "csv", what="power")
        ours(few)
        seconds, rate = [], None
        for _ in range(3):
            a, b = ours(few), ours(many)
            if a and b:
                seconds.append(b[0] - a[0])
                rate = float(next(csv.DictReader(b[1].stdout.splitlines()[1:]))["rate"])
        for name in self.peers:
            theirs = self.peer(name, "power", n, self.sizes.peer_replicates)
            if not seconds or not theirs:
                continue
            error = math.sqrt(rate * (1 - rate) * (1 / self.sizes.peer_replicates + 1 / many))
            scaled = [s * (many - few) / self.sizes.peer_replicates for s in theirs["seconds"]]
            self.row(f"power, n = {n}, replicates", seconds, name, scaled, many - few,
                     agreement(rate, theirs["rate"], 5 * error))

    def rows(self, folder, n, dtype=np.float32):
        rng = np.random.default_rng(1)
        z = rng.random(n, dtype=np.float32)
        np.save(folder / "z.npy", z.astype(dtype))
        np.save(folder / "y.npy", (rng.random(n, dtype=np.float32) < 0.8 * z * z - 0.2 * z + 0.2).astype(np.uint8))
        return [folder / "z.npy", "--labels", folder / "y.npy"]

    def sort(self):
        n = self.sizes.sort
        with tempfile.TemporaryDirectory() as folder:
            files = self.rows(Path(folder), n)
            stages, squares = [], None
            for _ in range(3):
                outcome = self.ours("evaluate", *files, "--tests", "asymptotic", "--interval", "none", "--bins", 10,
                                    "--timings", "--format", "json", what="sort")
                if outcome:
                    stages.append({name: float(time) for name, time in
                                   re.findall(r"^ *(.+) \d+ rows in ([\d.]+) s", outcome[1].stderr, re.MULTILINE)})
                    result = json.loads(outcome[1].stdout)["results"][0]
                    # T = sqrt(n) rankECE / sqrt(mean of squared null variances). rankECE itself is no check: the
                    # peer leaves tied rows in the order of their labels, and f32 has many ties.
                    statistic = result["tests"][0]["statistic"]
                    squares = n * (result["rank_ece"]["estimate"] / statistic) ** 2
            alone = [run["sort"] for run in stages if "sort" in run] or None
            both = [sum(run.get(stage, 0) for stage in ("sort", "prefix sums", "runs", "totals", "bins"))
                    for run in stages if "sort" in run] or None
            for name in self.peers:
                theirs = self.peer(name, "sort", n, 0, folder)
                if theirs:
                    agree = agreement(squares, theirs["squares"], 1e-6) if stages else ""
                    self.row(f"sort of {n} rows of f32", alone, name, theirs["sort"], n, "")
                    self.row(f"sort, rankECE and bins of {n} rows", both, name, theirs["seconds"], n, agree)

    def resamples(self):
        n, few, many = self.sizes.resamples
        with tempfile.TemporaryDirectory() as folder:
            files = self.rows(Path(folder), n)
            for test in ("monte-carlo", "adaptive"):
                ours = lambda b: self.ours("evaluate", *files, "--tests", test, "--resamples", b, "--interval", "none",
                                           "--timings", "--format", "json", what=test)
                ours(few)
                seconds, p = [], None
                for _ in range(3):
                    a, b = ours(few), ours(many)
                    if a and b:
                        seconds.append(computed(b[1]) - computed(a[1]))
                        p = json.loads(b[1].stdout)["results"][0]["tests"][0]["p_value"]
                if test == "adaptive":
                    if seconds:
                        median = statistics.median(seconds)
                        self.say(f"adaptive, n = {n}, {many - few} resamples: {median:.4g} s"
                                 f" (no peer: {(many - few) / median:.4g} resamples/s)")
                    continue
                for name in self.peers:
                    theirs = self.peer(name, "resamples", n, many - few, folder)
                    if seconds and theirs:
                        error = math.sqrt(max(p * (1 - p), 1 / many) * 2 / (many - few))
                        self.row(f"monte-carlo, n = {n}, resamples", seconds, name, theirs["seconds"], many - few,
                                 agreement(p, theirs["p"], 5 * error))

    def skce(self):
        n, count = self.sizes.skce
        outcome = self.ours("cost", "--law", "uniform", "--n", n, "--tests", "skce-u", "--resamples", count, "--runs",
                            self.sizes.runs, "--format", "csv", what="skce")
        seconds = None
        if outcome:
            rows = csv.DictReader(outcome[1].stdout.splitlines()[1:])
            seconds = [float(row["seconds"]) for row in rows
                       if (row["backend"], row["kernel"], row["null"]) == ("gpu", "gaussian", "multinomial")] or None
        with tempfile.TemporaryDirectory() as folder:
            files = self.rows(Path(folder), n)
            outcome = self.ours("evaluate", *files, "--tests", "skce-u", "--skce", "--resamples", count, "--interval",
                                "none", "--format", "json", what="skce of a file")
            estimate = json.loads(outcome[1].stdout)["results"][0]["skce"]["unbiased"] if outcome else None
            for name in self.peers:
                theirs = self.peer(name, "skce", n, count, folder)
                if theirs and outcome:
                    self.row(f"SKCE-U, n = {n}, {count} resamples", seconds, name, theirs["seconds"], count,
                             agreement(estimate, theirs["unbiased"], 1e-5))

    def finish(self):
        heads = ("work", "rankece", "rate", "peer", "peer's time", "rate", "ratio", "same result")
        lines = [heads, *self.table]
        widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
        self.say("")
        for line in lines:
            self.say("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
        if not self.table:
            self.say("nothing could be compared; see the lines above")
        self.say(f"medians; a ratio above 1: rankece is faster. {time.monotonic() - self.start:.0f} s in all")


def computed(done):
    return float(re.search(r"^computed \d+ rows in ([\d.]+) s", done.stderr, re.MULTILINE)[1])


def agreement(own, other, tolerance):
    return "yes" if abs(own - other) <= tolerance else f"NO: {own:.8g} and {other:.8g}"


def main():
    arguments = argparse.ArgumentParser(prog="run.sh", description=__doc__)
    arguments.add_argument("program")
    arguments.add_argument("steps", nargs="*", metavar="|".join(STEPS))
    arguments.add_argument("--output")
    arguments.add_argument("--small", action="store_true")
    options = arguments.parse_intermixed_args()
    for step in options.steps:
        if step not in STEPS:
            arguments.error(f"{step} is no step; they are {', '.join(STEPS)}")
    if not os.access(options.program, os.X_OK):
        arguments.error(f"{options.program} cannot be run; give a built rankece")
    bench = Bench(options)
    bench.say(f"{time.strftime('%Y-%m-%d')}, {'tiny sizes, no measure of speed' if options.small else 'full sizes'}")
    for step in options.steps or STEPS:
        getattr(bench, step)()
    bench.finish()
    disagree = any(row[-1].startswith("NO") for row in bench.table)
    sys.exit(1 if disagree else 0)


if __name__ == "__main__":
    main()
