"""Unlabelled rows that all belong to a class: the S3VM."""

from __future__ import annotations

from typing import Any

from .._estimators import Advice, GoodFor, param
from ._descent import better_class
from ._partly_labelled import MovesUnlabelled


class S3VC(MovesUnlabelled):
    r"""Semi-supervised support vector machine (S3VM): the boundary also avoids unlabelled rows.

    Minimises

    .. math:: \frac12 \|w\|^2 + C \sum_{i\ \text{labelled}} H_1(y_i f_i) + C_U \sum_{k\ \text{unlabelled}} H_1(|f_k|)

    with :math:`H_1(u) = [1 - u]_+`. Choose it if all unlabelled rows belong to the classes and the classes are clusters
    with gaps between them. If rows are dense near the boundary, or some belong to no class, unlabelled rows do not
    help: use :class:`UniversumSVC` or :class:`TriClassSVC`. Without unlabelled rows it is scikit-learn's ``SVC``.

    Notes
    -----
    The first problem ignores unlabelled rows; each later one uses the predictions of the previous one for them. The
    objective never increases, and converges to a local minimum that depends on this start. Several classes are learned
    one-vs-rest.

    References
    ----------
    .. [1] O. Chapelle, V. Sindhwani and S. Keerthi, "Optimization techniques for semi-supervised support vector
       machines", JMLR 9, 2008.
    .. [2] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, Chapter 5.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from thresher.semi_supervised import S3VC
    >>> X, truth = make_moons(200, noise=0.05, random_state=0)
    >>> y = truth.copy()
    >>> y[8:] = -1                                                        # 8 labels
    >>> model = S3VC(C=10.0, C_unlabelled=1.0, gamma=2.0, balance=0.0).fit(X, y)
    >>> round(float((model.transduction_ == truth).mean()), 2)
    1.0
    """

    _advice = Advice(GoodFor(1, aim="gaps"))

    C_unlabelled: Any = param(default="auto")

    _read = staticmethod(better_class)
