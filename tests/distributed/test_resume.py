"""A driver that is killed in the middle of a round goes on, and ends in the same model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from thresher import distributed
from thresher.confidence import BCWClassifier
from thresher.distributed._checkpoint import is_checkpoint
from thresher.online import AROWClassifier, OFSClassifier, PAClassifier
from thresher.persistence import load_model, save_model
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
    assert (killed.returncode, left) == (
        -signal.SIGKILL,
        {"c", "c.total-0", "c.total-1"},
    )  # the third total was not kept yet
    again, left = drive(tmp_path, "bcw", 99, 99, resume=1)
    assert (again.returncode, left) == (0, {"m"}), again.stderr
    assert int(again.stdout) == n_asked - 3
    assert_same_bits(whole.state_, load_model(tmp_path / "m").state_)


def stopped(path, model=None, shards=None, **options):
    """A run that was interrupted in its second round."""

    def stop(progress):
        if progress.round == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distributed.fit(model or AROWClassifier(), shards, n_rounds=3, checkpoint=path, on_progress=stop, **options)


def some_shards(seed=0, n=3):
    X = np.random.default_rng(seed).normal(size=(30 * n, 3))
    return [(X[i::n], X[i::n, 0] > 0) for i in range(n)]


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    shards, path = some_shards(), tmp_path / "c"
    weighed = [(X, y, np.ones(len(y))) for X, y in shards]
    start = AROWClassifier().fit(*shards[0])
    stopped(path, shards=shards)
    for model, data, words, options in [
        (AROWClassifier(r=2.0), shards, "model .*r='auto'.*r=2.0", {}),
        (PAClassifier(), shards, "model AROWClassifier", {}),
        (AROWClassifier(), shards[:2], "shards ", {}),
        (AROWClassifier(), [(X + np.eye(*X.shape, k=-9), y) for X, y in shards], "shards ", {}),
        (AROWClassifier(), [(X, ~y) for X, y in shards], "shards ", {}),
        (AROWClassifier(), weighed, "shards ", {}),
        (AROWClassifier(), shards, "start None", {"start": start}),
        (AROWClassifier(), shards, "mixing 0", {"shuffle": 10}),
    ]:
        with pytest.raises(ValueError, match=f"c: this checkpoint was made with {words}"):
            distributed.fit(model, data, n_rounds=3, checkpoint=path, resume=True, **options)
    fresh = distributed.fit(AROWClassifier(), shards, n_rounds=3, checkpoint=path)  # begins anew
    assert_same_bits(fresh.state_, distributed.fit(AROWClassifier(), shards, n_rounds=3).state_)
    assert not path.exists()


def test_files_that_are_no_checkpoint_are_never_deleted(tmp_path):
    data = [tmp_path / f"day.total-{i}" for i in range(3)]
    for path in data:
        path.write_text("1 1:1\n0 2:1\n" * 9)
    (tmp_path / "day.mean-1").write_text("mine")
    reading = {"format": "svmlight"}
    distributed.fit(AROWClassifier(), data, reading=reading, checkpoint=tmp_path / "day")
    assert {path.name for path in tmp_path.iterdir()} == {*(path.name for path in data), "day.mean-1"}
    with pytest.raises(ValueError, match=r"day.total-0 exists and is not a checkpoint of rounds over shards"):
        distributed.fit(AROWClassifier(), data, reading=reading, checkpoint=data[0])
    save_model(AROWClassifier().fit([[0.0], [1.0]], [0, 1]), tmp_path / "model")
    with pytest.raises(ValueError, match="model exists and is not a checkpoint"):
        distributed.fit(AROWClassifier(), data, reading=reading, checkpoint=tmp_path / "model")


@pytest.mark.parametrize(
    "place, words", [("nowhere/c", "folder of the checkpoint .* does not exist"), (".", "is a folder")]
)
def test_a_place_where_nothing_can_be_kept_is_refused_before_the_first_row(tmp_path, place, words):
    asked = []
    with pytest.raises((ValueError, OSError), match=words):
        distributed.fit(AROWClassifier(), some_shards(), checkpoint=tmp_path / place, on_progress=asked.append)
    assert not asked


def test_labels_of_bytes_are_kept_and_what_is_no_label_is_refused(tmp_path):
    shards = [(X, np.where(y, b"yes", b"no")) for X, y in some_shards()]
    assert distributed.fit(AROWClassifier(), shards, checkpoint=tmp_path / "c").classes_.dtype.kind == "S"
    dates = [(X, np.asarray(y).astype("M8[D]")) for X, y in some_shards()]
    with pytest.raises(ValueError, match="y must hold text, booleans or whole numbers"):
        distributed.fit(AROWClassifier(), dates, checkpoint=tmp_path / "c")


def test_a_checkpoint_may_stay(tmp_path):
    model = distributed.fit(AROWClassifier(), some_shards(), checkpoint=tmp_path / "c", keep_checkpoint=True)
    assert is_checkpoint(tmp_path / "c")
    again = distributed.fit(AROWClassifier(), some_shards(), checkpoint=tmp_path / "c", resume=True)
    assert_same_bits(model.state_, again.state_)
    assert not is_checkpoint(tmp_path / "c")


def rewritten(path, header=None, tensors=None):
    with safetensors.safe_open(path, framework="numpy") as file:
        about = file.metadata()
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    about["thresher"] = about["thresher"] if header is None else header(about["thresher"])
    if tensors is not None:
        arrays = tensors(arrays)
        about |= {f"shape {key}": json.dumps(each.shape) for key, each in arrays.items()}
    safetensors.numpy.save_file(arrays, path, metadata=about)


@pytest.mark.parametrize(
    "change", [{"rounds": "xxx"}, {"data": 3}, {"facts": []}, {"rounds": [{"round": "a"}]}], ids=str
)
def test_a_damaged_record_is_told_in_a_sentence(tmp_path, change):
    path = tmp_path / "c"
    stopped(path, shards=some_shards())

    def spoil(text):
        header = json.loads(text)
        header["record"]["distributed"] |= change
        return json.dumps(header)

    rewritten(path, spoil)
    with pytest.raises(ValueError, match="c: the checkpoint, or a file beside it, is damaged"):
        distributed.fit(AROWClassifier(), some_shards(), n_rounds=3, checkpoint=path, resume=True)
    path.write_bytes(b"junk")
    with pytest.raises(ValueError, match="exists and is not a checkpoint"):
        distributed.fit(AROWClassifier(), some_shards(), n_rounds=3, checkpoint=path, resume=True)


@pytest.mark.parametrize("spoil", ["[]", "3", "{}", "arrays", "shape", "mean"])
def test_damaged_files_beside_a_checkpoint_make_no_wrong_model(tmp_path, spoil):
    """They are as good as none, or told in a sentence."""
    path, model = tmp_path / "c", OFSClassifier(2) if spoil == "mean" else BCWClassifier()
    n_asked = 0

    def stop(progress):
        nonlocal n_asked
        n_asked += progress.n_done == 3
        if n_asked == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distributed.fit(model, some_shards(), n_rounds=3, checkpoint=path, on_progress=stop)
    beside = tmp_path / ("c.mean-2" if spoil == "mean" else "c.total-1")
    if spoil in ("arrays", "shape", "mean"):
        rewritten(beside, tensors=lambda a: {} if spoil == "arrays" else dict.fromkeys(a, np.ones((2, 2))))
    else:
        rewritten(beside, lambda text: spoil)
    if spoil in ("arrays", "shape", "mean"):
        with pytest.raises(ValueError, match="damaged"):
            distributed.fit(model, some_shards(), n_rounds=3, checkpoint=path, resume=True)
    else:
        found = distributed.fit(model, some_shards(), n_rounds=3, checkpoint=path, resume=True)
        assert_same_bits(found.state_, distributed.fit(model, some_shards(), n_rounds=3).state_)
