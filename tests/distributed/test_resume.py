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
import numpy as np
from thresher import distributed, registry

folder, name, n_round, n_done, resume = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 6))
y = np.where(X[:, 0] - X[:, 1] > 0.3, "yes", "no")
n_asked = 0

def die(progress):
    global n_asked
    n_asked += progress.n_done == 4
    if (progress.round, progress.n_done) == (n_round, n_done) or (n_round < 0 and n_asked == -n_round):
        os.kill(os.getpid(), signal.SIGKILL)

model = distributed.fit(
    registry.estimators()[name](), [(X[i::4], y[i::4]) for i in range(4)], n_rounds=4, checkpoint=folder + "/c",
    resume=bool(resume), on_progress=die,
)
from thresher.persistence import save_model
save_model(model, folder + "/m")
print(n_asked)
"""


def drive(folder, name, n_round, n_done, resume=0):
    return subprocess.run(
        [sys.executable, "-c", DRIVER, str(folder), name, str(n_round), str(n_done), str(resume)],
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("name", ["arow", "pa"])
def test_a_killed_driver_resumes(tmp_path, name):
    whole = tmp_path / "whole"
    whole.mkdir()
    assert drive(whole, name, 99, 99).returncode == 0
    assert drive(tmp_path, name, 3, 2).returncode == -signal.SIGKILL
    assert (tmp_path / "c").exists()
    again = drive(tmp_path, name, 99, 99, resume=1)
    assert again.returncode == 0, again.stderr
    assert again.stdout.strip() == "2"  # of four rounds, two were left, and no second look was needed
    one, other = load_model(whole / "m"), load_model(tmp_path / "m")
    assert_same_bits(one.state_, other.state_)
    assert [r["round"] for r in other.record_["distributed"]["rounds"]] == [1, 2, 3, 4]
    assert {p.name for p in tmp_path.iterdir()} == {"whole", "m"}


def test_a_driver_that_is_killed_between_questions_asks_only_those_that_are_left(tmp_path):
    whole = tmp_path / "whole"
    whole.mkdir()
    n_asked = int(drive(whole, "bcw", 99, 99).stdout)  # a look, the Gram matrix, steps of Newton's method
    assert n_asked > 5
    assert drive(tmp_path, "bcw", -4, 99).returncode == -signal.SIGKILL
    assert {p.name for p in tmp_path.iterdir()} == {"whole", "c.0", "c.1"}  # of the third total only the shards know
    again = drive(tmp_path, "bcw", 99, 99, resume=1)
    assert again.returncode == 0, again.stderr
    assert int(again.stdout) == n_asked - 2
    assert_same_bits(load_model(whole / "m").state_, load_model(tmp_path / "m").state_)
    assert {p.name for p in tmp_path.iterdir()} == {"whole", "m"}


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
