"""Models in MLflow come back as they were."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from thresher.online import AROWClassifier
from thresher.preprocessing import prepared
from thresher.streams import open_stream
from thresher.training import train

mlflow = pytest.importorskip("mlflow")
flavor = pytest.importorskip("thresher.compat.mlflow")

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"age": RNG.normal(size=300), "job": RNG.choice(["cook", "clerk"], 300)})
Y = np.where(FRAME.age + (FRAME.job == "cook") > 0.5, "yes", "no")


@pytest.fixture
def tracked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        yield run
    mlflow.set_tracking_uri(None)


def fitted():
    return prepared(AROWClassifier(random_state=0), FRAME).fit(FRAME, Y)


def test_a_saved_model_comes_back(tmp_path):
    model = fitted()
    flavor.save_model(model, tmp_path / "saved", signature=mlflow.models.infer_signature(FRAME, Y))
    assert not list((tmp_path / "saved").glob("**/*.pkl"))
    back = flavor.load_model(str(tmp_path / "saved"))
    np.testing.assert_array_equal(back.predict_proba(FRAME), model.predict_proba(FRAME))
    served = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    np.testing.assert_array_equal(served.predict(FRAME), model.predict(FRAME))
    with pytest.raises(FileExistsError):
        flavor.save_model(model, tmp_path / "saved")


@pytest.mark.parametrize("signature", [None, mlflow.models.infer_signature(FRAME, Y)], ids=["none", "inferred"])
def test_served_models_predict_probabilities_on_request(tmp_path, signature):
    model = fitted()
    flavor.save_model(model, tmp_path / "saved", signature=signature)
    served = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    np.testing.assert_array_equal(served.predict(FRAME), model.predict(FRAME))
    for method in ("predict_proba", "decision_function"):
        np.testing.assert_array_equal(served.predict(FRAME, params={"method": method}), getattr(model, method)(FRAME))
    with pytest.raises(ValueError, match="method must be one of predict, predict_proba"):
        served.predict(FRAME, params={"method": "fit"})


def test_a_logged_model_and_its_progress(tracked):
    stream = open_stream(FRAME.assign(y=Y), target="y", batch_size=100)
    run = train(prepared(AROWClassifier(random_state=0), FRAME), stream, on_batch=flavor.log_progress)
    info = flavor.log_model(run.model, input_example=FRAME.head(3))
    np.testing.assert_array_equal(flavor.load_model(info.model_uri).predict(FRAME), run.model.predict(FRAME))
    logged = mlflow.MlflowClient().get_metric_history(tracked.info.run_id, "progressive_error")
    assert [(point.step, point.value) for point in logged] == [
        (rows, mistakes / rows) for rows, mistakes in zip(run.history.rows, run.history.mistakes, strict=True)
    ]


@pytest.fixture
def autologged():
    flavor.autolog(silent=True)
    yield
    flavor.autolog(disable=True)


@pytest.mark.usefixtures("autologged")
def test_autolog_logs_every_batch_of_a_learner(tracked):
    model, losses = prepared(AROWClassifier(r=0.7, random_state=0), FRAME), []
    for start in (0, 100, 200):
        model.partial_fit(FRAME[start : start + 100], Y[start : start + 100], classes=["no", "yes"])
        losses.append((start + 100, model[-1].progressive_loss_))
    client = mlflow.MlflowClient()
    logged = client.get_metric_history(tracked.info.run_id, "progressive_loss")
    assert [(point.step, point.value) for point in logged] == losses
    assert client.get_run(tracked.info.run_id).data.params["r"] == "0.7"
    flavor.autolog(disable=True)
    model.partial_fit(FRAME[:100], Y[:100])
    assert len(client.get_metric_history(tracked.info.run_id, "progressive_loss")) == 3


@pytest.mark.usefixtures("autologged")
def test_autolog_gives_a_fit_a_run_of_its_own(tracked):
    mlflow.end_run()
    model = AROWClassifier(max_iter=2, random_state=0).fit(FRAME[["age"]], Y)
    run = mlflow.last_active_run()
    assert run.info.run_id != tracked.info.run_id
    assert mlflow.active_run() is None
    assert run.data.metrics["progressive_loss"] == model.progressive_loss_
    assert run.data.params["max_iter"] == "2"
