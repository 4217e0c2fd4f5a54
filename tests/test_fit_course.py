"""Where a fit begins, when it ends, and who is told of it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thresher
from reference import scoring_reader
from thresher import onepass, registry
from thresher._engine import Lesson, Target
from thresher._estimators import OnlineLinear, of_rows_seen_before
from thresher._estimators._fit_course import Stopping
from thresher.dual_averaging import L1RDAClassifier, L1RDARegressor, MultiTaskRDAClassifier
from thresher.inspection import features_that_matter
from thresher.online import AROWClassifier, PAClassifier, SCWClassifier
from thresher.persistence import load_model, save_model
from thresher.stochastic import PegasosClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6))
SCORE = X[:, 0] - 0.5 * X[:, 3] + 0.3 * RNG.normal(size=300)
Y = np.where(SCORE > 0, "up", "down")

ONLINE = {name: cls for name, cls in registry.estimators().items() if issubclass(cls, OnlineLinear)}
KEEP_WEIGHTS = {
    *("AROWClassifier", "CSOALClassifier", "CWClassifier", "MBPAClassifier", "NAROWClassifier", "NHERDClassifier"),
    *("OFSClassifier", "PAClassifier", "PETRUNClassifier", "SCWClassifier", "SOFSClassifier", "PegasosClassifier"),
    *("DropoutPegasosClassifier", "PegasosRegressor", "GroupFOBOSClassifier", "GroupFOBOSRegressor"),
}


def target_of(model):
    return Y if is_classifier(model) else SCORE


@pytest.mark.parametrize("cls", ONLINE.values(), ids=ONLINE)
def test_a_warm_start_in_row_order_is_a_second_pass(cls):
    options = {"shuffle": False, "max_iter": 1, "random_state": 0}
    y = target_of(cls())
    warm = cls(warm_start=True, **options).fit(X[:200], y[:200]).fit(X[200:], y[200:])
    stream = cls(**options)
    classes = {"classes": ["down", "up"]} if is_classifier(stream) else {}
    stream.fit(X[:200], y[:200])
    with of_rows_seen_before(stream):  # which those of a warm start may have been: their scores are not counted
        stream.partial_fit(X[200:], y[200:], **classes)
    stream._learner_now().finish(stream.state_)
    for name, array in stream.state_.arrays.items():
        np.testing.assert_array_equal(warm.state_.arrays[name], array, err_msg=name)
    cold = cls(**options).fit(X[:200], y[:200])
    cold.fit(X[200:], y[200:])
    assert cold.n_samples_seen_ == 100
    assert warm.n_samples_seen_ == 300


def test_a_warm_start_refuses_other_classes_tasks_and_columns():
    warm = AROWClassifier(warm_start=True).fit(X, Y)
    weights = warm.coef_.copy()
    with pytest.raises(ValueError, match=r"y must have the classes of the previous fit, \['down', 'up'\]"):
        warm.fit(X, np.where(SCORE > 0, "up", "sideways"))
    with pytest.raises(ValueError, match="X has 5 features"):
        warm.fit(X[:, :5], Y)
    np.testing.assert_array_equal(warm.coef_, weights)
    tasks = MultiTaskRDAClassifier(warm_start=True).fit(X, Y, tasks=np.arange(300) % 2)
    with pytest.raises(ValueError, match=r"y must have the tasks of the previous fit, \[0, 1\]"):
        tasks.fit(X, Y, tasks=np.arange(300) % 3)


def passive_aggressive(w, b, C):
    """Twin: one pass of PA-I in row order, the constant as a feature of value 1."""
    w = np.append(w, b)
    for x, y in zip(np.column_stack([X, np.ones(300)]), np.where(SCORE > 0, 1, -1), strict=True):
        w = w + min(C, max(0, 1 - y * (w @ x)) / (x @ x)) * y * x
    return w


def test_initial_weights_are_where_a_pass_begins():
    model = PAClassifier(C=0.1, shuffle=False, max_iter=1, intercept_scaling=1.0)
    first = RNG.normal(size=6)
    model.fit(X, Y, coef_init=first, intercept_init=[0.5])
    found = np.append(model.coef_[0], model.intercept_)
    np.testing.assert_allclose(found, passive_aggressive(first, 0.5, 0.1), rtol=1e-10)
    model.fit(X, Y, intercept_init=0.5)
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), passive_aggressive(0 * first, 0.5, 0.1))


@pytest.mark.parametrize("cls", [AROWClassifier, SCWClassifier, PAClassifier])
def test_initial_weights_are_those_of_rows_as_they_come(cls):
    scales, shifts = 10.0 ** np.arange(-2, 4), np.arange(6.0)
    rows, first = X * scales + shifts, RNG.normal(size=(1, 6)) / scales
    learner = cls()._checked_learner(6).for_outputs(1)
    state = learner.new_state(6, 1)
    learner.look_at(Lesson(onepass.rows(rows), Target(np.where(SCORE > 0, 1.0, -1.0), None)), state)
    assert learner.scales(state)
    assert learner.begin_at(state, np.append(first, [[0.25 / learner.constant(state)]], axis=1))
    scores = learner.scores(onepass.rows(rows), state)
    np.testing.assert_allclose(scores[:, 0], rows @ first[0] + 0.25, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("y", [Y, np.digitize(SCORE, [-0.5, 0.5]), SCORE], ids=["two", "three", "values"])
def test_initial_weights_of_nothing_change_nothing(y):
    n_outputs, n_tried = (3 if len(np.unique(y)) == 3 else 1), 0
    for cls in ONLINE.values():
        if is_classifier(cls()) == (y is not SCORE) and cls.__name__ in KEEP_WEIGHTS:
            model = cls(random_state=0).fit(X, y)
            began = cls(random_state=0).fit(X, y, coef_init=np.zeros((n_outputs, 6)))
            for name, array in model.state_.arrays.items():
                np.testing.assert_array_equal(began.state_.arrays[name], array, err_msg=f"{cls.__name__} {name}")
            moved = cls(random_state=0, max_iter=1).fit(X, y, coef_init=np.full((n_outputs, 6), 2.0)).coef_
            assert not np.allclose(moved, model.coef_)
            n_tried += 1
    assert n_tried > (9 if y is not SCORE else 1)


def test_initial_weights_that_mean_nothing_are_refused():
    with pytest.raises(ValueError, match="must be left out, because this learner computes its weights from other sums"):
        L1RDAClassifier().fit(X, Y, coef_init=np.ones(6))
    refusing = {"BCWClassifier", "ASCWClassifier", "SOPClassifier", "FTRLClassifier", "FTRLRegressor"}
    for cls in (cls for cls in ONLINE.values() if cls.__name__ in refusing):
        with pytest.raises(ValueError, match="must be left out"):
            cls().fit(X, target_of(cls()), coef_init=np.ones(6))
    with pytest.raises(ValueError, match=r"coef_init must hold 6 finite numbers up to 1e100 in size, got shape \(5,\)"):
        AROWClassifier().fit(X, Y, coef_init=np.ones(5))
    with pytest.raises(ValueError, match="intercept_init must hold 1 finite numbers"):
        AROWClassifier().fit(X, Y, intercept_init=[np.nan])
    with pytest.raises(ValueError, match="intercept_init must be left out when fit_intercept is False"):
        AROWClassifier(fit_intercept=False).fit(X, Y, intercept_init=1.0)
    with pytest.raises(ValueError, match="need shuffle=True"):
        AROWClassifier(shuffle=False).fit(X, Y, coef_init=np.ones(6))


@pytest.mark.parametrize("tol", [None, 0.01])
@pytest.mark.parametrize("cls", [PegasosClassifier, L1RDARegressor])
def test_early_stopping_goes_by_the_loss_of_passes(cls, tol):
    y = target_of(cls())
    total, losses, more = 0.0, [], {"probability": "none"} if is_classifier(cls()) else {}
    for n in range(1, 16):  # twin: the same fit with one more pass each time
        model = cls(max_iter=n, random_state=0, **more).fit(X, y)
        tally = model.state_.arrays["tally"][model._learner_now().chosen(model.state_)]
        losses.append(tally[2] - total)
        total = tally[2]
    losses = np.array(losses) / 300
    best, worse, expected = np.inf, 0, 15
    for n, loss in enumerate(losses, start=1):
        worse = 0 if loss < best - (loss / 1000 if tol is None else tol) else worse + 1
        best = min(best, loss)
        if worse == 2:
            expected = n
            break
    options = {"early_stopping": True, "n_iter_no_change": 2, "tol": tol}
    stopped = cls(max_iter=15, random_state=0, **options, **more).fit(X, y)
    assert stopped.n_iter_ == expected < 15


class Passes:
    """A learner whose passes have given losses, each of the model of a grid that is read then."""

    def __init__(self, losses, read):
        self.losses, self.read = iter(losses), iter([read[0], *read])  # the first is read before the first pass

    def chosen(self, state):
        return next(self.read)

    def loss_since(self, state, tally):
        return next(self.losses)


@pytest.mark.parametrize(
    "tol, losses, read, expected",
    [
        (None, [4.0, 3.0, 2.999, 2.998], [0, 0, 0, 0], 4),  # less than a thousandth, twice
        (0.0, [4.0, 3.0, 2.999, 2.998, 2.998, 2.998], [0] * 6, 6),
        (0.5, [4.0, 3.0, 2.6, 2.4], [0, 0, 0, 0], 4),
        (None, [0.0, 0.0, 0.0], [0, 0, 0], 3),
        (None, [4.0, 6.0, 5.0, 4.5, 4.5, 4.5], [0, 1, 1, 1, 1, 1], 6),  # another step size, whose loss falls
        (None, [4.0, 6.0, 6.0, 6.0], [0, 1, 1, 1], 4),
    ],
)
def test_early_stopping_compares_passes_of_one_model(tol, losses, read, expected):
    model = AROWClassifier(early_stopping=True, n_iter_no_change=2, tol=tol)
    state = SimpleNamespace(arrays={"tally": np.zeros((1, 4))})
    stopping = Stopping(model, Passes(losses, read), state)
    assert [stopping.after_pass() for _ in range(expected)] == [False] * (expected - 1) + [True]


def test_sparsified_weights_say_the_same():
    model = L1RDAClassifier(alpha=0.1, random_state=0).fit(X, Y)
    dense, said, named = model.coef_.copy(), model.predict_proba(X), [f.name for f in features_that_matter(model)]
    assert sparse.issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(model.coef_.toarray(), dense)
    np.testing.assert_array_equal(model.predict_proba(X), said)
    assert [f.name for f in features_that_matter(model)] == named
    np.testing.assert_array_equal(model.densify().coef_, dense)
    assert isinstance(model.sparsify().fit(X, Y).coef_, np.ndarray)
    with pytest.raises(ValueError, match="not fitted"):
        L1RDAClassifier().sparsify()


def scores_of(model, **more):
    return (model.decision_function if is_classifier(model) else model.predict)(X, **more)


@pytest.mark.parametrize("cls", ONLINE.values(), ids=ONLINE)
def test_rounded_models_predict_within_rounding_learn_on_and_are_saved_in_float32(cls, tmp_path):
    model, more = cls(), {}
    y = target_of(model)
    if "groups" in model.get_params():
        model.set_params(groups=[[0, 1], [2, 3], [4, 5]])
    if "tasks" in getattr(cls, "_needs", ()):
        more = {"tasks": np.arange(len(X)) % 2}
    model.fit(X.astype(np.float32), y, **more)
    exact, scores, support = model.coef_.copy(), scores_of(model, **more), model.support_
    assert exact.dtype == np.float64

    assert model.to_float32() is model
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    np.testing.assert_allclose(model.coef_, exact, rtol=1e-6, atol=3e-7 * np.abs(exact).max())
    np.testing.assert_allclose(scores_of(model, **more), scores, rtol=0, atol=3e-7 * np.abs(scores).max())
    np.testing.assert_array_equal(model.support_, support)

    save_model(model, tmp_path / "m.thresher")
    again = load_model(tmp_path / "m.thresher")
    assert again.coef_.dtype == np.float32
    np.testing.assert_array_equal(scores_of(again, **more), scores_of(model, **more))
    for one in (model, again):
        one.partial_fit(X[:100], y[:100], **{name: values[:100] for name, values in more.items()})
    np.testing.assert_array_equal(scores_of(again, **more), scores_of(model, **more))
    assert model.coef_.dtype == np.float32
    assert model.to_float64().coef_.dtype == np.float64
    assert again.fit(X, y, **more).coef_.dtype == np.float64


@pytest.mark.parametrize("cls", [AROWClassifier, PAClassifier, L1RDAClassifier, PegasosClassifier])
def test_after_rounding_any_chunks_lead_to_the_same_bits(cls):
    models = [cls(random_state=0).partial_fit(X[:100], Y[:100], classes=["down", "up"]) for _ in range(2)]
    for model, size in zip(models, (200, 7), strict=True):
        model.to_float32()
        for k in range(100, 300, size):
            model.partial_fit(X[k : k + size][: 300 - k], Y[k : k + size])
    for name, values in models[0].state_.arrays.items():
        np.testing.assert_array_equal(models[1].state_.arrays[name], values)


def test_single_rows_are_learned_from_the_rounded_weights():
    alone, together = (PAClassifier(C=1.0, random_state=0).fit(X[:100], Y[:100]) for _ in range(2))
    rows = sparse.csr_array(X)
    for begin, end in ((100, 110), (110, 120)):
        for row, y in zip(X[begin:end], Y[begin:end].tolist(), strict=True):
            alone.learn_one((np.arange(6), row), y)
        together.partial_fit(rows[begin:end], Y[begin:end])
        for model in (alone, together):
            model.to_float32()
    np.testing.assert_array_equal(alone.state_.arrays["coef"], together.state_.arrays["coef"])


def test_files_of_rounded_models_are_half_as_large_until_more_is_learned(tmp_path):
    wide = sparse.random_array((50, 20_000), density=0.01, random_state=0, format="csr")
    y = np.arange(50) % 2
    model = AROWClassifier(r=1.0, random_state=0).fit(wide, y)

    def size():
        save_model(model, tmp_path / "m.thresher")
        return (tmp_path / "m.thresher").stat().st_size

    exact = size()
    model.to_float32()
    assert 0.5 <= size() / exact < 0.53
    assert model.partial_fit(wide, y).coef_.dtype == np.float32
    assert size() == pytest.approx(exact, rel=0.01)
    model.to_float32()
    assert size() / exact < 0.53


def test_rounding_refuses_what_float32_cannot_hold_and_keeps_what_is_small():
    model = PAClassifier(C=1.0, intercept_scaling=1.0).fit([[1e-60], [-1e-60]], [1, 0], coef_init=[1e-60])
    model.to_float32()
    assert 0 < model.state_.arrays["coef"][0, 0] < 2e-38
    large = PAClassifier(C=1.0).fit([[1.0], [-1.0]], [1, 0], coef_init=[1e60])
    with pytest.raises(OverflowError, match=r"PAClassifier: .* above 3\.4e38, .* keep this model in float64"):
        large.to_float32()
    assert large.coef_[0, 0] == 1e60
    with pytest.raises(ValueError, match="not fitted"):
        PAClassifier().to_float32()


def test_exports_of_rounded_models_say_what_the_model_says():
    X = RNG.normal(1e6, 1, size=(300, 3))
    model = AROWClassifier(random_state=0).fit(X, X[:, 0] > 1e6).to_float32()
    scoring = json.loads(thresher.export(model, to="json"))
    rows = [{f"x{j + 1}": value for j, value in enumerate(row)} for row in X[:20].tolist()]
    said = [scoring_reader.scores(scoring, row)[0] for row in rows]
    np.testing.assert_allclose(said, model.decision_function(X[:20]), atol=1e-6)


def test_files_keep_the_parameters(tmp_path):
    model = AROWClassifier(warm_start=True, early_stopping=True, n_iter_no_change=3).fit(X, Y)
    save_model(model, tmp_path / "a.thresher")
    assert load_model(tmp_path / "a.thresher").get_params() == model.get_params()


class Course:
    """A callback that keeps what it is told, and ends the fit after so many passes."""

    def __init__(self, n_passes=10):
        self.n_passes, self.events, self.accuracy = n_passes, [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.events.append(f"end {context.task_name}")
        if context.task_name == "pass":
            self.accuracy.append(fitted_estimator.score(X, y))
        return self.events.count("end pass") == self.n_passes


def test_callbacks_are_told_of_passes_and_may_end_them():
    pytest.importorskip("sklearn.callback")
    course = Course(n_passes=2)
    model = PAClassifier(max_iter=5, random_state=0).set_callbacks(course).fit(X, Y)
    passes = ["begin pass", "end pass"] * 2
    assert course.events == ["setup", "begin fit", *passes, "end fit", "teardown"]
    assert model.n_iter_ == 2
    assert course.accuracy == [PAClassifier(max_iter=n, random_state=0).fit(X, Y).score(X, Y) for n in (1, 2)]
    assert not hasattr(model, "_callback_fit_ctx")
    with pytest.raises(FloatingPointError):  # torn down in any case
        Failing().set_callbacks(course).fit(X, Y)
    assert course.events[-1] == "teardown"


class Failing(PAClassifier):
    """A learner that fails."""

    def _learn(self, *given):
        raise FloatingPointError


class Propagated(Course):
    """A callback that pipelines hand on."""

    max_propagation_depth = None


def test_callbacks_come_through_pipelines_and_scores_are_monitored():
    callback = pytest.importorskip("sklearn.callback")
    course, monitor = Propagated(), callback.ScoringMonitor(scoring="accuracy")
    learner = PAClassifier(max_iter=3, random_state=0).set_callbacks(monitor)
    make_pipeline(StandardScaler(), learner).set_callbacks(course).fit(X, Y)
    assert course.events.count("end pass") == 3
    assert [row["accuracy"] for row in monitor.get_logs().data if row["task_name"] == "pass"] == course.accuracy


def test_a_loss_that_goes_to_zero_ends_early_stopping():
    """Of classes that a line separates, every pass gains a good part of the little that is left."""
    X = np.random.default_rng(0).normal(size=(300, 5))
    model = AROWClassifier(early_stopping=True, max_iter=200).fit(X, X[:, 0] > 0)
    assert model.n_iter_ < 150
