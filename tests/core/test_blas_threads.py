"""One thread for BLAS, also for that of SciPy, which is loaded on first use."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import numpy as np
from threadpoolctl import threadpool_info
from thresher._engine import one_blas_thread
from thresher._gate import linalg

def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

before = threads()
for _ in range(2):
    with one_blas_thread():
        linalg.cholesky(np.eye(2))
        with one_blas_thread():
            assert threads() == {1}, threads()
        assert threads() == {1}, threads()
    assert threads() == before, (before, threads())
print(before)
"""


def test_a_library_that_is_loaded_inside_is_limited_as_well():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
