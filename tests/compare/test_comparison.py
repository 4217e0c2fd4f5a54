"""What a comparison makes of scores: tests, a table, a picture."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from scipy import stats

from reference import comparison as reference
from thresher.compare import Comparison
from thresher.compare._t_test import holm, paired_t_test

SCORES = {"plain": [0.80, 0.82, 0.78, 0.85], "better": [0.90, 0.91, 0.885, 0.925], "as good": [0.89, 0.92, 0.88, 0.92]}


@pytest.fixture
def found():
    return Comparison.from_scores(SCORES, measure="accuracy", about="4 made-up runs")


# --- tests -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 10, 50])
@pytest.mark.parametrize("shift", [0.0, 0.3, 3.0])
def test_the_plain_test_is_the_paired_t_test(n, shift):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(2, n))
    a += shift
    found = Comparison.from_scores({"a": a, "b": b})
    assert_allclose(found.p_value("a", "b"), stats.ttest_rel(a, b).pvalue, rtol=1e-10)
    assert_allclose(found.p_value("a", "b"), reference.t_test(a, b), rtol=1e-6, atol=1e-12)
    assert found.p_value("a", "b") == found.p_value("b", "a")


@pytest.mark.parametrize("n, n_train, n_test", [(2, 90, 10), (10, 75, 25), (100, 2, 1)])
def test_the_corrected_test_has_the_variance_of_nadeau_and_bengio(n, n_train, n_test):
    a, b = np.random.default_rng(n).normal([[0.9], [0]], size=(2, n))
    found = Comparison.from_scores({"a": a, "b": b}, test_ratio=n_test / n_train)
    slow = reference.t_test(a, b, n_train, n_test)
    assert_allclose(found.p_value("a", "b"), slow, rtol=1e-7)
    assert_allclose(found.p_value("a", "b", corrected=True), slow, rtol=1e-7)
    plain = found.p_value("a", "b", corrected=False)
    assert_allclose(plain, stats.ttest_rel(a, b).pvalue, rtol=1e-10)
    assert plain < slow


def test_equal_scores_are_not_told_apart_and_differences_without_doubt_are():
    third = [0.1 + 0.2, 0.7, 0.5]
    found = Comparison.from_scores({"a": [0.3, 0.7, 0.5], "b": third, "c": [0.2, 0.6, 0.4]}, test_ratio=0.3)
    assert third[0] != 0.3  # equal but for the last bit
    assert found.p_value("a", "b") == 1
    assert found.p_value("a", "a") == 1
    assert found.p_value("a", "c") < 1e-12
    assert paired_t_test(np.array([2.0, 2.0]), np.array([1.0, 1.0])) == 0


def test_holm_is_the_step_down_procedure():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = np.round(rng.random(rng.integers(1, 7)) ** 3, 2)
        assert_allclose(list(holm(dict(enumerate(p))).values()), reference.holm(p.tolist()), rtol=1e-10)
    assert holm({}) == {}
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx({"a": 0.06, "b": 0.03, "c": 0.06})


def test_p_values_of_many_pairs(found):
    one = {name: found.p_value("better", name) for name in ("plain", "as good")}
    assert found.p_values(correct_for_many=False) == one
    assert found.p_values() == holm(one)
    assert found.p_values("accuracy", against="plain", correct_for_many=False)["better"] == one["plain"]
    pairs = found.p_values(against="all", correct_for_many=False)
    assert set(pairs) == {("plain", "better"), ("plain", "as good"), ("better", "as good")}
    assert pairs["plain", "better"] == one["plain"]
    assert found.p_values(against="all") == holm(pairs)
    assert found.among_the_best() == ["better", "as good"]
    assert found.among_the_best(level=0.99) == ["better"]


def test_learners_may_be_called_best_or_all():
    found = Comparison.from_scores({"best": [1, 2, 3], "all": [4, 5.5, 6]})
    assert list(found.p_values(against="best")) == ["all"]
    assert list(found.p_values(against="all")) == ["best"]
    assert found.among_the_best()[-1] == "all"


def test_with_one_run_there_is_no_test():
    found = Comparison.from_scores({"a": [0.5], "b": [0.75]})
    for ask in (lambda: found.p_value("a", "b"), found.p_values):
        with pytest.raises(ValueError, match=r"^Comparison: a test needs at least two runs, got one\.$"):
            ask()
    assert np.isnan(found.std()["a"])
    assert found.among_the_best() == ["b"]
    assert str(found).splitlines() == ["   score", "a  0.5000", "b  0.7500 *", "", "* best"]
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["measures"]["score"]["best"] == "b"
    assert "**0.7500**" in found.markdown()


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_means_and_deviations(found):
    assert found.mean()["plain"] == pytest.approx(0.8125)
    assert found.std()["plain"] == pytest.approx(np.std(SCORES["plain"], ddof=1))
    assert (found.n_runs, found.measures, found.best()) == (4, ["accuracy"], "better")


def test_less_is_better_where_it_is_said():
    both = {"error": SCORES, "accuracy": SCORES}
    found = Comparison.from_scores(both, lower_is_better=["error"])
    assert (found.best(), found.best("accuracy")) == ("plain", "better")
    assert Comparison.from_scores(SCORES, lower_is_better=True).best() == "plain"
    ties = Comparison.from_scores({"b": [1, 2], "a": [2, 1]})
    assert ties.best() == "b"


def test_all_of_it_as_plain_data(found):
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert (told["n_runs"], told["test_ratio"], told["about"]) == (4, None, "4 made-up runs")
    learner = told["measures"]["accuracy"]["learners"]["plain"]
    assert learner["scores"] == SCORES["plain"]
    assert learner["p_value"] == found.p_values()["plain"]
    assert told["measures"]["accuracy"]["learners"]["better"]["p_value"] is None
    frame = found.to_frame()
    assert frame.columns.tolist() == ["learner", "run", "accuracy"]
    assert frame[frame.learner == "as good"].accuracy.tolist() == SCORES["as good"]


def test_a_measure_that_only_some_have():
    found = Comparison({"score": {"a": np.ones(2), "b": np.zeros(2)}, "features": {"a": np.array([3.0, 4.0])}})
    assert found.to_frame().features.isna().tolist() == [False, False, True, True]
    assert str(found).splitlines()[2].split() == ["b", "0", "±", "0", "-"]
    with pytest.raises(ValueError, match=r"^Comparison: the learners are 'a', got 'b'\.$"):
        found.p_value("a", "b", "features")


# --- tables and pictures ---------------------------------------------------------------------------------------------


def test_the_table_reads_well(found):
    assert str(found).splitlines() == [
        "4 made-up runs",
        "",
        "         accuracy",
        "plain    0.813 ± 0.030",
        "better   0.905 ± 0.017 *",
        "as good  0.902 ± 0.021 ~",
        "",
        "* best   ~ not significantly worse at 5% (paired t-test, Holm)",
    ]
    assert repr(found) == "<Comparison of plain, better, as good by accuracy over 4 runs>"


def test_the_table_of_some_measures():
    found = Comparison.from_scores({"f1": SCORES, "auc": SCORES, "seconds": SCORES}, about="runs")
    assert found.table("auc", "seconds").splitlines()[2].split() == ["auc", "seconds"]
    assert found.markdown("auc").splitlines()[2] == "|  | auc |"
    with pytest.raises(ValueError, match=r"measure must be one of 'f1', 'auc', 'seconds', got 'x'\.$"):
        found.table("f1", "x")


def test_the_table_in_markdown():
    scores = {"a|b": SCORES["plain"], "c_d": SCORES["better"]}
    found = Comparison.from_scores({"f1": scores, "seconds": scores}, lower_is_better=["seconds"], test_ratio=0.25)
    assert found.markdown().splitlines() == [
        "|  | f1 | seconds |",
        "| --- | ---: | ---: |",
        r"| a\|b | 0.813 ± 0.030 | 0.813 ± 0.030 |",
        r"| c\_d | **0.905 ± 0.017** | 0.905 ± 0.017 |",
        "",
        "Bold: the best, and those not significantly worse at 5% (paired corrected resampled t-test, Holm).",
    ]


@pytest.mark.parametrize(
    "values, shown",
    [
        ([1000.0, 1200.0], "1100 ± 141 *"),
        ([1e-9, 3e-9], "0.000000 ± 0.000000 *"),
        ([5.0, 5.0], "5 ± 0 *"),
        ([0.123456, 0.123456], "0.1235 ± 0.0000 *"),
    ],
)
def test_deviations_have_two_figures(values, shown):
    assert str(Comparison.from_scores({"a": values})).splitlines()[1].split("  ")[1] == shown


def test_names_do_not_steer_the_terminal():
    text = str(Comparison.from_scores({"a\x1b[31m\nb": [1, 2]}, about="\x1bx"))
    assert "\x1b" not in text
    assert text.count("\n") == 5


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_picture_is_saved(found, tmp_path, ending):
    path = tmp_path / f"box.{ending}"
    found.plot(path)
    assert path.stat().st_size > 1000


def test_the_boxes_are_quartiles_and_all_runs_are_there(found):
    axes = Figure().subplots()
    assert found.plot(ax=axes, measure="accuracy") is axes
    boxes = [(p.get_x(), p.get_x() + p.get_width()) for p in axes.patches]
    assert_allclose(boxes, [np.percentile(SCORES[name], [25, 75]) for name in SCORES])
    dots = [line.get_xdata() for line in axes.lines]
    assert_allclose(dots, [SCORES[name] for name in SCORES])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == list(SCORES)
    assert axes.get_title(loc="left") == "4 runs: better is best, 1 not significantly worse"


def test_far_runs_lie_beyond_the_lines():
    runs = np.array([0.0, 10, 11, 12, 13, 14])
    axes = Comparison.from_scores({"a": runs}).plot()
    low, high = axes.collections[0].get_segments()
    assert (low[0][0], high[1][0]) == (10, 14)


def test_without_matplotlib_a_sentence_says_so(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'^A picture needs matplotlib: pip install "thresher\[lab\]"\.$'):
        found.plot()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^Comparison.to_frame needs pandas: pip install pandas\.$"):
        found.to_frame()


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask, words",
    [
        (lambda c: c.mean("f1"), "Comparison: measure must be one of 'accuracy', got 'f1'."),
        (lambda c: c.p_value("plain", "x"), "Comparison: the learners are 'plain', 'better', 'as good', got 'x'."),
        (lambda c: c.p_values(against="x"), "Comparison: the learners are 'plain', 'better', 'as good', got 'x'."),
        (
            lambda c: c.p_value("plain", "better", corrected=True),
            "Comparison: the corrected t-test needs test_ratio, test rows over training rows.",
        ),
        (
            lambda c: c.p_values(corrected="yes"),
            "Comparison.p_value: corrected must be None or True or False, got 'yes'.",
        ),
        (lambda c: Comparison.from_scores({}), "scores must be a dict that is not empty, got {}."),
        (
            lambda c: Comparison.from_scores({"a": [1, 2], "b": [1]}),
            "Comparison.from_scores: all learners must have the same number of runs, got [1, 2].",
        ),
        (
            lambda c: Comparison.from_scores({"a": [1, np.nan]}),
            "Comparison.from_scores: scores of a must be a list of finite numbers, got [1, nan].",
        ),
        (
            lambda c: Comparison.from_scores({"a": [1, 2]}, lower_is_better=["x"]),
            "Comparison.from_scores: lower_is_better must name measures, got ['x'].",
        ),
        (
            lambda c: Comparison.from_scores({"a": [1, 2]}, test_ratio=-1),
            "Comparison.from_scores: test_ratio must be None or a number of at least 0, got -1.",
        ),
    ],
)
def test_refusals_are_one_sentence(found, ask, words):
    with pytest.raises(ValueError) as refused:
        ask(found)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
