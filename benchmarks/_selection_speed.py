"""CPU time of one pass of FTRL, ours and Vowpal Wabbit's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._data import cached_file
from ._measure import installed
from ._selection_data import Task
from ._selection_learners import Params, Stream
from ._vw_ftrl import Layout, options, svmlight_of, vw_cache_of, vw_text_of


class Timings(NamedTuple):
    """Best CPU seconds by what was run."""

    title: str
    size: int
    seconds: dict[str, float]

    @property
    def ratio(self) -> float | None:
        return self._ratio("rows", "vw cache")

    def _ratio(self, ours: str, theirs: str) -> float | None:
        return self.seconds[ours] / self.seconds[theirs] if theirs in self.seconds else None

    def row(self) -> list[str]:
        times = [
            f"{1000 * self.seconds[name]:.0f}" if name in self.seconds else ""
            for name in ("rows", "text", "vw cache", "vw text")
        ]
        ratios = [_shown(self.ratio), "0.5", _shown(self._ratio("text", "vw text"))]
        return [self.title, f"{self.size:,}", *times, *ratios]


def _shown(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def speed(task: Task, stream: Stream, chosen: list[Params], quick: bool) -> Timings:
    """At the last size but one."""
    place = -2
    size, params = task.sizes[place], chosen[place]
    layout = Layout.of(stream.X, stream.y)
    ours = {
        "kind": "FTRLClassifier",
        "params": {
            "n_features_to_select": size // layout.n_outputs,
            "selection": "class",
            "max_iter": 1,
            "shuffle": False,
            **params,
        },
        "n_features": layout.n_features,
        "classes": [-1.0, 1.0] if layout.n_classes == 2 else list(range(1, layout.n_classes + 1)),
    }
    jobs: dict[str, dict[str, Any]] = {
        "rows": {"how": "rows", "file": str(_rows_of(stream)), **ours},
        "text": {"how": "text", "file": str(svmlight_of(stream.name, stream.X, stream.y)), **ours},
    }
    if installed("vowpalwabbit"):
        said = options(layout, l1=1.0, **params)
        cache, text = (f(stream.name, stream.X, stream.y) for f in (vw_cache_of, vw_text_of))
        jobs["vw cache"] = {"how": "vw", "options": f"{said} -d {cache} --cache_file {cache}"}
        jobs["vw text"] = {"how": "vw", "options": f"{said} -d {text}"}
    seconds: dict[str, float] = dict.fromkeys(jobs, float("inf"))
    for _ in range(2 if quick else 5):
        for name, job in jobs.items():
            seconds[name] = min(seconds[name], _in_own_process(job))
    return Timings(task.title, size, seconds)


def _rows_of(stream: Stream) -> Path:
    def write(path: Path) -> None:
        with open(path, "wb") as file:
            X = stream.X
            np.savez(file, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=stream.y)

    return cached_file(f"{stream.name}.npz", write)


def _in_own_process(job: dict[str, Any]) -> float:
    command = [sys.executable, "-m", "benchmarks._one_pass", json.dumps(job)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(json.loads(done.stdout.splitlines()[-1]))
