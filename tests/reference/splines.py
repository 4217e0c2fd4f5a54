"""Quadratic splines of columns, value by value: the recursion of Cox and de Boor over repeated outer knots."""

from __future__ import annotations

import numpy as np


def quantile_knots(values, n_knots):
    """Knots at values of the data; a column of fewer than three different values has no curve."""
    there = sorted(v for v in values if not np.isnan(v))
    different = sorted(set(there))
    if len(different) < 3:
        return np.array(different), False
    m = min(n_knots, len(different) - 1)
    return np.array(sorted({there[round(k * (len(there) - 1) / (m - 1))] for k in range(m)})), True


def b_spline(t, i, degree, x):
    """B-spline number i over the knots t; the last interval includes its end."""
    if degree == 0:
        last = max(k for k in range(len(t) - 1) if t[k] < t[k + 1])
        return float(t[i] <= x < t[i + 1] or (i == last and x == t[i + 1]))
    left = (x - t[i]) / (t[i + degree] - t[i]) if t[i + degree] > t[i] else 0.0
    right = (t[i + degree + 1] - x) / (t[i + degree + 1] - t[i + 1]) if t[i + degree + 1] > t[i + 1] else 0.0
    return left * b_spline(t, i, degree - 1, x) + right * b_spline(t, i + 1, degree - 1, x)


def slope(t, i, x):
    left = 2 / (t[i + 2] - t[i]) if t[i + 2] > t[i] else 0.0
    right = 2 / (t[i + 3] - t[i + 1]) if t[i + 3] > t[i + 1] else 0.0
    return left * b_spline(t, i, 1, x) - right * b_spline(t, i + 1, 1, x)


def column_features(values, knots):
    """x, and the B-splines, along their tangents beyond the outer knots; NaN for a value that is missing."""
    t = [knots[0]] * 2 + list(knots) + [knots[-1]] * 2
    rows = []
    for x in values:
        inside = min(max(x, knots[0]), knots[-1])
        inner = [b_spline(t, i, 2, inside) + slope(t, i, inside) * (x - inside) for i in range(len(knots) + 1)]
        rows.append([x, *(np.nan if np.isnan(x) else b for b in inner)])
    return np.array(rows)


def fit_transform(X, n_knots, Z):
    """Features of Z by knots and means of X."""
    columns = []
    for x, z in zip(X.T, Z.T, strict=True):
        knots, curved = quantile_knots(x, n_knots)
        if not curved:
            columns.append(z[:, None])
            continue
        learned, made = column_features(x, knots), column_features(z, knots)
        made[:, 1:] = np.where(np.isnan(z)[:, None], 0.0, made[:, 1:] - np.nanmean(learned[:, 1:], axis=0))
        columns.append(made)
    return np.hstack(columns)


def pair_features(X, n_knots, pairs, Z):
    """Products of Legendre polynomials of the ranks of two columns, less their means over X."""
    found = []
    for a, b in pairs:
        for p in range(2):
            for q in range(2):
                of_x, of_z = (
                    polynomial(R[:, a], X[:, a], n_knots, p) * polynomial(R[:, b], X[:, b], n_knots, q) for R in (X, Z)
                )
                found.append(np.where(np.isnan(of_z), 0.0, of_z - np.nanmean(of_x)))
    return np.array(found).T


def polynomial(values, column, n_knots, degree):
    knots, _ = quantile_knots(column, n_knots)
    rank = np.interp(values, knots, np.linspace(-1, 1, len(knots)))
    return rank if degree == 0 else (3 * rank**2 - 1) / 2
