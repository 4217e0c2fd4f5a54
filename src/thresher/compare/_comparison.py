"""Results of :func:`compare`."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._figures import bars_html, label
from .._gate import Rule, boolean, checked, non_negative, none
from ._pictures import draw_boxes
from ._score_table import LEVEL, in_html, in_markdown, in_text
from ._t_test import holm, paired_t_test

Scores = dict[str, NDArray[np.float64]]

_SCORES = Rule("a dict that is not empty", lambda v: isinstance(v, Mapping) and len(v) > 0)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Scores of several learners over the same runs; see :func:`compare`. ``print`` shows a table.

    Made by :func:`compare`, or by :meth:`from_scores` from scores that you have measured yourself.

    Attributes
    ----------
    scores : dict of measure to dict of name to ndarray of shape (n_runs,)
        The k-th scores of all learners belong to the same rows.
    lower_is_better : frozenset of str
        The measures for which lower is better.
    test_ratio : float or None
        Ratio of test rows to training rows, if the training rows of the runs overlap; the corrected t-test needs it.
    about : str
        Description of the runs, shown above the table.
    """

    scores: dict[str, Scores]
    lower_is_better: frozenset[str] = frozenset()
    test_ratio: float | None = None
    about: str = ""

    @classmethod
    @checked(scores=_SCORES, test_ratio=none | non_negative)
    def from_scores(
        cls,
        scores: Mapping[str, Any],
        *,
        measure: str = "score",
        lower_is_better: bool | Collection[str] = False,
        test_ratio: float | None = None,
        about: str = "",
    ) -> Comparison:
        """Make a comparison from existing scores.

        Parameters
        ----------
        scores : dict of name to numbers, or of measure to such a dict
            One number per run for each learner; the k-th numbers of all learners belong to the same run.
        measure : str, default="score"
            The name of the measure, if there is only one.
        lower_is_better : bool or collection of str, default=False
            Whether lower is better, or the measures for which it is.
        test_ratio : float, optional
            Ratio of test rows to training rows, if the runs are splits of the same rows. Leave it out if each run has
            new rows, or the same rows in another order.
        about : str, optional
            The first line of the table.

        Examples
        --------
        >>> from thresher.compare import Comparison
        >>> runs = Comparison.from_scores({"old": [5.0, 6.0, 7.0], "new": [3.0, 4.5, 5.1]}, lower_is_better=True)
        >>> runs.best()
        'new'
        >>> round(runs.p_value("old", "new"), 4)
        0.0071
        """
        several = all(isinstance(value, Mapping) for value in scores.values())
        by_measure = dict(scores) if several else {measure: scores}
        arrays = {m: {str(n): _numbers(n, v) for n, v in named.items()} for m, named in by_measure.items()}
        lengths = {len(v) for named in arrays.values() for v in named.values()}
        if len(lengths) != 1 or 0 in lengths or not all(arrays.values()):
            raise ValueError(
                f"Comparison.from_scores: all learners must have the same number of runs, got {sorted(lengths)}."
            )
        if isinstance(lower_is_better, (bool, np.bool_)):
            lower_is_better = arrays if lower_is_better else ()
        unknown = set(lower_is_better) - set(arrays)
        if unknown:
            raise ValueError(f"Comparison.from_scores: lower_is_better must name measures, got {sorted(unknown)}.")
        return cls(arrays, frozenset(lower_is_better), test_ratio, about)

    @property
    def measures(self) -> list[str]:
        """Names of the measures, the default one first."""
        return list(self.scores)

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(next(iter(self._of(None).values())))

    def mean(self, measure: str | None = None) -> dict[str, float]:
        """Return the mean of each learner over the runs, by name; by default of the first measure."""
        return {name: float(values.mean()) for name, values in self._of(measure).items()}

    def std(self, measure: str | None = None) -> dict[str, float]:
        """Return the standard deviation of each learner over the runs (n - 1 in the denominator); nan for one run."""
        one = self.n_runs == 1
        return {name: np.nan if one else float(values.std(ddof=1)) for name, values in self._of(measure).items()}

    def best(self, measure: str | None = None) -> str:
        """Return the name of the learner with the best mean; the first one if there are ties."""
        means = self.mean(measure)
        lower = self._known(measure) in self.lower_is_better
        return min(means, key=lambda name: means[name] if lower else -means[name])

    @checked(corrected=none | boolean)
    def p_value(self, a: str, b: str, measure: str | None = None, *, corrected: bool | None = None) -> float:
        """Return the two-sided p-value of the paired t-test of two learners.

        Parameters
        ----------
        a, b : str
            Names of learners.
        measure : str, optional
            By default the first.
        corrected : bool, optional
            Use the corrected resampled t-test of [1]_, whose variance has the factor
            :math:`1 / n + n_{test} / n_{train}` in place of :math:`1 / n`. Splits of the same rows overlap, so their
            scores vary less than those of new rows would, and the plain test is overconfident. By default, the
            corrected test is used if the runs are splits (``test_ratio`` is given).

        Returns
        -------
        float
            1 if all scores are equal.

        References
        ----------
        .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003).
        """
        if self.n_runs == 1:
            raise ValueError("Comparison: a test needs at least two runs, got one.")
        if corrected and self.test_ratio is None:
            raise ValueError("Comparison: the corrected t-test needs test_ratio, test rows over training rows.")
        ratio = 0.0 if corrected is False or self.test_ratio is None else self.test_ratio
        return paired_t_test(self._runs_of(a, measure), self._runs_of(b, measure), ratio)

    @checked(correct_for_many=boolean)
    def p_values(
        self,
        measure: str | None = None,
        *,
        against: str = "best",
        correct_for_many: bool = True,
        corrected: bool | None = None,
    ) -> dict[Any, float]:
        """Return the p-values of several pairs at once.

        Parameters
        ----------
        measure : str, optional
            By default the first.
        against : str, default="best"
            A learner's name, ``"best"``, or ``"all"`` for all pairs.
        correct_for_many : bool, default=True
            Apply Holm's correction for multiple comparisons.
        corrected : bool, optional
            As for :meth:`p_value`.

        Returns
        -------
        dict of name to float, or of pair of names to float
        """
        names = list(self._of(measure))
        p_values: dict[Any, float]
        if against == "all" and "all" not in names:
            p_values = {(a, b): self.p_value(a, b, measure, corrected=corrected) for a, b in combinations(names, 2)}
        else:
            one = self.best(measure) if against == "best" and "best" not in names else against
            self._runs_of(one, measure)
            p_values = {name: self.p_value(one, name, measure, corrected=corrected) for name in names if name != one}
        return holm(p_values) if correct_for_many else p_values

    def among_the_best(self, measure: str | None = None, *, level: float = LEVEL) -> list[str]:
        """Return the best learner and those that do not differ significantly from it (by :meth:`p_values`).

        Parameters
        ----------
        measure : str, optional
            By default the first.
        level : float, default=0.05
            Learners with a p-value of at least this do not differ significantly. With one run there is no test, and
            only the best is returned.

        Returns
        -------
        list of str, in the order of the learners
        """
        best = self.best(measure)
        p_values = self._against(best, measure)
        return [name for name in self._of(measure) if name == best or p_values.get(name, 0.0) >= level]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON."""
        return {
            "about": self.about,
            "n_runs": self.n_runs,
            "test_ratio": self.test_ratio,
            "measures": {measure: self._measure_as_dict(measure) for measure in self.measures},
        }

    def to_frame(self) -> Any:
        """Return a data frame with a row for each run of each learner, and a column for each measure. Needs pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("Comparison.to_frame needs pandas: pip install pandas.") from None
        names = self._learners
        missing = np.full(self.n_runs, np.nan)
        columns = {m: np.concatenate([named.get(n, missing) for n in names]) for m, named in self.scores.items()}
        keys = {"learner": np.repeat(names, self.n_runs), "run": np.tile(np.arange(self.n_runs), len(names))}
        return pd.DataFrame(keys | columns)

    def plot(self, path: str | os.PathLike[str] | None = None, *, measure: str | None = None, ax: Any = None) -> Any:
        """Draw a box and the single runs of each learner. Needs matplotlib.

        Parameters
        ----------
        path : path, optional
            Where to save the plot; the suffix determines the format (``.png``, ``.svg``, ``.pdf``).
        measure : str, optional
            By default the first.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        return draw_boxes(self, path, ax, self._known(measure))

    def table(self, *measures: str) -> str:
        """Return a table of means and standard deviations that marks the best learner and those that do not differ
        significantly from it. ``print`` shows the same table.

        By default, all measures are shown. Seconds and features have no marks.
        """
        return in_text(self, [self._known(measure) for measure in measures] or self.measures)

    def markdown(self, *measures: str) -> str:
        """Return the same table in Markdown; the best of each measure, and those that do not differ from it, are
        bold."""
        return in_markdown(self, [self._known(measure) for measure in measures] or self.measures)

    def _repr_html_(self) -> str:
        """The same table, and the means of the first measure as bars, as notebooks show it."""
        first = self.measures[0]
        means = [(label(name), float(mean)) for name, mean in self.mean(first).items()]
        return in_html(self, self.measures) + bars_html(f"{label(first)}, mean of {self.n_runs} runs", means)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self._of(None))} by {', '.join(self.measures)} over {self.n_runs} runs>"

    def _known(self, measure: str | None) -> str:
        name = self.measures[0] if measure is None else measure
        if name not in self.scores:
            known = ", ".join(map(repr, self.scores))
            raise ValueError(f"Comparison: measure must be one of {known}, got {measure!r}.")
        return name

    @property
    def _learners(self) -> list[str]:
        """Names of the learners; not all of them have every measure."""
        return list(dict.fromkeys(name for named in self.scores.values() for name in named))

    def _of(self, measure: str | None) -> Scores:
        return self.scores[self._known(measure)]

    def _runs_of(self, name: str, measure: str | None) -> NDArray[np.float64]:
        named = self._of(measure)
        if name not in named:
            raise ValueError(f"Comparison: the learners are {', '.join(map(repr, named))}, got {name!r}.")
        return named[name]

    def _against(self, best: str, measure: str | None) -> dict[Any, float]:
        """Return the p-values against the best; one run has none."""
        return {} if self.n_runs == 1 else self.p_values(measure, against=best)

    def _measure_as_dict(self, measure: str) -> dict[str, Any]:
        best, mean, std = self.best(measure), self.mean(measure), self.std(measure)
        p_values = self._against(best, measure)
        return {
            "lower_is_better": measure in self.lower_is_better,
            "best": best,
            "learners": {
                name: {
                    "mean": mean[name],
                    "std": None if self.n_runs == 1 else std[name],
                    "p_value": p_values.get(name),
                    "scores": values.tolist(),
                }
                for name, values in self._of(measure).items()
            },
        }


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    array = np.array(values, dtype=float)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"Comparison.from_scores: scores of {name} must be a list of finite numbers, got {values!r}.")
    return array
