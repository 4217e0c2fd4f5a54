"""Use of models in other libraries, with one module for each: :mod:`thresher.compat.river`,
:mod:`thresher.compat.mlflow` and
:mod:`thresher.compat.skops`."""

__all__: list[str] = []
