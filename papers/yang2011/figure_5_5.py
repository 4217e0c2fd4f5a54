"""Yang (2011), Figure 5.5: few labels, 500 unlabelled rows, and a share of them that belongs to neither class.

Two normal classes in 50 dimensions and the four machines of the thesis, all with the linear kernel. Parameters are not
published. Here they are chosen in stages on 500 more labelled rows: C for the SVM, the weight of unlabelled rows and
epsilon for the U-SVM, and the weight once more for the 3C-SVM and the S3VM. The figure is a picture without numbers;
the text says that the 3C-SVM is best throughout.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thresher.datasets import make_tri_class
from thresher.semi_supervised import S3VC, TriClassSVC, UniversumSVC

from .._report import Options, cell, show, spent

MINUTES = 2
N_UNLABELLED, N_CHOOSE, N_TEST = 500, 500, 2000
SHARED: dict[str, Any] = {"kernel": "linear", "tol": 1e-3}
C, C_UNLABELLED, EPSILON = (0.03, 0.1, 0.3, 1.0), (0.01, 0.03, 0.1, 0.3), (0.0, 0.1)
METHODS = ("SVM", "S3VM", "U-SVM", "3C-SVM")


def best(models: Iterable[Any], X: np.ndarray, y: np.ndarray, chosen_on: tuple[np.ndarray, np.ndarray]) -> Any:
    """Of fitted models, the first of those that predict the most rows right."""
    return max((model.fit(X, y) for model in models), key=lambda model: model.score(*chosen_on))


def one_run(n_labelled: int, relevant: float, kind: str, seed: int) -> list[float]:
    """Accuracy in % of the four machines, then what the 3C-SVM gains on the objective of the U-SVM, in %."""
    train = make_tri_class(n_labelled, N_UNLABELLED, relevant=relevant, kind=kind, random_state=3 * seed)
    choose = make_tri_class(N_CHOOSE, 0, random_state=3 * seed + 1)
    return compared(*train, choose, make_tri_class(N_TEST, 0, random_state=3 * seed + 2), C, SHARED)


def compared(X: Any, y: Any, choose: Any, test: Any, costs: Iterable[float], shared: dict[str, Any]) -> list[float]:
    """The same, learned from these rows, on test rows; parameters are chosen on others."""
    svm = best((TriClassSVC(c, 0.0, **shared) for c in costs), X, y, choose)
    given = {"C": svm.C, **shared}
    s3 = best((S3VC(C_unlabelled=u, **given) for u in C_UNLABELLED), X, y, choose)
    universum = best(
        (UniversumSVC(C_unlabelled=u, epsilon=e, **given) for u in C_UNLABELLED for e in EPSILON), X, y, choose
    )
    given["epsilon"] = universum.epsilon
    tri = best((TriClassSVC(C_unlabelled=u, **given) for u in C_UNLABELLED), X, y, choose)
    same = TriClassSVC(C_unlabelled=universum.C_unlabelled, **given).fit(X, y)  # (5.2) with the weights of the U-SVM
    values = [100 * model.score(*test) for model in (svm, s3, universum, tri, same)]
    return [*values, 100 * (1 - same.objectives_[-1] / same.objectives_[0])]


def main() -> None:
    parser = Options(__spec__.name, __doc__)
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="runs, of which the thesis has 10")
    parser.add_argument(
        "--labels",
        type=int,
        nargs="+",
        default=[20, 50, 200, 500],
        metavar="L",
        help="labelled rows",
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    cases = [(n, tau, "centred") for n in options.labels for tau in (0.1, 0.5, 0.9)]
    cases += [(options.labels[0], tau, "shifted") for tau in (0.1, 0.5)]
    rows = []
    for n_labelled, relevant, kind in cases:
        runs = np.array([one_run(n_labelled, relevant, kind, seed) for seed in range(options.repeats)]).T
        rows.append([f"L = {n_labelled}, tau = {relevant}, {kind}", *(cell(each) for each in runs)])
    show(
        "Accuracy in %: ours +- standard deviation over runs (published as a picture)",
        ["", *METHODS, "3C-SVM, weights of U-SVM", "and its fall of (5.2) in %"],
        rows,
        f"{options.repeats} runs, {N_UNLABELLED} unlabelled rows, parameters chosen on {N_CHOOSE} labelled rows, "
        f"measured on {N_TEST}. {spent()}",
    )


if __name__ == "__main__":
    main()
