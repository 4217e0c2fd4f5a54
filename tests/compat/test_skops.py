"""skops keeps models of this library, if it is told their types."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from thresher import registry
from thresher.compat.skops import trusted_types
from thresher.kernels import Kernel
from thresher.online import AROWClassifier
from thresher.preprocessing import prepared

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
VALUES = X[:, 0] - X[:, 1]
MODELS = ["arow", "l1rda-regressor", "bcw", "lssvc", "sparsekmeans", "semiksc", "gmkl", "sparsesdca", "snd"]


def test_every_estimator_is_trusted_and_nothing_of_others():
    class Users(Kernel):
        """A kernel of a user."""

    trusted = set(trusted_types())
    assert {f"{cls.__module__}.{cls.__qualname__}" for cls in registry.estimators().values()} <= trusted
    assert not any("Users" in name or not name.startswith("thresher.") for name in trusted)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back(name):
    io = pytest.importorskip("skops.io")
    method = registry.find(name)
    y = {"regression": VALUES, "classification": VALUES > 0}.get(method.task)
    model = method.cls().fit(X, y)
    kept = io.dumps(model)
    assert set(io.get_untrusted_types(data=kept)) <= set(trusted_types())
    np.testing.assert_array_equal(io.loads(kept, trusted=trusted_types()).predict(X), model.predict(X))


def test_a_pipeline_comes_back():
    io = pytest.importorskip("skops.io")
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "high", "low")})
    model = prepared(AROWClassifier(random_state=0), frame).fit(frame, VALUES > 0)
    kept = io.dumps(model)
    assert set(io.get_untrusted_types(data=kept)) <= set(trusted_types())
    np.testing.assert_array_equal(io.loads(kept, trusted=trusted_types()).predict(frame), model.predict(frame))
