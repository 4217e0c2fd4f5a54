from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from thresher.compare import SelectionFrequency

NAMES = np.array(["first", "$second$", "a \x1b[31mthird", "never", "fifth" + 60 * "h"], dtype=object)


def _found(**change):
    given = {
        "frequency": np.array([0.5, 1.0, 0.8, 0.0, 0.8]),
        "sign": np.array([1.0, -1.0, 0.5, 0.0, 1.0]),
        "mean_size": 3.1,
        "n_runs": 10,
        "n_rows": 2000,
        "n_drawn": 1000,
        "names": NAMES,
    }
    return SelectionFrequency(**given | change)


def test_stable_features_reach_the_threshold():
    found = _found()
    assert_array_equal(found.stable(), [1, 2, 4])
    assert_array_equal(found.stable(0.81), [1])
    assert_array_equal(found.stable(0.5), [0, 1, 2, 4])
    for n_runs in range(1, 200):  # a share of runs is the number that people write
        for times in (n_runs // 2, n_runs):
            assert len(_found(frequency=np.array([times]) / n_runs).stable(times / n_runs)) == 1
    assert len(_found(frequency=np.array([40.0]) / 50).stable(0.8)) == 1
    with pytest.raises(
        ValueError, match=r"SelectionFrequency.stable: threshold must be a number between 0 and 1, got 80"
    ):
        found.stable(80)


def test_the_most_frequent_come_first_and_earlier_ones_among_equals():
    assert_array_equal(_found().most_frequent(), [1, 2, 4, 0])
    assert_array_equal(_found().most_frequent(2), [1, 2])


def test_the_table_reads_well():
    assert str(_found()).splitlines() == [
        "10 runs on 1,000 of 2,000 rows: 3.1 of 5 features chosen on average, 3 in at least 80% of the runs",
        "",
        "feature                         chosen  sign",
        "$second$                          100%     -",
        "a �[31mthird                       80%   +/-",
        "fifthhhhhhhhhhhhhhhhhhhhhhhhh…     80%     +",
        "first                              50%     +",
    ]
    assert repr(_found()) == "<SelectionFrequency of 5 features over 10 runs>"


def test_a_long_table_says_what_is_left_out_and_one_without_signs_has_no_column_for_them():
    many = _found(frequency=np.arange(30) / 30, sign=None, names=None)
    lines = str(many).splitlines()
    assert lines[2:4] == ["feature  chosen", "x30         97%"]
    assert len(lines) == 3 + 20 + 1
    assert lines[-1] == "and 9 more, each in 30% of the runs or fewer"
    assert str(_found(frequency=np.zeros(3), sign=np.zeros(3), names=None)).endswith("chosen  sign")


# --- the picture -----------------------------------------------------------------------------------------------------


def test_bars_are_as_long_as_features_are_frequent_and_pale_below_the_line():
    axes = _found().plot()
    bars = axes.patches
    assert_allclose([bar.get_width() for bar in bars], [1.0, 0.8, 0.8, 0.5])
    assert_allclose([bar.get_y() + bar.get_height() / 2 for bar in bars], range(4))
    assert axes.yaxis_inverted()
    colours = [to_hex(bar.get_facecolor()) for bar in bars]
    assert colours[:3] == ["#d55e00", "#5c6570", "#0072b2"]  # below 0, of both signs, above 0
    assert colours[3] not in colours[:3]
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels == ["$second$", "a �[31mthird", "fifth" + 26 * "h" + "…", "first"]
    assert [text.get_text() for text in axes.texts] == ["100%", "80%", "80%", "50%"]
    assert {line.get_xdata()[0] for line in axes.lines} == {0.8}
    assert axes.get_title(loc="left") == "3 of 5 features chosen in at least 80% of the runs"
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["weight above 0", "weight below 0", "sign changes"]


def test_threshold_and_number_of_bars_are_the_users():
    axes = _found(sign=None).plot(n=2, threshold=0.3)
    assert len(axes.patches) == 2
    assert axes.get_legend() is None
    assert {line.get_xdata()[0] for line in axes.lines} == {0.3}
    assert axes.get_title(loc="left") == "4 of 5 features chosen in at least 30% of the runs; 2 shown"
    assert len(_found(frequency=np.zeros(3)).plot().patches) == 0


@pytest.mark.parametrize("ending, begins", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_ending_says_how_to_save(tmp_path, ending, begins):
    path = tmp_path / f"found.{ending}"
    _found().plot(path)
    assert path.read_bytes().startswith(begins)


def test_axes_of_the_user_are_drawn_on(tmp_path):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert _found().plot(tmp_path / "both.svg", ax=right) is right
    assert len(right.patches) == 4
    assert not left.patches
    assert ">$second$<" in (tmp_path / "both.svg").read_text()
    assert not any(tick.get_parse_math() for tick in right.get_yticklabels())


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'^A picture needs matplotlib: pip install "thresher\[lab\]".$'):
        _found().plot()
