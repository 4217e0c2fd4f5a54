"""PoolCW over rows on other machines: one round is one batch of all rows.

A look at the slopes and curvatures of all features brings in the next ones, steps of Newton's method on the pool alone
find their weights, until the pool is full; the last step and the next look are one question. All costs and classes
share every question.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine import Round, Sums, outgrown
from .._estimators import Ids, Params, View
from .._gate import Array, linalg
from ._batch_newton import EXACT, MOST_QUESTIONS, NewtonDescent, Normal, Place, Run, descend, in_step
from ._class_costs import shares_of
from ._pool import Gaussian, candidates, fade, read, surer, with_new, write
from ._shard_rows import Begin, close, keep_tally, predictors_of, read_rows, speakers_of


def why_not_sums(estimator: Any) -> str | None:
    """The reason why rounds of sums are impossible, in the words of a rule; None if they are possible."""
    if estimator.scout:
        return "scout must be False in rounds of sums, got True, because the scout learns row by row"
    if estimator.measure == "average_precision":
        return 'measure must be "f1" or "roc_auc" in rounds of sums, got "average_precision", whose bins do not add up'
    return None


def pool_round(estimator: Any) -> Round:
    if (reason := why_not_sums(estimator)) is not None:
        raise ValueError(f'{type(estimator).__name__}: {reason}; mode="passes" supports it.')
    learner = estimator._learner_now()
    predictors = predictors_of(estimator)
    reader, state = yield from read_rows(estimator)
    constant, has_learned = reader.constant > 0, bool(state.arrays["coef"].any())
    first = yield Begin(reader, speakers_of(learner, state), predictors, measure=learner.measure)
    if not first["rows"]:
        return False
    after, positives, runs = state.copy(), reader.positives, []
    for output, view in enumerate(after.views):
        params, code = learner._params_of(state, output), positives[output % len(positives)]
        n_positive = float(first["weight"][int(code)])
        shares = shares_of(view, float(first["weight"].sum()) - n_positive, n_positive, params["cost"])
        fade(view, params["forgetting"])
        view["n_batches"] += 1
        costs = params["C"] * shares[0], params["C"] * shares[1]
        place = Place(code, costs, None, np.empty(0), np.empty(0), 0.0)
        runs.append(_run(read(state, output, constant), view, place, params))
    try:
        results, _ = yield from in_step(reader, runs)
    except (FloatingPointError, linalg.LinAlgError):
        raise outgrown(estimator) from None
    if not all(np.isfinite(pool.mean).all() and np.isfinite(pool.covariance).all() for pool, _ in results):
        raise outgrown(estimator)
    for output, (view, (pool, _), cells) in enumerate(zip(after.views, results, first["cells"], strict=True)):
        write(after, output, pool.pruned(learner.params["n_pool"]), learner.params["n_used"])
        if has_learned:
            view["cells"] += cells
    keep_tally(learner, after, first, np.ones(len(reader.classes)), [n_held for _, n_held in results])
    learner.note_choice(after)
    estimator.state_ = after
    close(estimator)
    return False


def _run(before: Gaussian, view: View, place: Place, params: Params) -> Run[tuple[Gaussian, int]]:
    """Looks for features, each followed by steps to their weights, all from the same prior; then the covariance.

    Returns the pool, and how many rows hold it.
    """
    kept = view["pull"].copy(), view["curvature"].copy()
    first = before.n_first
    ids, coef = before.ids, np.append(before.mean[first:], before.mean[:first].sum())
    n_looks = max(1, math.ceil((params["n_pool"] - len(ids)) / params["n_add"]))
    told: Sums = {}
    descent: NewtonDescent | None = None
    for k in range(n_looks):
        where = place._replace(ids=ids, coef=coef, move=0.0 * coef, look=True)
        if not k:
            told = yield where
        new = _look(told, kept, view, ids, params["n_add"])
        if len(new):
            ids, coef = np.concatenate([ids, new]), np.insert(coef, len(ids), np.zeros(len(new)))
            where = where._replace(ids=ids, coef=coef, move=0.0 * coef)
            told = yield where
        elif k:
            break
        descent = NewtonDescent(_prior(before, len(ids)), coef, True, EXACT)
        told = yield from descend(descent, where, told, params["max_inner_iter"] if k + 1 < n_looks else MOST_QUESTIONS)
        coef = descent.coef
    assert descent is not None
    if not descent.settled:
        told = (yield from descend(descent, place._replace(ids=ids))) or told
    return _learned(before, ids, descent.coef, told["bend"]), int(told["held"][1])


def _look(told: Sums, kept: tuple[Array, Array], view: View, ids: Ids, n: int) -> Ids:
    """The best features outside the pool, by sums that fade and what this batch adds to them."""
    scale = float(view["scale"][0])
    for name, old, added in zip(("pull", "curvature"), kept, told["looks"], strict=True):
        view[name][:] = old
        view[name][:-1] += added / scale
    return candidates(view["pull"], view["curvature"], scale, 1.0, np.sort(ids), n)


def _prior(before: Gaussian, n: int) -> Normal:
    """Of n features, those of the pool first, and the constant last; new ones have the mean 0 and the variance 1."""
    old, first = len(before.ids), before.n_first
    places = np.concatenate([np.arange(old), np.full(first, n)])  # of the pool's features, and of the constant
    source = np.concatenate([first + np.arange(old), np.arange(first)])
    precision, centre = np.eye(n + 1), np.zeros(n + 1)
    factor = linalg.cho_factor(before.covariance, lower=True)
    inverse = linalg.cho_solve(factor, np.eye(len(before.mean)))
    precision[np.ix_(places, places)] = 0.5 * (inverse + inverse.T)[np.ix_(source, source)]
    centre[places] = before.mean[source]
    return Normal(precision, linalg.cholesky(precision, lower=True), centre)


def _learned(before: Gaussian, ids: Ids, coef: Array, bend: Array) -> Gaussian:
    """The pool with the precision of the rows that hold it; the constant goes to the front."""
    order = np.concatenate([np.full(before.n_first, len(ids)), np.arange(len(ids))])
    root = with_new(linalg.cholesky(before.covariance, lower=True), len(order))
    return surer(ids, coef[order], root, root.T @ bend[np.ix_(order, order)] @ root)
