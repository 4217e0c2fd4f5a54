"""Generated data sets with a known truth.

====================================  ==================================================================================
:func:`make_sparse_stream`            a wide, sparse stream like text, with a rare class
:func:`make_days`                     days of a stream whose features appear over time and drift
:func:`make_recovery`                 which half of the features matters? (Jumutc, Figure 4.7)
:func:`make_sparse_groups`            weights sparse in groups and inside them (Yang, Table 3.1)
:func:`make_multi_task`               tasks that share the features that matter
:func:`make_additive`                 curved functions of a few features (Yang, Table 6.4)
:func:`make_flipped_gaussians`        two classes with wrong labels (Jumutc, Figure 3.1)
:func:`make_tri_class`                two classes and rows of neither, few labelled (Yang, Figure 5.5)
:func:`make_spirals`,                 two bent classes, few rows labelled (Jumutc, Figures 2.12 and 2.13)
:func:`make_half_moons`
:func:`make_overlapping_squares`,     two classes that overlap, or among outliers (Jumutc, Tables 2.2 and 2.9)
:func:`make_novelty`
:func:`sample_one_to_k`               rows of any data set in a chosen class ratio
====================================  ==================================================================================

References
----------
V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven modelling", KU
Leuven, 2016.

H. Yang, "Sparse learning under regularization framework", CUHK, 2011.
"""

from ._known_weights import make_additive, make_multi_task, make_recovery, make_sparse_groups
from ._sampling import sample_one_to_k
from ._sparse_streams import SparseStream, make_days, make_sparse_stream
from ._two_classes import (
    make_flipped_gaussians,
    make_half_moons,
    make_novelty,
    make_overlapping_squares,
    make_spirals,
    make_tri_class,
)

__all__ = [
    "SparseStream",
    "make_additive",
    "make_days",
    "make_flipped_gaussians",
    "make_half_moons",
    "make_multi_task",
    "make_novelty",
    "make_overlapping_squares",
    "make_recovery",
    "make_sparse_groups",
    "make_sparse_stream",
    "make_spirals",
    "make_tri_class",
    "sample_one_to_k",
]
