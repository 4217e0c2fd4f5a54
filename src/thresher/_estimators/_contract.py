"""scikit-learn's estimator contract without its base classes: the library is imported only when one of its objects is
needed.

Importing scikit-learn takes about a second, and neither learning nor predicting needs it. So estimators do not inherit
from its base classes. They implement the same methods, and use scikit-learn only for what it alone can make: tags,
metadata requests, and the diagram in notebooks.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import warnings
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from .._gate import Table, dense_weights, is_same, on_host
from ._declared import Declared

_REQUESTS = (
    *("fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function"),
    *("score", "split", "transform", "inverse_transform"),
)
_WIDTH = 80
_MOST_BARS = 8


class Borrowed:
    """An attribute of a class of scikit-learn, absent where the installed one has no such class."""

    def __init__(self, module: str = "sklearn.base", cls: str = "BaseEstimator") -> None:
        self.module, self.cls = module, cls

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        try:
            lender = getattr(importlib.import_module(self.module), self.cls)
        except ImportError:
            raise AttributeError(
                f"{self.name} needs {self.module}, which this version of scikit-learn does not have."
            ) from None
        return inspect.getattr_static(lender, self.name).__get__(instance, owner)


class _Request:
    """``set_fit_request`` and the like, which declare the metadata that a method requests; absent if it accepts
    none."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        method = inspect.getattr_static(_requester(owner), self.name, None)
        if method is None:
            raise AttributeError(f"{owner.__name__} has no {self.name}: the method takes no metadata.")
        return method.__get__(instance, owner)


@functools.cache
def _requester(cls: Any) -> Any:
    """A class with the methods of ``cls``, for which scikit-learn works out metadata requests."""
    from sklearn.utils._metadata_requests import _MetadataRequester

    methods = {name: getattr(cls, name) for name in _REQUESTS if inspect.isfunction(getattr(cls, name, None))}
    return type(cls.__name__, (_MetadataRequester,), methods)


class Estimator(Declared):
    """Base class of all estimators.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` had column names.
    """

    _estimator_type: ClassVar[str | None] = None
    _fitted: ClassVar[tuple[str, ...]] = ()  # attributes that model files keep; those of base classes are added
    _needs: ClassVar[tuple[str, ...]] = ()
    _multiplies_when_loaded: ClassVar[bool] = False  # whether _check_loaded or reading the weights calls BLAS
    _takes_arrays: ClassVar[bool] = False  # whether arrays of other libraries stay where they lie
    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)  # scikit-learn's tags of the rows it takes that are True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._fitted = tuple(dict.fromkeys(name for base in cls.__mro__[::-1] for name in vars(base).get("_fitted", ())))

    _get_params_html, _get_fitted_attr_html = Borrowed(), Borrowed()
    for _name in _REQUESTS:
        locals()[f"set_{_name}_request"] = _Request()
    del _name

    def _get_doc_link(self) -> str:
        """No link, because scikit-learn's template only knows its own pages."""
        return ""

    @property
    def _repr_html_(self) -> Any:
        """The method that notebooks call if scikit-learn is set to show diagrams."""
        from sklearn import get_config

        if get_config()["display"] != "diagram":
            raise AttributeError('_repr_html_ is available only if scikit-learn\'s option display is "diagram".')
        return self._html_repr

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        shows_diagrams = hasattr(self, "_repr_html_")
        return {"text/plain": repr(self)} | ({"text/html": self._html_repr()} if shows_diagrams else {})

    def _html_repr(self) -> str:
        """Return the HTML for notebooks: scikit-learn's diagram, and the largest weights of a linear model."""
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self)) + _picture_of_weights(self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Also return the parameters of nested estimators, as ``name__parameter``.
        """
        params: dict[str, Any] = {}
        for name in sorted(self._params):
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{key}": part for key, part in value.get_params().items()}
            params[name] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``name__parameter`` sets one of a nested estimator."""
        known = self.get_params(deep=True) if params else {}
        nested: dict[str, dict[str, Any]] = defaultdict(dict)
        for key, value in params.items():
            name, inside, part = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {sorted(self._params)!r}."
                )
            if inside:
                nested[name][part] = value
            else:
                setattr(self, name, value)
                known[name] = value
        for name, parts in nested.items():
            known[name].set_params(**parts)
        return self

    def __repr__(self) -> str:
        config = sys.modules["sklearn"].get_config() if "sklearn" in sys.modules else {}
        shown = [
            f"{name}={_short(value)}"
            for name, value in self.get_params(deep=False).items()
            if not config.get("print_changed_only", True) or not is_same(value, self._params[name].default)
        ]
        name = type(self).__name__
        if len(name) + sum(map(len, shown)) + 2 * len(shown) < _WIDTH:
            return f"{name}({', '.join(shown)})"
        return f"{name}({(',' + chr(10) + ' ' * (len(name) + 1)).join(shown)})"

    @classmethod
    def _from_file(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return params

    def _plain_params(self) -> dict[str, Any]:
        return self.get_params(deep=False)

    def _settle(self) -> None:
        """Compute what is otherwise computed on first use."""

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            input_tags=InputTags(**dict.fromkeys(self._input_tags, True)),
            target_tags=TargetTags(required=False),
            transformer_tags=None,
            regressor_tags=None,
            classifier_tags=None,
        )

    def get_metadata_routing(self) -> Any:
        """Return the metadata that the methods request, if scikit-learn's metadata routing is enabled."""
        return self._get_metadata_request()

    def _get_metadata_request(self) -> Any:
        cls: Any = type(self)
        asked = _requester(cls)()
        if "_metadata_request" in vars(self):
            asked._metadata_request = vars(self)["_metadata_request"]
        return asked._get_metadata_request()


