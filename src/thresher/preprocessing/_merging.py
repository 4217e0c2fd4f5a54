"""State of transformers of shards, put together as if one had read them one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._buckets import BucketTexts

Array = NDArray[np.float64]
Moments = tuple[Array, Array, Array]


def joint_moments(a: Moments, b: Moments) -> Moments:
    """Count, mean and squared deviations of two sets of values, column by column.

    Means differ by d:   mean = mean_a + d n_b / n,   m2 = m2_a + m2_b + d^2 n_a n_b / n.   Chan, Golub, LeVeque (1979).
    Nothing large is subtracted, so that columns such as 1e8 ± 1 keep their deviation.
    """
    (n_a, mean_a, m2_a), (n_b, mean_b, m2_b) = a, b
    n = n_a + n_b
    share = n_b / np.maximum(n, 1.0)
    d = mean_b - mean_a
    return n, mean_a + d * share, m2_a + m2_b + d * d * (n_a * share)


def joint_buckets(a: BucketTexts, b: BucketTexts) -> BucketTexts:
    """Fingerprints and names of buckets: the first two texts of each, where those of ``a`` came before."""
    seen, places, names = a.fingerprints.copy(), [], []
    found = b.fingerprints[b.places // 2, b.places % 2]
    known = seen[b.places // 2]
    new = (found != known[:, 0]) & (found != known[:, 1])
    for i in np.flatnonzero(new).tolist():
        bucket, slots = int(b.places[i]) // 2, seen[int(b.places[i]) // 2]
        if slots[1]:
            slots[2] = 1
            continue
        slot = 1 if slots[0] else 0
        slots[slot] = found[i]
        places.append(2 * bucket + slot)
        names.append(b.names[i])
    seen[:, 2] |= b.fingerprints[:, 2]  # three texts are more than two, whatever came before
    return BucketTexts(seen, np.append(a.places, np.array(places, dtype=np.int32)), [*a.names, *names])
