"""What notebooks show of models, comparisons and searches."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from thresher.compare import Comparison
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier
from thresher.preprocessing import RunningScaler, StreamingPipeline
from thresher.tuning import CoupledAnnealingSearchCV, Log

X = np.random.default_rng(0).normal(size=(200, 6))
Y = X[:, 1] - 2 * X[:, 4] > 0
ATTACK = "<script>alert(1)</script>"


def bars(page):
    """Names and lengths of the bars of a page."""
    cells = r'text-align: right[^>]*>([^<]*)</td><td[^>]*><div style="width: (\d+)px'
    return [(name, int(width)) for name, width in re.findall(cells, page)]


def test_a_model_shows_its_largest_weights():
    frame = pd.DataFrame(X, columns=[ATTACK, *"bcdef"])
    model = L1RDAClassifier(alpha=0.1, random_state=0).fit(frame, Y)
    page = model._repr_html_()
    sizes = np.abs(model.coef_[0])
    order = [j for j in np.argsort(-sizes) if sizes[j]]
    expected = [round(120 * sizes[j] / sizes.max()) for j in order]
    assert [width for _, width in bars(page)] == pytest.approx(expected, abs=1)
    assert bars(page)[0][0] == "e"
    assert f"{len(order)} of 6 features in use" in page
    assert model._repr_mimebundle_()["text/html"].count("features in use") == 1
    assert "features in use" not in L1RDAClassifier()._repr_html_()
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]
    attacked = AROWClassifier(random_state=0).fit(frame, X[:, 0] > 0)._repr_html_()
    assert ATTACK not in attacked
    assert "&lt;script&gt;" in attacked


def test_pipelines_and_several_classes_show_theirs():
    several = AROWClassifier(random_state=0).fit(X, np.digitize(X[:, 2], [-0.5, 0.5]))._repr_html_()
    assert "of any output" in several
    assert bars(several)[0][0] == "x3"
    pipeline = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier(random_state=0))]).fit(X, Y)
    assert bars(pipeline._repr_html_())[0][0] == "x5"


def test_a_comparison_is_a_table_with_bars():
    runs = Comparison.from_scores({ATTACK: [0.5, 0.6, 0.55], "b & c": [0.91, 0.92, 0.93]})
    page = runs._repr_html_()
    assert "<b>0.92" in page
    assert ATTACK not in page
    root = ET.fromstring(f"<div>{page}</div>")
    assert [cell.text for cell in root.iter("td")][:1] == [ATTACK]
    assert dict(bars(page))["b &amp; c"] == 120


def test_a_search_shows_how_its_best_score_rose():
    search = CoupledAnnealingSearchCV(AROWClassifier(), {"r": Log(0.01, 100)}, n_evaluations=5, cv=3)
    assert "polyline" not in search._repr_html_()
    page = search.fit(X, Y)._repr_html_()
    points = re.search(r'points="([^"]*)"', page.rpartition("best score of")[2])[1].split()
    heights = [float(point.partition(",")[2]) for point in points]
    assert len(heights) == 5
    assert heights == sorted(heights, reverse=True)
