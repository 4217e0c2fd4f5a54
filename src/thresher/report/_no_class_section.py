"""Rows that a classifier gives to no class."""

from __future__ import annotations

import numpy as np

from .._figures import label, percent, plural, quoted
from ..metrics import detection_rate, rejection_rate
from ._subject import Section, Subject


def no_class(subject: Subject) -> Section | None:
    """Count the rows that are given to no class, and compare them with the outliers that are known."""
    rows, known = subject.measured
    if rows is None or not subject.rejects:
        return None
    mark = label(subject.learner.outlier_label)
    true, predicted = (np.array([label(v) for v in y.tolist()]) for y in (rows.y, rows.predicted))
    rejected, lost = float(np.mean(predicted == mark)), rejection_rate(true, predicted, outlier_label=mark)
    says = f"{percent(rejected)} of {known} are taken for {quoted(mark)}"
    section: Section = {"title": "Rows of no class", "rejected": rejected, "classes rejected": lost}
    n_outliers = int(np.count_nonzero(true == mark))
    if not n_outliers:
        return section | {"says": f"{says}; none of them is known to be of no class."}
    rate = detection_rate(true, predicted, outlier_label=mark)
    detected = f"of {plural(n_outliers, 'row')} of no class, {percent(rate)} are found"
    says += f": {detected}, and {percent(lost)} of the rows of classes are lost."
    return section | {"detection rate": rate, "outliers": n_outliers, "says": says}
