#!/usr/bin/env python3
"""What a careful NumPy user writes: rankECE, its asymptotic statistic and ECE with 10 bins of one file.

usage: numpy_evaluate.py CONFIDENCES.npy LABELS.npy
Prints: rank_ece, T, ece_l1, seconds with reading.
"""
import sys
import time

import numpy as np


def main():
    start = time.perf_counter()
    z, y = np.load(sys.argv[1]), np.load(sys.argv[2])
    order = np.argsort(z)
    z = z[order].astype(np.float64)
    d = y[order] - z
    n = len(z)
    rank_ece = (d[:-1] * d[1:]).sum() / n
    v = z * (1 - z)
    t = np.sqrt(n) * rank_ece / np.sqrt((v * v).mean())
    edges = np.searchsorted(z, np.arange(1, 10) / 10, side="right")
    ece_l1 = np.abs(np.add.reduceat(d, np.concatenate([[0], edges]))).sum() / n
    print(f"rank_ece {rank_ece:.9f}  T {t:.6f}  ece_l1 {ece_l1:.9f}  seconds {time.perf_counter() - start:.4f}")


if __name__ == "__main__":
    main()
