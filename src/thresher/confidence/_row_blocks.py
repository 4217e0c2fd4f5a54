"""A covariance in small blocks: what is known of features that were chosen at some time, in O(features x block)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._estimators import Ids
from .._gate import Array, linalg, sparse


class CovarianceBlocks(NamedTuple):
    """Features of one block follow one another; all others have variance 1 and no covariance with anything."""

    ids: Ids
    """Of features, each once."""
    block: Ids
    """The block of each."""
    rows: Array
    """Covariances of each with the members of its block, in their order; shape (n, r), the rest is 0."""

    @classmethod
    def empty(cls, r: int) -> CovarianceBlocks:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, r)))

    @classmethod
    def of(cls, covariances: list[tuple[Ids, Array]], r: int) -> CovarianceBlocks:
        """CovarianceBlocks with these features and covariances."""
        made = [cls.empty(r)]
        for k, (ids, covariance) in enumerate(covariances):
            rows = np.zeros((len(ids), r))
            rows[:, : len(ids)] = covariance
            made.append(cls(ids, np.full(len(ids), k, np.int64), rows))
        return cls(*(np.concatenate(parts) for parts in zip(*made, strict=True)))

    def and_then(self, other: CovarianceBlocks) -> CovarianceBlocks:
        """Both, the other's blocks last; they have no feature in common."""
        later = other.block + (self.block[-1] + 1 if len(self.block) else 0)
        return CovarianceBlocks(
            np.concatenate([self.ids, other.ids]),
            np.concatenate([self.block, later]),
            np.vstack([self.rows, other.rows]),
        )

    def position(self) -> Ids:
        """The place of each feature in its block."""
        return np.arange(len(self.block)) - np.searchsorted(self.block, self.block)

    def places(self, ids: Ids) -> Ids:
        """The places of these features; -1 for those that are not known."""
        if not len(self.ids):
            return np.full(len(ids), -1, np.int64)
        order = np.argsort(self.ids)
        near = order[np.minimum(np.searchsorted(self.ids, ids, sorter=order), len(order) - 1)]
        return np.where(self.ids[near] == ids, near, -1)

    def variances(self) -> Array:
        """Of the known features."""
        return self.rows[np.arange(len(self.ids)), self.position()]

    def marginal(self, ids: Ids) -> Array:
        """The covariance of these features, dense."""
        return self.among(self.places(ids))

    def among(self, places: Ids) -> Array:
        """The covariance of features at these places, dense; one that is not known is at -1."""
        covariance, known = np.eye(len(places)), np.flatnonzero(places >= 0)
        if len(known):
            at = places[known]
            block = self.block[at]
            position = at - np.searchsorted(self.block, block)
            covariance[known[:, None], known] = np.where(block[:, None] == block, self.rows[at][:, position], 0.0)
        return covariance

    def on(self, columns: Ids) -> Any:
        """The covariance of these features, sparse."""
        places = self.places(columns)
        at = np.flatnonzero(places >= 0)
        column_of = np.full(len(self.ids), -1, np.int64)
        column_of[places[at]] = at
        members, inside = self._members()
        i, c = np.nonzero(inside[places[at]])
        j = column_of[members[places[at]][i, c]]
        i, c, j = (index[j >= 0] for index in (i, c, j))
        known = sparse.csr_array((self.rows[places[at][i], c], (at[i], j)), shape=(len(columns), len(columns)))
        return known + sparse.diags_array((places < 0).astype(float), format="csr")

    def _members(self) -> tuple[Ids, Any]:
        """The feature that each column of ``rows`` stands for, and whether it stands for one."""
        n, r = self.rows.shape
        members = np.arange(n)[:, None] - self.position()[:, None] + np.arange(r)
        inside = members < n
        members = np.minimum(members, n - 1)
        return members, inside & (self.block[members] == self.block[:, None])

    def without(self, ids: Ids) -> CovarianceBlocks:
        """The others, with the principal submatrices of their blocks; blocks are numbered anew."""
        stays = ~np.isin(self.ids, ids)
        if not stays.any():
            return CovarianceBlocks.empty(self.rows.shape[1])
        members, inside = self._members()
        keeps = inside & stays[members]
        order = np.argsort(~keeps, axis=1, kind="stable")
        rows = np.take_along_axis(np.where(keeps, self.rows, 0.0), order, axis=1)
        return CovarianceBlocks(self.ids[stays], np.unique(self.block[stays], return_inverse=True)[1], rows[stays])

    def refuse_nonsense(self, n_features: int) -> str | None:
        """The fault of blocks from a file; None if there is none."""
        if len(self.ids) and (self.ids.max() >= n_features or len(np.unique(self.ids)) < len(self.ids)):
            return "ids must be those of features, each once"
        n_of, r = np.bincount(self.block) if len(self.block) else np.zeros(0, int), self.rows.shape[1]
        if (np.diff(self.block) < 0).any() or (n_of > r).any():
            return f"blocks must be in order, of at most {r} features"
        try:
            for k in np.flatnonzero(n_of):
                own = self.rows[self.block == k, : n_of[k]]
                linalg.cholesky(own)
                if not np.allclose(own, own.T, rtol=1e-8, atol=0):
                    return "covariances must be symmetric"
        except linalg.LinAlgError:
            return "covariances must be positive definite"
        return None
