"""The report for a terminal, and numbers in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from report import examples
from thresher._figures import _wording as _words
from thresher._figures import unmarked
from thresher.online import AROWClassifier
from thresher.report import _SECTIONS, Report, _make_section, _text
from thresher.report._measures import Estimate


@pytest.mark.parametrize("example", examples.EVERY)
def test_lines_fit_a_terminal(example):
    report = Report(**examples.EVERY[example]())
    text = report.to_text()
    assert max(map(_text._width, text.splitlines())) <= 80
    assert text.endswith("\n")
    flat = " ".join(text.split())
    for name, section in report.to_dict()["sections"].items():
        if name not in ("map", "regions"):
            assert section["title"] in text
            assert section["says"] in flat


def test_sections_that_are_not_asked_for_are_not_made(monkeypatch):
    made = []

    def make(name, subject):
        made.append(name)
        return _make_section(name, subject)

    monkeypatch.setattr("thresher.report._make_section", make)
    X = np.random.default_rng(0).normal(size=(60, 3))
    report = Report(AROWClassifier(random_state=0).fit(X, X[:, 0] > 0), sample=(X, X[:, 0] > 0))
    text = report.to_text(["features"])
    assert "features" in made
    assert not {"map", "regions", "sparsity", "curves", "explained_rows"} & set(made)
    assert len(report.to_dict()["sections"]) > 5
    assert sorted(made) == sorted(_SECTIONS)  # each once
    assert report.to_text(["features"]) == text


def test_wide_letters_and_long_names_stay_in_their_columns():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.array(["漢字" * 20, "é́" * 50, "c" * 190])[X.argmax(axis=1)]
    model = AROWClassifier(random_state=0).fit(X, y)
    text = Report(model, sample=(X, y), asked={"command": "thresher"}).to_text()
    tables = [line for line in text.splitlines() if line.startswith("  ")]
    assert max(map(_text._width, tables)) <= 80


def test_the_effect_of_a_feature_stands_in_full_beside_its_deviation():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["remark=asked about prices", "since month=September"])
    y = np.where(X.iloc[:, 0] > 0, "yes", "no")
    text = Report(AROWClassifier(random_state=0).fit(X, y), sample=(X, y)).to_text(["features"])
    assert sum(line.endswith("pushes towards 'yes'") and " ± " in line for line in text.splitlines()) > 0
    assert "…" not in text


def test_letters_are_as_wide_as_a_terminal_makes_them():
    assert [_text._width(words) for words in ("abc", "漢字", "e\N{COMBINING ACUTE ACCENT}")] == [3, 4, 1]
    assert _text._cut("漢字漢字", 5) == "漢字…"


def test_a_program_keeps_its_lines():
    text = Report(**examples.binary()).to_text()
    assert "  import thresher\n\n  if True:\n      pass\n" in text


def test_bars_and_sparks():
    assert _text._bar(1, 4) == "████"
    assert _text._bar(0.5, 4) == "██"
    assert _text._bar(0, 4) == ""
    assert _text._bar(1 / 32, 4) == "▏"
    assert _text._spark([0, 1, 2]) == "▁▅█"
    assert _text._spark([0, 0]) == "▁▁"
    assert len(_text._spark(np.arange(1000))) == 60


@pytest.mark.parametrize(
    "share, said",
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.1214, "12.1 %"),
        (0.05, "5.0 %"),
        (0.0404, "4.0 %"),
        (0.004, "0.40 %"),
        (0.00041, "0.041 %"),
        (0.985, "98.5 %"),
        (0.9965, "99.65 %"),
        (0.99994, "99.994 %"),
        (0.99999995, ">99.9999 %"),
        (3e-8, "<0.0001 %"),
        (float("nan"), "?"),
    ],
)
def test_percent(share, said):
    assert _words.percent(share) == said


@pytest.mark.parametrize(
    "value, said",
    [
        (0, "0"),
        (12, "12"),
        (3.0, "3"),
        (1234567, "1,234,567"),
        (3.14159, "3.142"),
        (-0.25, "−0.25"),
        (12345.67, "12,346"),
        (1e-5, "1e−5"),
        (1.23456e12, "1,234,560,000,000"),
        (2.5e-7, "2.5e−7"),
        (float("inf"), "∞"),
        (float("nan"), "?"),
        ("hinge", "hinge"),
        (True, "True"),
    ],
)
def test_number(value, said):
    assert _words.number(value) == said


def test_years_have_no_mark_between_their_digits():
    values = (1939, 2024.0, -1500, 999, 10_000, 1939.5, "Köln")
    assert [_words.column_value(v) for v in values] == ["1939", "2024", "−1500", "999", "10,000", "1,940", "Köln"]


def test_score_shows_what_is_missing_to_one():
    assert [_words.score(v) for v in (0.98, 0.9949, 0.99972, 1.0, 0.5)] == [
        "0.980",
        "0.995",
        "0.9997",
        "1.000",
        "0.500",
    ]


def test_shares_as_people_say_them():
    assert [_words.one_in(v) for v in (0.05, 0.001, 0.3, 0.5, 0)] == [
        "1 row in 20",
        "1 row in 1,000",
        "1 row in 3.3",
        "50.0 % of rows",
        "no row",
    ]


def test_sizes_and_times():
    assert [_words.bytes_of(n) for n in (0, 999, 1000, 12_345_678, 5e12, 5e16)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "12 MB",
        "5.0 TB",
        "50000 TB",
    ]
    assert [_words.seconds_of(s) for s in (0.05, 12, 600, 10_000)] == ["50 ms", "12 s", "10 min", "2.78 h"]


def test_lists():
    assert _words.listed([]) == "none"
    assert _words.listed(["a"]) == "a"
    assert _words.listed(["a", "b", "c"]) == "a, b and c"
    assert _words.listed(["a", "b", "c"], 2) == "a, b and 1 more"


def test_labels_are_cleaned():
    assert _words.label(np.float64(2.0)) == "2"
    assert _words.label(np.str_("a\nb\t\x1b[0m\u202e\ud800")) == "a b \ufffd[0m\ufffd\ufffd"
    assert _words.label("می\u200cخواهم") == "می\u200cخواهم"
    assert len(_words.label("x" * 10**6)) == 200
    assert _words.lines("a\x1b\n\tb") == "a\ufffd\n    b"


def test_plain_values():
    given = {1.0: np.array([1, 2]), "e": Estimate(0.5, float("nan"), 1.0), "t": (np.int64(1), None, True)}
    assert _words.plain(given) == {
        "1": [1, 2],
        "e": {"value": 0.5, "low": None, "high": 1.0},
        "t": [1, None, True],
    }


def test_intervals_in_words():
    assert _words.interval(Estimate(0.121, 0.114, 0.129)) == "between 11.4 % and 12.9 %, 95 % interval"


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        (r"the largest :math:`\mu_j^2 / \Sigma_{jj}` of ``coef_`` [2]_", "the largest μ_j² / Σ_jj of coef_"),
        (
            r"The formula above, from [1]_, or :math:`\sum H + \gamma f^\top L f`",
            "The formula above, or ∑ H + γ fᵀ L f",
        ),
        (r"Width of :class:`~thresher.kernels.RBF`, :math:`\exp(-g \|x - z\|^2)`", "Width of RBF, exp(-g ‖x - z‖²)"),
    ],
)
def test_docstrings_are_written_without_their_markup(doc, said):
    assert unmarked(doc) == said
