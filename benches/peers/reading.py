#!/usr/bin/env python3
"""Reading 10^7 rows of every format, rankece beside pyarrow and NumPy: the same file, the same number of threads, in
turn, in one run. Needs numpy, pyarrow and a build.

usage: reading.py [--rankece PROGRAM] [--before PROGRAM] [--runs N] [--threads N] [--rows N]
       reading.py --large [--rankece PROGRAM]

Ours is what --timings tells of a fresh process: rows validated and put together with their labels. The peers' is the
second read of a process, into memory and without any check. Prints medians and the ratio, pair by pair.

--before: another build in the place of the peers. Prints the seconds of processor of each as well, of the whole process.

--large: 10^8 rows of f32 with labels of one byte (500 MB) through `evaluate` on the CPU; fails if a process takes 1.5 GB
or more.
"""
import argparse
import gzip
import multiprocessing
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MOST_BYTES = 1_500_000_000

PEER = """
import sys, time
import numpy as np, pyarrow as pa, pyarrow.csv, pyarrow.feather, pyarrow.json, pyarrow.parquet
name, threads, *paths = sys.argv[1:]
pa.set_cpu_count(int(threads))
read = {
    "pyarrow.csv.read_csv": pa.csv.read_csv,
    "pyarrow.json.read_json": pa.json.read_json,
    "pyarrow.parquet.read_table": pa.parquet.read_table,
    "pyarrow.feather.read_table": lambda path: pa.feather.read_table(path, memory_map=False),
    "numpy.load": lambda path: [array for array in np.load(path).values()] if path.endswith("z") else np.load(path),
}[name]
for _ in range(2):
    start = time.perf_counter()
    tables = [read(path) for path in paths]
    seconds = time.perf_counter() - start
    del tables
print(seconds)
"""


# Name, files, flags of ours, and the peer. A file of labels stands behind its flag.
FILES = [
    ("csv", ["rows.csv"], [], "pyarrow.csv.read_csv"),
    ("csv, gzip", ["rows.csv.gz"], [], "pyarrow.csv.read_csv"),
    ("csv, quoted groups", ["groups.csv"], ["--group-by", "group"], "pyarrow.csv.read_csv"),
    ("json lines", ["rows.jsonl"], [], "pyarrow.json.read_json"),
    ("parquet, f32", ["rows.parquet"], [], "pyarrow.parquet.read_table"),
    ("parquet, f32, one row group", ["one.parquet"], [], "pyarrow.parquet.read_table"),
    ("parquet, f64, zstd", ["zstd.parquet"], [], "pyarrow.parquet.read_table"),
    ("parquet, f64, groups", ["groups.parquet"], ["--group-by", "group"], "pyarrow.parquet.read_table"),
    ("arrow, f32", ["rows.arrow"], [], "pyarrow.feather.read_table"),
    ("arrow, f32, lz4", ["lz4.arrow"], [], "pyarrow.feather.read_table"),
    ("arrow, f64, zstd", ["zstd.arrow"], [], "pyarrow.feather.read_table"),
    ("arrow, f32, lz4, one record batch", ["one.arrow"], [], "pyarrow.feather.read_table"),
    ("npy, f32 and u8", ["z.npy", "y.npy"], ["--labels"], "numpy.load"),
    ("npz, f32 and u8", ["rows.npz"], [], "numpy.load"),
]


