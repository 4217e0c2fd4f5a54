"""Several targets at once, by scikit-learn's meta-estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

from thresher import registry
from thresher.online import AROWClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
VALUES = X @ RNG.normal(size=(5, 2)) + 0.1 * RNG.normal(size=(60, 2))
LABELS = (VALUES > 0).astype(int)

ESTIMATORS = {method.name: method.cls for method in registry.methods() if method.task != "clustering"}


@pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_targets_of_several_columns_are_learned_each_for_itself(cls):
    model = cls(random_state=0) if "random_state" in cls._params else cls()
    if is_regressor(model):
        together, y = MultiOutputRegressor(model), VALUES
    else:
        together, y = MultiOutputClassifier(model), LABELS
    apart = [clone(model).fit(X, column).predict(X) for column in y.T]
    np.testing.assert_array_equal(together.fit(X, y).predict(X), np.column_stack(apart))
    if not is_regressor(model):
        np.testing.assert_array_equal(OneVsRestClassifier(model).fit(X, y).predict(X), np.column_stack(apart))


def test_targets_of_several_columns_are_refused_with_advice():
    with pytest.raises(
        ValueError, match=r"shape \(60, 2\) instead; for several targets, wrap .* MultiOutputClassifier"
    ):
        AROWClassifier().fit(X, LABELS)
