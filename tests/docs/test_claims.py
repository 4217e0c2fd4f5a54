"""Every claim of README.md names the test or the command that shows it, and the claims that need few rows are tried."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from thresher import demo, registry
from thresher.datasets import make_sparse_stream
from thresher.online import AROWClassifier

ROOT = Path(__file__).parents[2]
PAGE = " ".join(re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", (ROOT / "README.md").read_text("utf-8")).split())

CLAIMS = {
    "It learns sparse linear, additive and kernel models.": "docs/which-method.md",
    "Linear models learn from files and streams of any size.": (
        "tests/streams/test_memory.py::test_memory_does_not_grow_with_the_file"
    ),
    "200 of 100,000 features find half of the rare rows with few false alarms": "docs/figures/report.py",
    "learn from a generated 100 MB stream in four ways": (
        "tests/test_demo.py::test_the_demo_shows_four_learners_and_what_they_found"
    ),
    "four minutes on two cores": "tests/tiers.py",
    "To come within half a point of the least error": "docs/figures/front_page.py",
    "Models are sparse after every row.": (
        "tests/dual_averaging/test_selection.py::test_a_long_stream_in_chunks_of_100_stays_sparse"
    ),
    "Any chunking of the stream gives the same model, bit for bit.": (
        "tests/test_laws.py::test_any_split_into_batches_is_one_pass_to_the_bit"
    ),
    "After a kill, `--resume` ends in the same model file, byte for byte.": (
        "tests/test_kill.py::test_killed_at_any_moment_and_resumed_it_ends_in_the_same_model"
    ),
    "Online learners choose their step size during the one pass.": (
        "tests/test_self_tuned.py::test_candidates_are_plain_learners_of_scaled_rows"
    ),
    "`predict_proba` is calibrated on rows that were predicted before they were learned from.": (
        "tests/test_calibration.py::test_scores_are_counted_before_their_rows_are_learned_from"
    ),
    "Confidence-weighted learners find one positive in a thousand rows by a few dozen features.": (
        "docs/start-streams.md"
    ),
    "Published methods for each, with the tables of the papers computed again.": "papers/README.md",
    "CPU time, one thread for all, imports and compiling not counted.": "benchmarks/__main__.py",
    "Kernel machines need all rows in memory.": (
        "tests/docs/test_claims.py::test_kernel_machines_do_not_learn_from_streams"
    ),
    "Online learners need mixed rows.": (
        "tests/docs/test_claims.py::test_a_file_sorted_by_class_is_learned_badly_and_looks_too_good"
    ),
    "`fit` in several passes trains a few more models": (
        "tests/docs/test_claims.py::test_a_fit_without_probabilities_trains_no_other_models"
    ),
    "thresher is built and tested on Linux only.": "pyproject.toml",
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_are_on_the_page_and_have_a_test_or_a_command(claim):
    assert claim in PAGE
    path, _, test = CLAIMS[claim].partition("::")
    assert (ROOT / path).exists()
    assert not test or f"def {test}(" in (ROOT / path).read_text("utf-8")


def test_no_feature_and_no_limit_is_claimed_without_a_test():
    """Rows of the table of what only this library has, and limits."""
    features = re.search(r"\| --- \| --- \|(.*?)## Speed", PAGE)[1].split(" | |")
    limits = re.search(r"## Limits - (.*?) ## More", PAGE)[1].split(" - ")
    assert (len(features), len(limits)) == (6, 4)
    for text in (*features, *limits):
        assert any(claim in text for claim in CLAIMS), text


def test_the_demo_is_as_large_as_the_page_says():
    assert f"{demo.N_ROWS:,} rows with {demo.N_FEATURES:,} columns" in PAGE
    assert len(demo.LEARNERS) == 4


def test_kernel_machines_do_not_learn_from_streams():
    machines = [method for method in registry.methods() if method.cls.__module__.startswith("thresher.kernels")]
    assert machines
    assert not any(hasattr(method.cls, "partial_fit") for method in machines)


def test_a_file_sorted_by_class_is_learned_badly_and_looks_too_good():
    X, y = next(iter(make_sparse_stream(12_000, 3_000, n_relevant=30, positives=0.5, batch_size=12_000).batches))
    order = np.argsort(y[:8_000], kind="stable")
    mixed, in_order = (
        AROWClassifier().partial_fit(X[rows], y[rows], classes=[0, 1]) for rows in (np.arange(8_000), order)
    )
    assert in_order.score(X[8_000:], y[8_000:]) < mixed.score(X[8_000:], y[8_000:]) - 0.05
    progressive = in_order.n_mistakes_ / 8_000
    assert progressive < 0.5 * (1 - in_order.score(X[8_000:], y[8_000:]))


def test_a_fit_without_probabilities_trains_no_other_models(monkeypatch):
    X, y = next(iter(make_sparse_stream(2_000, 500, n_relevant=20, positives=0.5, batch_size=2_000).batches))
    scored = []
    original = AROWClassifier._scores_of_fold
    monkeypatch.setattr(AROWClassifier, "_scores_of_fold", lambda *args: scored.append(1) or original(*args))
    AROWClassifier(max_iter=2, probability="none").fit(X, y)
    assert not scored
    AROWClassifier(max_iter=2).fit(X, y)
    assert len(scored) > 1