def write_files(folder, rows):
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet
    rng = np.random.default_rng(1)
    z = rng.random(rows)
    y = (rng.random(rows) < z).astype(np.uint8)
    table = pa.table({"confidence": z, "label": y})
    single = pa.table({"confidence": z.astype(np.float32), "label": y})
    groups = pa.array(np.char.add("group ", rng.integers(0, 20, rows).astype(str)))
    at = lambda name: os.path.join(folder, name)
    pa.csv.write_csv(table, at("rows.csv"))
    grouped = table.append_column("group", groups)
    pa.csv.write_csv(grouped, at("groups.csv"))
    with open(at("rows.csv"), "rb") as plain, gzip.open(at("rows.csv.gz"), "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)
    with open(at("rows.jsonl"), "w") as lines:
        for start in range(0, rows, 100_000):
            part = zip(z[start:start + 100_000].tolist(), y[start:start + 100_000].tolist())
            lines.write("".join(f'{{"confidence": {p!r}, "label": {label}}}\n' for p, label in part))
    pa.parquet.write_table(single, at("rows.parquet"))
    pa.parquet.write_table(single, at("one.parquet"), row_group_size=rows)
    pa.parquet.write_table(table, at("zstd.parquet"), compression="zstd")
    pa.parquet.write_table(grouped, at("groups.parquet"))
    pa.feather.write_feather(single, at("rows.arrow"), compression="uncompressed")
    pa.feather.write_feather(single, at("lz4.arrow"), compression="lz4")
    pa.feather.write_feather(table, at("zstd.arrow"), compression="zstd")
    pa.feather.write_feather(single, at("one.arrow"), compression="lz4", chunksize=rows)
    np.save(at("z.npy"), z.astype(np.float32))
    np.save(at("y.npy"), y)
    np.savez(at("rows.npz"), probs=z.astype(np.float32), labels=y)


def in_child(write, *arguments):
    """Runs in a process of its own: a child's peak memory counts that of its parent when it started."""
    writer = multiprocessing.get_context("spawn").Process(target=write, args=arguments)
    writer.start()
    writer.join()
    if writer.exitcode != 0:
        sys.exit("the files could not be written")


def run(command):
    """What a process wrote to standard error, its seconds of processor, and its peak memory in bytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    with process.stderr as stream:
        told = stream.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command}: {told}")
    return told, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def timings(told):
    return [float(seconds) for seconds in re.findall(r"rows in ([\d.]+) s", told)]


def compare(options, folder, name, files, flags, peer):
    """One file through both, in turn."""
    paths = [os.path.join(folder, file) for file in files]
    arguments = ["evaluate", paths[0], *flags, *paths[1:], "--backend", "cpu", "--tests", "none", "--interval", "none",
                 "--threads", str(options.threads), "--quiet", "--timings"]
    our_times, their_times, our_processor, their_processor, peak = [], [], [], [], 0
    for _ in range(options.runs):
        told, processor, memory = run([options.rankece, *arguments])
        our_times.append(timings(told)[0])
        our_processor.append(processor)
        peak = max(peak, memory)
        if options.before:
            told, processor, _ = run([options.before, *arguments])
            their_times.append(timings(told)[0])
            their_processor.append(processor)
        else:
            command = ["python3", "-c", PEER, peer, str(options.threads), *paths]
            their_times.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    ratios = sorted(b / a for a, b in zip(our_times, their_times))
    size = sum(os.path.getsize(path) for path in paths)
    processor = (f"; processor {min(our_processor):.2f} s, before {min(their_processor):.2f} s at least"
                 if options.before else "")
    print(f"  {name}: {size / 1e6:.0f} MB, rankece {statistics.median(our_times):.3f} s"
          f" (least {min(our_times):.3f}), {peak / 1e6:.0f} MB at most;"
          f"  {'before' if options.before else peer} {statistics.median(their_times):.3f} s"
          f" (least {min(their_times):.3f})"
          f"  ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}){processor}", flush=True)


def formats(options):
    with tempfile.TemporaryDirectory() as folder:
        in_child(write_files, folder, options.rows)
        for file in FILES:
            compare(options, folder, *file)


def write_large(confidences, labels):
    import numpy as np
    rows, part = 10**8, 10**7
    rng = np.random.default_rng(1)
    z = np.lib.format.open_memmap(confidences, "w+", np.float32, (rows,))
    y = np.lib.format.open_memmap(labels, "w+", np.uint8, (rows,))
    for start in range(0, rows, part):
        z[start:start + part] = rng.random(part, dtype=np.float32)
        y[start:start + part] = rng.random(part) < z[start:start + part]


def large(options):
    exceeded = False
    with tempfile.TemporaryDirectory() as folder:
        confidences, labels = os.path.join(folder, "z.npy"), os.path.join(folder, "y.npy")
        in_child(write_large, confidences, labels)
        for flags in (["--tests", "none", "--interval", "none"], ["--tests", "asymptotic,conditional,finite-sample"], []):
            told, processor, peak = run(
                [options.rankece, "evaluate", confidences, "--labels", labels, "--backend", "cpu", "--threads",
                 str(options.threads), "--quiet", "--timings", *flags])
            # Below computed its stages have lines of their own.
            read, computed = timings(told)[:2]
            print(f"  {' '.join(flags) or 'all defaults'}: read {read:.2f} s, computed {computed:.2f} s, processor"
                  f" {processor:.2f} s, peak {peak / 1e6:.0f} MB", flush=True)
            exceeded |= peak >= MOST_BYTES
    if exceeded:
        sys.exit(f"more than {MOST_BYTES / 1e6:.0f} MB")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rankece", default=os.path.join(here, "../../target/release/rankece"))
    arguments.add_argument("--before")
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rows", type=int, default=10**7)
    arguments.add_argument("--large", action="store_true")
    options = arguments.parse_args()
    print(f"{time.strftime('%Y-%m-%d')}, {options.threads} threads, warm cache"
          + ("; 10^8 rows of f32, labels of one byte" if options.large else
             f"; {options.rows} rows, median of {options.runs} runs, in turn"))
    (large if options.large else formats)(options)


if __name__ == "__main__":
    main()