class PredictorContract:
    """Mixin of estimators that predict classes or values."""

    _estimator_type: ClassVar[str | None]
    _metric: ClassVar[str]  # the function of sklearn.metrics that scores predictions

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions for ``X``, or their R² if they are values.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        """
        return self._score(y, self.predict(X), sample_weight)  # type: ignore[attr-defined]

    def _score(self, y: Any, predictions: Any, sample_weight: Any) -> float:
        from sklearn import metrics

        return float(
            getattr(metrics, self._metric)(on_host(y), on_host(predictions), sample_weight=on_host(sample_weight))
        )

    def __sklearn_tags__(self) -> Any:
        from sklearn import utils

        tags, kind = super().__sklearn_tags__(), str(self._estimator_type)  # type: ignore[misc]
        tags.estimator_type, tags.target_tags.required = kind, True
        setattr(tags, f"{kind}_tags", getattr(utils, f"{kind.title()}Tags")())
        return tags


class ClassifierContract(PredictorContract):
    """Mixin of estimators that predict classes."""

    _estimator_type: ClassVar[str | None] = "classifier"
    _metric = "accuracy_score"

    def _score(self, y: Any, predictions: Any, sample_weight: Any) -> float:
        """Labels that metrics of scikit-learn do not take (bytes, objects, huge numbers) are compared here."""
        y, predictions = np.asarray(on_host(y)), np.asarray(on_host(predictions))
        odd = y.dtype.kind in "SOf" or predictions.dtype.kind in "SOf"
        if odd and y.shape == predictions.shape and not any(each is None or each != each for each in y.tolist()):
            y, predictions = np.ones(len(y), dtype=bool), np.asarray(predictions == y, dtype=bool)
        return super()._score(y, predictions, sample_weight)


class RegressorContract(PredictorContract):
    """Mixin of estimators that predict values."""

    _estimator_type: ClassVar[str | None] = "regressor"
    _metric = "r2_score"


class ClustererContract:
    """Mixin of estimators that find clusters."""

    _estimator_type: ClassVar[str | None] = "clusterer"

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> np.ndarray[Any, Any]:
        """Fit, and return the cluster of each row."""
        return self.fit(X, **options).labels_  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.estimator_type = "clusterer"
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = []
        return tags


def _contained(method: Any) -> Any:
    """A method that returns its result in the requested container."""

    @functools.wraps(method)
    def wrapped(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(self, X, *args, **kwargs)
        library = "default"
        if "sklearn" in sys.modules or "_sklearn_output_config" in vars(self):
            from sklearn.utils._set_output import _get_output_config, _wrap_data_with_container

            library = _get_output_config("transform", self)["dense"]
        if isinstance(result, Table):
            if result.text or result.dates:
                return result if library == "default" else _frame(result, library, getattr(X, "index", None))
            if not isinstance(X, Table) or library != "default":
                result = np.asarray(result)  # an array for a data frame, as everywhere
        return result if library == "default" else _wrap_data_with_container("transform", result, X, self)

    return wrapped


def _frame(table: Table, library: str, index: Any) -> Any:
    """A table as a data frame of pandas or polars."""
    columns = {name: table[name] for name in table.columns}
    values = {name: column.to_list() if name in table.text else column for name, column in columns.items()}
    if library == "pandas":
        import pandas

        return pandas.DataFrame(values, index=index)
    import polars

    return polars.DataFrame(values)


class SetsOutput:
    """Mixin of estimators with ``transform``, of which ``set_output`` chooses the container of the result."""

    _sklearn_auto_wrap_output_keys: ClassVar[set[str]] = {"transform"}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("transform", "fit_transform"):
            if name in vars(cls) and cls.__module__ != __name__:  # the fit_transform below calls transform
                setattr(cls, name, _contained(vars(cls)[name]))

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container that :meth:`transform` returns.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            None leaves it as it is.
        """
        if transform is not None:
            vars(self).setdefault("_sklearn_output_config", {})["transform"] = transform
        return self


