"""Unlabelled rows that may belong to a class or to none: the 3C-SVM."""

from __future__ import annotations

from typing import Any, ClassVar

from .._estimators import Advice, GoodFor
from .._gate import Log, Range, Uniform, at_least, label, none, number, one_of
from ._descent import cheapest_side
from ._partly_labelled import PLAIN_SVM, PartlyLabelledSVC, below_one


class TriClassSVC(PartlyLabelledSVC):
    r"""A support vector machine for few labels and unlabelled rows, some of which belong to no class (3C-SVM).

    Minimises

    .. math:: \frac12 \|w\|^2 + C \sum_{i\ \text{labelled}} H_1(y_i f_i) + C \sum_{i\ \text{irrelevant}} I_\epsilon(f_i)
              + C_U \sum_{k\ \text{unlabelled}} \min\{H_1(|f_k|),\, I_\epsilon(f_k)\}

    with :math:`f = w^\top \varphi(x) + b`, the hinge :math:`H_1(u) = [1 - u]_+` and
    :math:`I_\epsilon(u) = [|u| - \epsilon]_+`: an unlabelled row is either far from the boundary or close to it,
    whichever costs less. Choose it for few labels and many unlabelled rows of which you do not know whether they
    matter, and compare it with :class:`UniversumSVC`, which takes all of them for irrelevant: that is convex, has one
    answer, and predicts as well or better on the data of :func:`~thresher.datasets.make_tri_class`. Choose
    :class:`S3VC` when all unlabelled rows belong to the classes. Without unlabelled rows it is scikit-learn's ``SVC``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses of labelled and irrelevant rows (:math:`1/\lambda` in [1]_).
    C_unlabelled : float, default=0.1
        Weight of the losses of unlabelled rows (:math:`C_U`); with 0 they are absent.
    epsilon : float, default=0.1
        Scores of irrelevant rows up to this size cost nothing, below 1.
    <kernel>
    irrelevant_label : label, optional
        What ``y`` says of rows that are known to belong to no class. Where it is given, :meth:`predict` may answer it;
        ``y`` need not hold it.
    unlabelled_label : label, default=-1
        What ``y`` says of rows without a label. Among words it is the word ``"-1"``; ``"?"`` is another choice.
    init : {"universum", "svm"}, default="universum"
        The first problem: with all unlabelled rows irrelevant, or without them. The answer depends on it; the second
        often ends lower and predicts worse.
    balance : float, optional
        The mean score that unlabelled rows must have. For two classes.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into the row weights; a dict may name ``irrelevant_label``, too. Unlabelled
        rows have none.
    max_iter : int, default=100
        Most convex problems; 2 to 20 are usual.
    tol : float, default=1e-4
        Every convex problem is solved to this relative duality gap, and they end when the objective falls by no more
        than this part of it, if not before.
    <cache>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes, sorted; neither of the two others.
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
    :math:`M(u) = \min\{H_1(|u|), I_\epsilon(u)\}` is the least of three convex functions. Each problem fixes, for every
    unlabelled row, the one that is least at the present score, and has a signed variable per row,

    .. math:: \min_\beta\ \tfrac12 \beta^\top K \beta - \sum_i s_i \beta_i + \epsilon \sum_{s_i = 0} |\beta_i|,
              \qquad \sum_i \beta_i = 0,

    with :math:`0 \le s_i \beta_i \le c_i` for rows on side :math:`s_i = \pm 1` and :math:`|\beta_i| \le c_i` for the
    others. The objective cannot rise, and the sides repeat after finitely many problems, at a local minimum. A lower
    one is not a better classifier: see the page on few labels. ``balance`` adds one free variable.

    A row is irrelevant where :math:`|f| < (1 + \epsilon) / 2`. Several classes are learned one against the rest, and a
    row is irrelevant if that costs less, over all of them, than the best class.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, Chapter 5.

    Examples
    --------
    >>> from thresher.datasets import make_tri_class
    >>> from thresher.semi_supervised import TriClassSVC
    >>> X, y = make_tri_class(50, 300, relevant=0.5, random_state=0)      # -1 means unlabelled
    >>> model = TriClassSVC(kernel="linear", C_unlabelled=0.01).fit(X, y)
    >>> model.classes_, bool((model.objectives_[1:] <= model.objectives_[:-1]).all())
    (array([0, 1]), True)
    >>> sorted(set(model.transduction_.tolist()))
    [0, 1]
    """

    _advice = Advice(
        GoodFor(2, "few rows have labels, and {they} learn{s} from the others, too"),
        GoodFor(2, aim="unlabelled"),
        baseline=PLAIN_SVM,
    )

    _param_rules = PartlyLabelledSVC._param_rules | {
        "epsilon": below_one,
        "irrelevant_label": label | none,
        "init": one_of("universum", "svm"),
        "balance": number | none,
        "max_iter": at_least(1),
    }
    _search_space: ClassVar[dict[str, Range]] = {
        "C": Log(1e-2, 1e2),
        "C_unlabelled": Log(1e-4, 1.0),
        "epsilon": Uniform(0.0, 0.9),
        "gamma": Log(1e-4, 10.0, when={"kernel": "rbf"}),
    }
    _read = staticmethod(cheapest_side)

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
        init: str = "universum",
        balance: float | None = None,
        class_weight: Any = None,
        max_iter: int = 100,
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
        self.init = init
        self.balance = balance
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.cache_size = cache_size
