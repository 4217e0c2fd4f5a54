"""The support vector machine with a universum (U-SVM)."""

from __future__ import annotations

from .._estimators import Advice, GoodFor, param
from ._descent import no_class
from ._partly_labelled import KnowsIrrelevant, compares_all


class UniversumSVC(KnowsIrrelevant):
    r"""Universum support vector machine (U-SVM): the boundary should pass close to rows that belong to no class.

    Minimises

    .. math:: \frac12 \|w\|^2 + C \sum_{i\ \text{labelled}} H_1(y_i f_i) + C \sum_{i\ \text{irrelevant}} I_\epsilon(f_i)
              + C_U \sum_{k\ \text{unlabelled}} I_\epsilon(f_k)

    with :math:`H_1(u) = [1 - u]_+` and :math:`I_\epsilon(u) = [|u| - \epsilon]_+`. Directions in which unlabelled rows
    vary are shrunk, whether they belong to a class or not, which helps a lot with few labels in many dimensions. The
    problem is convex and has a unique solution. Try it first if labels are few; :class:`TriClassSVC` lets unlabelled
    rows move away from the boundary, which is sometimes better. Without such rows it is scikit-learn's ``SVC``.

    Attributes
    ----------
    objective_ : float
        The objective; with several classes, the sum over them. ``objectives_`` has it for each class.
    n_iter_ : int
        Convex problems solved: 1.
    dual_gap_ : float
        The duality gap.

    Notes
    -----
    The dual has one signed variable per row: see :class:`TriClassSVC`, of which this is the first step.

    References
    ----------
    .. [1] J. Weston, R. Collobert, F. Sinz, L. Bottou and V. Vapnik, "Inference with the universum", ICML 2006.
    .. [2] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, Chapter 5.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from thresher.datasets import make_tri_class
    >>> from thresher.semi_supervised import UniversumSVC
    >>> X, y = make_tri_class(50, 500, relevant=0.5, random_state=0)      # -1 means unlabelled
    >>> X_test, y_test = make_tri_class(2000, 0, random_state=1)
    >>> round(SVC(kernel="linear").fit(X[y != -1], y[y != -1]).score(X_test, y_test), 2)
    0.68
    >>> round(UniversumSVC(kernel="linear").fit(X, y).score(X_test, y_test), 2)
    0.85
    """

    _advice = Advice(
        GoodFor(1, "few rows have labels, and {they} also learn{s} from unlabelled rows", compares_all),
        GoodFor(1, aim="unlabelled"),
        GoodFor(2, aim="gaps"),
    )

    tol: float = param(default=1e-4, doc="Relative duality gap at which to stop.")

    _read = staticmethod(no_class)
    init = "universum"
