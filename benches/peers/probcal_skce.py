"""probcal's SKCE-U test (PyPI: probcal 0.4.0): usage: probcal_skce.py n resamples runs kernel"""
import sys
import time

import numpy as np
from probcal.metrics.kernel import skce_test

n, resamples, runs, kernel = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rng = np.random.default_rng(1)
z = rng.random(n)
y = (rng.random(n) < z).astype(int)
skce_test(y[:100], z[:100], n_boot=2, kernel=kernel)  # imports and first calls
times = []
for _ in range(runs):
    start = time.perf_counter()
    skce_test(y, z, n_boot=resamples, kernel=kernel)
    times.append(time.perf_counter() - start)
print("seconds", *sorted(times))
