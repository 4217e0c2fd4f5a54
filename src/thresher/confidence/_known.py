"""Reading, writing and merging the state of learners that choose groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._engine import State, added, by_gain
from .._estimators import Ids, Params, View
from .._gate import Array
from ._group_search import Prior
from ._row_blocks import CovarianceBlocks


def read(view: View, params: Params) -> Prior:
    """The prior that a state gives the next batch."""
    known = view["ids"] >= 0
    rows = view["spread"].reshape(-1, params["r"])
    blocks = CovarianceBlocks(view["ids"][known].astype(np.int64), view["block"][known].astype(np.int64), rows[known])
    return Prior(blocks, view["mean"][known], (view["constant_mean"][0], view["constant_variance"][0]))


def write(view: View, chosen: CovarianceBlocks, rest: CovarianceBlocks, params: Params) -> None:
    """The known features in their places, without means."""
    n, p, r = len(chosen.ids), params["p"], params["r"]
    at = np.r_[:n, p : p + len(rest.ids)]
    both, rows = chosen.and_then(rest), view["spread"].reshape(-1, r)
    for array, empty, values in ((view["ids"], -1, both.ids), (view["block"], -1, both.block), (rows, 0, both.rows)):
        array[...] = empty
        array[at] = values
    view["mean"][:], view["coef"][:] = 0.0, 0.0


def write_means(view: View, ids: Ids, mean: Array, coef: Array) -> None:
    """Means and weights that predict, of known features."""
    order = np.argsort(view["ids"])
    at = order[np.searchsorted(view["ids"], ids, sorter=order)]
    view["mean"][at], view["coef"][at] = mean, coef


def merge_groups(merged: State, start: State, states: Sequence[State], params: Params, again: bool) -> State:
    """Fill in what shards know together: P = P0 + sum_s (P_s - P0), P mu = P0 mu0 + sum_s (P_s mu_s - P0 mu0), in cells
    that all have as parts of blocks; what is chosen is the union of their choices, cut back to p features.

    Weights that predict were found from mu0 as well, so they have it in place of what predicted before; and a shard
    that did not choose a feature knows no more of it than mu0. With ``again``, the start has learned from the same rows
    before: each mean goes to where shards took it, weighed by the precision that each has gained.
    """
    joint = [_Joint([s.views[k] for s in (start, *states)], params, again) for k in range(merged.n_outputs)]
    sizes = {**merged.sizes, "known": params["p"] + max(len(one.rest.ids) for one in joint)}
    fresh = {f.name: f.block(merged.n_outputs, sizes) for f in merged.fields if "known" in f.axes.split()}
    merged.replace(sizes, {**merged.arrays, **fresh})
    for view, one in zip(merged.views, joint, strict=True):
        one.write(view)
    return merged


class _Joint:
    """One output of several states, the start first."""

    def __init__(self, views: Sequence[View], params: Params, again: bool) -> None:
        self.again = again
        start, *shards = views
        self.views, self.params = [start, *([v for v in shards if not _same(v, start)] or [start])], params
        self.priors = [read(start, params)]
        self.coefs = [self.priors[0]]
        for view in self.views[1:]:
            own = read(view, params)
            its_choice = np.isin(own.blocks.ids, view["ids"][: params["p"]])
            mu0, predicts = self.priors[0].mean(own.blocks.ids), view["coef"][view["ids"] >= 0]
            self.priors.append(own._replace(means=np.where(its_choice, own.means, mu0)))
            self.coefs.append(own._replace(means=np.where(its_choice, predicts, mu0)))
        cells = [self._merge_cell(ids) for ids in self._cells()]
        known = CovarianceBlocks.of([(ids, covariance) for ids, covariance, _, _ in cells], params["r"])
        mean, coef = (np.concatenate([np.empty(0), *(cell[i] for cell in cells)]) for i in (2, 3))
        coef = self._untouched(known.ids, coef)
        chosen = self._choose(known, coef)
        gone = known.ids[~np.isin(known.ids, chosen)]
        self.chosen, self.rest = known.without(gone), known.without(chosen)
        stays = np.ones(len(known.ids), bool) if params["keep"] else np.isin(known.ids, chosen)
        self.means = known.ids[stays], mean[stays], coef[stays]

    def _cells(self) -> list[Ids]:
        """Features that are of one block in every state, or unknown to it."""
        ids = np.unique(np.concatenate([prior.blocks.ids for prior in self.priors]))
        blocks = []
        for prior in self.priors:
            places = prior.blocks.places(ids)
            block = np.full(len(ids), -1, np.int64)
            block[places >= 0] = prior.blocks.block[places[places >= 0]]
            blocks.append(block)
        cells: dict[tuple[int, ...], list[int]] = {}
        for j, key in zip(ids.tolist(), zip(*(b.tolist() for b in blocks), strict=True), strict=True):
            cells.setdefault(key, []).append(j)
        return [np.array(cell, np.int64) for cell in cells.values()]

    def _merge_cell(self, ids: Ids) -> tuple[Ids, Array, Array, Array]:
        precisions = [_inverse(prior.blocks.marginal(ids)) for prior in self.priors]
        covariance = _inverse(added(precisions[0], precisions[1:]))
        values = [[one.mean(ids) for one in ones] for ones in (self.priors, self.coefs)]
        if self.again:
            gained = [np.diagonal(P) for P in precisions]
            return ids, covariance, _moved(values[0], gained), _moved(values[1], gained)
        pulls = [[P @ value for P, value in zip(precisions, each, strict=True)] for each in values]
        mean, coef = (covariance @ added(each[0], each[1:]) for each in pulls)
        return ids, covariance, mean, coef

    def _untouched(self, ids: Ids, coef: Array) -> Array:
        """Keep the weights that predict, of features that no shard has chosen."""
        p, start = self.params["p"], self.views[0]
        chosen = np.concatenate([view["ids"][:p] for view in self.views[1:]])
        before = self.priors[0]._replace(means=start["coef"][start["ids"] >= 0]).mean(ids)
        return np.where(np.isin(ids, chosen), coef, before)

    def _choose(self, known: CovarianceBlocks, coef: Array) -> Ids:
        """The p surest of what any shard has chosen; of equal ones the first."""
        p = self.params["p"]
        chosen = np.unique(np.concatenate([view["ids"][:p] for view in self.views[1:]]))
        at = np.sort(known.places(chosen[chosen >= 0].astype(np.int64)))
        at = at[np.argsort(known.ids[at])]
        surest = np.argsort(-(coef[at] ** 2) / known.variances()[at], kind="stable")[:p]
        return known.ids[at[surest]]

    def write(self, view: View) -> None:
        write(view, self.chosen, self.rest, self.params)
        write_means(view, *self.means)
        precisions = [1.0 / each["constant_variance"] for each in self.views]
        variance = 1.0 / added(precisions[0], precisions[1:])
        start, *shards = self.views
        for name in ("constant_mean", "constant_coef"):
            values = [start["constant_mean"], *(each[name] for each in shards)]
            pulls = [P * value for P, value in zip(precisions, values, strict=True)]
            view[name][:] = _moved(values, precisions) if self.again else variance * added(pulls[0], pulls[1:])
        view["constant_variance"][:] = variance
        view["objective"][:], view["gap"][:] = -1.0, 0.0


def _same(view: View, start: View) -> bool:
    """Whether a shard has learned nothing: it has chosen nothing either."""
    names = ("ids", "spread", "mean", "coef", "constant_variance", "constant_mean", "constant_coef")
    return all(np.array_equal(view[name], start[name]) for name in names)


def _inverse(symmetric: Array) -> Array:
    inverse: Array = np.linalg.inv(symmetric).astype(np.float64)
    return 0.5 * (inverse + inverse.T)


def _moved(values: Sequence[Array], precisions: Sequence[Array]) -> Array:
    """The first, moved by the mean of the others' moves, weighed by the precision that each has gained."""
    first, *others = values
    return first + by_gain(precisions[0], precisions[1:], [other - first for other in others])
