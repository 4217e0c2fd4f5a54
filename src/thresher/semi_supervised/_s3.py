"""Unlabelled rows that all belong to a class: the S3VM."""

from __future__ import annotations

from typing import Any, ClassVar

from .._estimators import Advice, GoodFor
from .._gate import Log, Range, at_least, none, number
from ._descent import better_class
from ._partly_labelled import PLAIN_SVM, PartlyLabelledSVC


class S3VC(PartlyLabelledSVC):
    r"""A semi-supervised support vector machine: the boundary keeps away from unlabelled rows, too (S3VM).

    Minimises

    .. math:: \frac12 \|w\|^2 + C \sum_{i\ \text{labelled}} H_1(y_i f_i) + C_U \sum_{k\ \text{unlabelled}} H_1(|f_k|)

    with :math:`H_1(u) = [1 - u]_+`. Choose it when all unlabelled rows belong to the classes and the classes lie in
    clusters with gaps between them. Where rows are dense at the boundary, or some belong to no class, it is no better
    than a machine without them: take :class:`UniversumSVC` or :class:`TriClassSVC`. Without unlabelled rows it is
    scikit-learn's ``SVC``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses of labelled rows.
    C_unlabelled : float, default=0.1
        Weight of the losses of unlabelled rows (:math:`C_U`); with 0 they are absent.
    <kernel>
    unlabelled_label : label, default=-1
        What ``y`` says of rows without a label. Among words it is the word ``"-1"``; ``"?"`` is another choice.
    balance : float, optional
        The mean score that unlabelled rows must have: 0 when about half of them belong to each class. It keeps the
        machine from putting nearly all of them on one side. For two classes.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into the row weights. Unlabelled rows have none.
    max_iter : int, default=100
        Most convex problems; 2 to 20 are usual.
    tol : float, default=1e-4
        Every convex problem is solved to this relative duality gap, and they end when the objective falls by no more
        than this part of it, if not before.
    <cache>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes, sorted, without the one that means unlabelled.
    <fitted kernel>
    objectives_ : ndarray
        The objective after each convex problem, which never rises; with several classes, a list of such arrays.
    objective_ : float
        The last of them; with several classes, their sum.
    transduction_ : ndarray of shape (n_samples,)
        ``y`` with the answers of the model for unlabelled rows. Not kept in model files.
    n_iter_ : int
        Convex problems solved.
    dual_gap_ : float
        The duality gap of the last convex problem.

    Notes
    -----
    The first problem does without unlabelled rows; each of the next takes them for what the one before said of them.
    The objective never rises, and ends in a local minimum that depends on this start. Several classes are learned one
    against the rest.

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

    _advice = Advice(GoodFor(1, aim="gaps"), baseline=PLAIN_SVM)

    _param_rules = PartlyLabelledSVC._param_rules | {"balance": number | none, "max_iter": at_least(1)}
    _search_space: ClassVar[dict[str, Range]] = {
        "C": Log(1e-2, 1e2),
        "C_unlabelled": Log(1e-4, 1.0),
        "gamma": Log(1e-4, 10.0, when={"kernel": "rbf"}),
    }
    _read = staticmethod(better_class)

    def __init__(
        self,
        C: float = 1.0,
        C_unlabelled: float = 0.1,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        unlabelled_label: Any = -1,
        balance: float | None = None,
        class_weight: Any = None,
        max_iter: int = 100,
        tol: float = 1e-4,
        cache_size: float = 500,
    ) -> None:
        self.C = C
        self.C_unlabelled = C_unlabelled
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.unlabelled_label = unlabelled_label
        self.balance = balance
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.cache_size = cache_size
