#!/usr/bin/env python3
"""What a careful NumPy user writes: null resamples of rankECE, vectorised over the rows of a resample.

usage: numpy_resamples.py ROWS RESAMPLES     Prints: p, seconds, nanoseconds a row.
One process is one core (set OMP_NUM_THREADS=1).
"""
import sys
import time

import numpy as np


def main():
    rows, resamples = int(sys.argv[1]), int(sys.argv[2])
    rng = np.random.default_rng(1)
    z = np.sort(rng.random(rows))
    d = (rng.random(rows) < z) - z
    observed = d[:-1] @ d[1:]
    # As many resamples at a time as stay in the cache, at least one.
    block = max(1, 200_000 // rows)
    start, done, hits = time.perf_counter(), 0, 0
    while done < resamples:
        b = min(block, resamples - done)
        d = (rng.random((b, rows)) < z) - z
        hits += int((np.einsum("ij,ij->i", d[:, :-1], d[:, 1:]) >= observed).sum())
        done += b
    seconds = time.perf_counter() - start
    print(f"p {(1 + hits) / (1 + resamples):.4f}  seconds {seconds:.4f}  ns a row {seconds * 1e9 / rows / resamples:.3f}")


if __name__ == "__main__":
    main()
