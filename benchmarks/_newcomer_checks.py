"""Three checks of ``newcomer`` beside the scores: other units of the columns, joint classes, and the cost of "auto"."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thresher import registry

from ._data import text_problem
from ._measure import Case, take_turns
from ._newcomer_runs import default_model, learned, score, streaming_classifiers
from ._newcomer_sets import Set, classification, splits

SCALED = ("arow", "scw", "ftrl", "l1rda", "pegasos", "pa")
SCALED_SETS = ("spambase", "magic", "pima", "wdbc", "ionosphere", "covtype, 2 classes", "generated, dense")
MULTI_CLASS_SETS = ("optdigits", "pendigits", "usps", "covtype, 7 classes")
FORMS = ("auto", "joint", "one_vs_rest")
PLAIN = {"r": 1.0, "C": 1.0, "b": 1.0, "a": 1.0, "eta0": 1.0, "alpha": 1e-4, "smoothing": 10.0}  # in place of "auto"
PLAIN_FTRL = {"eta0": 0.3, "alpha": 1.0}


class Found(NamedTuple):
    """One row of a check: who, where, and the figures."""

    learner: str
    where: str
    figures: tuple[float, ...]


def _sets(names: tuple[str, ...], quick: bool) -> list[Set]:
    return [each for each in classification(quick) if each.name in names]


def scale_check(quick: bool) -> list[Found]:
    """Accuracy on dense rows as they come, and with columns times .001 to 1,000."""
    found = []
    for each in _sets(SCALED_SETS, quick):
        rows = each.rows()
        scales = 10 ** np.random.default_rng(0).uniform(-3, 3, rows[0].shape[1])
        scaled = tuple(part * scales if part.ndim == 2 else part for part in rows)
        pairs = list(zip(splits(rows, quick), splits(scaled, quick), strict=True))
        for name in SCALED:
            both = [[_accuracy(name, split) for split in pair] for pair in pairs]
            found.append(Found(name, each.name, tuple(np.mean(both, axis=0).tolist())))
    return found


def multi_class_check(quick: bool) -> list[Found]:
    """Accuracy by each form of several classes, of classifiers that have more than one."""
    methods = [m.name for m in streaming_classifiers() if "multi_class" in m.defaults]
    found = []
    for each in _sets(MULTI_CLASS_SETS, quick) if methods else []:
        parts = list(splits(each.rows(), quick))
        for name in methods:
            of = [[_accuracy(name, split, multi_class=form) for form in FORMS] for split in parts]
            found.append(Found(name, each.name, tuple(np.mean(of, axis=0).tolist())))
    return found


def cost_check(quick: bool) -> list[Found]:
    """CPU seconds at the defaults and with numbers in place of "auto"; those without "auto" are left out."""
    problem = text_problem(5_000 if quick else 100_000, 75, 100)
    classes = np.array([-1.0, 1.0])
    found = []
    for method in streaming_classifiers():
        plain = PLAIN | (PLAIN_FTRL if method.name == "ftrl" else {})
        fixed = {name: value for name, value in plain.items() if method.defaults.get(name) == "auto"}
        if not fixed:
            continue
        cases = {
            name: Case(
                lambda model: model.partial_fit(problem.X, problem.y, classes=classes),
                partial(default_model, method, **params),
            )
            for name, params in (("auto", {}), ("plain", fixed))
        }
        timings = take_turns(cases, 1 if quick else 3)
        found.append(Found(method.name, "text", (timings["auto"].best, timings["plain"].best)))
    return found


def _accuracy(name: str, split: Any, **params: Any) -> float:
    method = registry.find(name)
    assert method is not None
    try:
        model, _ = learned(default_model(method, **params), split, once=True)
    except ValueError:  # scores that overflow
        return 0.0
    return score(model, split.X_test, split.y_test, regression=False)
