"""One step for all rows of a round: gradients at fixed weights add up, wherever the rows are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core, _gate
from .._dataclasses import dataclass
from .._engine import Learner, Lesson, Round, ShardFacts, State, Sums, Target, outgrown
from .._estimators import OnlineLinear, param
from .._gate import Array, at_least, sparse

_ENDLESS = 2.0**40  # rows of a mini-batch that is never completed; a power of two, so that dividing by it is exact
_SLOPE_1 = {"loss": "epsilon_insensitive", "epsilon": 0.0}  # to scores above the target
_BELOW_ALL_SCORES = Target(np.array([-1e300]))


@dataclass(frozen=True)
class GradientAt:
    """The sum over rows of the gradients at these weights, with the counts of a pass.

    Rows are learned from by plain dual averaging whose first mini-batch never ends: it holds their gradients back, and
    its weights are minus the sum that it begins with.
    """

    reader: Any
    """An estimator that reads targets and weights as the one that asks, and has learned nothing."""
    loss: Mapping[str, Any]
    intercept: float
    n_models: int
    n_weights: int
    columns: NDArray[np.int64]
    """Columns with a weight other than 0 in some output."""
    weights: Array
    """Those columns, of shape (n_outputs, len(columns))."""

    def answer(self, X: Any, y: NDArray[Any] | None, weight: NDArray[np.float64] | None) -> Sums:
        learner, state = self._begin()
        if X.shape[0]:
            who = type(self.reader).__name__
            rows = _gate.check_features(self.reader, X, reset=False, grow=sparse.issparse(X))
            if rows.n_features > self.n_weights - 1:
                raise ValueError(
                    f"X has {rows.n_features} features, but {who} is expecting {self.n_weights - 1} features as input."
                )
            target = self.reader._read_batch(y, rows.n_rows, None, False)
            weight = self.reader._weigh(_gate.check_weights(weight, rows.n_rows, who), target)
            self.reader._learn(learner, state, Lesson(rows, target, weight))
        counts = {name: state.arrays[name] for name in ("tally", "n_mistakes")}
        return {"gradient": state.arrays["pending"] * _ENDLESS, **counts}

    def _begin(self) -> tuple[Learner, State]:
        params = {"alpha": 0.0, "eta0": 1.0, "rho": 0.0, "l2_weight": 0.0, "batch_size": _ENDLESS, "n_selected": 0.0}
        params |= {"debias": False, "free_constant": True, **self.loss}
        grid: tuple[Mapping[str, Any], ...] = ({},) * self.n_models if self.n_models > 1 else ()
        learner = Learner(_core.L1RdaBatch, params, self.intercept, grid=grid)
        state = learner.new_state(self.n_weights - 1, len(self.weights) // self.n_models)
        state.arrays["gradient_sum"][:, self.columns] = -self.weights
        state.arrays["n_steps"][...] = 1.0
        return learner, state


class Synchronous(OnlineLinear):
    """A learner that can make one step of the mean gradient over all rows, wherever they are: the step of a mini-batch
    that holds them all."""

    _prefers_sums: ClassVar[bool] = False
    _core_penalty: ClassVar[str] = "alpha"  # the name of the penalty in the core

    def _n_rounds(self) -> int:
        """As many steps as :meth:`fit` would make with a mini-batch of all rows."""
        return self._n_passes(1) if self.n_steps is None else self.n_steps

    def _round(self, facts: ShardFacts) -> Round:
        """One gradient over all rows, then one step. True when weights moved by at most ``tol``."""
        who = type(self).__name__
        if getattr(self, "debias", False):  # a second learner would need gradients of its own
            raise ValueError(f'{who}: debias must be False with mode="sums", got True; mode="passes" supports it.')
        if getattr(self, "_is_tuned", False):
            step = getattr(self, "_raced").name  # noqa: B009
            raise ValueError(
                f'{who}: {step} must be a number and scale False with mode="sums"; mode="passes" supports both.'
            )
        if getattr(self, "_averages", False):
            raise ValueError(f'{who}: average must be False or "auto" with mode="sums", got True.')
        if getattr(self, "multi_class", "") == "joint":
            raise ValueError(f'{who}: multi_class must be "one_vs_rest" or "auto" with mode="sums", got "joint".')
        if self.class_weight == "balanced":
            raise ValueError(f'{who}: class_weight must be None or a dict with mode="sums", got "balanced".')
        return self._one_step()

    def _one_step(self) -> Round:
        learner = self._learner_now()
        self._adapt_to(learner)
        state = self.state_.copy()
        learner.finish(state)
        total = yield self._gradient_at(learner, self._weights_to_learn_at(learner, state))
        if not total["tally"][0, 0]:
            return True  # there are no rows
        seen, before = self.n_samples_seen_ > 0, learner.weights(state)
        learner.count_mistakes(state, total["n_mistakes"][:, 0])
        counts = {
            "tally": state.arrays["tally"] + self._tally_of(total["tally"]),
            "n_mistakes": state.arrays["n_mistakes"].copy(),
        }
        with np.errstate(over="ignore", invalid="ignore"):
            self._step(learner, state, total["gradient"] / total["tally"][0, 0])
        for name, numbers in counts.items():
            state.arrays[name][...] = numbers
        learner.choose(state)
        after = learner.weights(state)
        if not np.isfinite(after).all():
            raise outgrown(self)
        self.state_, self._weights_cache = state, (learner, after)
        self._keep(learner)
        return self.tol is not None and seen and bool(after.any()) and bool(np.linalg.norm(after - before) <= self.tol)

    def _gradient_at(self, learner: Learner, weights: Array) -> GradientAt:
        reader = type(self)()
        for name in ("class_weight", "classes_", "n_features_in_", "feature_names_in_", "n_jobs"):
            if hasattr(self, name):
                setattr(reader, name, getattr(self, name))
        loss = {name: learner.params[name] for name in ("loss", "tau", "epsilon")}
        columns = np.flatnonzero(weights.any(axis=0))
        return GradientAt(
            reader, loss, learner.intercept, learner.n_models, weights.shape[1], columns, weights[:, columns]
        )

    # --- what a learner of coupled outputs does in its own way --------------------------------------------------------

    def _weights_to_learn_at(self, learner: Learner, state: State) -> Array:
        """All weights of every model; neither a threshold nor a number of features cuts them, as a prediction does."""
        out = np.empty((state.n_outputs, state.sizes["weight"]))
        for k, view in enumerate(state.views):
            learner.core.weights(view, uncut(learner._params_of(state, k), view, self._core_penalty), out[k])
        return out

    def _step(self, learner: Learner, state: State, gradient: Array) -> None:
        """One step of every output. To a loss of slope 1, a row is its own gradient."""
        plain = replace(learner, params={**learner.params, **_SLOPE_1, "batch_size": 1.0})
        for k, of_output in enumerate(gradient):
            row = _core.Rows.dense(np.ascontiguousarray(of_output[None, :-1]), False)
            replace(plain, intercept=float(of_output[-1])).learn(Lesson(row, _BELOW_ALL_SCORES, output=k), state)

    def _tally_of(self, tally: Array) -> Array:
        """The counts of the state from those of outputs that were learned alone."""
        return tally


class MiniBatches(Synchronous):
    """A learner that may make one step of the mean gradient over some rows that follow each other."""

    batch_size: int = param(
        default=1, rule=at_least(1), doc="Number of rows in a mini-batch, whose mean gradient makes one step."
    )

    def _core_of(self, row: Any, batch: Any) -> Any:
        """The compiled learner that makes a step for every row, or the one for mini-batches."""
        if getattr(self, "debias", False) and self.batch_size > 1:
            raise ValueError(f"{type(self).__name__}: debias must be False with batch_size above 1, got True.")
        return row if self.batch_size == 1 else batch


def uncut(params: Mapping[str, Any], view: Mapping[str, Array], penalty: str) -> dict[str, Any]:
    """Parameters of a learner whose weights are those that it learns at."""
    level = {penalty: float(view["level"][0]), "n_selected": 0.0} if "level" in view else {}
    return {**params, **level, **({"threshold": 0.0} if "threshold" in params else {})}
