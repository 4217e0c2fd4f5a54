"""Rows that belong to no class, as a hint where the boundary runs: the U-SVM."""

from __future__ import annotations

from typing import Any, ClassVar

from .._estimators import Advice, GoodFor
from .._gate import Log, Range, Uniform, label, none
from ._descent import no_class
from ._partly_labelled import PLAIN_SVM, PartlyLabelledSVC, below_one


class UniversumSVC(PartlyLabelledSVC):
    r"""A support vector machine with a universum: rows of no class, which the boundary should pass close by (U-SVM).

    Minimises

    .. math:: \frac12 \|w\|^2 + C \sum_{i\ \text{labelled}} H_1(y_i f_i) + C \sum_{i\ \text{irrelevant}} I_\epsilon(f_i)
              + C_U \sum_{k\ \text{unlabelled}} I_\epsilon(f_k)

    with :math:`H_1(u) = [1 - u]_+` and :math:`I_\epsilon(u) = [|u| - \epsilon]_+`. Directions in which unlabelled rows
    differ are shrunk, whether they belong to a class or not; with few labels in many dimensions that is worth a lot. It
    is convex: one problem, one answer. Choose it first when labels are few; :class:`TriClassSVC` lets unlabelled rows
    move away from the boundary, which is sometimes better. Without such rows it is scikit-learn's ``SVC``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses of labelled and irrelevant rows.
    C_unlabelled : float, default=0.1
        Weight of the losses of unlabelled rows (:math:`C_U`); with 0 they are absent.
    epsilon : float, default=0.1
        Scores of irrelevant and unlabelled rows up to this size cost nothing, below 1.
    <kernel>
    irrelevant_label : label, optional
        What ``y`` says of rows that are known to belong to no class. Where it is given, :meth:`predict` may answer it;
        ``y`` need not hold it.
    unlabelled_label : label, default=-1
        What ``y`` says of rows without a label. Among words it is the word ``"-1"``; ``"?"`` is another choice.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into the row weights; a dict may name ``irrelevant_label``, too. Unlabelled
        rows have none.
    tol : float, default=1e-4
        Relative duality gap at which to stop.
    <cache>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes, sorted; neither of the two others.
    <fitted kernel>
    objective_ : float
        The objective; with several classes, their sum. ``objectives_`` holds it for each.
    transduction_ : ndarray of shape (n_samples,)
        ``y`` with the answers of the model for unlabelled rows. Not kept in model files.
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
        GoodFor(1, "few rows have labels, and {they} learn{s} from the others, too"),
        GoodFor(1, aim="unlabelled"),
        GoodFor(2, aim="gaps"),
        baseline=PLAIN_SVM,
    )

    _param_rules = PartlyLabelledSVC._param_rules | {"epsilon": below_one, "irrelevant_label": label | none}
    _search_space: ClassVar[dict[str, Range]] = {
        "C": Log(1e-2, 1e2),
        "C_unlabelled": Log(1e-4, 1.0),
        "epsilon": Uniform(0.0, 0.9),
        "gamma": Log(1e-4, 10.0, when={"kernel": "rbf"}),
    }
    _read = staticmethod(no_class)
    init = "universum"

    def __init__(
        self,
        C: float = 1.0,
        C_unlabelled: float = 0.1,
        epsilon: float = 0.1,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        irrelevant_label: Any = None,
        unlabelled_label: Any = -1,
        class_weight: Any = None,
        tol: float = 1e-4,
        cache_size: float = 500,
    ) -> None:
        self.C = C
        self.C_unlabelled = C_unlabelled
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.irrelevant_label = irrelevant_label
        self.unlabelled_label = unlabelled_label
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
