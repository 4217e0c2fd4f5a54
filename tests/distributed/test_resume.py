"""A driver that is killed in the middle of a round goes on, and ends in the same model."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest

from thresher import distributed
from thresher.online import AROWClassifier, PAClassifier
from thresher.persistence import load_model
from variants import assert_same_bits

DRIVER = """
import os, signal, sys
from some_rows import MODELS, shards
from thresher import distributed
from thresher.persistence import save_model

folder, name, n_round, n_done, resume = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
n_asked = 0

def die(progress):
    global n_asked
    n_asked += progress.n_done == 4
    if (progress.round, progress.n_done) == (n_round, n_done) or n_asked == -n_round:
        os.kill(os.getpid(), signal.SIGKILL)

model = distributed.fit(
    MODELS[name], shards(), n_rounds=4, checkpoint=folder + "/c", resume=bool(resume), on_progress=die
)
save_model(model, folder + "/m")
print(n_asked)
"""
ROWS = """
import numpy as np
from thresher.confidence import BCWClassifier
from thresher.online import AROWClassifier

MODELS = {"arow": AROWClassifier(), "bcw": BCWClassifier()}

def shards():
    X = np.random.default_rng(0).normal(size=(4000, 6))
    y = np.where(X[:, 0] - X[:, 1] > 0.3, "yes", "no")
    return [(X[i::4], y[i::4]) for i in range(4)]
"""


def drive(folder, name, n_round, n_done, resume=0):
    (folder / "some_rows.py").write_text(ROWS)
    (folder / "driver.py").write_text(DRIVER)
    done = subprocess.run(
        [sys.executable, folder / "driver.py", str(folder), name, str(n_round), str(n_done), str(resume)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done, {path.name for path in folder.iterdir()} - {"some_rows.py", "driver.py", "__pycache__"}


def never_killed(name):
    """The same run in this process, and how often all shards were asked."""
    rows: dict = {}
    exec(ROWS, rows)
    asked = []
    model = distributed.fit(
        rows["MODELS"][name], rows["shards"](), n_rounds=4, on_progress=lambda p: asked.append(p.n_done == 4)
    )
    return model, sum(asked)


def test_a_killed_driver_resumes(tmp_path):
    killed, left = drive(tmp_path, "arow", 3, 2)
    assert (killed.returncode, left) == (-signal.SIGKILL, {"c"})
    again, left = drive(tmp_path, "arow", 99, 99, resume=1)
    assert (again.returncode, left) == (0, {"m"}), again.stderr
    assert again.stdout.strip() == "2"  # of four rounds, two were left, and no second look was needed
    found = load_model(tmp_path / "m")
    assert_same_bits(never_killed("arow")[0].state_, found.state_)
    assert [r["round"] for r in found.record_["distributed"]["rounds"]] == [1, 2, 3, 4]


def test_a_driver_that_is_killed_between_questions_asks_only_those_that_are_left(tmp_path):
    whole, n_asked = never_killed("bcw")  # a look, the Gram matrix, steps of Newton's method
    assert n_asked > 5
    killed, left = drive(tmp_path, "bcw", -4, 99)
    assert (killed.returncode, left) == (-signal.SIGKILL, {"c.0", "c.1"})  # the third total was not kept yet
    again, left = drive(tmp_path, "bcw", 99, 99, resume=1)
    assert (again.returncode, left) == (0, {"m"}), again.stderr
    assert int(again.stdout) == n_asked - 2
    assert_same_bits(whole.state_, load_model(tmp_path / "m").state_)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    X = np.random.default_rng(0).normal(size=(90, 3))
    shards, path = [(X[i::3], X[i::3, 0] > 0) for i in range(3)], tmp_path / "c"

    def stop(progress):
        if progress.round == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distributed.fit(AROWClassifier(), shards, n_rounds=3, checkpoint=path, on_progress=stop)
    for model, data, words in [
        (AROWClassifier(r=2.0), shards, "model was AROWClassifier"),
        (PAClassifier(), shards, "model was AROWClassifier"),
        (AROWClassifier(), shards[:2], "shards was"),
        (AROWClassifier(), [(2 * x, y) for x, y in shards], "shards was"),
    ]:
        with pytest.raises(ValueError, match=f"c: the run that wrote it was another one: {words}"):
            distributed.fit(model, data, n_rounds=3, checkpoint=path, resume=True)
    path.write_bytes(b"junk")
    with pytest.raises(ValueError, match="not a model file"):
        distributed.fit(AROWClassifier(), shards, n_rounds=3, checkpoint=path, resume=True)
    fresh = distributed.fit(AROWClassifier(), shards, n_rounds=3, checkpoint=path)
    assert_same_bits(fresh.state_, distributed.fit(AROWClassifier(), shards, n_rounds=3).state_)
