"""The mean of models after each round, against plain means of their weights."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import is_classifier

from thresher import distributed, registry
from thresher.distributed import _checkpoint
from thresher.distributed._averaging import Average, can_average
from thresher.online import AROWClassifier, CSOALClassifier, OFSClassifier, PAClassifier, PETrunClassifier
from thresher.stochastic import PegasosClassifier
from thresher.training import Interrupted, merge_models
from variants import assert_same_bits

AVERAGED = {
    "pa": {"C": 1.0}, "mbpa": {"n_features_to_select": 6, "C": 1.0}, "csoal": {"C": 1.0, "random_state": 0},
    "petrun": {"n_features_to_select": 6, "eta0": 1.0}, "ofs": {"n_features_to_select": 6, "eta0": 0.2},
    "pegasos": {"alpha": 1e-4, "batch_size": 8},
    "dropoutpegasos": {"alpha": 1e-4, "random_state": 0},
    "groupfobos": {"groups": [0, 0, 1, 1, 2, 2], "eta0": 0.1}, "pegasos-regressor": {"alpha": 1e-4},
}  # fmt: skip


@pytest.fixture
def shards():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 6))
    y = (X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=240) > 0).astype(int)
    return [(X[i::3], y[i::3]) for i in range(3)]


def weights_of(model):
    return np.append(np.atleast_2d(model.coef_), np.reshape(model.intercept_, (-1, 1)), axis=1)


def rounds(estimator, shards, n_rounds):
    """The models after each round, by hand."""
    X, y = shards[0]
    classes = {"classes": np.unique(y)} if is_classifier(estimator) else {}
    model = estimator.partial_fit(X[:1], y[:1], sample_weight=np.zeros(1), **classes)
    models = []
    for _ in range(n_rounds):
        model = merge_models([deepcopy(model).partial_fit(X, y) for X, y in shards], model)
        models.append(model)
    return models


@pytest.mark.parametrize("n_shards", [1, 3])  # one alone comes back as it is, with scales and clocks of its own
@pytest.mark.parametrize("name", AVERAGED)
def test_the_rth_model_counts_r_times(shards, name, n_shards):
    models = rounds(registry.estimators()[name](**AVERAGED[name]), shards[:n_shards], 4)
    mean, before = Average(), [deepcopy(model.state_) for model in models]
    for n, model in enumerate(models, start=1):
        assert can_average(model)
        mean.add(model)
        expected = np.average([weights_of(each) for each in models[:n]], axis=0, weights=range(1, n + 1))
        found = mean.result(model)
        assert_allclose(weights_of(found), expected, rtol=1e-12, atol=1e-15)
        assert found.n_samples_seen_ == model.n_samples_seen_
        assert type(found) is type(model)
    assert np.abs(weights_of(found) - weights_of(model)).max() > 1e-6
    for model, state in zip(models, before, strict=True):
        assert all(np.array_equal(model.state_.arrays[k], state.arrays[k]) for k in state.arrays)  # not ours to change


@pytest.mark.parametrize("name, step", [("ofs", {"eta0": 0.2}), ("petrun", {"eta0": 1.0}), ("mbpa", {"C": 1.0})])
def test_learners_of_few_features_keep_the_largest_of_the_mean(name, step):
    rng = np.random.default_rng(3)
    noise = [(rng.normal(size=(80, 12)), rng.integers(0, 2, size=80)) for _ in range(6)]
    cls = registry.estimators()[name]
    models = [cls(n_features_to_select=2, **step).partial_fit(X, y, classes=[0, 1]) for X, y in noise]
    assert len({tuple(np.flatnonzero(model.coef_)) for model in models}) > 1  # they differ in what they select
    mean = Average()
    for model in models:
        mean.add(model)
    full = np.average([model.coef_[0] for model in models], axis=0, weights=range(1, 7))
    assert np.count_nonzero(full) > 2
    found = mean.result(models[-1]).coef_[0]
    kept = np.sort(np.argsort(-np.abs(full))[:2])
    assert_array_equal(np.flatnonzero(found), kept)
    assert_allclose(found[kept], full[kept], rtol=1e-12)


def test_features_that_appear_later_weigh_0_before():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, size=60)
    narrow = PAClassifier(1.0).partial_fit(sparse.csr_array(X[:30, :3]), y[:30], classes=[0, 1], grow=True)
    wide = deepcopy(narrow).partial_fit(sparse.csr_array(X[30:]), y[30:], grow=True)
    mean = Average()
    mean.add(narrow)
    mean.add(wide)
    padded = np.insert(weights_of(narrow), [3, 3], 0, axis=1)
    assert_allclose(weights_of(mean.result(wide)), (padded + 2 * weights_of(wide)) / 3, rtol=1e-12)


def test_one_model_is_its_own_mean(shards):
    (model,) = rounds(PegasosClassifier(1e-4), shards, 1)
    mean = Average()
    with pytest.raises(ValueError, match="no mean before a model was added"):
        mean.result(model)
    mean.add(model)
    assert mean.result(model) is model


def test_a_mean_goes_on_from_what_was_kept(shards):
    models = rounds(OFSClassifier(n_features_to_select=2), shards, 5)
    never_stopped, mean = Average(), Average()
    for model in models:
        never_stopped.add(model)
        mean.add(model)
        mean = Average(mean.to_keep())
    a, b = never_stopped.result(models[-1]), mean.result(models[-1])
    assert_array_equal(a.coef_, b.coef_)
    assert_array_equal(a.state_.arrays["selected"], b.state_.arrays["selected"])


# --- in fit -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator", [PAClassifier(0.1), PegasosClassifier(1e-4), OFSClassifier(n_features_to_select=3)]
)
def test_rounds_go_on_from_the_last_model_and_end_in_the_mean(shards, estimator):
    models = rounds(deepcopy(estimator), shards, 4)
    last = distributed.fit(estimator, shards, n_rounds=4, average=False)
    assert_array_equal(last.coef_, models[-1].coef_)
    mean = Average()
    for model in models:
        mean.add(model)
    found = distributed.fit(estimator, shards, n_rounds=4, average=True)
    assert_array_equal(found.coef_, mean.result(models[-1]).coef_)
    assert found.n_samples_seen_ == 4 * 240
    assert np.abs(found.coef_ - last.coef_).max() > 0


def test_by_itself_only_models_that_wander_are_averaged(shards):
    few = {"n_features_to_select": 3}
    for estimator in (OFSClassifier(**few), PETrunClassifier(**few), CSOALClassifier(C=0.1, random_state=0)):
        by_itself = distributed.fit(estimator, shards, n_rounds=3)
        asked = distributed.fit(estimator, shards, n_rounds=3, average=True)
        assert_same_bits(by_itself.state_, asked.state_)
        assert np.abs(by_itself.coef_ - distributed.fit(estimator, shards, n_rounds=3, average=False).coef_).max() > 0
    for estimator in (PAClassifier(), PegasosClassifier(1e-4), PegasosClassifier(), AROWClassifier()):
        by_itself = distributed.fit(estimator, shards, n_rounds=3)
        last = distributed.fit(estimator, shards, n_rounds=3, average=False)
        assert_same_bits(by_itself.state_, last.state_)


def test_what_cannot_be_averaged_is_refused(shards):
    for estimator, words in [
        (AROWClassifier(), "average must be False for AROWClassifier, as its weights are not merged by averages"),
        (
            PegasosClassifier(average=True),
            "average must be False for PegasosClassifier, as it averages its steps itself",
        ),
    ]:
        with pytest.raises(ValueError, match=words):
            distributed.fit(estimator, shards, average=True)
    with pytest.raises(ValueError, match="average must be"):
        distributed.fit(PAClassifier(), shards, average="yes")


def test_a_driver_lost_between_mean_and_model_ends_in_the_same_mean(shards, tmp_path, monkeypatch):
    estimator, save, n_left = OFSClassifier(n_features_to_select=3), _checkpoint.save_model, 0

    def save_or_die(model, path):
        nonlocal n_left
        n_left -= 1
        if n_left == 0:  # the mean of this round is there, its model is not
            raise KeyboardInterrupt
        save(model, path)

    monkeypatch.setattr(_checkpoint, "save_model", save_or_die)
    whole = distributed.fit(estimator, shards, n_rounds=4)
    for n_round in (1, 3):
        n_left = n_round
        with pytest.raises(KeyboardInterrupt):
            distributed.fit(estimator, shards, n_rounds=4, checkpoint=tmp_path / "c[1]")
        resumed = distributed.fit(estimator, shards, n_rounds=4, checkpoint=tmp_path / "c[1]", resume=True)
        assert_same_bits(resumed.state_, whole.state_)
        assert not list(tmp_path.iterdir())


def test_a_checkpoint_whose_mean_is_gone_is_refused(shards, tmp_path):
    n_done = 0

    def stop():
        nonlocal n_done
        n_done += 1
        return n_done == 4  # a look, and three rounds

    options = {"n_rounds": 4, "checkpoint": tmp_path / "c"}
    with pytest.raises(Interrupted):
        distributed.fit(OFSClassifier(), shards, should_stop=stop, **options)
    (kept,) = tmp_path.glob("c.mean-*")  # that of the last model, and no other
    assert kept.name == "c.mean-3"
    kept.write_bytes(b"no such file")
    with pytest.raises(ValueError, match="the mean of the rounds so far is missing beside the checkpoint"):
        distributed.fit(OFSClassifier(), shards, resume=True, **options)
