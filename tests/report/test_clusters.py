"""What a report says of clusters, counted again by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans, MeanShift
from sklearn.metrics import adjusted_rand_score, rand_score, silhouette_samples
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from report import examples
from thresher.cluster import ProximalPlaneClustering, SparseKMeans
from thresher.metrics import variation_of_information
from thresher.preprocessing import prepared
from thresher.report import Report
from thresher.streams import Table


def sections(*args, **given):
    return Report(*args, **given).to_dict()["sections"]


def blobs(n=90, k=3, d=5, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    return rng.normal(size=(n, d)) + 6 * rng.normal(size=(k, d))[labels], labels


def test_agreement_with_given_labels_is_measured_three_ways():
    given = examples.clusters()
    X, y = given["sample"]
    found = sections(**given)["clusters"]
    labels = given["model"].predict(X)
    assert found["with the labels"] == pytest.approx(
        {
            "adjusted Rand index": adjusted_rand_score(y, labels),
            "Rand index": rand_score(y, labels),
            "variation of information": variation_of_information(y, labels),
        }
    )
    assert found["agreement"] == found["with the labels"]["adjusted Rand index"]
    without = sections(given["model"], sample=(X, None))["clusters"]
    assert without["with the labels"] == {}
    text = Report(**given).to_text()
    for words in ("adjusted Rand index", "variation of information"):
        assert words in text
        assert words in Report(**given).to_html()


def test_bars_are_sorted_silhouettes_thinned():
    X, _ = blobs(n=900)
    model = SparseKMeans(3, random_state=0).fit(X)
    found = sections(model, sample=(X, None))["clusters"]
    values = silhouette_samples(X, model.labels_)
    for k in range(3):
        own = np.sort(values[model.labels_ == k])[::-1]
        bars = np.array(found["bars"][str(k)])
        assert len(bars) == 100
        assert (np.diff(bars) <= 0).all()
        assert_allclose(bars[[0, -1]], own[[0, -1]], atol=1e-7)


def test_a_cluster_is_described_by_the_features_of_its_centre():
    labels = np.arange(120) % 3
    X = 0.3 * np.random.default_rng(0).normal(size=(120, 8))
    for c in range(3):
        X[np.ix_(labels == c, [2 * c, 2 * c + 1])] += 4 + c
    frame = pd.DataFrame(X, columns=[f"col {j}" for j in range(8)])
    model = SparseKMeans(3, alpha=0.4, random_state=0, n_init=3).fit(frame)
    found = sections(model, sample=(frame, None))["profiles"]
    assert found["kind"] == "centre"
    assert found["matrix"] is None
    for one in found["clusters"]:
        c = labels[model.labels_ == int(one["cluster"])][0]
        assert {f["name"] for f in one["features"]} == {f"col {2 * c}", f"col {2 * c + 1}"}
        assert one["n_features"] == 2
        assert one["rows"] == 40
        for feature in one["features"]:
            j = int(feature["name"][4:])
            k = int(one["cluster"])
            assert feature["value"] == pytest.approx(model.cluster_centers_[k, j])
            others = np.delete(model.cluster_centers_[:, j], k)
            assert feature["elsewhere"] == pytest.approx(others.mean())  # all of one size


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_typical_rows_are_nearest_and_border_rows_sit_worst(layout):
    X, _ = blobs()
    model = KMeans(3, n_init=3, random_state=0).fit(X)
    found = sections(model, sample=(layout(X), None))["profiles"]["clusters"]
    inside = silhouette_samples(X, model.labels_)
    for one in found:
        own = np.flatnonzero(model.labels_ == int(one["cluster"]))
        away = np.linalg.norm(X[own] - model.cluster_centers_[int(one["cluster"])], axis=1)
        assert [row["row"] - 1 for row in one["typical"]] == own[np.argsort(away)][:3].tolist()
        assert [row["row"] - 1 for row in one["border"]] == own[np.argsort(inside[own])][:3].tolist()


def test_directions_have_their_own_typical_rows():
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(60, 3))) + 5 * np.eye(3)[np.arange(60) % 3]
    X *= rng.exponential(size=(60, 1))
    model = SparseKMeans(3, metric="cosine", random_state=0).fit(X)
    for one in sections(model, sample=(X, None))["profiles"]["clusters"]:
        own = np.flatnonzero(model.labels_ == int(one["cluster"]))
        cosines = X[own] @ model.cluster_centers_[int(one["cluster"])] / np.linalg.norm(X[own], axis=1)
        assert [row["row"] - 1 for row in one["typical"]] == own[np.argsort(-cosines)][:3].tolist()


def test_models_without_centres_are_described_by_means():
    X, _ = blobs()
    model = ProximalPlaneClustering(3, C_others=0.0, random_state=0).fit(X)
    found = sections(model, sample=(X, None))
    profiles = found["profiles"]
    assert profiles["kind"] == "mean of the rows"
    assert "it measures compact clusters" in found["clusters"]["says"]
    matrix = profiles["matrix"]
    for j, name in enumerate(matrix["features"]):
        column = int(name[1:]) - 1
        means = [X[model.labels_ == k, column].mean() for k in range(3)]
        assert matrix["means"][j] == pytest.approx(means)
        assert matrix["apart"][j] == pytest.approx((np.array(means) - X[:, column].mean()) / X[:, column].std())
    spread = np.square(matrix["apart"]) @ (np.bincount(model.labels_) / 90)
    assert (np.diff(spread) <= 1e-12).all()  # the feature that tells most comes first
    one = profiles["clusters"][0]
    first = one["features"][0]
    rest = X[model.labels_ != 0, int(first["name"][1:]) - 1].mean()
    assert first["elsewhere"] == pytest.approx(rest)


def test_rows_of_clusters_of_any_shape_are_typical_far_from_others():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    X = np.column_stack([rng.uniform(0, 10, size=60), labels * (1 + 0.3 * np.arange(60))])  # two lines that part
    model = Halves().fit(X)
    model.predict = lambda rows: (rows[:, 1] > 0).astype(int)
    found = sections(model, sample=(X, None))["profiles"]
    assert found["border"] == "with other clusters next to them"
    away = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(away, np.inf)
    for one in found["clusters"]:
        k = int(one["cluster"])
        mine, others = np.flatnonzero(labels == k), np.flatnonzero(labels != k)
        own, other = away[np.ix_(mine, mine)].min(axis=1), away[np.ix_(mine, others)].min(axis=1)
        depth = (other - own) / np.maximum(own, other)
        assert [row["row"] - 1 for row in one["border"]] == mine[np.argsort(depth)][:3].tolist()
        assert {row["row"] - 1 for row in one["typical"]} == set(mine[np.argsort(-depth)][:3].tolist())


def test_features_that_tell_nothing_are_not_named():
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 2 * (np.arange(80) % 2))[:, None]  # ring in ring
    model = Halves().fit(X)
    model.predict = lambda rows: (np.linalg.norm(rows, axis=1) > 2).astype(int)
    report = Report(model, sample=(X, None))
    found = report.to_dict()["sections"]["profiles"]
    assert found["matrix"] is None
    assert [one["features"] for one in found["clusters"]] == [[], []]
    assert found["says"].endswith("No single feature separates them.")
    assert "0: no single feature" in report.to_text()
    assert "No single feature sets it apart." in report.to_html()


def test_rows_are_shown_as_they_were_given():
    X, _ = blobs(d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make_pipeline(StandardScaler(), KMeans(3, n_init=3, random_state=0)).fit(frame)
    row = sections(model, sample=(frame, None))["profiles"]["clusters"][0]["typical"][0]
    assert float(row["values"]["a"].replace("−", "-")) == pytest.approx(X[row["row"] - 1, 0], rel=1e-2)


def test_words_are_shown_with_their_column():
    rng = np.random.default_rng(0)
    towns = np.array(["Gent", "Köln"])[np.arange(80) % 2]
    table = Table.from_frame(pd.DataFrame({"id": np.arange(80.0), "size": rng.normal(size=80), "town": towns}))
    model = prepared(SparseKMeans(2, alpha=0.1, random_state=0, n_init=3), table).fit(table)
    found = sections(model, sample=(table, None))["profiles"]["clusters"]
    assert any("town" in f["name"] for one in found for f in one["features"])
    assert {one["typical"][0]["values"]["town"] for one in found} == {"Gent", "Köln"}


def test_wide_sparse_rows_are_not_made_dense():
    rng = np.random.default_rng(0)
    X = sparse.random_array((600, 2_000_000), density=1e-5, format="csr", rng=rng)
    X = X + sparse.csr_array((np.full(600, 3.0), (np.arange(600), np.arange(600) % 2)), shape=X.shape)
    found = sections(Halves().fit(X), sample=(sparse.csr_array(X), None))["profiles"]  # dense, these are 9.6 GB
    assert [one["features"][0]["name"] for one in found["clusters"]] in (["x1", "x1"], ["x2", "x2"], ["x1", "x2"])
    assert all(len(one["typical"][0]["values"]) <= 6 for one in found["clusters"])


class Halves(ClusterMixin, BaseEstimator):
    """Clusters without centres: even and odd columns."""

    def fit(self, X, y=None):
        self.n_features_in_, self.fitted_ = X.shape[1], True
        return self

    def predict(self, X):
        return np.asarray(X[:, [1]].todense()).ravel().astype(int) // 2

    def __sklearn_is_fitted__(self):
        return True


def test_clusters_of_another_library_without_centres_for_all_and_of_one():
    X, _ = blobs()
    assert sections(MeanShift(bandwidth=6).fit(X), sample=(X, None))["profiles"]["clusters"]
    one = sections(KMeans(1, n_init=1).fit(X), sample=(X, None))
    assert "profiles" not in one or len(one["profiles"]["clusters"]) == 1
    assert "profiles" not in sections(KMeans(2, n_init=1, random_state=0).fit(X))


def test_a_cluster_without_rows_in_the_sample_has_none_to_show():
    X, _ = blobs()
    model = KMeans(3, n_init=3, random_state=0).fit(X)
    some = X[model.labels_ != 1]
    found = sections(model, sample=(some, None))["profiles"]["clusters"]
    assert found[1]["rows"] == 0
    assert found[1]["typical"] == found[1]["border"] == []
    Report(model, sample=(some, None)).to_html()


def test_names_in_the_page_are_harmless():
    X, _ = blobs(d=2)
    frame = pd.DataFrame(X, columns=["<script>alert(1)</script>", "b"])
    page = Report(KMeans(2, n_init=1, random_state=0).fit(frame), sample=(frame, None)).to_html()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_many_clusters_fit_the_page():
    X, _ = blobs(n=400, k=40)
    report = Report(KMeans(40, n_init=1, random_state=0).fit(X), sample=(X, None))
    assert len(report.to_dict()["sections"]["profiles"]["clusters"]) == 30
    assert "The first 30 of 40 clusters." in report.to_html()
    assert "and 28 more clusters" in report.to_text()


def test_clusters_of_a_stream_are_as_large_as_it_counted():
    X, _ = blobs(n=300)
    model = SparseKMeans(3, random_state=0).partial_fit(X[:200]).partial_fit(X[200:])
    found = sections(model, sample=(X[:50], None))["clusters"]
    assert found["sizes"] == {str(k): int(weight) for k, weight in enumerate(model.cluster_weights_)}
    assert sum(found["sizes"].values()) == 300
