"""Memory is bounded by the batch, not by the file."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from thresher.streams import write_svmlight

SCRIPT = """if True:
    import sys, threading, time
    from thresher.streams import open_stream

    def anonymous():  # memory of the process itself, in kB; pages of files that the system caches do not count
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

    peak = 0
    def watch():
        global peak
        while True:
            peak = max(peak, anonymous())
            time.sleep(0.002)

    stream = open_stream(sys.argv[1], batch_size=4096)
    before = anonymous()
    threading.Thread(target=watch, daemon=True).start()
    n_rows = sum(len(batch) for batch in stream)
    peak = max(peak, anonymous())
    print(n_rows, peak - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.random_array((8192, 20_000), density=75 / 20_000, format="csr", rng=rng)
    grown = {}
    for n_copies in (4, 30):
        path = tmp_path / f"{n_copies}.svm"
        with open(path, "wb") as file:
            for _ in range(n_copies):
                write_svmlight(file, X, rng.integers(0, 2, 8192))
        done = subprocess.run([sys.executable, "-c", SCRIPT, path], capture_output=True, text=True, check=True)
        n_rows, grown[n_copies] = map(int, done.stdout.split())
        assert n_rows == n_copies * 8192
    assert path.stat().st_size > 300e6
    assert grown[30] < 40_000  # kilobytes; a batch is about 4 MB, a file twelve megabytes a copy
    assert grown[30] < grown[4] + 10_000
