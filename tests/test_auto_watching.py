"""A run of ``auto`` that is watched: told evaluations, a stop that keeps the best, and evaluations kept in files."""

from __future__ import annotations

import numpy as np
import pytest

import thresher
from thresher._auto import AutoWatcher, _final_fit, run_auto
from thresher._auto._compared_rows import sampled


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=120) > 0, "yes", "no")


OPTIONS = {"n_evaluations": 10, "method": "l1rda"}


def without_times(model):
    made = model.record_["auto"]
    return made | {"search": [entry | {"seconds": 0} for entry in made["search"]]}


def watched(rows, **watcher):
    told, doing = [], []
    run = run_auto(
        *rows, **OPTIONS, watcher=AutoWatcher(tell=doing.append, measured=told.append, **watcher), predict=True
    )
    return run, told, doing


def test_watching_changes_nothing_and_tells_every_evaluation(rows):
    alone = thresher.auto(*rows, **OPTIONS)
    run, told, doing = watched(rows)
    history = run.model.record_["auto"]["search"]
    assert without_times(run.model) == without_times(alone)
    assert [entry["score"] for entry in told] == [entry["score"] for entry in history]
    assert [entry["candidate"] for entry in told] == [entry["candidate"] for entry in history]
    assert all(entry["criterion"] == "error" and entry["value"] == -entry["score"] for entry in told)
    assert doing[0] == "reading"
    assert doing[-1].startswith("predicting rows")


def test_a_stop_keeps_the_best_model_so_far(rows):
    told = []
    run = run_auto(*rows, watcher=AutoWatcher(measured=told.append, is_over=lambda: len(told) >= 3), predict=True)
    made = run.model.record_["auto"]
    assert len(told) == made["n_evaluations"] == 3
    assert made["score"] == max(entry["score"] for entry in told)
    assert len(run.held_out.y) == 120


def test_a_report_on_fewer_rows_says_so_where_time_was_short(rows, monkeypatch):
    monkeypatch.setattr(_final_fit, "_plan_in_time", lambda best, plan, clock: sampled(plan, 60))
    held_out = run_auto(*rows, method="arow", n_evaluations=1, predict=True).held_out
    assert len(held_out.y) < 120
    assert held_out.name.endswith("; " + _final_fit._LESS_DATA)
    assert repr(held_out).startswith("HeldOut('cross-validation: ")
    assert len(repr(held_out)) < 300


def test_the_same_call_goes_on_from_evaluations_that_were_kept(rows, tmp_path):
    class Killed(BaseException):
        pass

    seen = []

    def die(entry):
        seen.append(entry)
        if len(seen) == 4:
            raise Killed

    with pytest.raises(Killed):
        run_auto(*rows, **OPTIONS, watcher=AutoWatcher(measured=die, folder=tmp_path))
    kept = [path.stat().st_size for path in sorted(tmp_path.iterdir())]
    assert kept
    again, told, _ = watched(rows, folder=tmp_path)
    assert [entry["seconds"] for entry in told[:4]] == [entry["seconds"] for entry in seen]  # read, not measured
    whole = thresher.auto(*rows, **OPTIONS)
    assert again.model.record_["auto"]["params"] == whole.record_["auto"]["params"]
    assert again.model.predict(rows[0]).tolist() == whole.predict(rows[0]).tolist()
