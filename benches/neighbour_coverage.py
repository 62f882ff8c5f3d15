#!/usr/bin/env python3
"""Coverage of 95 % neighbour intervals (docs/specification.md, section 4) in simulated samples.

usage: neighbour_coverage.py CURVE,.. N,..
Prints, of the symmetric interval and of the one that rankece gives: coverage, how often the upper end lies
below the truth and the lower end above it, and the mean width.
"""
import sys

import numpy as np

Z_975 = 1.959963984540054
RNG = np.random.default_rng(1)


def uniform(shape):
    return RNG.random(shape)


def beta(shape):
    return RNG.beta(0.15, 0.85, shape)


def rare(shape):
    return 0.01 * RNG.random(shape)


MODELS = {
    "calibrated": (uniform, lambda z: z),
    "beta-calibrated": (beta, lambda z: z),
    "rare-calibrated": (rare, lambda z: z),
    "rare-double": (rare, lambda z: 2 * z),
    "quadratic": (uniform, lambda z: 0.8 * z**2 - 0.2 * z + 0.2),
    "linear": (uniform, lambda z: 0.5 * z + 0.3),
    "quartic": (beta, lambda z: z - z**4),
    "power-15": (beta, lambda z: z - z**15),
    "increasing-frequency": (
        uniform,
        lambda z: np.clip(0.15 + 0.7 * z + 0.5 * np.sin(40 * np.pi * z**2), 0, 1),
    ),
}


def intervals(d):
    """The two intervals of each sample, a row of sorted residuals."""
    n = d.shape[1]
    estimate = (d[:, :-1] * d[:, 1:]).sum(1) / n
    a, b, c, e = d[:, :-3], d[:, 1:-2], d[:, 2:-1], d[:, 3:]

    def h(x, y):
        return (x - y) ** 2 / 2

    r4 = (a * b * c * e).mean(1)
    pairs = [(a, b, c, e), (a, c, b, e), (a, e, b, c), (b, c, a, e), (b, e, a, c), (c, e, a, b)]
    r2s2 = sum(h(w, x) * y * z for w, x, y, z in pairs).mean(1) / 6
    s4 = (h(a, b) * h(c, e) + h(a, c) * h(b, e) + h(a, e) * h(b, c)).mean(1) / 3
    variance = np.maximum(r4 - estimate**2, 0) + 4 * np.maximum(r2s2, 0) + s4
    half = Z_975 * np.sqrt(variance / n)
    weight = np.sqrt(s4 / n) + 1 / n
    growing = np.maximum(r4, 0) + 4 * np.maximum(r2s2, 0)
    slope = np.minimum((growing + 4 / 3 * weight) / (np.maximum(estimate, 0) + weight), 4 / 3)
    q = Z_975**2 / n
    centre = estimate + q * slope / 2
    discriminant = centre**2 - (1 + q) * (estimate**2 - q * s4)
    root = (centre + np.sqrt(np.maximum(discriminant, 0))) / (1 + q)
    upper = np.where(discriminant >= 0, root, estimate)
    low, high = estimate - half, estimate + half
    return {"symmetric": (low, high), "rankece": (low, np.maximum(high, upper))}


def main():
    for name in sys.argv[1].split(","):
        law, curve = MODELS[name]
        z = law(20_000_000)
        truth = 0.0 if "calibrated" in name else np.mean((curve(z) - z) ** 2)
        for n in map(int, sys.argv[2].split(",")):
            samples = min(20_000, 2_000_000 // n)
            z = np.sort(law((samples, n)), axis=1)
            d = (RNG.random(z.shape) < curve(z)) - z
            told = [
                f"{method} {np.mean((low <= truth) & (truth <= high)):.3f} "
                f"({np.mean(high < truth):.3f} {np.mean(low > truth):.3f} {np.mean(high - low):.4f})"
                for method, (low, high) in intervals(d).items()
            ]
            print(f"{name}, n = {n}, {samples} samples: {'; '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
