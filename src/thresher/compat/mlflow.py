"""Models in MLflow, saved as ``.thresher`` files without pickle. Needs ``mlflow-skinny`` or ``mlflow``.

======================  ==========================================================================
:func:`save_model`      write a model into a folder with MLflow's description
:func:`log_model`       the same, as a model of the current run
:func:`load_model`      read it again
:func:`log_progress`    log progressive measures during training on a stream
:func:`autolog`         log parameters and progressive loss of all learners
======================  ==========================================================================

``mlflow.pyfunc.load_model`` reads these models, too, which is how MLflow serves them.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlflow
import yaml
from mlflow.models import Model, ModelSignature
from mlflow.models.model import MLMODEL_FILE_NAME
from mlflow.models.utils import _save_example
from mlflow.tracking.artifact_utils import _download_artifact_from_uri
from mlflow.types import ParamSchema, ParamSpec
from mlflow.utils.autologging_utils import autologging_integration, safe_patch

from .. import persistence
from .._estimators import OnlineLinear

__all__ = ["autolog", "load_model", "log_model", "log_progress", "save_model"]

FLAVOR_NAME = "thresher"
_FILE = "model.thresher"
_METHODS = ("predict", "predict_proba", "decision_function")


def save_model(
    model: Any,
    path: Any,
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Write a fitted model and MLflow's description of it into a new folder.

    Parameters
    ----------
    model : estimator or StreamingPipeline
        As :func:`thresher.persistence.save_model` takes it.
    path : path-like
        The folder, which must not exist yet.
    mlflow_model : mlflow.models.Model, optional
        A description to add to.
    signature : mlflow.models.ModelSignature, optional
        The types of inputs and outputs, see ``mlflow.models.infer_signature``. The parameter ``method`` of served
        models is added to it.
    input_example : object, optional
        Example rows to save with the model.
    pip_requirements : list of str, optional
        Packages to install where the model is served; by default this version of thresher.
    metadata : dict, optional
        Other values to save with the model.
    """
    folder = Path(path)
    folder.mkdir(parents=True)
    described = Model() if mlflow_model is None else mlflow_model
    described.signature = _with_method(signature)
    if metadata is not None:
        described.metadata = metadata
    if input_example is not None:
        _save_example(described, input_example, str(folder))
    persistence.save_model(model, folder / _FILE)
    requirements = pip_requirements or [f"thresher=={version('thresher')}", "pandas"]
    (folder / "requirements.txt").write_text("\n".join(requirements) + "\n", encoding="utf-8")
    env = {"dependencies": ["pip", {"pip": requirements}]}
    (folder / "conda.yaml").write_text(yaml.safe_dump(env), encoding="utf-8")
    mlflow.pyfunc.add_to_model(described, loader_module=__name__, data=_FILE, conda_env="conda.yaml")
    described.add_flavor(FLAVOR_NAME, thresher_version=version("thresher"), data=_FILE)
    described.save(str(folder / MLMODEL_FILE_NAME))


def _with_method(signature: Any) -> ModelSignature:
    """A signature that allows to choose the method: MLflow ignores parameters that no signature has."""
    given = signature or ModelSignature(params=ParamSchema([]))
    method = ParamSpec("method", "string", _METHODS[0])
    others = [each for each in given.params or [] if each.name != method.name]
    return ModelSignature(given.inputs, given.outputs, ParamSchema([*others, method]))


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Log a fitted model to the current run.

    Parameters
    ----------
    model : estimator or StreamingPipeline
    name : str, default="model"
    **options
        Those of :func:`save_model`, and of MLflow's own ``log_model``, such as ``registered_model_name``.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` is the argument of :func:`load_model`.
    """
    import thresher.compat.mlflow as flavor

    return Model.log(artifact_path=None, name=name, flavor=flavor, model=model, **options)


def load_model(model_uri: str) -> Any:
    """Read a model that was saved or logged.

    Parameters
    ----------
    model_uri : str
        A folder, or an address of MLflow's, such as ``runs:/...`` or ``models:/...``.

    Returns
    -------
    estimator or StreamingPipeline
        The model, which can predict and continue training.
    """
    return persistence.load_model(Path(_download_artifact_from_uri(model_uri)) / _FILE)


def log_progress(history: Any, stream: Any = None) -> None:
    """Log progressive error and loss so far to the current run: ``training.train(..., on_batch=log_progress)``.

    Parameters
    ----------
    history : History
        The history of a run of :func:`thresher.training.train`.
    stream : Stream, optional
        Unused; ``train`` passes it.
    """
    rows = history.rows[-1]
    measured = {"progressive_loss": history.loss[-1] / rows, "progressive_error": history.mistakes[-1] / rows}
    mlflow.log_metrics(measured, step=rows)


@autologging_integration(FLAVOR_NAME)  # type: ignore[untyped-decorator]
def autolog(disable: bool = False, silent: bool = False) -> None:
    """Log the parameters and the progressive loss of linear learners, also in pipelines, from now on.

    ``fit`` logs to the current run, or to a run of its own if there is none. ``partial_fit`` logs to the current run
    after each call, at the number of rows learned from, and logs nothing without a run. Models are not logged: use
    :func:`log_model`.

    Parameters
    ----------
    disable : bool, default=False
        Stop logging.
    silent : bool, default=False
        Suppress messages and warnings of MLflow.
    """
    safe_patch(FLAVOR_NAME, OnlineLinear, "fit", _logged_fit, manage_run=True)
    safe_patch(FLAVOR_NAME, OnlineLinear, "partial_fit", _logged_partial_fit)


def _logged_fit(original: Any, model: Any, *args: Any, **options: Any) -> Any:
    mlflow.log_params(model.get_params(deep=False))
    fitted = original(model, *args, **options)
    _log_loss(model)
    return fitted


def _logged_partial_fit(original: Any, model: Any, *args: Any, **options: Any) -> Any:
    begins = not hasattr(model, "state_")
    fitted = original(model, *args, **options)
    if mlflow.active_run() is not None:
        if begins:
            mlflow.log_params(model.get_params(deep=False))
        _log_loss(model)
    return fitted


def _log_loss(model: Any) -> None:
    mlflow.log_metric("progressive_loss", model.progressive_loss_, step=model.n_samples_seen_)


class _ServedModel:
    """A model as MLflow serves it."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Predict; ``params={"method": "predict_proba"}`` asks for probabilities instead of classes."""
        method = (params or {}).get("method", "predict")
        if method not in _METHODS:
            raise ValueError(f"method must be one of {', '.join(_METHODS)}, got {method!r}.")
        return getattr(self.model, method)(model_input)


def _load_pyfunc(path: str) -> _ServedModel:
    """Load a model to serve it; MLflow calls this function."""
    return _ServedModel(persistence.load_model(path))