class TransformerContract(SetsOutput):
    """Mixin of estimators that transform rows."""

    _estimator_type: ClassVar[str | None] = "transformer"

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and transform the same rows."""
        fitted = self.fit(X, **fit_params) if y is None else self.fit(X, y, **fit_params)  # type: ignore[attr-defined]
        return fitted.transform(X)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags = TransformerTags()
        return tags


class NumbersFeatures(TransformerContract):
    """Mixin of transformers that name features after the class, with a number; ``_n_features_out`` says how many."""

    n_features_in_: int

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """Return the names of the features that :meth:`transform` makes.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input features; they are only checked against those of :meth:`fit`.
        """
        check_is_fitted(self)
        from sklearn.utils.validation import _check_feature_names_in

        _check_feature_names_in(self, input_features, generate_names=False)
        n_features: int = self._n_features_out  # type: ignore[attr-defined]
        return np.array([f"{type(self).__name__.lower()}{i}" for i in range(n_features)], dtype=object)


def _picture_of_weights(model: Any) -> str:
    weights = getattr(model, "coef_", None) if is_fitted(model) else None
    if weights is None:
        return ""
    from .._figures import bars_html

    weights = dense_weights(weights)
    largest = np.abs(weights).argmax(axis=0)
    values = np.take_along_axis(weights, largest[None], axis=0)[0]
    used = np.flatnonzero(values)
    shown = used[np.argsort(-np.abs(values[used]), kind="stable")[:_MOST_BARS]]
    learner = model.steps[-1][1] if hasattr(model, "steps") else model
    names = getattr(learner, "feature_names_in_", None)
    bars = [(f"x{j + 1}" if names is None else str(names[j]), float(values[j])) for j in shown]
    of_any = ", of any output" if len(weights) > 1 else ""
    return bars_html(f"{len(used):,} of {len(values):,} features in use; the largest weights{of_any}", bars)


def plain_transform(step: Any, X: Any) -> Any:
    """The rows that a transformer makes, whatever container its users want: for what comes next in a pipeline."""
    if isinstance(step, SetsOutput):
        method: Any = type(step).transform  # type: ignore[attr-defined]
        return method.__wrapped__(step, X)
    return step.transform(X)


def check_is_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError unless the estimator has learned something."""
    if not is_fitted(estimator):
        from sklearn.exceptions import NotFittedError

        name = type(estimator).__name__
        raise NotFittedError(
            f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this "
            "estimator."
        )


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator has attributes that only fitting sets."""
    if hasattr(estimator, "__sklearn_is_fitted__"):
        return bool(estimator.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("_") for name in getattr(estimator, "__dict__", ()))


def warn_of_convergence(message: str, stacklevel: int = 2) -> None:
    """Warn, with scikit-learn's ConvergenceWarning, that a fit had a poor result."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:100]}...{text[-80:]}"
