"""BCW over rows on other machines: one round is one batch of all rows, solved for the optimal mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import Round, outgrown
from .._estimators import warn_of_convergence
from . import _whitening
from ._batch_newton import EXACT, NewtonDescent, Normal, Place, descend, in_step
from ._shard_rows import Begin, Speaker, class_shares, close, keep_tally, predictors_of, read_rows


def bcw_round(estimator: Any) -> Round:
    """Algorithm 1 with all rows as its batch: a question for the covariance, then Newton's method for the mean."""
    predictors = predictors_of(estimator)
    reader, state = yield from read_rows(estimator)
    params = estimator._learner_now().params
    C, squared = params["C"], params["squared"]
    before, coef = state.arrays["precision"][0], state.arrays["coef"][0]
    first = yield Begin(reader, tuple(Speaker(None, w) for w in coef.T.copy()), predictors, gram=True)
    if not first["rows"]:
        return False
    shares = class_shares(estimator, first)
    reader = reader.weighing(shares)
    try:
        with np.errstate(over="ignore"):
            after = C * first["gram"] + before
        root = _whitening.root(after)
        prior = Normal(after, root) if params["centre"] != "kl" else Normal(before.copy(), _whitening.root(before))
        centre = 0.0 * coef if params["centre"] == "zero" else coef.copy()
        tol = min(params["gap_tol"], EXACT) if squared else params["gap_tol"]
        descents = [NewtonDescent(prior._replace(centre=c), c, squared, tol) for c in centre.T.copy()]
        runs = [
            descend(one, Place(positive, (C, C), None, one.coef, one.move, one.width))
            for positive, one in zip(reader.positives, descents, strict=True)
        ]
        _, n_holding = yield from in_step(reader, runs)
        mean = np.column_stack([one.coef for one in descents])
        pull, gap = after @ mean, max(one.relative_gap for one in descents)
        if not all(np.isfinite(found).all() for found in (mean, pull, gap)):
            raise FloatingPointError
    except FloatingPointError:
        raise outgrown(estimator) from None
    before[...], coef[...], state.arrays["pull"][0], state.arrays["gap"][0] = after, mean, pull, gap
    keep_tally(estimator._learner_now(), state, first, shares, n_holding)
    estimator.state_ = state
    close(estimator)
    if gap > params["gap_tol"]:
        warn_of_convergence(
            f"BCWClassifier: the round left a duality gap of {gap:.1e} of its objective, more than "
            f"gap_tol={params['gap_tol']:g}; a smaller C comes closer.",
            stacklevel=2,
        )
    return False
