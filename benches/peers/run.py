#!/usr/bin/env python3
"""rankece beside NumPy: the same work, the same cores, in turn, in one run. Needs numpy and a build.

usage: run.py [power] [evaluate] [resamples] [--rankece PROGRAM] [--runs N]
Prints medians and the ratio, pair by pair.
"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def seconds(command, environment):
    """Wall time of a command and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, done.stdout


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown processor"


def power(program, runs):
    """Replicates per second of a power simulation, NumPy's as it counts them, ours with start and all."""
    print("power: rejection rate of the asymptotic test, uniform law, quadratic curve")
    for cores in (1, 2):
        for n, ours, theirs in ((100, 4_000_000, 200_000), (1000, 400_000, 20_000), (10_000, 40_000, 2_000)):
            numpy_rates, rankece_rates = [], []
            for _ in range(runs):
                # NumPy uses one core; on two cores two of it run side by side.
                environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
                peers = [
                    subprocess.Popen(
                        ["python3", HERE / "numpy_power.py", str(n), str(theirs)],
                        env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True,
                        preexec_fn=lambda core=core: os.sched_setaffinity(0, {core}),
                    )
                    for core in range(cores)
                ]
                printed = [peer.communicate()[0] for peer in peers]
                numpy_rates.append(sum(float(re.search(r"replicates/s (\d+)", text)[1]) for text in printed))
                time_taken, _ = seconds(
                    ["taskset", "-c", f"0-{cores - 1}", program, "power", "--law", "uniform", "--curve", "quadratic",
                     "--n", str(n), "--tests", "asymptotic", "--replicates", str(ours * cores), "--backend", "cpu",
                     "--threads", str(cores), "--format", "csv", "--quiet"], {})
                rankece_rates.append(ours * cores / time_taken)
            ratios = sorted(a / b for a, b in zip(rankece_rates, numpy_rates))
            print(f"  n {n:6}, {cores} core(s): rankece {statistics.median(rankece_rates):12.0f}/s"
                  f"  numpy {statistics.median(numpy_rates):10.0f}/s"
                  f"  ratio {statistics.median(ratios):6.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


def evaluate(program, runs):
    """Wall time of a whole process on 10^7 rows of f32 with reading."""
    import numpy as np
    print("evaluate: 10^7 rows of f32 (npy), labels of one byte; asymptotic test, 10 bins")
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(1)
        z = rng.random(10**7, dtype=np.float32)
        np.save(f"{folder}/z.npy", z)
        np.save(f"{folder}/y.npy", (rng.random(10**7) < z).astype(np.uint8))
        ours = ["/usr/bin/time", "-f", "%M", program, "evaluate", f"{folder}/z.npy", "--labels", f"{folder}/y.npy",
                "--tests", "asymptotic", "--backend", "cpu", "--quiet", "--format", "csv"]
        theirs = ["python3", HERE / "numpy_evaluate.py", f"{folder}/z.npy", f"{folder}/y.npy"]
        for name, extra in (("with concentration interval", ["--interval", "concentration"]), ("with both intervals", [])):
            rankece_times, numpy_times, memory = [], [], 0
            for _ in range(runs):
                start = time.perf_counter()
                done = subprocess.run(ours + extra, capture_output=True, text=True, check=True)
                rankece_times.append(time.perf_counter() - start)
                memory = int(done.stderr.split()[-1])
                _, printed = seconds(theirs, {})
                numpy_times.append(float(re.search(r"seconds ([\d.]+)", printed)[1]))
            ratios = sorted(b / a for a, b in zip(rankece_times, numpy_times))
            print(f"  {name}: rankece {statistics.median(rankece_times):.3f} s, {memory / 1024:.0f} MiB at most;"
                  f"  numpy {statistics.median(numpy_times):.3f} s"
                  f"  ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


def resamples(program, runs):
    """Wall time of a whole process, with reading and sorting, on one core; NumPy's of the resamples alone."""
    import numpy as np
    print("resamples: test monte-carlo, one core")
    with tempfile.TemporaryDirectory() as folder:
        for n, ours, theirs in ((1000, 99_999, 9_999), (1_000_000, 999, 99)):
            rng = np.random.default_rng(1)
            z = rng.random(n)
            np.save(f"{folder}/rows.npy", np.column_stack([z, rng.random(n) < z]))
            rankece_rates, numpy_rates = [], []
            for _ in range(runs):
                _, printed = seconds(["python3", HERE / "numpy_resamples.py", str(n), str(theirs)],
                                     {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
                numpy_rates.append(theirs / float(re.search(r"seconds ([\d.]+)", printed)[1]))
                time_taken, _ = seconds([program, "evaluate", f"{folder}/rows.npy", "--tests", "monte-carlo",
                                         "--resamples", str(ours), "--backend", "cpu", "--threads", "1", "--quiet"], {})
                rankece_rates.append(ours / time_taken)
            ratios = sorted(a / b for a, b in zip(rankece_rates, numpy_rates))
            print(f"  n {n:7}: rankece {statistics.median(rankece_rates):10.1f}/s  numpy {statistics.median(numpy_rates):9.1f}/s"
                  f"  ratio {statistics.median(ratios):6.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", nargs="*", metavar="power|evaluate|resamples")
    arguments.add_argument("--rankece", default=str(HERE.parent.parent / "target/release/rankece"))
    arguments.add_argument("--runs", type=int, default=3)
    options = arguments.parse_args()
    print(f"{time.strftime('%Y-%m-%d')}, {processor()}, {os.cpu_count()} cores; median of {options.runs} runs, in turn")
    for what in options.what or ["power", "evaluate", "resamples"]:
        {"power": power, "evaluate": evaluate, "resamples": resamples}[what](options.rankece, options.runs)


if __name__ == "__main__":
    main()
