#!/usr/bin/env python3
"""What a careful user of PyTorch or CuPy writes: the work of each step of run.py, vectorised, in f32, on the GPU.

usage: peers.py LIBRARY STEP N COUNT RUNS [FOLDER]
  LIBRARY  torch | cupy | numpy (on the CPU: to check the script and the statistics, never for speed)
  STEP     power | sort | resamples | skce
  COUNT    replicates or resamples; 0 for sort
  FOLDER   where z.npy and y.npy are, for all but power
Prints one JSON object: seconds of each run after a warm-up, by what was timed, and the statistic.
"""
import json
import sys
import time
from pathlib import Path

import numpy as np

# Numbers of a block: large enough to fill a GPU, small enough to fit it several times over.
BLOCK = 1 << 27


class Numpy:
    """NumPy, and CuPy, which has its names."""

    def __init__(self, module):
        self.xp = module
        self.random = module.random.default_rng(1)
        self.device = "cpu"
        if module is not np:
            self.device = module.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def to_device(self, array):
        return self.xp.asarray(array)

    def to_host(self, array):
        return array if self.xp is np else self.xp.asnumpy(array)

    def uniform(self, *shape):
        return self.random.random(shape, dtype=np.float32)

    def sort(self, array):
        return self.xp.sort(array, axis=-1)

    def as_float(self, array):
        return array.astype(np.float32)

    def bits_as_float(self, array):
        return array.view(np.float32)

    def sum(self, array):
        return array.sum(dtype=np.float64)

    def sum_rows(self, array):
        return array.sum(axis=1)

    def exp(self, array):
        return self.xp.exp(array)

    def counts(self, rows, resamples):
        """How often each row is drawn, of `rows` draws with replacement."""
        drawn = self.xp.floor(self.random.random((resamples, rows), dtype=np.float32) * rows).astype(np.int64)
        drawn = self.xp.minimum(drawn, rows - 1) + self.xp.arange(resamples)[:, None] * rows
        counts = self.xp.bincount(drawn.ravel(), minlength=rows * resamples)
        return counts.reshape(resamples, rows).astype(np.float32)

    def wait(self):
        if self.xp is not np:
            self.xp.cuda.Device().synchronize()


class Torch:
    def __init__(self):
        import torch
        self.torch = torch
        self.where = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.cuda.get_device_name(0) if self.where == "cuda" else "cpu"
        torch.manual_seed(1)
        torch.backends.cuda.matmul.allow_tf32 = False

    def to_device(self, array):
        # It has no unsigned words; keys are below 2^31.
        return self.torch.from_numpy(array.view(np.int32) if array.dtype == np.uint32 else array).to(self.where)

    def to_host(self, array):
        return array.cpu().numpy()

    def uniform(self, *shape):
        return self.torch.rand(shape, device=self.where)

    def sort(self, array):
        return self.torch.sort(array, dim=-1)[0]

    def as_float(self, array):
        return array.to(self.torch.float32)

    def bits_as_float(self, array):
        return array.view(self.torch.float32)

    def sum(self, array):
        return array.sum(dtype=self.torch.float64)

    def sum_rows(self, array):
        return array.sum(1)

    def exp(self, array):
        return self.torch.exp(array)

    def counts(self, rows, resamples):
        drawn = self.torch.randint(rows, (resamples, rows), device=self.where)
        counts = self.torch.zeros((resamples, rows), device=self.where)
        return counts.scatter_add_(1, drawn, self.torch.ones_like(counts))

    def wait(self):
        if self.where == "cuda":
            self.torch.cuda.synchronize()


def library(name):
    if name == "torch":
        return Torch()
    if name == "cupy":
        import cupy
        return Numpy(cupy)
    return Numpy(np)


def timed(lib, runs, work):
    """Seconds of each run after a warm-up, and the last result."""
    seconds = []
    for run in range(runs + 1):
        lib.wait()
        start = time.perf_counter()
        result = work()
        lib.wait()
        if run > 0:
            seconds.append(time.perf_counter() - start)
    return seconds, result


def blocks(count, size):
    size = max(1, size)
    return [min(size, count - done) for done in range(0, count, size)]


