"""Rows that are copied to a device while a context is open, and ``--device`` on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher import _gate
from thresher._gate import _arrays, bring_home, computing_on, copied_to, find_device, is_foreign_array
from thresher.cli import main
from thresher.kernels import LSSVC
from thresher.online import AROWClassifier
from thresher.persistence import load_model
from thresher.persistence._rebuilding import tensors_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = ((X**2).sum(axis=1) > 2.5).astype(np.int64)


@pytest.fixture
def here():
    """PyTorch's CPU, in place of a GPU."""
    return pytest.importorskip("torch").device("cpu")


def test_a_context_learns_there_and_predicts_here(here):
    with computing_on(here):
        model = LSSVC().fit(X, Y)
        assert is_foreign_array(model.dual_coef_)
        assert type(model.decision_function(X)) is np.ndarray
    expected = LSSVC().fit(X, Y)
    assert type(expected.dual_coef_) is np.ndarray  # the context is closed
    assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=1e-8)
    assert bring_home(model)
    assert not bring_home(model)
    kept = tensors_of(expected)
    assert not any(map(is_foreign_array, [*vars(model).values(), *model._support_rows.values()]))
    for name, value in tensors_of(model).items():
        assert_allclose(value, kept[name], rtol=1e-8, atol=1e-10)


def test_a_context_predicts_there_if_asked(here):
    model = LSSVC(probability="none").fit(X, Y)
    with computing_on(here, predictions=True):
        scores = model.decision_function(X)
    assert is_foreign_array(scores)
    assert_allclose(scores.numpy(), model.decision_function(X), rtol=1e-8)


def test_others_learn_where_they_always_do(here):
    with computing_on(here):
        model = AROWClassifier(random_state=0).fit(X, Y)
    assert_array_equal(model.coef_, AROWClassifier(random_state=0).fit(X, Y).coef_)
    with computing_on(None):
        assert type(LSSVC(probability="none").fit(X, Y).dual_coef_) is np.ndarray


class OutOfMemoryError(RuntimeError):
    """As PyTorch calls its own."""


def test_a_full_device_is_said_in_a_sentence():
    with pytest.raises(MemoryError, match="cuda ran out of memory; take fewer rows"), computing_on("cuda"):
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate 8 GiB, and more.")
    with pytest.raises(KeyError), computing_on("cuda"):
        raise KeyError


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_are_copied_as_they_are(here, dtype):
    rows = np.asfortranarray(X.astype(dtype))
    assert_array_equal(copied_to(rows, here).numpy(), rows)


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_are_copied_to_a_gpu_in_blocks(monkeypatch, dtype):
    if not pytest.importorskip("torch").cuda.is_available():
        pytest.skip("no GPU")
    device = find_device("cuda")
    monkeypatch.setattr(_arrays, "_VALUES", 3 * 7)  # of a block: 13 of them
    rows = X.astype(dtype)
    there = copied_to(rows, device)
    assert there.device.type == "cuda"
    assert_array_equal(there.cpu().numpy(), rows)


def test_what_cannot_be_had_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match="The device 'cuda' needs PyTorch, which is not installed"):
        find_device("cuda")


def test_a_gpu_that_is_not_there(here):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        with pytest.raises(ValueError, match=r"PyTorch finds [0-9]+, counted from cuda:0"):
            find_device("cuda:99")
    else:
        with pytest.raises(ValueError, match="finds no GPU"):
            find_device("cuda")


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{a},{b},{c},{'out' if y else 'in'}" for (a, b, c), y in zip(X.tolist(), Y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c,kind", *lines]))
    return "rows.csv"


def refused(capsys, *words):
    assert main(list(words)) == 2
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("method", ["lssvc", "logistic", "sparsekmeans"])
def test_the_command_line(table, method, here, monkeypatch):
    monkeypatch.setattr(_gate, "find_device", lambda name: here)
    train = ["train", table, "--target", "kind", "--method", method, "--quiet", "--model"]
    if method == "sparsekmeans":
        train = ["train", table, "--method", method, "--n-clusters", "3", "--drop", "kind", "--quiet", "--model"]
    seen = []
    place = _gate._placing.placed

    def watched(rows, learns):
        seen.append(type(there := place(rows, learns)).__module__)
        return there

    monkeypatch.setattr(_gate._validation, "placed", watched)
    for device in ("cpu", "cuda"):
        assert main([*train, f"{device}.thresher", "--device", device]) == 0
        assert main(["predict", f"{device}.thresher", table, "--device", device, "-o", f"{device}.csv", "--quiet"]) == 0
    assert set(seen) == {"numpy", "torch"}
    models = [load_model(f"{device}.thresher")[-1] for device in ("cpu", "cuda")]
    for name, value in tensors_of(models[0]).items():
        assert_allclose(tensors_of(models[1])[name], value, rtol=1e-7, atol=1e-8)
    answers = [Path(f"{device}.csv").read_text() for device in ("cpu", "cuda")]
    assert answers[0] == answers[1]
    assert len(answers[0].splitlines()) == len(X) + 1


def test_the_command_line_says_what_a_device_is_not_for(table, capsys, here, monkeypatch):
    train = ["train", table, "--target", "kind", "--method"]
    assert "--device must be cpu or cuda" in refused(capsys, *train, "lssvc", "--device", "gpu")
    monkeypatch.setattr(_gate, "find_device", lambda name: here)
    said = refused(capsys, *train, "arow", "--device", "cuda")
    assert "does not work with arow, which learns on the CPU; it works with" in said
    assert "lssvc" in said
    assert "--engine" in refused(capsys, *train, "lssvc", "--device", "cuda", "--engine", "serial")
    assert main([*train, "arow", "--model", "m.thresher", "--quiet"]) == 0
    assert "the model predicts on the CPU" in refused(capsys, "predict", "m.thresher", table, "--device", "cuda")
