"""One learner on the wide stream, alone in its process: ``python -m benchmarks._wide_run JSON``; figures as JSON.

Only ``partial_fit`` is timed. Memory is the peak during the calls, less what the process held with the rows of the
first call in memory.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from thresher.metrics import ProgressiveAveragePrecision

from ._measure import memory_mb
from ._wide_rows import wide_batch

JUDGED = 0.9  # calls that end beyond judge: their scores before they are learned from


def main() -> None:
    job = json.loads(sys.argv[1])
    kind = getattr(import_module(f"thresher.{job['family']}"), job["kind"])
    _learn_first(kind, job)
    model = kind(**job["params"])
    measure = ProgressiveAveragePrecision()
    seconds, peak, held, n_rows, n_values = 0.0, 0.0, 0.0, 0, 0
    while n_rows < job["n_rows"]:
        X, y = wide_batch(job["call"], job["n_features"], n_rows // job["call"])
        if n_rows and n_rows + len(y) > JUDGED * job["n_rows"]:
            measure.update(y, model.decision_function(X))
        _forget_peak()
        if not n_rows:
            held = memory_mb("VmRSS")
        begin = time.process_time()
        model.partial_fit(X, y, classes=[0, 1])
        seconds += time.process_time() - begin
        peak = max(peak, memory_mb("VmHWM"))
        n_rows += len(y)
        n_values += X.nnz
    figures = {"seconds": seconds, "n_rows": n_rows, "nnz": n_values / n_rows, "beyond_mb": peak - held}
    figures["average_precision"] = measure.value
    print(json.dumps(figures))


def _learn_first(kind: Any, job: dict[str, Any]) -> None:
    """Libraries are loaded and their buffers made before anything is measured."""
    X, y = wide_batch(2_000, 10_000, 0)
    kind(**job["params"]).partial_fit(X, y, classes=[0, 1]).decision_function(X)


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main()
