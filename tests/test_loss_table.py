"""Every loss of the core's table is offered wherever losses are, and learners obey their laws with each of them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from thresher import _core, registry
from thresher._engine import FOR_CLASSES, FOR_VALUES, LOSSES, loss_name, loss_rules
from thresher.cli import main
from thresher.stochastic import SparseSDCAClassifier
from variants import assert_same_bits, bits, first_batch, rows_for, with_params

TASKS = {"classification": FOR_CLASSES, "regression": FOR_VALUES}
OWN = {"sparsesdca", "bcw", "sbcw", "ascw", "fgm"}  # batch methods that solve for some losses only
METHODS = [method for method in registry.methods() if method.losses and method.name not in OWN]
CASES = [(method, loss) for method in METHODS for loss in TASKS[method.task]]

methods = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
cases = pytest.mark.parametrize("method, loss", CASES, ids=[f"{method.name}-{loss}" for method, loss in CASES])


def model_with(method: registry.Method, loss: str) -> Any:
    return with_params(method.cls(), loss=loss, eta0=0.05, random_state=0)


# --- offers -----------------------------------------------------------------------------------------------------------


def test_the_table_has_losses_for_both_tasks():
    assert set(FOR_CLASSES) | set(FOR_VALUES) == set(LOSSES)
    assert set(FOR_CLASSES) & set(FOR_VALUES) == {"squared"}


@methods
def test_a_method_offers_all_losses_of_its_task(method):
    assert method.losses == TASKS[method.task]


@methods
def test_a_method_has_the_parameters_that_its_losses_read(method):
    parameters = inspect.signature(method.cls).parameters
    for name in method.losses:
        assert not LOSSES[name].parameter or LOSSES[name].parameter in parameters


@methods
def test_docstrings_name_every_loss_and_say_what_its_parameter_does(method):
    text = " ".join(method.cls.__doc__.split())
    for loss in map(LOSSES.get, method.losses):
        assert f'"{loss.name}"' in text
        assert loss.parameter_about in text
        assert not loss.alias or f'``"{loss.alias}"``' in text


@methods
def test_aliases_are_accepted_and_mean_the_same(method):
    X, y = rows_for(method.cls())
    for loss in map(LOSSES.get, method.losses):
        if loss.alias:
            assert loss_name(loss.alias) == loss.name
            one, other = (first_batch(model_with(method, name), X, y, y) for name in (loss.name, loss.alias))
            assert_same_bits(one.state_, other.state_)


@pytest.mark.parametrize("names", TASKS.values(), ids=TASKS)
def test_a_loss_of_the_other_task_is_refused(names):
    rule = loss_rules(names)["loss"]
    for loss in LOSSES.values():
        assert rule.holds(loss.name) == (loss.name in names)
    assert not rule.holds(None)
    assert not rule.holds("")


@pytest.mark.parametrize("name", LOSSES)
def test_the_command_line_takes_it(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    method = "pegasos" if LOSSES[name].for_classes else "pegasos-regressor"
    (tmp_path / "x.svm").write_text("1 1:0.5 2:1\n-1 1:-0.5\n1 2:0.7\n-1 2:-1\n" * 4)
    assert main(f"train x.svm --method {method} --loss {name} --alpha 1 --model m.thresher".split()) == 0
    assert main(f"methods {method}".split()) == 0
    assert name in capsys.readouterr().out


@pytest.mark.parametrize("name", LOSSES)
def test_the_dual_ascent_of_the_core_knows_the_losses_that_its_estimator_offers(name):
    rows, two, three = _core.Rows.dense(np.eye(2)), np.ones(2), np.ones(3)
    given = (rows, 0.0, two, 1.0, two / 2, np.arange(2), np.zeros(2), 0 * three, 0.0, 1.0, name)
    if SparseSDCAClassifier._param_rules["loss"].holds(name):
        _core.sdca_epoch(*given)
        assert LOSSES[name].has_conjugate
    else:
        with pytest.raises(ValueError, match="unknown loss"):
            _core.sdca_epoch(*given)


# --- laws -------------------------------------------------------------------------------------------------------------


@cases
def test_rows_of_weight_zero_are_absent(method, loss):
    X, y = rows_for(method.cls())
    weight = np.random.default_rng(0).exponential(size=len(y))
    weight[::3] = 0
    X[weight == 0] *= 1e3
    kept = weight > 0
    with_them = first_batch(model_with(method, loss), X, y, y, sample_weight=weight)
    without = first_batch(model_with(method, loss), X[kept], y[kept], y, sample_weight=weight[kept])
    assert_same_bits(with_them.state_, without.state_)
    assert np.isfinite(with_them.coef_).all()
    assert with_them.coef_.any()


@cases
def test_chunks_leave_no_trace(method, loss):
    X, y = rows_for(method.cls())
    whole, parts = (first_batch(model_with(method, loss), X[:n], y[:n], y) for n in (len(y), 20))
    parts.partial_fit(X[20:], y[20:])
    assert bits(whole.state_) == bits(parts.state_)


@cases
def test_the_first_row_pays_the_loss_of_a_score_of_0(method, loss):
    model = model_with(method, loss)
    X, y = rows_for(model, n_classes=2)
    one = first_batch(model, X[:1], y[:1], y)
    target = (1.0 if y[0] == np.unique(y)[1] else -1.0) if method.task == "classification" else float(y[0])
    if method.task == "regression" and "target_shift" in one.state_.arrays:
        target = 0.0  # a stream of targets is counted from its first one on
    params = [float(getattr(model, name, 0.0)) for name in ("tau", "epsilon")]
    assert_allclose(one.progressive_loss_, _core.loss_value(loss, 0.0, target, *params))
