"""Unlabelled rows that may belong to a class or to none: the 3C-SVM."""

from __future__ import annotations

from .._estimators import Advice, GoodFor, param
from .._gate import one_of
from ._descent import cheapest_side
from ._partly_labelled import KnowsIrrelevant, MovesUnlabelled, compares_all


class TriClassSVC(KnowsIrrelevant, MovesUnlabelled):
    r"""Tri-class support vector machine (3C-SVM): few labels, and unlabelled rows that may belong to no class.

    Minimises

    .. math:: \frac12 \|w\|^2 + C \sum_{i\ \text{labelled}} H_1(y_i f_i) + C \sum_{i\ \text{irrelevant}} I_\epsilon(f_i)
              + C_U \sum_{k\ \text{unlabelled}} \min\{H_1(|f_k|),\, I_\epsilon(f_k)\}

    with :math:`f = w^\top \varphi(x) + b`, the hinge :math:`H_1(u) = [1 - u]_+` and
    :math:`I_\epsilon(u) = [|u| - \epsilon]_+`: an unlabelled row is either far from the boundary or close to it,
    whichever costs less. Choose it for few labels and many unlabelled rows if you do not know which of them are
    relevant. Compare it with :class:`UniversumSVC`, which treats all of them as irrelevant: that problem is convex with
    a unique solution, and predicts as well or better on the data of :func:`~thresher.datasets.make_tri_class`. If all
    unlabelled rows belong to the classes, choose :class:`S3VC`. Without unlabelled rows it is scikit-learn's ``SVC``.

    Notes
    -----
    :math:`M(u) = \min\{H_1(|u|), I_\epsilon(u)\}` is the least of three convex functions. Each problem fixes, for every
    unlabelled row, the one that is least at the present score, and has a signed variable per row,

    .. math:: \min_\beta\ \tfrac12 \beta^\top K \beta - \sum_i s_i \beta_i + \epsilon \sum_{s_i = 0} |\beta_i|,
              \qquad \sum_i \beta_i = 0,

    with :math:`0 \le s_i \beta_i \le c_i` for rows on side :math:`s_i = \pm 1` and :math:`|\beta_i| \le c_i` for the
    others. The objective never increases, and after finitely many problems the sides repeat, at a local minimum. A
    lower minimum is not necessarily a better classifier: see the page on few labels. ``balance`` adds one free
    variable.

    A row is irrelevant if :math:`|f| < (1 + \epsilon) / 2`. Several classes are learned one-vs-rest, and a row is
    irrelevant if that costs less, summed over the classes, than the best class.

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
        GoodFor(2, "few rows have labels, and {they} also learn{s} from unlabelled rows", compares_all),
        GoodFor(2, aim="unlabelled"),
    )

    init: str = param(
        default="universum",
        rule=one_of("universum", "svm"),
        doc="""How the first problem treats unlabelled rows: as irrelevant, or not at all. The solution depends on it;
        the second choice often ends at a lower objective but predicts worse.""",
    )

    _read = staticmethod(cheapest_side)