def power(lib, n, replicates, runs, _):
    """Rate of rejections of the asymptotic test at level 0.05; uniform law, quadratic curve."""
    def work():
        hits = 0
        for b in blocks(replicates, BLOCK // n):
            z = lib.sort(lib.uniform(b, n))
            chance = (0.8 * z - 0.2) * z + 0.2
            d = lib.as_float(lib.uniform(b, n) < chance) - z
            statistic = lib.sum_rows(d[:, :-1] * d[:, 1:])
            v = z * (1 - z)
            hits = hits + (statistic > 1.6448536269514722 * lib.sum_rows(v * v) ** 0.5).sum()
        return hits
    seconds, hits = timed(lib, runs, work)
    return {"seconds": seconds, "rate": float(hits) / replicates}


def keys_of(z, y):
    """A word for each row: the bits of the confidence, and below them the label."""
    return z.view(np.uint32) << np.uint32(1) | y.astype(np.uint32)


def sort(lib, n, _, runs, folder):
    """Sort of all rows, and with it rankECE and its null variance. Tied rows stay in the order of labels."""
    keys = lib.to_device(keys_of(np.load(folder / "z.npy"), np.load(folder / "y.npy")))
    alone, _ = timed(lib, runs, lambda: lib.sort(keys))

    def work():
        ordered = lib.sort(keys)
        z = lib.bits_as_float(ordered >> 1)
        d = lib.as_float(ordered & 1) - z
        v = z * (1 - z)
        return lib.sum(d[:-1] * d[1:]), lib.sum(v * v)
    seconds, sums = timed(lib, runs, work)
    return {"seconds": seconds, "sort": alone, "rank_ece": float(sums[0]) / n, "squares": float(sums[1]) / n}


def resamples(lib, n, count, runs, folder):
    """The p-value of rankECE against null resamples."""
    z, y = np.load(folder / "z.npy"), np.load(folder / "y.npy")
    order = np.argsort(z, kind="stable")
    z, d = z[order], y[order].astype(np.float32) - z[order]
    observed = float(d[:-1].astype(np.float64) @ d[1:])
    z = lib.to_device(z)

    def work():
        hits = 0
        for b in blocks(count, BLOCK // n):
            d = lib.as_float(lib.uniform(b, n) < z) - z
            hits = hits + (lib.sum_rows(d[:, :-1] * d[:, 1:]) >= observed).sum()
        return hits
    seconds, hits = timed(lib, runs, work)
    return {"seconds": seconds, "p": (1 + int(hits)) / (1 + count)}


def skce(lib, n, count, runs, folder):
    """SKCE-U with a Gaussian kernel of median bandwidth, and its p-value by multinomial resamples."""
    z = lib.to_device(np.load(folder / "z.npy"))
    d = lib.to_device(np.load(folder / "y.npy").astype(np.float32)) - z

    def work():
        apart = abs(z[:, None] - z[None, :])
        # All pairs twice, and n zeros below them.
        ordered = lib.sort(apart.reshape(-1))
        pairs = n * (n - 1)
        bandwidth = 0.5 * (ordered[n + pairs // 2 - 1] + ordered[n + pairs // 2])
        h = lib.exp(apart * apart * (-0.5 / (bandwidth * bandwidth))) * d[:, None] * d[None, :]
        diagonal = d * d
        unbiased = (lib.sum(h) - lib.sum(diagonal)) / pairs
        counts = lib.counts(n, count)
        w = counts - 1
        means = lib.sum_rows(h) / n
        centred_diagonal = diagonal - 2 * means + lib.sum_rows(means[None, :]) / n
        statistic = (lib.sum_rows((w @ h) * w) - counts @ centred_diagonal) / n
        return unbiased, (statistic >= n * unbiased).sum()
    seconds, (unbiased, hits) = timed(lib, runs, work)
    return {"seconds": seconds, "unbiased": float(unbiased), "p": (1 + int(hits)) / (1 + count)}


def main():
    name, step, n, count, runs = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    lib = library(name)
    steps = {"power": power, "sort": sort, "resamples": resamples, "skce": skce}
    result = steps[step](lib, n, count, runs, Path(sys.argv[6]) if len(sys.argv) > 6 else None)
    print(json.dumps({"library": name, "device": lib.device, **result}))


if __name__ == "__main__":
    main()
