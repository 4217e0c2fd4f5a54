"""scikit-learn's pipelines that hold linear models become ONNX graphs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from thresher.dual_averaging import L1RDAClassifier
from thresher.exporting import register_skl2onnx
from thresher.online import AROWClassifier, PAClassifier
from thresher.stochastic import PegasosClassifier, PegasosRegressor

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")

X = np.random.default_rng(0).normal(size=(1000, 6)) * [1, 10, 100, 1, 1, 1] + 5


def run(model, dtype):
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    register_skl2onnx()
    kind = FloatTensorType if dtype is np.float32 else DoubleTensorType
    made = skl2onnx.convert_sklearn(model, initial_types=[("X", kind([None, X.shape[1]]))])
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X.astype(dtype)})


TWO, THREE = np.where(X[:, 0] > 5, "b", "a"), np.digitize(X[:, 0], [4.5, 5.5])
LEARNERS = {
    "arow": (AROWClassifier(random_state=0), TWO),
    "arow of three": (AROWClassifier(random_state=0), THREE),
    "pa": (PAClassifier(random_state=0), TWO),
    "pegasos of three": (PegasosClassifier(loss="logistic", random_state=0), THREE),
    "l1rda": (L1RDAClassifier(random_state=0), TWO),
}


@pytest.mark.parametrize("dtype, near", [(np.float32, 1e-4), (np.float64, 1e-9)])
@pytest.mark.parametrize("learner, y", LEARNERS.values(), ids=LEARNERS)
def test_a_pipeline_with_a_classifier_is_converted(learner, y, dtype, near):
    model = make_pipeline(StandardScaler(), learner).fit(X, y)
    labels, probabilities = run(model, dtype)
    assert labels.tolist() == model.predict(X.astype(dtype)).tolist()
    assert probabilities.dtype == dtype
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=near)


def test_a_pipeline_with_a_regressor_is_converted():
    model = make_pipeline(StandardScaler(), PegasosRegressor(random_state=0)).fit(X, X[:, 0])
    (values,) = run(model, np.float64)
    np.testing.assert_allclose(values[:, 0], model.predict(X), atol=1e-9)


def test_scores_take_the_place_of_probabilities_that_are_not_there():
    model = AROWClassifier(random_state=0, probability="none").fit(X, X[:, 0] > 5)
    labels, scores = run(model, np.float64)
    assert labels.astype(bool).tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(scores[:, 0], model.decision_function(X), atol=1e-9)
