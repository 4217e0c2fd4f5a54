"""Fields declare what their numbers may be: files that hold others are refused, and no state keeps a reader busy."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from numpy.testing import assert_allclose

from thresher import registry
from thresher.dual_averaging import (
    FTRLRegressor,
    GroupFOBOSClassifier,
    ReweightedL1RDAClassifier,
    ReweightedL2RDAClassifier,
)
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
WRONG = {"count": [-1.0, 0.5, 1e300], "non-negative": [-1e300], "any": [np.nan]}
STREAMING = [cls for cls in registry.estimators().values() if hasattr(cls, "partial_fit")]


def with_arrays(path, change):
    """The same file with other numbers."""
    with safetensors.safe_open(path, "numpy") as file:
        about, arrays = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(arrays)
    path.write_bytes(safetensors.numpy.save(arrays, metadata=about))


def fitted(cls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls().fit(X, X[:, 0] if cls.__name__.endswith("Regressor") else Y)


@pytest.mark.parametrize("cls", STREAMING, ids=lambda cls: cls.__name__)
def test_every_declared_domain_is_checked(tmp_path, cls):
    model, path = fitted(cls), tmp_path / "m"
    fields = [field for field in getattr(getattr(model, "state_", None), "fields", ()) if field.domain]
    for field in fields:
        for wrong in WRONG[field.domain]:
            save_model(model, path)
            with_arrays(path, lambda arrays, at=f"state/{field.name}", to=wrong: arrays[at].fill(to))
            with pytest.raises(ValueError, match=f"^m: array .* must hold .*({field.name}|numbers)"):
                load_model(path)
        if field.at_most:
            save_model(model, path)
            with_arrays(path, lambda arrays, at=f"state/{field.name}": arrays[at].fill(2.0**52))
            with pytest.raises(ValueError, match=f"must hold numbers up to {field.at_most}"):
                load_model(path)


def test_clocks_are_declared():
    """What a catch-up counts by must be checked: a new learner that forgets it fails here."""
    lazy = {
        (cls.__name__, field.name)
        for cls in STREAMING
        for field in getattr(getattr(fitted(cls), "state_", None), "fields", ())
        if field.lazy == "steps" and not (field.domain and field.at_most)
    }
    assert not lazy


def test_a_file_with_an_early_clock_does_not_hang(tmp_path):
    path = tmp_path / "m"
    save_model(fitted(ReweightedL1RDAClassifier), path)
    with_arrays(path, lambda arrays: arrays["state/last_step"].fill(-1e300))
    script = "import sys; from thresher.persistence import load_model; load_model(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=60, check=False)
    assert "array 'last_step' must hold whole numbers" in done.stderr


def test_a_file_with_a_negative_unit_is_refused(tmp_path):
    """Its power, by which a penalty is multiplied, is no real number."""
    path = tmp_path / "m"
    save_model(fitted(FTRLRegressor), path)
    with_arrays(path, lambda arrays: arrays["state/unit"].fill(-1.0))
    with pytest.raises(ValueError, match=r"^m: array 'unit' must hold numbers of at least 0"):
        load_model(path)


@pytest.mark.parametrize("cls", [ReweightedL1RDAClassifier, ReweightedL2RDAClassifier, GroupFOBOSClassifier])
@pytest.mark.parametrize("gradient", [1e-90, 1.0, 1e90])
def test_any_number_of_owed_steps_is_made_in_no_time(tmp_path, cls, gradient):
    options = {"groups": [[0, 1], [2]], "l1_weight": 0.1} if cls is GroupFOBOSClassifier else {}
    path = tmp_path / "m"
    save_model(cls(**options, alpha=1e-9, eta0=0.1, max_iter=1).fit(X, Y) if options else fitted(cls), path)

    def change(arrays):
        arrays["state/n_steps"].fill(2.0**53)
        for name in ("last_step", "last"):
            arrays.get(f"state/{name}", np.empty(0)).fill(0)
        for name in ("gradient_sum", "coef"):
            arrays.get(f"state/{name}", np.empty(0)).fill(gradient)

    with_arrays(path, change)
    begin = time.process_time()
    with contextlib.suppress(ValueError):  # weights that are not finite
        load_model(path).predict(X)
    assert time.process_time() - begin < 2


def test_strides_come_to_where_single_steps_lead():
    """A weight in use that meets no gradient for 60,000 steps."""
    alpha, eta0, smoothing, n = 1e-6, 1.0, 0.1, 60_000
    model = ReweightedL1RDAClassifier(
        alpha=alpha, eta0=eta0, smoothing=smoothing, fit_intercept=False, max_iter=1, shuffle=False, scale=False
    )
    model.fit(np.vstack([np.ones((1, 2)), np.tile([0.0, 1.0], (n, 1))]), np.r_[1, np.tile([0, 1], n // 2)])
    view = model.state_.view(0)
    gradient, penalty, step = view["gradient_sum"][0], view["penalty_sum"][0], view["last_step"][0]
    assert step < 10
    while step < n + 1:
        w = 0.0 if step == 0 else eta0 / np.sqrt(step) * max(abs(gradient) - alpha * penalty, 0.0)
        penalty += 1.0 if step == 0 else 1 / (w + smoothing)
        step += 1
    expected = eta0 / np.sqrt(step) * max(abs(gradient) - alpha * penalty, 0.0)
    assert expected > 0
    assert_allclose(abs(model.coef_[0, 0]), expected, rtol=1e-6)


def test_what_would_not_load_is_not_saved(tmp_path):
    model, path = AROWClassifier(1.0).fit(X, Y), tmp_path / "m"
    save_model(model, path)
    before = path.read_bytes()
    model.state_.arrays["variance"][0, 0] = 0.0
    with pytest.raises(
        ValueError, match=r"^save_model: this model is not valid .*'variance' must hold numbers above 0\.$"
    ):
        save_model(model, path)
    assert path.read_bytes() == before
    model.state_.arrays["variance"][0, 0] = 1.0
    model.record_ = {"when": object()}
    with pytest.raises(ValueError, match="record_ must hold plain values"):
        save_model(model, path)
