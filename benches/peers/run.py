#!/usr/bin/env python3
"""rankece beside NumPy and probcal: the same work, the same cores, in turn, in one run. Needs numpy and a build;
`skce` also probcal 0.4.0, in the Python that --probcal names.

usage: run.py [power] [evaluate] [resamples] [skce] [--rankece PROGRAM] [--probcal PYTHON] [--runs N]
Prints medians and the ratio, pair by pair.
"""
import argparse
import csv
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


def skce(program, runs, python):
    """Seconds of a SKCE-U test with 100 resamples, from rows in memory to the p-value, on one core; and how many
    asymptotic rankECE tests take as long."""
    print("skce: SKCE-U with 100 multinomial resamples, median bandwidth, uniform law, calibrated, one core")
    environment = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    for n in (1000, 5000):
        _, printed = seconds(
            ["taskset", "-c", "0", program, "cost", "--law", "uniform", "--n", str(n), "--runs", str(max(runs, 5)),
             "--tests", "asymptotic,skce-u", "--backend", "cpu", "--threads", "1", "--format", "csv", "--quiet"], {})
        rows = list(csv.DictReader(printed.splitlines()[1:]))
        ours = {(row["test"], row["kernel"], row["method"]): float(row["seconds"])
                for row in rows if row["null"] in ("", "multinomial")}
        asymptotic = ours["asymptotic", "", ""]
        print(f"  n {n:5}  rankECE asymptotic: {asymptotic:.3g} s")
        for kernel in ("gaussian", "laplace"):
            _, printed = seconds(["taskset", "-c", "0", python, str(HERE / "probcal_skce.py"), str(n), "100",
                                  str(runs), kernel], environment)
            theirs = statistics.median(float(text) for text in printed.split()[1:])
            for (test, own, method), time_taken in ours.items():
                if own == kernel:
                    print(f"  n {n:5}  {test} {kernel}, {method}: rankece {time_taken:.3g} s, probcal {theirs:.3g} s,"
                          f" ratio {theirs / time_taken:.0f}; asymptotic is {time_taken / asymptotic:.0f} times"
                          f" faster than ours and {theirs / asymptotic:.0f} than probcal's", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", nargs="*", metavar="power|evaluate|resamples|skce")
    arguments.add_argument("--rankece", default=str(HERE.parent.parent / "target/release/rankece"))
    arguments.add_argument("--probcal", default="python3", help="a Python that has probcal 0.4.0")
    arguments.add_argument("--runs", type=int, default=3)
    options = arguments.parse_args()
    print(f"{time.strftime('%Y-%m-%d')}, {processor()}, {os.cpu_count()} cores; median of {options.runs} runs, in turn")
    for what in options.what or ["power", "evaluate", "resamples"]:
        if what == "skce":
            skce(options.rankece, options.runs, options.probcal)
        else:
            {"power": power, "evaluate": evaluate, "resamples": resamples}[what](options.rankece, options.runs)


if __name__ == "__main__":
    main()
