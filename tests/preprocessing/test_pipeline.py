"""Transformations and a learner as one streaming model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from thresher.confidence import BCWClassifier
from thresher.kernels import FixedSizeNystroem
from thresher.online import AROWClassifier, PAClassifier
from thresher.preprocessing import RunningScaler, StreamingPipeline, TableEncoder, prepared
from thresher.stochastic import PegasosRegressor
from thresher.streams import Table, Text


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal([5, -3, 100], [1, 10, 0.1], size=(n, 3))
    return X, (X[:, 0] - 5 + (X[:, 2] - 100) * 10 > 0).astype(int)


def test_each_batch_goes_through_transformers_that_learned_from_it():
    X, y = rows()
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier(1.0))])
    scaler, learner = RunningScaler(), AROWClassifier(1.0)
    for begin in range(0, 200, 50):
        some = slice(begin, begin + 50)
        model.partial_fit(X[some], y[some], classes=[0, 1])
        learner.partial_fit(scaler.partial_fit(X[some]).transform(X[some]), y[some], classes=[0, 1])
    assert_array_equal(model.coef_, learner.coef_)
    assert_array_equal(model.decision_function(X), learner.decision_function(scaler.transform(X)))
    assert model.score(X, y) > 0.95


def test_fit_learns_each_step_from_all_rows():
    X, y = rows()
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier(1.0, random_state=0))]).fit(X, y)
    Z = RunningScaler().fit(X).transform(X)
    assert_array_equal(model.coef_, AROWClassifier(1.0, random_state=0).fit(Z, y).coef_)
    assert_allclose(model.transform(X).mean(0), 0, atol=1e-9)
    again = model.fit(X, y)
    assert_array_equal(again.coef_, model.coef_)


def test_a_category_that_comes_later_starts_from_zero():
    def table(words):
        return Table(["w"], np.empty((len(words), 0)), {"w": Text.from_list(words)})

    model = StreamingPipeline([("encode", TableEncoder()), ("learn", AROWClassifier(1.0))])
    model.partial_fit(table(["a", "b"]), [0, 1], classes=[0, 1])
    before = model.coef_.copy()
    model.partial_fit(table(["c", "c"]), [1, 1])
    assert model.get_feature_names_out().tolist() == ["w=a", "w=b", "w=c"]
    assert_array_equal(model.coef_[:, :2], before)
    assert model.coef_[0, 2] > 0
    assert model.predict(table(["c", "never seen"])).tolist()[0] == 1


def test_it_is_a_scikit_learn_estimator():
    X, y = rows()
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier(random_state=0))])
    assert is_classifier(model)
    assert not is_regressor(model)
    copy = clone(model.set_params(learn__r=0.5))
    assert copy.get_params()["learn__r"] == 0.5
    assert copy["learn"] is not model["learn"]
    assert cross_val_score(copy, X, y).mean() > 0.9
    assert is_regressor(StreamingPipeline([("learn", PegasosRegressor())]))
    with pytest.raises(NotFittedError):
        copy.predict(X)
    assert hasattr(StreamingPipeline([("learn", PAClassifier())]), "predict_proba")
    assert not hasattr(StreamingPipeline([("learn", PAClassifier(probability="none"))]), "predict_proba")


def test_a_refused_label_leaves_every_step_untouched():
    X, y = rows()
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier())])
    model.partial_fit(X[:100], y[:100], classes=[0, 1])
    mean, seen = model["scale"].mean_.copy(), model["scale"].n_samples_seen_
    for bad in (y[100:] + 5, y[:7], None):
        with pytest.raises(ValueError):
            model.partial_fit(X[100:], bad)
    assert_array_equal(model["scale"].mean_, mean)
    assert model["scale"].n_samples_seen_ == seen
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(X[:, :2], y)


def test_wrong_steps_are_refused_in_one_sentence():
    X, y = rows()
    for steps, words in (
        ([], "at least a learner"),
        ([("learn", AROWClassifier()), ("scale", RunningScaler())], "'learn' must have transform"),
        ([("scale", RunningScaler())], "'scale', must have predict"),
    ):
        with pytest.raises(ValueError, match=words):
            StreamingPipeline(steps).fit(X, y)


def test_prepared_gives_rows_the_steps_they_need():
    words = Table(["w"], np.empty((2, 0)), {"w": Text.from_list(["a", "b"])})

    def steps(X, **options):
        model = prepared(AROWClassifier(), X, **options)
        return [type(step).__name__ for _, step in model.steps] if hasattr(model, "steps") else type(model).__name__

    assert steps(np.eye(2)) == ["RunningScaler", "TableEncoder", "AROWClassifier"]
    assert steps(words) == ["TableEncoder", "AROWClassifier"]
    assert steps(sparse.csr_array(np.eye(2))) == "AROWClassifier"
    assert steps(sparse.csr_array(np.eye(2)), scale=True) == ["RunningScaler", "AROWClassifier"]
    assert steps(np.eye(2), scale=False) == ["TableEncoder", "AROWClassifier"]


def test_sparse_rows_are_scaled_and_may_widen():
    X = sparse.csr_array(np.array([[2.0, 0.0], [0.0, 4.0], [4.0, 2.0]]))
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier())])
    model.partial_fit(X, [0, 1, 0], classes=[0, 1])
    wider = sparse.csr_array(np.array([[1.0, 0.0, 5.0]]))
    model.partial_fit(wider, [1])
    assert model.coef_.shape == (1, 3)
    assert model.transform(wider).nnz == 2


def test_a_kernel_machine_is_a_map_and_a_learner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (np.hypot(*X.T) > 1.1).astype(int)
    steps = [("map", FixedSizeNystroem(n_components=40, random_state=0)), ("learn", AROWClassifier(max_iter=5))]
    assert StreamingPipeline(steps).fit(X, y).score(X, y) > 0.95


def test_whatever_is_refused_behind_a_transformer_leaves_it_as_it_was():
    X, y = rows()
    hole = X[100:].copy()
    hole[5, 1] = np.nan
    steps = [("scale", RunningScaler()), ("encode", TableEncoder(missing="error")), ("learn", AROWClassifier())]
    for model in (StreamingPipeline([steps[0], steps[2]]), StreamingPipeline(steps)):
        model = clone(model).partial_fit(X[:100], y[:100], classes=[0, 1])
        mean, weights = model["scale"].mean_.copy(), model.coef_.copy()
        for bad, options in (
            (hole, {}),
            (X[100:], {"sample_weight": [-1.0] * 100}),
            (X[100:], {"sample_weight": [1.0]}),
        ):
            with pytest.raises(ValueError):
                model.partial_fit(bad, y[100:], **options)
            assert_array_equal(model["scale"].mean_, mean)
            assert_array_equal(model.coef_, weights)


@pytest.mark.parametrize("before", [[RunningScaler()], [RunningScaler(), TableEncoder()]], ids=["scaler", "encoder"])
def test_behind_a_scaler_nothing_is_scaled_again(before):
    X, y = rows()
    X[::40] *= 30
    make = lambda **options: BCWClassifier(batch_size=50, shuffle=False, **options)  # noqa: E731
    model = StreamingPipeline([*((type(step).__name__, step) for step in before), ("learn", make())])
    plain, scaler = make(scale=False, intercept_scaling=1.0), RunningScaler()
    for some in np.split(np.arange(len(y)), 4):
        Z = scaler.partial_fit(X[some]).transform(X[some])
        model.partial_fit(X[some], y[some], classes=[0, 1])
        plain.partial_fit(np.clip(Z, -5, 5), y[some], classes=[0, 1])
        assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    Z = scaler.fit(X).transform(X)
    assert_allclose(model.fit(X, y).coef_, plain.fit(np.clip(Z, -5, 5), y).coef_, rtol=1e-9)
    assert vars(model[-1]).keys() == vars(make().fit(X, y)).keys()


def test_learners_scale_columns_that_no_scaler_has_brought_to_one_size():
    X, y = rows()

    def marked(*steps, data=X):
        model = StreamingPipeline([(str(k), step) for k, step in enumerate(steps)])
        return model.partial_fit(data, y, classes=[0, 1])[-1].state_.arrays["is_scaled"][0, 0]

    assert marked(RunningScaler(), AROWClassifier()) == 2
    assert marked(RunningScaler(), AROWClassifier(scale=True)) == 1
    assert marked(TableEncoder(), AROWClassifier()) == 1
    assert marked(RunningScaler(with_std=False), AROWClassifier()) == 1
    assert marked(RunningScaler(), FixedSizeNystroem(n_components=5), AROWClassifier()) == 1
    assert marked(RunningScaler(), AROWClassifier(), data=sparse.csr_array(X)) == 0
    learner = AROWClassifier()
    with pytest.raises(ValueError, match="classes"):
        StreamingPipeline([("scale", RunningScaler()), ("learn", learner)]).partial_fit(X, y)
    assert vars(learner) == vars(AROWClassifier())


@pytest.mark.parametrize("step", [RunningScaler(), TableEncoder()])
def test_a_parameter_that_was_changed_to_a_wrong_value_is_refused_in_the_next_batch(step):
    X, _ = rows(20)
    step = clone(step).partial_fit(X).partial_fit(X)
    name = next(iter(step.get_params()))
    setattr(step, name, 1j)
    with pytest.raises(ValueError, match=f"^{type(step).__name__}: {name} must be"):
        step.partial_fit(X)


def test_words_of_a_refused_batch_are_forgotten():
    def batch(*words):
        return Table(["n", "w"], np.arange(float(len(words)))[:, None], {"w": Text.from_list(words)})

    models = [StreamingPipeline([("encode", TableEncoder()), ("learn", AROWClassifier(1.0))]) for _ in range(2)]
    for model, meets_refusal in zip(models, (True, False), strict=True):
        model.partial_fit(batch("a", "b"), [0, 1], classes=[0, 1])
        if meets_refusal:
            with pytest.raises(ValueError, match="sample_weight"):
                model.partial_fit(batch("new", "b"), [0, 1], sample_weight=[-1.0, 1.0])
        model.partial_fit(batch("c", "new"), [1, 0])
    assert models[0].get_feature_names_out().tolist() == ["n", "w=a", "w=b", "w=c", "w=new"]
    assert_array_equal(models[0].coef_, models[1].coef_)
    assert_array_equal(models[0].predict(batch("new", "c")), models[1].predict(batch("new", "c")))


def words(n, seed=0):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 2))
    text = [f"w{i}" for i in rng.integers(5, size=n)]
    return Table(["a", "w", "b"], numbers, {"w": Text.from_list(text)}), (numbers[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    "learner",
    [AROWClassifier(random_state=0), BCWClassifier(batch_size=20, random_state=0), PegasosRegressor(random_state=0)],
)
def test_learners_behind_an_encoder_learn_from_the_matrix_that_it_makes(learner):
    X, y = words(100)
    model = StreamingPipeline([("encode", TableEncoder()), ("learn", clone(learner))]).fit(X, y)
    Z = TableEncoder().fit(X).transform(X)
    expected = clone(learner).fit(Z, y)
    assert_array_equal(model.coef_, expected.coef_)
    assert_array_equal(model.predict(X), expected.predict(Z))
    more = {} if is_regressor(learner) else {"classes": [0, 1]}
    model = StreamingPipeline([("encode", TableEncoder()), ("learn", clone(learner))]).partial_fit(X, y, **more)
    expected = clone(learner).partial_fit(Z, y, **more)
    assert_array_equal(model.coef_, expected.coef_)
    if not is_regressor(learner):
        assert_array_equal(model.decision_function(X), expected.decision_function(Z))


def test_what_a_learner_refuses_or_adapts_is_the_same_behind_an_encoder():
    X, y = words(100)
    model = StreamingPipeline([("encode", TableEncoder()), ("learn", AROWClassifier())])
    model.partial_fit(X, y, classes=[0, 1])
    numbers = X.numbers.copy()
    numbers[3, 1] = np.inf
    for method in (model.predict, lambda rows: model.partial_fit(rows, y)):
        with pytest.raises(ValueError, match=r"^AROWClassifier: X must hold finite numbers, got infinity in row 3"):
            method(X.with_numbers(numbers))
    known = model.predict(X)
    other = Table(X.columns, X.numbers[:1], {"w": Text.from_list(["new"])})
    model["encode"].partial_fit(other)  # which the learner does not see
    assert_array_equal(model.predict(X), known)
