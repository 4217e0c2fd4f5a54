"""Scripts of the papers: each is listed, has a place for its output, and runs from a fresh clone without data."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

_main = pytest.importorskip("papers.__main__")
ROOT = Path(__file__).parents[2]
SCRIPTS = _main.scripts()
OVERVIEW = (ROOT / "papers" / "README.md").read_text(encoding="utf-8")

CHEAP = {  # the smallest settings of scripts that take a few seconds with them
    "yang2011.table_5_2": ["--repeats", "1"],
    "jumutc2016.table_4_2": ["--repeats", "1", "--evaluations", "2", "--sets", "spambase"],
    "jumutc2016.ripley": ["--repeats", "1", "--evaluations", "2"],
}
LONGER = {
    "tan2016.table_2": ["--orders", "2", "--rows", "1000"],
    "liu2019.figure_1": ["--orders", "2"],
    "liu2019.table_2": ["--orders", "2", "--batches", "256"],
    "liu2019.table_3": ["--orders", "2", "--ratios", "1:5"],
    "liu2019.table_4": ["--orders", "2", "--ratios", "1:5"],
    "yang2011.figure_5_5": ["--repeats", "1", "--labels", "20"],
    "yang2011.figure_6_3": ["--repeats", "2"],
    "yang2011.table_3_2": ["--repeats", "1"],
    "yang2011.table_4_1": ["--repeats", "1"],
    "yang2011.table_6_4": ["--repeats", "1"],
    "yang2011.table_6_5": ["--repeats", "1", "--sets", "heart"],
    "jumutc2016.figure_4_7": ["--repeats", "1", "--evaluations", "2"],
    "jumutc2016.table_2_2": ["--evaluations", "2"],
    "jumutc2016.table_2_11": ["--splits", "1", "--labels", "10"],
    "jumutc2016.table_2_12": ["--runs", "1", "--evaluations", "2"],
    "jumutc2016.table_3_2": ["--repeats", "1"],
    "jumutc2016.table_3_6": ["--repeats", "1", "--evaluations", "4"],
    "jumutc2016.table_4_6": ["--seeds", "1"],
    "tan2016.figure_1": ["--orders", "2"],
}
IN_FULL = {"yang2011.table_3_1"}  # has no setting of a few seconds


def run(*arguments):
    """What a module prints, in an environment without real data."""
    kept = {key: value for key, value in os.environ.items() if key != "THRESHER_DATA"}
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", sorted((ROOT / "papers").glob("*/[!_]*.py")), ids=lambda path: path.stem)
def test_a_script_says_how_long_it_takes_and_has_a_place_for_its_output(path):
    name = f"{path.parent.name}.{path.stem}"
    assert name in SCRIPTS
    page = (path.parent / "README.md").read_text(encoding="utf-8")
    marks = re.findall(rf"<!-- {path.stem}: (begin|end) -->", page)
    assert marks == ["begin", "end"]
    assert f"`python -m papers.{name}" in page


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_overview_has_a_line_for_every_script(name):
    paper, script = name.split(".")
    lines = [line for line in OVERVIEW.splitlines() if line.startswith(f"| [{name}]({paper}/{script}.py) |")]
    assert len(lines) == 1
    *_, again, minutes = lines[0].strip("| ").split(" | ")
    assert again.split(":")[0] in ("yes", "partly", "no")
    assert int(minutes) == SCRIPTS[name]


def test_the_overview_has_no_line_without_a_script():
    assert set(re.findall(r"^\| \[(\S+)\]\(\S+\.py\)", OVERVIEW, re.MULTILINE)) == set(SCRIPTS)


def test_pictures_that_pages_show_are_there():
    for page in (ROOT / "papers").glob("*/README.md"):
        for picture in re.findall(r"!\[.*?\]\((\S+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / picture).exists(), picture


def test_the_list_names_all_and_their_minutes():
    found = dict(re.findall(r"^(\S+) +(\d+) min$", run("papers", "--list"), re.MULTILINE))
    assert found == {name: str(minutes) for name, minutes in SCRIPTS.items()}


def test_an_unknown_script_is_refused():
    with pytest.raises(AssertionError, match=r"there is no tan2017; there are "):
        run("papers", "--only", "tan2017")


def test_output_is_written_between_the_marks_and_nowhere_else(tmp_path, monkeypatch):
    page = tmp_path / "yang2011" / "README.md"
    page.parent.mkdir()
    marked = "before\n<!-- a: begin -->\nold\n<!-- a: end -->\n<!-- ab: begin -->\nkept\n<!-- ab: end -->\nafter\n"
    page.write_text(marked)
    monkeypatch.setattr(_main, "HERE", tmp_path)
    _main._write("yang2011.a", r"\1 new ")
    assert page.read_text() == marked.replace("old", "```text\n\\1 new\n```")
    with pytest.raises(SystemExit, match="must have one pair of markers 'b', found 0"):
        _main._write("yang2011.b", "new")


def test_settings_are_known_for_all_scripts():
    assert set(SCRIPTS) == set(CHEAP) | set(LONGER) | IN_FULL


@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_script_runs_on_generated_rows(name):
    text = run(f"papers.{name}", *CHEAP[name])
    assert "generated rows in place of" in text
    assert "published figures do not apply" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", LONGER)
def test_a_longer_script_runs_without_data(name, tmp_path):
    picture = tmp_path / "picture.svg"
    text = run(f"papers.{name}", *LONGER[name], "--picture", str(picture))
    assert " +- " in text
    assert "nan" not in text.replace("Iris", "")
    if name == "yang2011.figure_6_3":
        assert picture.read_text(encoding="utf-8").count("</svg>") == 1


def test_the_largest_correlation_is_that_of_all_thresholds():
    from papers.yang2011.table_3_2 import largest_correlation

    rng = np.random.default_rng(0)
    y, scores = rng.choice([-1, 1], 60, p=[0.8, 0.2]), rng.integers(0, 9, 60).astype(float)
    expected = max(np.corrcoef(y, scores > t)[0, 1] for t in np.unique(scores)[:-1])
    assert largest_correlation(y, scores) == pytest.approx(expected, rel=1e-12)
    assert largest_correlation(y, np.zeros(60)) == 0.0


def test_letters_pairs_and_triples_are_one_feature_each():
    from papers.yang2011 import table_3_2

    groups = table_3_2.GROUPS
    letters = np.random.default_rng(1).integers(0, 4, (5, 7))
    X = table_3_2.features(letters).toarray()
    assert X.shape == (5, 2604)
    for k, term in enumerate(table_3_2.TERMS):
        block = X[:, groups == k]
        np.testing.assert_array_equal(block.sum(axis=1), 1)
        same = (letters[:, None, list(term)] == letters[None, :, list(term)]).all(axis=2)
        np.testing.assert_array_equal(block @ block.T, same)


@pytest.mark.parametrize("with_replacement", [False, True])
def test_the_least_error_is_that_of_the_best_rule(with_replacement):
    from papers.jumutc2016.table_3_2 import least_error

    from thresher.datasets import make_flipped_gaussians

    X, y = make_flipped_gaussians(400_000, flips=0.35, with_replacement=with_replacement, random_state=0)
    best = X @ (np.array([0.5, -3.0]) / [0.2, 3.0]) > 0  # the difference of the means over the variances
    assert 100 * np.mean(best != (y == 1)) == pytest.approx(least_error(0.35, with_replacement), abs=0.25)


def test_the_error_of_a_cost_is_its_distance_from_the_last_choices():
    from papers.liu2019.table_4 import N_LAST, cost_error

    costs, measures = np.array([0.55, 0.6, 0.65]), np.array([0.2, 0.5, 0.4])
    history = np.array([0.55] * 9 + [0.6] * (N_LAST // 2) + [0.65] * (N_LAST // 2))
    assert cost_error(costs, measures, history) == pytest.approx(0.025)
    assert cost_error(costs, measures, np.array([0.6, 0.6])) == pytest.approx(0.0)


def test_a_course_has_predictions_made_before_learning():
    from papers._data import Rows
    from papers.liu2019.figure_1 import SIZE, course

    class Remembers:
        """Knows the rows that it has learned from, and takes others for the rare class."""

        def __init__(self):
            self.known = set()

        def decision_function(self, X):
            return np.array([-1.0 if x in self.known else 1.0 for x in X[:, 0]])

        def predict(self, X):
            return (self.decision_function(X) > 0).astype(int)

        def partial_fit(self, X, y, classes):
            self.known.update(X[:, 0])

    n = 3 * SIZE
    y = (np.arange(n) % 4 == 0).astype(int)
    model = Remembers()
    measures = course(model, Rows(np.arange(n)[:, None], y, None, None), seed=0)
    order = np.random.default_rng(0).permutation(n)
    share = [y[order][SIZE:end].mean() for end in (2 * SIZE, n)]  # every row is new, so all are called positive
    np.testing.assert_allclose(measures[:, 0], [2 * p / (1 + p) for p in share])
    np.testing.assert_allclose(measures[:, 1], 0.5)
    np.testing.assert_allclose(measures[:, 2], share)
    assert len(model.known) == n
