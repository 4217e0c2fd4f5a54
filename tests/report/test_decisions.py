"""Other thresholds, against counting."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from report import examples
from thresher.confidence import SBCWClassifier
from thresher.online import AROWClassifier, CSOALClassifier, MBPAClassifier
from thresher.report import Report
from thresher.training._records import HeldOut


def scored(seed=0, n=600, share=0.1, ties=False):
    """Rows of which a share is of class "b", with scores that are higher for it."""
    rng = np.random.default_rng(seed)
    rare = rng.random(n) < share
    scores = rng.normal(size=n) + 2 * rare - 1
    return np.where(rare, "b", "a"), np.round(scores) if ties else scores


def section_of(y, scores, model=None, asked=None, predicted=None):
    model = AROWClassifier(random_state=0).fit([[0.0], [1.0]], ["a", "b"]) if model is None else model
    predicted = np.where(scores > 0, "b", "a") if predicted is None else predicted
    report = Report(model, held_out=HeldOut("x", y, predicted, scores), asked=asked)
    return report.to_dict()["sections"].get("decisions"), report


@pytest.mark.parametrize("ties", [False, True])
def test_counts_are_those_of_rows_above_each_threshold(ties):
    y, scores = scored(ties=ties)
    found, _ = section_of(y, scores)
    assert (found["class"], found["rows"], found["of the class"]) == ("b", 600, np.sum(y == "b"))
    for i, threshold in enumerate(found["threshold"]):
        called = scores > threshold
        hits = np.sum(called & (y == "b"))
        assert (found["called"][i], found["found"][i]) == (called.sum(), hits)
        assert found["recall"][i] == pytest.approx(hits / np.sum(y == "b"))
        assert found["precision"][i] == (pytest.approx(hits / called.sum()) if called.any() else None)
    assert found["in use"]["threshold"] == 0
    assert found["in use"]["called"] == np.sum(scores > 0)
    assert 0 in found["threshold"]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("ratio", [0.2, 1, 7.5])
def test_no_threshold_costs_less_than_the_best(ratio, ties):
    y, scores = scored(ties=ties)
    found, _ = section_of(y, scores, asked={"cost": ratio})
    (cost,) = found["costs"]

    def at(threshold):
        called = scores > threshold
        return (ratio * np.sum(~called & (y == "b")) + np.sum(called & (y == "a"))) / len(y)

    assert (cost["name"], cost["ratio"]) == ("as requested", ratio)
    assert_allclose(cost["cost"], [at(threshold) for threshold in found["threshold"]])
    assert cost["in use"] == pytest.approx(at(0))
    every = [at(threshold) for threshold in [*scores, -100]]
    assert cost["best"]["cost"] == pytest.approx(min(every))
    assert at(cost["best"]["threshold"]) == pytest.approx(min(every))
    assert cost["constant"] == pytest.approx(min(at(100), at(-100)))


def test_the_first_class_is_looked_for_if_it_is_the_rare_one():
    y, scores = scored()
    swapped = np.where(y == "a", "b", "a")
    scores[5] = 0.0  # not above 0, so of the first class
    found, _ = section_of(swapped, -scores)
    assert found["class"] == "a"
    assert found["of the class"] == np.sum(y == "b")
    assert found["in use"]["called"] == np.sum(scores >= 0)
    place = found["threshold"].index(0)
    assert (found["called"][place], found["found"][place]) == (np.sum(scores >= 0), np.sum((scores >= 0) & (y == "b")))


def test_without_a_known_ratio_mistakes_or_classes_count_alike():
    y, scores = scored()
    found, _ = section_of(y, scores)
    balanced = np.sum(y == "a") / np.sum(y == "b")
    assert [cost["name"] for cost in found["costs"]] == ["all mistakes count the same", "both classes count the same"]
    of_share, _ = section_of(y, scores, SBCWClassifier(cost=0.4).fit([[0.0], [1.0]], ["a", "b"]))
    assert of_share["costs"] == found["costs"]
    assert_allclose([cost["ratio"] for cost in found["costs"]], [1, balanced])


@pytest.mark.parametrize(
    "model, name, ratio",
    [
        (AROWClassifier(class_weight={"b": 6.0, "a": 2.0}, random_state=0), "by class_weight", 3.0),
        (AROWClassifier(cost=4.0, random_state=0), "by cost", 4.0),
        (AROWClassifier(cost={"a": 0.5, "b": 2.0}, random_state=0), "by cost", 4.0),
        (CSOALClassifier(cost=4.0, random_state=0), "by cost", 4.0),
        (MBPAClassifier(cost=4.0, random_state=0), "by cost", 4.0),
    ],
)
def test_a_ratio_that_the_learner_has_is_known(model, name, ratio):
    y, scores = scored()
    model.fit([[0.0], [1.0]], ["a", "b"])
    (cost,) = section_of(y, scores, model)[0]["costs"]
    assert (cost["name"], cost["ratio"]) == (name, ratio)
    (cost,) = section_of(np.where(y == "a", "b", "a"), -scores, model)[0]["costs"]
    assert cost["ratio"] == pytest.approx(1 / ratio)


def test_only_a_clear_gain_is_told():
    y, scores = scored(n=4000)
    says = section_of(y, scores, asked={"cost": 100})[0]["says"]
    assert "If a missed row costs 100 times as much as a false alarm (as requested), a threshold of −" in says
    assert says.endswith("A threshold chosen on these rows does somewhat worse on others.")
    says = section_of(y, scores, asked={"cost": 1e6})[0]["says"]
    assert "found among" in says
    says = section_of(y, np.where(y == "b", 1.0, -1.0))[0]["says"]
    assert says.count("no other threshold costs clearly less") == 2
    assert "somewhat worse" not in says
    says = section_of(y, np.where(y == "b", 1.0, -1.0) * 0 + 1, asked={"cost": 0.01})[0]["says"]
    assert "classifying no row as 'b' costs" in says


@pytest.mark.parametrize("n_missed, is_clear", [(3, False), (4, True)])
def test_a_gain_is_clear_if_chance_seldom_makes_it(n_missed, is_clear):
    """Rows of the class just below the threshold: all of n coins fall on one side, n > 1.96 sqrt(n)."""
    y = np.repeat(["a", "b"], [360, 40])
    scores = np.where(y == "b", 1.0, -1.0)
    scores[-n_missed:] = -0.1
    found, _ = section_of(y, scores, asked={"cost": 1})
    assert found["costs"][0]["best"]["found"] == 40
    assert found["costs"][0]["is clear"] is is_clear
    assert ("costs clearly less" in found["says"]) is not is_clear


def test_a_threshold_other_than_0_is_found_and_answers_without_one_are_left_alone():
    y, scores = scored()
    found, _ = section_of(y, scores, predicted=np.where(scores > 0.7, "b", "a"))
    assert found["in use"]["called"] == np.sum(scores > 0.7)
    assert scores[scores <= 0.7].max() < found["in use"]["threshold"] < scores[scores > 0.7].min()
    assert section_of(y, scores, predicted=np.where(np.arange(600) % 2, "b", "a"))[0] is None
    assert section_of(np.full(600, "a"), scores)[0] is None
    assert "decisions" not in Report(**examples.several()).to_dict()["sections"]


def test_a_ratio_that_is_none_is_refused():
    y, scores = scored()
    with pytest.raises(ValueError, match=r"Report: cost must be a number above 0, got -1\."):
        section_of(y, scores, asked={"cost": -1})


def test_figures_and_tables_mark_the_threshold_in_use():
    y, scores = scored()
    found, report = section_of(y, scores)
    page, text = report.to_html(), report.to_text(["decisions"])
    called, hits = found["in use"]["called"], found["in use"]["found"]
    for words in (
        f"called so: {called}",
        f"found: {hits} of {found['of the class']}",
        "Recall and precision",
        "in use",
    ):
        assert words in page
    assert "  0  in use " in text
    assert "cost at 1 " in text
    assert max(map(len, text.splitlines())) <= 80
    silent, report = section_of(y, scores - 10)
    assert silent["in use"]["precision"] is None
    assert "0 rows are classified as 'b'" in silent["says"]
    assert "nan" not in report.to_html()
