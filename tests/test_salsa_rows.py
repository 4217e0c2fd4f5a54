"""The tables of docs/coming-from-salsa-jl.md, row by row, and the defects of SALSA.jl that must not come back."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from reference.kernels import entropy
from thresher.cluster import SparseKMeans
from thresher.dual_averaging import (
    AdaptiveL1RDAClassifier,
    L1RDAClassifier,
    L1RDARegressor,
    ReweightedL1RDAClassifier,
    ReweightedL2RDAClassifier,
)
from thresher.kernels import FixedSizeNystroem
from thresher.onepass import loss_slope, loss_value
from thresher.online import AROWClassifier
from thresher.stochastic import DropoutPegasosClassifier, PegasosClassifier, PegasosRegressor

PAGE = Path(__file__).parent.parent / "docs" / "coming-from-salsa-jl.md"


# --- the page ---------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    table: str
    cells: dict[str, str]

    @property
    def name(self) -> str:
        return next(iter(self.cells.values()))


def rows_of(text: str) -> list[Row]:
    """The rows of all tables, by the names of their columns. A bold first cell is a heading."""
    rows, table, header = [], "", []
    for line in text.splitlines():
        if line.startswith("## "):
            table, header = line[3:], []
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if not header:
                header = cells
            elif not set(line) <= set("| -") and not cells[0].startswith("**"):
                assert len(cells) == len(header), line
                rows.append(Row(table, dict(zip(header, cells, strict=True))))
    return rows


ROWS = rows_of(PAGE.read_text(encoding="utf-8"))
NAMED = [(row, span) for row in ROWS for span in re.findall(r"`([^`]+)`", row.cells.get("thresher", ""))]


class Missing(Exception):
    """What is not there."""


def resolve(span: str) -> None:
    """A dotted name, a call of one, or a line for the shell: anything that is not there raises Missing."""
    if span.startswith("thresher "):
        resolve_command(span.split()[1:])
    elif isinstance(tree := ast.parse(span, mode="eval").body, ast.Call):
        resolve_call(span, tree)
    else:
        find(span)


def resolve_call(span: str, tree: ast.Call) -> None:
    thing = find(ast.unparse(tree.func))
    try:
        bound = inspect.signature(thing).bind_partial(
            *[ast.unparse(arg) for arg in tree.args], **{k.arg: None for k in tree.keywords}
        )
    except TypeError as error:
        raise Missing(f"{span}: {error}") from None
    if {k.arg for k in tree.keywords} - set(bound.arguments):  # swallowed by **options
        raise Missing(span)
    for keyword in tree.keywords:
        rule = getattr(thing, "_param_rules", {}).get(keyword.arg)
        if rule is not None and not rule.holds(ast.literal_eval(keyword.value)):
            raise Missing(f"{span}: {keyword.arg} must be {rule.says}")


def find(dotted: str) -> Any:
    parts = dotted.split(".")
    if parts[0] != "sklearn":
        parts = ["thresher", *parts]
    thing: Any = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], start=2):
        if hasattr(thing, part):
            thing = getattr(thing, part)
            continue
        try:
            thing = importlib.import_module(".".join(parts[:i]))
        except ModuleNotFoundError:
            raise Missing(dotted) from None
    return thing


def resolve_command(words: list[str]) -> None:
    import click

    from thresher.cli import thresher as group

    context = click.Context(group)
    command = group.get_command(context, words[0])
    if command is None:
        raise Missing(words[0])
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words[1:]:
        if word not in known:
            raise Missing(word)


@pytest.mark.parametrize(("row", "span"), NAMED, ids=lambda value: value if isinstance(value, str) else "")
def test_names_are_there_if_the_table_says_so(row, span):
    if row.cells["status"] == "here":
        resolve(span)
    else:
        with pytest.raises(Missing):  # when it comes, the table must say so
            resolve(span)


def test_every_row_has_a_name_and_a_status():
    for row in ROWS:
        assert row.cells["status"] in ("here", "planned"), row.name
        assert "thresher" not in row.cells or re.search(r"`.+`", row.cells["thresher"]), row.name


FEATURES = re.findall(
    r"\S+",
    """
    salsa(X,Y) salsa(X,Y,Xtest) salsa(alg,X,Y,Xtest) salsa(mode,alg,loss,X,Y,Xtest) salsa(X,Y,model,Xtest)
    DelimitedFile salsa_qa(X) predict(model,X) predict_latent(model,X) map_predict map_predict_latent
    pegasos_alg(lam) sgd_alg(lam) dropout_alg(lam) l1rda_alg(lam,gamma,rho) adaptive_l1rda_alg(lam,gamma,rho)
    reweighted_l1rda_alg(lam,gamma,rho,eps) reweighted_l2rda_alg(lam,eps,vareps) dfunc k tolerance online_pass
    train_idx LINEAR NONLINEAR PEGASOS SIMPLE_SGD DROP_OUT L1RDA ADA_L1RDA R_L1RDA R_L2RDA
    RK_MEANS(support_alg,k,max_iter,metric) support_alg HINGE PINBALL LOGISTIC SQUARED_HINGE LEAST_SQUARES
    MODIFIED_HUBER RBFKernel PolynomialKernel LinearKernel CSA DS(init) subset_size max_cv_iter max_iter max_cv_k
    max_k normalized process_labels sparsity_cv MISCLASS AUC(100) MSE SILHOUETTE cv_gen alg_params X_mean X_std mode
    X_subset Ytest w b cv_folds cv_n_f cv_n show mapstd(X) mapstd(X,mean,std) entropy_subset(X,kernel,m)
    AFEm(Xs,kernel,X) membership gen_cross_validate @parallel
    """,
)


def test_every_feature_of_the_ancestor_has_a_row():
    named = {span for row in ROWS if row.table == "Features" for span in re.findall(r"`([^`]+)`", row.name)}
    assert not set(FEATURES) - named
    spaced = {"loss_derivative(LOSS[,tau])", "stochastic_rk_means(X, RK_MEANS, params, ...)"}
    spaced |= {"make_sparse(cells; sizes, delim)", "DelimitedFile(name, header, delim)"}
    assert spaced <= named
    words = "\n".join(row.name for row in ROWS if row.table == "Features")
    for question in range(1, 14):
        assert re.search(rf"^{question} ", words, re.M), f"question {question}"


def test_every_defect_has_a_row_and_every_row_a_test():
    defects = [row for row in ROWS if row.table == "Defects that are not inherited"]
    assert [row.name for row in defects] == [f"B{i}" for i in range(1, 20)]
    for row in defects:
        if row.cells["status"] == "planned":
            assert not row.cells["test"]
            continue
        file, _, test = row.cells["test"].strip("`").rpartition("::")
        text = Path(__file__ if not file else PAGE.parent.parent / file).read_text(encoding="utf-8")
        assert f"def {test}(" in text, row.name


# --- defects ----------------------------------------------------------------------------------------------------------


def test_the_budget_of_the_last_fit_is_the_one_asked_for(problem):
    """B1"""
    from thresher.tuning import CoupledAnnealingSearchCV

    X, y = problem
    search = CoupledAnnealingSearchCV(PegasosClassifier(max_iter=7, batch_size=3), n_evaluations=2, cv=2).fit(X, y)
    assert search.best_estimator_.n_iter_ == 7
    assert search.best_estimator_.batch_size == 3
    assert search.best_estimator_.n_samples_seen_ == 7 * len(y)
    assert PegasosClassifier(n_steps=100, batch_size=3).fit(X, y).n_samples_seen_ == 300
    assert DropoutPegasosClassifier(n_steps=100).fit(X, y).n_samples_seen_ == 100


def two_equal_rows(model):
    """The weight after one and after two rows x = 1, y = +1 whose hinge loss is positive: gradients -1, -1."""
    first = model.partial_fit([[1.0]], [1], classes=[0, 1]).coef_[0, 0]
    return first, model.partial_fit([[1.0]], [1]).coef_[0, 0]


def test_reweighted_l1_sums_all_reweightings():
    """B2"""
    a, e = 0.2, 0.3
    first, second = two_equal_rows(ReweightedL1RDAClassifier(a, eta0=0.5, smoothing=e, fit_intercept=False))
    assert_allclose(first, 0.5 * (1 - a))
    assert_allclose(second, 0.5 / np.sqrt(2) * (2 - a * (1 + 1 / (first + e))))


def test_reweighted_l2_sums_all_reweightings():
    """B3"""
    a, e = 0.2, 0.3
    first, second = two_equal_rows(ReweightedL2RDAClassifier(a, smoothing=e, fit_intercept=False))
    assert_allclose(first, 1 / (a + 1))
    assert_allclose(second, 2 / (2 * a + 1 + 1 / (first**2 + e)))


def test_adaptive_steps_add_rho_to_the_root():
    """B4"""
    first, second = two_equal_rows(AdaptiveL1RDAClassifier(0.1, eta0=0.5, smoothing=0.3, fit_intercept=False))
    assert_allclose(first, 0.5 * (1 - 0.1) / (0.3 + 1))
    assert_allclose(second, 0.5 * (2 - 0.2) / (0.3 + np.sqrt(2)))


@pytest.mark.parametrize("estimator", [PegasosClassifier(alpha=0.1), L1RDAClassifier(alpha=0.01, eta0=1.0)])
def test_a_mini_batch_of_equal_rows_is_one_row(problem, estimator):
    """B5"""
    X, y = problem
    estimator.set_params(max_iter=1, shuffle=False)
    single = estimator.set_params(batch_size=1).fit(X, y).coef_.copy()
    fourfold = estimator.set_params(batch_size=4).fit(np.repeat(X, 4, axis=0), np.repeat(y, 4)).coef_
    assert np.any(single)
    assert_allclose(fourfold, single, atol=1e-12)


@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("p", [-2.3, -1.0, -0.7, 0.0, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("loss", ["squared_hinge", "modified_huber"])
def test_slopes_are_derivatives(loss, p, y):
    """B6"""
    h = 1e-6
    slope = (loss_value(loss, p + h, y) - loss_value(loss, p - h, y)) / (2 * h)
    assert_allclose(loss_slope(loss, p, y), slope, atol=1e-6)


def test_the_first_step_of_the_squared_hinge_has_the_factor_2():
    """B6, as a model sees it: from w = 0, w = 2 y x / alpha."""
    for cls, more in ((PegasosClassifier, {"projection": False}), (DropoutPegasosClassifier, {})):
        model = cls(alpha=0.5, loss="squared_hinge", fit_intercept=False, **more)
        model.partial_fit([[3.0, -1.0]], [1], classes=[-1, 1])
        assert_allclose(model.coef_, [[12.0, -4.0]])


def test_cross_validation_scores_every_class_by_its_own_labels(three_classes):
    """B7"""
    from thresher.tuning import Choice, CoupledAnnealingSearchCV

    X, y = three_classes
    folds = list(StratifiedKFold(3).split(X, y))
    model = PegasosClassifier(alpha=0.01, max_iter=5, random_state=0)
    search = CoupledAnnealingSearchCV(model, {"alpha": Choice([0.01])}, n_evaluations=1, scoring="accuracy", cv=folds)
    scores = []
    for train, test in folds:
        fitted = PegasosClassifier(alpha=0.01, max_iter=5, random_state=0).fit(X[train], y[train])
        scores.append(accuracy_score(y[test], fitted.predict(X[test])))
    assert_allclose(search.fit(X, y).best_score_, np.mean(scores))
    assert np.mean(scores) > 0.5


@pytest.mark.parametrize("cls", [PegasosClassifier, L1RDAClassifier, AROWClassifier, DropoutPegasosClassifier])
def test_predictions_are_labels(three_classes, problem, cls):
    """B8"""
    X, y = three_classes
    predicted = cls(random_state=0).fit(X, y).predict(X)
    assert predicted.shape == y.shape
    assert set(predicted) <= {"a", "b", "c"}
    X, y = problem
    labels = np.where(y == 1, "spam", "ham")
    model = cls(fit_intercept=False, random_state=0).fit(X, labels)
    nothing = np.zeros((1, X.shape[1]))
    assert_array_equal(model.decision_function(nothing), [0.0])
    assert_array_equal(model.predict(nothing), ["ham"])


@pytest.mark.parametrize("way", ["auto", "wizard"])
def test_the_first_column_is_not_lost(tmp_path, way):
    """B9: only the first column tells, in a file as the black box and the questions read it."""
    import thresher
    from thresher.streams import open_stream

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    path = tmp_path / "data.csv"
    lines = [f"{a},{b},{c},{'yes' if a > 0 else 'no'}" for a, b, c in X]
    path.write_text("\n".join(["first,second,third,answer", *lines]), encoding="utf-8")
    stream = open_stream(path)
    assert list(stream.feature_names) == ["first", "second", "third"]
    assert_allclose(np.vstack([np.asarray(batch.X) for batch in stream]), X)
    if way == "auto":
        model = thresher.auto(path, method="arow", kernel="linear", n_evaluations=2)
    else:
        answers = {
            "method": "arow",
            "kernel": "linear",
            "leaks": "yes",
            "n_evaluations": 2,
            "model": "no",
            "report": "no",
        }
        model = thresher.wizard.wizard(path, answers=answers, say=lambda line: None)
    new = rng.normal(size=(300, 3))
    assert np.mean(model.predict(new) == np.where(new[:, 0] > 0, "yes", "no")) > 0.95


def test_directed_search_goes_on():
    """B10"""
    from thresher.tuning import Uniform, directed_search

    seen = []

    def objective(params):
        seen.append(params)
        return -((params["a"] - 0.31) ** 2) - (params["b"] - 0.83) ** 2

    found = directed_search(objective, {"a": Uniform(0.0, 1.0), "b": Uniform(0.0, 1.0)}, n_evaluations=200)
    assert len(seen) > 30  # many polls, of four points each
    assert abs(found.params["a"] - 0.31) < 0.01
    assert abs(found.params["b"] - 0.83) < 0.01


@pytest.mark.parametrize("header", ["value,target\n", ""])
@pytest.mark.parametrize("shuffle", [0, 4])
def test_files_keep_every_row_with_its_label(tmp_path, header, shuffle):
    """B11"""
    from thresher.streams import open_stream

    path = tmp_path / "data.csv"
    path.write_text(header + "".join(f"{i},{10 * i}\n" for i in range(1, 12)), encoding="utf-8")
    stream = open_stream(path, batch_size=3, max_iter=2, shuffle=shuffle)
    batches = list(stream)
    values = np.concatenate([np.asarray(batch.X).ravel() for batch in batches])
    targets = np.concatenate([batch.y for batch in batches])
    assert_array_equal(targets, 10 * values)
    for one_pass in (values[:11], values[11:]):
        assert_array_equal(np.sort(one_pass), np.arange(1, 12))
    if not shuffle:
        assert_array_equal(values, [*range(1, 12)] * 2)


def test_the_map_is_exact_on_its_landmarks(problem):
    """B12"""
    X, _ = problem
    model = FixedSizeNystroem(gamma=0.3, n_components=len(X), random_state=0)
    features = model.fit_transform(X)
    assert_allclose(features @ features.T, rbf_kernel(X, gamma=0.3), atol=1e-8)


def test_landmarks_are_chosen_once_and_raise_the_entropy():
    """B13"""
    X = np.random.default_rng(0).normal(size=(120, 2))
    K = rbf_kernel(X, gamma=1.0)
    gains = []
    for seed in range(20):
        params = {"gamma": 1.0, "n_components": 30, "random_state": seed}
        chosen = FixedSizeNystroem(**params).fit(X).component_indices_
        start = FixedSizeNystroem(selection="random", **params).fit(X).component_indices_
        assert len(set(chosen)) == 30
        gains.append(entropy(K, chosen) - entropy(K, start))
    assert min(gains) >= 0 < np.mean(gains)


def test_clusters_of_a_fold_are_those_of_its_rows():
    """B14"""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)) + centre for centre in ((-50, 0), (50, 0), (0, 90))])
    train = np.arange(90) % 3 != 0
    model = SparseKMeans(3, max_iter=1, random_state=0).fit(X[train])
    assert_allclose(model.cluster_centers_, [X[train][model.labels_ == c].mean(axis=0) for c in range(3)])
    assert len(set(model.predict(X[~train]))) == 3


def test_the_variance_of_annealing_reaches_its_maximum():
    """B15: of m probabilities, (m - 1) / m^2 when one of them is 1; it could never be reached if it were unbiased."""
    from thresher.tuning._annealing import variance

    assert_allclose(variance(np.eye(5)[0]), 4 / 25)
    assert_allclose(variance(np.full(5, 0.2)), 0.0, atol=1e-16)


class Spy(TransformerMixin, BaseEstimator):
    """Notes which rows a scaler would learn from; the first column numbers them."""

    learned: list[frozenset[float]] = []

    def fit(self, X, y=None):
        self.learned.append(frozenset(X[:, 0]))
        return self

    def transform(self, X):
        return X


def test_scaling_happens_inside_the_folds(problem):
    """B16"""
    from thresher.tuning import Choice, CoupledAnnealingSearchCV

    X, y = problem
    X = np.column_stack([np.arange(len(X)), X])
    folds = list(StratifiedKFold(3).split(X, y))
    Spy.learned = []
    search = CoupledAnnealingSearchCV(
        make_pipeline(Spy(), AROWClassifier()), {"arowclassifier__r": Choice([1.0])}, n_evaluations=1, cv=folds
    )
    search.fit(X, y)
    assert Spy.learned == [*(frozenset(train) for train, _ in folds), frozenset(range(len(X)))]


@pytest.mark.parametrize(
    "cls", [PegasosClassifier, DropoutPegasosClassifier, L1RDAClassifier, PegasosRegressor, L1RDARegressor]
)
def test_tau_stays_between_0_and_1(cls, problem):
    """B17"""
    from thresher.tuning import search_space

    loss = "pinball" if "Classifier" in cls.__name__ else "quantile"
    space = search_space(cls(loss=loss))
    if loss == "pinball":
        assert 0 <= space["tau"].at(0.0) < space["tau"].at(1.0) <= 1
    else:
        assert "tau" not in space  # which quantile is a question, not a matter of tuning
    with pytest.raises(ValueError, match=r"tau must be a number between 0 and 1, got 1\.5"):
        cls(loss=loss, tau=1.5).fit(*problem)


def test_the_ball_of_a_regression_holds_the_optimum():
    """B19: the optimum is 19 times farther from 0 than the ball of radius 1 / sqrt(alpha) reaches."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X @ [300.0, -200.0, 100.0]
    alpha = 0.1
    optimum = np.linalg.solve(X.T @ X / 400 + alpha * np.eye(3), X.T @ y / 400)
    assert np.linalg.norm(optimum) > 19 / np.sqrt(alpha)
    model = PegasosRegressor(alpha=alpha, fit_intercept=False, max_iter=100, average=True, random_state=0).fit(X, y)
    assert_allclose(model.coef_, optimum, rtol=0.02)
