"""Classes of ours under the names of scikit-learn's, for its own tests.

A stand-in takes the parameters of the class it replaces. Those that mean the same are handed on; those that choose
something that the class has no part of raise :class:`NotOffered` in `fit`. That is no `ValueError`, so that a test of
refusals does not pass by accident.
"""

from __future__ import annotations

from typing import Any

from thresher._estimators import param
from thresher._gate import Rule
from thresher.cluster import SparseKMeans
from thresher.online import PAClassifier
from thresher.stochastic import PegasosClassifier, PegasosRegressor

ANY = Rule("anything", lambda value: True, type="object")


class NotOffered(Exception):
    """A value of a parameter that only scikit-learn's class has."""


def extra(default: Any) -> Any:
    """A parameter of scikit-learn's class."""
    return param(default=default, rule=ANY, doc="As in scikit-learn.")


class StandIn:
    """Mixin of classes that take scikit-learn's parameters."""

    _only: dict[str, tuple[Any, ...]] = {}
    """The values of parameters of scikit-learn's class that ask for nothing else than ours does."""
    used = 0
    """How many stand-ins have learned; those who run the tests set it to 0."""

    def _begin(self) -> None:
        StandIn.used += 1
        for name, values in self._only.items():
            value = getattr(self, name)
            if not any(value is some or (type(value) is type(some) and value == some) for some in values):
                raise NotOffered(f"{name}={value!r}")

    def fit(self, *args: Any, **options: Any) -> Any:
        self._begin()
        return super().fit(*args, **options)  # type: ignore[misc]

    def partial_fit(self, *args: Any, **options: Any) -> Any:
        self._begin()
        return super().partial_fit(*args, **options)  # type: ignore[misc]


STEPS = {"learning_rate": ("optimal",), "penalty": ("l2",)}


class SGDClassifier(StandIn, PegasosClassifier):
    _only = STEPS
    loss_functions = dict.fromkeys(("hinge", "squared_hinge", "modified_huber", "log_loss"))

    alpha: Any = param(default=1e-4, kw_only=False)
    max_iter: Any = param(default=1000)
    penalty: Any = extra("l2")
    l1_ratio: Any = extra(0.15)
    learning_rate: Any = extra("optimal")
    eta0: Any = extra(0.01)
    power_t: Any = extra(0.5)
    epsilon: Any = extra(0.1)
    validation_fraction: Any = extra(0.1)
    verbose: Any = extra(0)


class SGDRegressor(StandIn, PegasosRegressor):
    _only = {**STEPS, "learning_rate": ("optimal", "invscaling")}  # the default, which ours replaces

    loss: Any = param(default="squared_error", rule=ANY)
    alpha: Any = param(default=1e-4, kw_only=False)
    max_iter: Any = param(default=1000)
    penalty: Any = extra("l2")
    l1_ratio: Any = extra(0.15)
    learning_rate: Any = extra("invscaling")
    eta0: Any = extra(0.01)
    power_t: Any = extra(0.25)
    validation_fraction: Any = extra(0.1)
    verbose: Any = extra(0)


class PassiveAggressiveClassifier(StandIn, PAClassifier):
    _only = {"loss": ("hinge", "squared_hinge")}

    C: Any = param(default=1.0, kw_only=False)
    max_iter: Any = param(default=1000)
    intercept_scaling: Any = param(default=1.0)
    loss: Any = extra("hinge")

    def _learner(self, n_features: int) -> Any:
        self.variant = "II" if self.loss == "squared_hinge" else "I"
        return super()._learner(n_features)


class KMeans(StandIn, SparseKMeans):
    _only = {"verbose": (0, False), "algorithm": ("lloyd", "elkan")}

    n_init: Any = param(default=1)
    copy_x: Any = extra(True)
    algorithm: Any = extra("lloyd")
    verbose: Any = extra(0)


class LinearSVC(StandIn, PAClassifier):
    """The learner with a `C` that is nearest to a support vector machine."""

    C: Any = param(default=1.0, kw_only=False)
    max_iter: Any = param(default=1000)


class LogisticRegression(StandIn, PegasosClassifier):
    """Logistic regression whose penalty the rows choose, whatever `C` is."""

    loss: Any = param(default="logistic")
    C: Any = extra(1.0)


class Perceptron(StandIn, PAClassifier):
    """The rule that corrects mistakes at once."""

    C: Any = param(default=1.0, kw_only=False)
    max_iter: Any = param(default=1000)


class LinearRegression(StandIn, PegasosRegressor):
    """Least squares."""


LEARNERS = {
    "linear_model.SGDClassifier": SGDClassifier,
    "linear_model.Perceptron": Perceptron,
    "linear_model.LogisticRegression": LogisticRegression,
    "svm.LinearSVC": LinearSVC,
    "linear_model.LinearRegression": LinearRegression,
}

SWAPS: dict[str, dict[str, type]] = {
    "sklearn.linear_model.tests.test_sgd": {
        "linear_model.SGDClassifier": SGDClassifier,
        "linear_model.SGDRegressor": SGDRegressor,
    },
    "sklearn.linear_model.tests.test_passive_aggressive": {
        "linear_model.PassiveAggressiveClassifier": PassiveAggressiveClassifier
    },
    "sklearn.cluster.tests.test_k_means": {"cluster.KMeans": KMeans},
    "sklearn.tests.test_multiclass": LEARNERS,
    "sklearn.ensemble.tests.test_voting": LEARNERS,
    "sklearn.tests.test_calibration": LEARNERS,
}
"""Test modules of scikit-learn, and what is swapped while they run."""
