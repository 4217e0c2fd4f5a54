"""Features that matter: names, weights, order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from thresher.dual_averaging import L1RDAClassifier, L1RDARegressor
from thresher.inspection import Weights, features_that_matter, largest
from thresher.online import AROWClassifier
from thresher.preprocessing import RunningScaler, StreamingPipeline


@pytest.mark.parametrize("n", [1, 3, 7, 49, 50, 500])
@pytest.mark.parametrize("distinct", [3, 1000])
def test_largest_is_a_stable_sort_cut_short(n, distinct):
    values = np.random.default_rng(n).integers(0, distinct, 50).astype(float)
    slowly = [j for j in sorted(range(50), key=lambda j: (-values[j], j)) if values[j] > 0][:n]
    assert largest(values, n).tolist() == slowly


def test_largest_of_zeros_is_nothing():
    assert largest(np.zeros(4), 2).tolist() == []
    assert largest(np.zeros(0), 2).tolist() == []


def test_two_classes_have_one_output_called_after_the_second(problem):
    X, y = problem
    model = L1RDAClassifier(alpha=0.01, random_state=0).fit(X, np.where(y > 0, "spam", "ham"))
    found = features_that_matter(model, 5)
    order = np.argsort(-np.abs(model.coef_[0]), kind="stable")[:5]
    assert [f.index for f in found] == order.tolist()
    assert [f.name for f in found] == [f"x{j + 1}" for j in order]
    assert [f.weights for f in found] == [{"spam": model.coef_[0, j]} for j in order]
    assert [f.importance for f in found] == np.abs(model.coef_[0, order]).tolist()
    assert all(f.deviation is None for f in found)


def test_every_class_is_an_output(three_classes):
    X, y = three_classes
    model = L1RDAClassifier(alpha=0.01, random_state=0).fit(X, y)
    for f in features_that_matter(model):
        assert f.weights == dict(zip("abc", model.coef_[:, f.index], strict=True))
        assert f.importance == np.abs(model.coef_[:, f.index]).max()


def test_features_without_weight_do_not_matter():
    X = np.eye(6)[[0, 1] * 20]
    model = L1RDAClassifier(alpha=0.01, random_state=0).fit(X, [0, 1] * 20)
    assert sorted(f.index for f in features_that_matter(model)) == model.support_.tolist() == [0, 1]


def test_regressors_have_a_value(regression):
    X, y = regression
    model = L1RDARegressor(alpha=0.01, random_state=0).fit(X, y)
    first = features_that_matter(model, 1)[0]
    assert first.weights == {"value": model.coef_[first.index]}
    assert first.index == np.abs(model.coef_).argmax()
    assert features_that_matter(LinearRegression().fit(X, y), 1)[0].weights.keys() == {"value"}


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_confidence_decides_where_it_is_known(three_classes, covariance):
    X, y = three_classes
    model = AROWClassifier(1.0, covariance=covariance, random_state=0).fit(X, y)
    sure = np.abs(model.coef_) / np.sqrt(model.variance_)
    for f in features_that_matter(model):
        k = sure[:, f.index].argmax()
        assert f.importance == pytest.approx(sure[k, f.index])
        assert f.deviation == pytest.approx(np.sqrt(model.variance_[k, f.index]))
    importance = [f.importance for f in features_that_matter(model, 50)]
    assert importance == sorted(importance, reverse=True)
    assert len(importance) == np.count_nonzero(model.coef_.any(axis=0))


def test_scale_puts_units_on_a_par():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1, 1000, 1]
    model = LogisticRegression().fit(X, X @ [1, 0.002, 0.5] > 0)
    assert [f.index for f in features_that_matter(model, scale=X.std(axis=0))] == [1, 0, 2]
    assert [f.index for f in features_that_matter(model)][-1] == 1


def test_confidence_needs_no_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = AROWClassifier(random_state=0).fit(X, X @ [3, 2, 1] > 0)
    assert features_that_matter(model) == features_that_matter(model, scale=[1.0, 1e6, 1.0])


def test_names_of_a_frame(problem):
    X, y = problem
    frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(X.shape[1])])
    found = features_that_matter(AROWClassifier(random_state=0).fit(frame, y), 3)
    assert [f.name for f in found] == [f"word {f.index}" for f in found]


@pytest.mark.parametrize("named", [True, False])
def test_names_through_a_pipeline_of_scikit_learn(problem, named):
    X, y = problem
    names = [f"word {j}" if named else f"x{j + 1}" for j in range(X.shape[1])]
    rows = pd.DataFrame(X, columns=names) if named else X
    model = make_pipeline(StandardScaler(), AROWClassifier(random_state=0)).fit(rows, y)
    found = features_that_matter(model, 3)
    assert [f.name for f in found] == [names[f.index] for f in found]
    assert found[0].weights == {1: model[-1].coef_[0, found[0].index]}


def test_names_through_a_streaming_pipeline(problem):
    X, y = problem
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier())])
    model.partial_fit(X, y, classes=[-1, 1])
    found = features_that_matter(model, 3)
    assert [f.name for f in found] == [model.get_feature_names_out()[f.index] for f in found]


def test_steps_without_names_leave_columns_nameless(problem):
    from sklearn.preprocessing import FunctionTransformer

    X, y = problem
    model = make_pipeline(FunctionTransformer(lambda X: X * 2), AROWClassifier(random_state=0)).fit(X, y)
    assert {f.name for f in features_that_matter(model)} <= {f"x{j + 1}" for j in range(X.shape[1])}


def test_clusters_are_told_apart_by_their_centres():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) * 0.1 + [5, 50, 5, 5]  # a large value that all share tells nothing
    X[:30, 2] += 3
    found = features_that_matter(KMeans(2, n_init=1, random_state=0).fit(X), 1)[0]
    assert found.index == 2
    assert sorted(found.weights) == [0, 1]
    assert abs(found.weights[0] - found.weights[1]) == pytest.approx(3, abs=0.1)


def test_a_search_shows_its_best_model(problem):
    from sklearn.model_selection import GridSearchCV

    X, y = problem
    search = GridSearchCV(L1RDAClassifier(random_state=0), {"alpha": [0.01, 0.1]}, cv=2).fit(X, y)
    assert features_that_matter(search) == features_that_matter(search.best_estimator_)


def test_sparse_weights_are_read(problem):
    X, y = problem
    model = LogisticRegression().fit(X, y)
    dense = features_that_matter(model)
    assert features_that_matter(model.sparsify()) == dense


@pytest.mark.parametrize("n", [0, -1, 1.5, None])
def test_n_is_checked(problem, n):
    with pytest.raises(ValueError, match=r"^features_that_matter: n must be an integer of at least 1, got"):
        features_that_matter(AROWClassifier().fit(*problem), n)


def test_scale_is_checked(problem):
    with pytest.raises(ValueError, match="scale must hold one number for each of 12 features"):
        features_that_matter(L1RDAClassifier(alpha=0.01, random_state=0).fit(*problem), scale=[1.0, 2.0])


def test_models_without_weights_are_refused(problem):
    with pytest.raises(ValueError, match=r"one weight per feature \(coef_\), got KNeighborsClassifier"):
        features_that_matter(KNeighborsClassifier().fit(*problem))
    with pytest.raises(NotFittedError):
        features_that_matter(AROWClassifier())


def test_ten_million_features_take_a_sweep():
    X = sparse.random_array((50, 10_000_000), density=1e-6, format="csr", rng=0)
    model = AROWClassifier().fit(X, np.arange(50) % 2)
    found = features_that_matter(model, 3)
    weights = Weights(model)
    assert [f.index for f in found] == np.argsort(-weights.importance(), kind="stable")[:3].tolist()
