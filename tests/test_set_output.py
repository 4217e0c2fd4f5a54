"""Containers and names of transformed rows, as scikit-learn's own transformers have them."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.datasets import make_blobs
from sklearn.utils import estimator_checks

import thresher
from thresher.cluster import KernelSpectralClustering, ProximalPlaneClustering
from thresher.kernels import FixedSizeNystroem
from thresher.online import AROWClassifier
from thresher.preprocessing import InteractionGroups, RunningScaler, StreamingPipeline, TableEncoder

CHECKS = (
    "check_get_feature_names_out_error",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
)


def transformers():
    """Every public estimator that transforms rows."""
    for found in pkgutil.iter_modules(thresher.__path__, "thresher."):
        room = importlib.import_module(found.name) if not found.name.rpartition(".")[2].startswith("_") else None
        for name in getattr(room, "__all__", ()):
            cls = getattr(room, name)
            if isinstance(cls, type) and hasattr(cls, "set_output") and cls is not StreamingPipeline:
                yield cls


@pytest.mark.parametrize("check_name", CHECKS)
@pytest.mark.parametrize("cls", sorted(set(transformers()), key=lambda cls: cls.__name__))
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks_of_containers_and_names(cls, check_name):
    getattr(estimator_checks, check_name)(cls.__name__, cls())


def test_the_transformers_were_found():
    found = {cls.__name__ for cls in transformers()}
    assert {"RunningScaler", "TableEncoder", "InteractionGroups", "FixedSizeNystroem", "SparseKMeans"} <= found


@pytest.fixture
def frame():
    X, _ = make_blobs(40, 3, centers=2, random_state=0)
    return pd.DataFrame(X, columns=list("abc"), index=np.arange(100, 140))


def test_a_scaler_of_words_and_numbers_keeps_words_names_and_index(frame):
    mixed = frame.assign(word=["x", "y"] * 20)
    scaled = RunningScaler().set_output(transform="pandas").fit_transform(mixed)
    assert list(scaled.columns) == ["a", "b", "c", "word"]
    assert_array_equal(scaled.index, frame.index)
    assert scaled["word"].tolist() == mixed["word"].tolist()
    assert_array_equal(scaled[["a", "b", "c"]], RunningScaler().fit_transform(frame))
    polars = RunningScaler().set_output(transform="polars").fit_transform(pl.from_pandas(mixed))
    assert isinstance(polars, pl.DataFrame)
    assert polars.columns == ["a", "b", "c", "word"]


@pytest.mark.parametrize("transformer", [TableEncoder(), InteractionGroups()])
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_sparse_rows_in_a_frame_are_refused_as_scikit_learn_does(transformer, container):
    words = pd.DataFrame({"w": ["x", "y"] * 5, "v": ["u", "u", "z", "z", "u"] * 2})
    with pytest.raises(ValueError, match="sparse"):
        transformer.set_output(transform=container).fit(words).transform(words)


def test_a_pipeline_sets_its_output_and_learns_the_same(frame):
    def model():
        steps = [("scale", RunningScaler()), ("map", FixedSizeNystroem(n_components=5, random_state=0))]
        return StreamingPipeline([*steps, ("learn", AROWClassifier(random_state=0))])

    y = np.arange(40) % 2
    plain = model().fit(frame, y)
    assert isinstance(plain.transform(frame), np.ndarray)
    chosen = model().set_output(transform="pandas").fit(frame, y)
    rows = chosen.transform(frame)
    assert list(rows.columns) == list(chosen.get_feature_names_out())
    assert_array_equal(rows.index, frame.index)
    assert_array_equal(rows, plain.transform(frame))
    with config_context(transform_output="pandas"):
        everywhere = model().fit(frame, y)
        assert isinstance(everywhere.transform(frame), pd.DataFrame)
    for other in (chosen, everywhere):
        assert_array_equal(other.predict(frame), plain.predict(frame))
        assert_array_equal(other.coef_, plain.coef_)


def test_pipelines_of_words_learn_under_any_container(frame):
    mixed, y = frame.assign(word=["x", "y"] * 20), np.arange(40) % 2
    steps = [("scale", RunningScaler()), ("encode", TableEncoder()), ("learn", AROWClassifier())]
    with config_context(transform_output="pandas"):
        model = StreamingPipeline(steps).fit(mixed, y)
        assert model.predict(mixed).tolist() == y.tolist()
    assert list(model.get_feature_names_out()) == ["a", "b", "c", "word=x", "word=y"]


@pytest.mark.parametrize("model", [KernelSpectralClustering(2), ProximalPlaneClustering(2, random_state=0)])
def test_clusters_do_not_depend_on_the_container(model, frame):
    plain = model.fit(frame)
    labels, score = plain.predict(frame), plain.score(frame)
    for container in ("pandas", "polars"):
        with config_context(transform_output=container):
            assert_array_equal(model.fit(frame).predict(frame), labels)
            assert model.score(frame) == score


def test_names_are_checked_and_given_where_there_are_none(frame):
    for transformer in (RunningScaler(), TableEncoder()):
        named = transformer.fit(frame)
        with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
            named.get_feature_names_out(["u", "v", "w"])
        nameless = transformer.fit(frame.to_numpy())
        assert nameless.get_feature_names_out(["u", "v", "w"]).tolist() == ["u", "v", "w"]
        with pytest.raises(ValueError, match="should have length equal to number of features"):
            nameless.get_feature_names_out(["u"])
