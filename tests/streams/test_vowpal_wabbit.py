"""Vowpal Wabbit's text: rows against a slow reader, recognition, weights, names, and models from end to end."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reference.vw_text import column_of, read_vw_line
from stream_files import COMPRESSORS, vw_text, write
from thresher import _core, auto, distributed
from thresher.cli import main
from thresher.dual_averaging import FTRLClassifier
from thresher.inspection import features_that_matter
from thresher.online import AROWClassifier
from thresher.paths import penalty_path
from thresher.persistence import load_model, save_model
from thresher.streams import _source, open_stream, read_svmlight
from thresher.streams._files import format_of
from thresher.training import Interrupted, evaluate, look, read_all, train

WIDTH = 1 << 18
BAR = ["|", "|f ", "|words:2 ", "| ", "|f:0.5 "]

names = st.text(st.characters(codec="utf-8", exclude_characters=" \t:|\n\r"), max_size=12) | st.integers(0, 9).map(str)
numbers = st.floats(-1e6, 1e6).map(repr) | st.integers(-5, 5).map(str)
features = st.builds(lambda name, value: name + value, names, st.just("") | numbers.map(":{}".format))
spaces = st.builds(lambda bar, words: bar + " ".join(words), st.sampled_from(BAR), st.lists(features, max_size=5))
heads = st.sampled_from(["1 ", "-1 2 ", "0.5 0 0 ", "", "'tag", "1 1 'tag ", "-1 3 word", "1 0.25 0 x"])
lines = st.builds(lambda head, rest: head + " ".join(rest), heads, st.lists(spaces, min_size=1, max_size=3))


def rows_of(*parts):
    """Rows of the core's parser as plain values; NaN is None."""
    found = []
    for targets, weights, values, columns, starts, *_ in parts:
        for i, (target, weight) in enumerate(zip(targets.tolist(), weights.tolist(), strict=True)):
            pairs = zip(columns[starts[i] : starts[i + 1]].tolist(), values[starts[i] : starts[i + 1]], strict=True)
            found.append((None if np.isnan(target) else target, weight, list(pairs)))
    return found


def expected(text: bytes, n_features=WIDTH, dtype=np.float64):
    rows = [read_vw_line(line, n_features, dtype) for line in text.split(b"\n")]
    return [(None if np.isnan(row[0]) else row[0], *row[1:]) for row in rows if row]


@pytest.fixture
def call(capsys):
    def run(*arguments):
        assert main([str(argument) for argument in arguments]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


@settings(max_examples=200, deadline=None)
@given(st.lists(lines, max_size=6), st.sampled_from([1, 7, 1000, WIDTH, 2**30]), st.booleans())
def test_rows_are_those_of_a_slow_reader(written, n_features, float32):
    text = "\n".join(written).encode()
    part = _core.parse_vw(text, n_features=n_features, float32=float32, skip_malformed=True)
    assert rows_of(part) == expected(text, n_features, np.float32 if float32 else np.float64)
    assert part[3].dtype == np.int32


@settings(max_examples=100, deadline=None)
@given(st.lists(lines, max_size=5), st.lists(st.integers(1, 40), min_size=1), st.sampled_from([-1, 1, 2]))
def test_any_cut_gives_the_same_rows(written, sizes, max_rows):
    text, parts, rest, place, turn = "\n".join(written).encode(), [], b"", 0, 0
    while place < len(text) or rest:
        size = sizes[turn % len(sizes)]
        rest, place, turn = rest + text[place : place + size], place + size, turn + 1
        final = place >= len(text)
        part = _core.parse_vw(rest, n_features=WIDTH, final=final, skip_malformed=True, max_rows=max_rows)
        parts, rest = [*parts, part], rest[part[5] :]
    assert rows_of(*parts) == expected(text)


@pytest.mark.parametrize("block", [3, 64, 1 << 21])
@pytest.mark.parametrize("suffix", ["", *COMPRESSORS])
def test_streams_of_any_block_size_are_the_whole_text(tmp_path, monkeypatch, block, suffix):
    monkeypatch.setattr(_source, "_BLOCK", block)
    text = vw_text(50)
    path = write(tmp_path / f"a.vw{suffix}", COMPRESSORS.get(suffix, bytes)(text))
    batches = list(open_stream(path, batch_size=7))
    X = sparse.vstack([batch.X for batch in batches])
    y = np.concatenate([batch.y for batch in batches])
    weight = np.concatenate([np.ones(len(batch)) if batch.weight is None else batch.weight for batch in batches])
    assert X.shape == (50, WIDTH)
    assert rows_of((y, weight, X.data, X.indices, X.indptr)) == expected(text)


# --- the format -------------------------------------------------------------------------------------------------------


def one_row(line: str, n_features=WIDTH):
    row = read_vw_line(line.encode(), n_features)
    assert rows_of(_core.parse_vw(line.encode(), n_features=n_features)) == [(*row[:2], row[2])]
    return row


def test_the_columns_do_not_change_between_versions():
    # saved models depend on them
    for line, column in {
        "| 7": 7,
        "| word": 137353,
        "|f 7": 234705,
        "|f word": 208941,
        "|f a_longer_name,_of_26_bytes": 99121,
    }.items():
        assert _core.parse_vw(line.encode(), n_features=WIDTH)[3].tolist() == [column]


def test_label_importance_and_tag():
    assert one_row("1 |f a")[:2] == (1, 1)
    assert one_row("-2.5 0.5 'tag|f a")[:2] == (-2.5, 0.5)
    assert one_row("1 2 0 zebra|f a")[:2] == (1, 2)
    assert one_row("1 2 0.0 'zebra |f a")[:2] == (1, 2)
    for unlabelled in ("|f a", "'tag|f a", "1|f a"):  # a word that touches the bar is a tag
        assert np.isnan(_core.parse_vw(unlabelled.encode(), n_features=9)[0]).all()


def test_weights_of_namespaces_multiply_and_repeated_features_add_up():
    f_a, f_b = column_of(b"f", b"a", WIDTH), column_of(b"f", b"b", WIDTH)
    assert dict(one_row("1 |f:2 a:3 b a:0.5")[2]) == {f_a: 7, f_b: 2}
    assert dict(one_row("1 |f a |g a")[2]) == {f_a: 1, column_of(b"g", b"a", WIDTH): 1}
    assert dict(one_row("1 |f a:1 |f:10 a:1")[2]) == {f_a: 11}


def test_whole_numbers_are_columns_and_go_round():
    assert one_row("1 | 7:0.5 107:2 8", 100)[2] == [(7, 2.5), (8, 1)]
    assert one_row("1 | :5 :6 1:1", 100)[2] == [(0, 5), (1, 7)]  # values without names are numbered


@pytest.mark.parametrize(
    "line, refusal",
    [
        ("1 a b", "line 1, column 1: expected a | before the features."),
        ("yes |f a", 'line 1, column 1: expected a number as label, got "yes".'),
        ("nan |f a", 'line 1, column 1: expected a number as label, got "nan".'),
        (
            "1:2:0.5 |f a",
            'line 1, column 1: a label must be one number, neither a list nor an action with its cost, got "1:2:0.5".',
        ),
        ("1 -1 |f a", 'line 1, column 3: an importance weight must be a number of at least 0, got "-1".'),
        ("1 1 0.5 |f a", 'line 1, column 5: an initial prediction other than 0 is not supported, got "0.5".'),
        (
            "1 1 0 0 |f a",
            'line 1, column 7: expected | after label, importance, initial prediction and tag, got "0".',
        ),
        ("1 |f:x a", 'line 1, column 6: expected a number after the colon, got "x".'),
        ("1 |f a:", "line 1, column 8: expected a number after the colon, got nothing."),
        ("1 |f a:1:2", 'line 1, column 8: expected a number after the colon, got "1:2".'),
        ("1 |f a:1e999", 'line 1, column 8: a value must be a finite number, got "1e999".'),
        ("1 |f:1e200 a:1e200", 'line 1, column 14: a value must be a finite number, got "1e200".'),
        (
            "1 |f a:1e308 a:1e308",
            "line 1, column 1: a feature of this row has a value, or a sum of values, that is too large.",
        ),
    ],
)
def test_refusals_name_the_place(tmp_path, line, refusal):
    path = write(tmp_path / "a.vw", f"{line}\n1 |f a\n")
    with pytest.raises(ValueError) as error:
        list(open_stream(path))
    assert str(error.value) == f"a.vw, {refusal}"
    stream = open_stream(path, skip_malformed=True)
    assert sum(map(len, stream)) == 1
    assert stream.n_skipped == 1


def test_columns_are_the_same_in_all_files_and_batches(tmp_path):
    a = write(tmp_path / "a.vw", "1 |f x y\n-1 |f z\n")
    b = write(tmp_path / "b.vw", "-1 |f z\n1 |f y x\n")
    X, Z = (read_all(open_stream(path, batch_size=1))[0].toarray() for path in (a, b))
    np.testing.assert_array_equal(X, Z[::-1])
    assert read_all(open_stream(a, n_features=64))[0].shape == (2, 64)


@pytest.mark.parametrize(
    "options, refusal",
    [
        ({"n_features": 2**30 + 1}, "features are hashed into at most 2^30 columns, got n_features=1073741825"),
        ({"layout": {"hashed_columns": "9"}}, "features are hashed into at most 2^30 columns, got n_features='9'"),
        (
            {"layout": {"hashed_columns": 64}, "n_features": 65},
            "n_features=65, but features were hashed into 64 columns",
        ),
        ({"layout": {"zero_based": True}}, "the format is vw, but svmlight is needed, as in the files read before"),
    ],
)
def test_widths_that_cannot_be_are_refused(tmp_path, options, refusal):
    with pytest.raises(ValueError) as error:
        open_stream(write(tmp_path / "a.vw", "1 |f x\n"), **options)
    assert str(error.value) == f"a.vw: {refusal}."


def test_a_file_without_labels_has_no_targets(tmp_path):
    assert read_all(open_stream(write(tmp_path / "a.vw", "|f a\n'x|f b\n")))[1] is None
    y = read_all(open_stream(write(tmp_path / "b.vw", "|f a\n1 |f b\n")))[1]
    np.testing.assert_array_equal(y, [np.nan, 1])


# --- recognition ------------------------------------------------------------------------------------------------------

VW = {
    "values": "1 |f a:1 b:2.5\n-1 |f b:1\n",
    "numbers": "1 | 1:0.5 7:2\n-1 | 3:1\n",
    "words in a namespace": "1 |words good film\n-1 |words bad film\n",
    "words": "1 | good film\n-1 | a bad film\n",
    "the example of its documentation": "1 1.0 zebra|MetricFeatures:3.28 height:1.5 length:2.0 |Says black with white "
    "stripes |OtherFeatures NumberOfLegs:4.0 HasStripes\n",
    "tags": "1 'a|f x y\n-1 'b|f z x\n",
    "no labels": "|f a b\n|f c\n",
    "blank lines": "\n\n1 |f a:1\n\n-1 |f b:1\n",
    "Windows": "1 |f a:1\r\n-1 |f b:1\r\n",
    "byte order mark": "\ufeff1 |f a:1\n-1 |f b:1\n",
}
TABLES = {
    "numbers": "1|2|3\n4|5|6\n",
    "numbers and blanks": "1 | 2 | 3\n4 | 5 | 6\n",
    "two columns": "1 | 2\n4 | 5\n",
    "a header": "id|name|city\n1|Ann|Rome\n2|Bob|Oslo\n",
    "a header and blanks": "id | name | city\n1 | Ann | Rome\n2 | Bob | Oslo\n",
    "no header": "1|Ann Smith|Rome\n2|Bob|New York\n",
    "no header, blanks": "1 | Ann Smith | Rome\n2 | Bob | New York\n",
    "columns of equal width": "1   |Ann Smith |Rome   \n22  |Bob Miller|New York\n",
    "values": "a|b\nx 1:2|3\ny 2:3|4\n",
    "times": "1 | 12:30 | ok\n2 | 13:45 | ok\n",
    "text": "0.5|a good film|yes\n0.7|a bad film|no\n",
    "empty first fields": "|a|b\n|c|d\n",
    "Markdown": "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    "a text with bars": "text,label\none | two,1\nthree |four five,0\n",
    "one column": "1\n2\n3\n",
}


@pytest.mark.parametrize("name", ["data", "data.txt", "data.dat", "data.gz"])
@pytest.mark.parametrize("text", VW.values(), ids=VW)
def test_lines_of_vowpal_wabbit_are_recognised(tmp_path, text, name):
    content = text.encode()
    path = write(tmp_path / name, COMPRESSORS[".gz"](content) if name.endswith("gz") else content)
    assert format_of(path) == "vw"


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_tables_with_bars_are_tables(tmp_path, text):
    assert format_of(write(tmp_path / "data.txt", text)) == "csv"
    assert format_of(write(tmp_path / "data.csv", VW["values"])) == "csv"  # by its name


def test_a_line_that_was_cut_does_not_hide_the_format(tmp_path):
    text = "1 |f a:1 b:2\n" * 10_000
    assert format_of(write(tmp_path / "data", text[:-3])) == "vw"


# --- weights ----------------------------------------------------------------------------------------------------------


def lines_with_weights(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.choice([0, 0.5, 1, 3], n_rows)
    for weight in weights:
        label = rng.choice([-1, 1])
        words = rng.choice(["good", "fine", "film"] if label > 0 else ["bad", "dull", "film"], 3)
        yield f"{label} {weight} |w {' '.join(words)}"


@pytest.fixture
def weighted(tmp_path):
    return write(tmp_path / "weighted.vw", "\n".join(lines_with_weights()))


def test_importance_weights_are_sample_weights(weighted):
    X, _ = read_all(stream := open_stream(weighted, batch_size=50))
    batches = list(stream)
    weight = np.concatenate([batch.weight for batch in batches])
    assert X.shape[0] == np.count_nonzero(weight)  # a row of weight 0 is absent from what is learned from
    model = FTRLClassifier()
    for batch in batches:
        model.partial_fit(batch.X, batch.y, classes=[-1, 1], sample_weight=batch.weight)
    trained = train(FTRLClassifier(), stream)
    np.testing.assert_array_equal(trained.model.coef_, model.coef_)
    assert trained.facts.n_rows == np.count_nonzero(weight)
    unweighted = train(FTRLClassifier(), open_stream(write(weighted.parent / "b.vw", "\n".join(
        line.split()[0] + " |" + line.split("|")[1] for line in weighted.read_text().splitlines()
    ))))  # fmt: skip
    assert np.abs(unweighted.model.coef_ - model.coef_).max() > 1e-3


def test_rows_of_weight_0_are_predicted_and_not_measured(weighted, tmp_path, call):
    model = train(FTRLClassifier(), open_stream(weighted)).model
    some = write(tmp_path / "test.vw", "1 |w good\n-1 0 |w good\n-1 |w bad\n")
    held_out, _ = evaluate(model, open_stream(some))
    assert held_out.n_rows == 2
    assert [len(batch) for batch in open_stream(some)] == [3]
    save_model(model, tmp_path / "m.thresher")
    summary = json.loads(call("predict", tmp_path / "m.thresher", some, "--json", "-o", tmp_path / "out.csv"))
    assert (summary["n_rows"], summary["n_known"], summary["error"]) == (3, 2, 0)
    assert look(open_stream(some)).n_rows == 2


def test_batches_of_weight_0_alone_are_passed_over(tmp_path):
    text = "1 0 |f a\n-1 0 |f b\n1 |f a\n-1 |f b\n1 0 |f c\n-1 0 |f d\n"
    stream = open_stream(write(tmp_path / "a.vw", text), batch_size=2)
    seen = []
    run = train(
        FTRLClassifier(),
        stream,
        checkpoint=tmp_path / "checkpoint",
        checkpoint_seconds=0,
        on_batch=lambda history, _: seen.append(history.rows[-1]),
    )
    assert run.facts.n_rows == run.model.n_samples_seen_ == 2
    assert seen == [2, 2]
    assert look(stream).first.shape[0] == 2


def test_shuffled_weights_stay_with_their_rows(tmp_path):
    text = "\n".join(f"{i} {i} | {i}:1" for i in range(1, 100))
    for batch in open_stream(write(tmp_path / "a.vw", text), batch_size=10, shuffle=40):
        np.testing.assert_array_equal(batch.y, batch.weight)
        np.testing.assert_array_equal(batch.y, batch.X.indices)


# --- models -----------------------------------------------------------------------------------------------------------


def test_whole_numbers_give_the_model_of_the_same_rows_in_svmlight(tmp_path):
    rng = np.random.default_rng(0)
    rows = [sorted(rng.choice(1000, 8, replace=False).tolist()) for _ in range(300)]
    text = [(1 if min(row) < 60 else -1, " ".join(f"{j}:{rng.normal():.6g}" for j in row)) for row in rows]
    vw = write(tmp_path / "a.vw", "\n".join(f"{label} | {pairs}" for label, pairs in text))
    svm = write(tmp_path / "a.svm", "\n".join(f"{label} {pairs}" for label, pairs in text))
    one = train(AROWClassifier(), open_stream(vw, max_iter=2, shuffle=100)).model
    other = train(AROWClassifier(), open_stream(svm, max_iter=2, shuffle=100, zero_based=True, n_features=WIDTH)).model
    for name, array in one.state_.arrays.items():
        assert array.tobytes() == other.state_.arrays[name].tobytes(), name


def test_features_have_names(tmp_path):
    path = write(tmp_path / "a.vw", "1 |words good:2 film\n-1 |words bad film\n1 | 17:3\n" * 20)
    model = train(AROWClassifier(), open_stream(path)).model
    found = {feature.name: feature.index for feature in features_that_matter(model)}
    assert found["words^good"] == column_of(b"words", b"good", WIDTH)
    assert found.keys() >= {"words^bad", "17"}
    assert found["17"] == 17


def test_names_that_share_a_column_are_both_there(tmp_path):
    path = write(tmp_path / "a.vw", "1 | a b c d e\n1 |f " + "x" * 100)
    names = open_stream(path, n_features=1).column_names([0])
    assert names == {0: "a | b | ..."}
    assert open_stream(path).column_names([]) == {}
    long = open_stream(path).column_names([column_of(b"f", b"x" * 100, WIDTH)])
    assert list(long.values()) == ["f^" + "x" * 55 + "..."]
    assert open_stream(write(tmp_path / "a.svm", "1 1:1\n")).column_names([0]) == {}


@settings(max_examples=100, deadline=None)
@given(st.lists(lines, min_size=1, max_size=5), st.sampled_from([50, WIDTH]))
def test_every_column_has_a_name_that_leads_to_it(written, n_features):
    text = "\n".join(written).encode()
    used = np.unique(_core.parse_vw(text, n_features=n_features)[3])
    seen = np.zeros((len(used), 3), np.uint32)
    places, offsets, data, consumed, n_lines = _core.name_vw(text, n_features=n_features, wanted=used, seen=seen)
    assert (consumed, n_lines) == (len(text), len(written))
    assert set(range(len(used))) == set((places // 2).tolist())
    for i, place in enumerate(places.tolist()):
        name = data[offsets[i] : offsets[i + 1]].tobytes()
        splits = [(name[:at], name[at + 1 :]) for at in range(len(name)) if name[at : at + 1] == b"^"]
        assert used[place // 2] in [column_of(*split, n_features) for split in [(b"", name), *splits]]


@pytest.mark.parametrize("names", [None, ["a"], {"7": 3}, {7: "x"}, "names"])
def test_names_in_a_record_may_be_anything(tmp_path, names):
    model = train(AROWClassifier(), open_stream(write(tmp_path / "a.vw", "1 | 7\n-1 | 8\n" * 9))).model
    model.record_ = {"names": names}
    assert {feature.name for feature in features_that_matter(model)} <= {"x8", "x9", "3"}


def test_a_run_that_was_stopped_ends_in_the_same_file(weighted, tmp_path):
    def run(name, **more):
        stream = open_stream(weighted, batch_size=40, shuffle=80, max_iter=2, n_features=500)
        run = train(FTRLClassifier(), stream, checkpoint=tmp_path / "checkpoint", checkpoint_seconds=0, **more)
        save_model(run.model, tmp_path / name)
        return (tmp_path / name).read_bytes()

    whole = run("whole")
    calls = iter(range(9))
    with pytest.raises(Interrupted):
        run("stopped", should_stop=lambda: next(calls) == 5)
    assert run("resumed", resume=True) == whole


def test_weights_reach_the_shards(weighted):
    model = distributed.fit(FTRLClassifier(), [str(weighted)], engine="serial", n_rounds=1, classes=[-1.0, 1.0])
    np.testing.assert_allclose(model.coef_, train(FTRLClassifier(), open_stream(weighted)).model.coef_, atol=1e-12)


def test_weights_reach_the_penalty_path(weighted):
    path = penalty_path(FTRLClassifier(), [0.5], open_stream(weighted), classes=[-1, 1])
    expected = train(FTRLClassifier(alpha=0.5), open_stream(weighted)).model
    np.testing.assert_array_equal(path.models[0].coef_, expected.coef_)


def test_names_come_from_all_files_behind_a_byte_order_mark(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "_BLOCK", 16)
    files = [write(tmp_path / "a.vw", "\ufeff1 |f first\n"), write(tmp_path / "b.vw", "1 |f second third\n" * 9)]
    columns = [column_of(b"f", name, WIDTH) for name in (b"first", b"second", b"third")]
    assert sorted(open_stream(files).column_names(columns).values()) == ["f^first", "f^second", "f^third"]


@pytest.mark.parametrize(
    "command",
    [
        ("train", "--method", "arow"),
        ("train", "--method", "sparsesdca", "--n-features", "1000"),
        ("tune", "--method", "l1rda", "--n-evaluations", "2"),
        ("auto", "--n-evaluations", "4", "--method", "arow"),
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_the_commands_from_end_to_end(weighted, tmp_path, call, command):
    model, text = tmp_path / "m.thresher", tmp_path / "new"
    call(command[0], weighted, *command[1:], "--model", model, "--quiet")
    inspected = json.loads(call("inspect", model, "--json"))
    assert inspected["n_features"] == (1000 if "1000" in command else WIDTH)
    assert {"w^bad", "w^dull"} <= {feature["name"] for feature in inspected["features"]}
    write(text, "|w good fine\n|w bad dull\n'x|w good\n")
    predicted = list(csv.reader(call("predict", model, text, "--quiet").splitlines()))
    assert predicted == [["prediction"], ["1"], ["-1"], ["1"]]
    assert json.loads(call("predict", model, weighted, "--json", "--output", tmp_path / "out.csv"))["n_rows"] == 300


def test_a_method_without_weights_refuses_them(weighted, capsys):
    assert main(["train", str(weighted), "--method", "proximalplaneclustering", "--n-features", "20"]) == 2
    refusal = "weighted.vw: rows have importance weights, which proximalplaneclustering does not support."
    assert refusal in capsys.readouterr().err


def test_the_format_and_the_width_can_be_given(tmp_path, call):
    path = write(tmp_path / "a.csv", "1 |f a\n-1 |f b\n" * 30)
    call("train", path, "--format", "vw", "--n-features", "1024", "--model", tmp_path / "m.thresher", "--quiet")
    assert load_model(tmp_path / "m.thresher").n_features_in_ == 1024
    for name, text in {"new.vw": "|f a\n|f b\n", "new": "x|f a\n-|f b\n"}.items():  # the second could be a table
        new = write(tmp_path / name, text)
        assert call("predict", tmp_path / "m.thresher", new, "--quiet").split() == ["prediction", "1", "-1"]


def test_auto_learns_with_weights(weighted):
    model = auto(weighted, method="arow", n_evaluations=3)
    X, y = read_all(open_stream(weighted))
    assert model.score(X, y) > 0.9
    assert "w^bad" in [feature.name for feature in features_that_matter(model)]


# --- svmlight behind a byte order mark --------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", *COMPRESSORS])
@pytest.mark.parametrize("zero_based", [None, False])
def test_svmlight_may_begin_with_a_byte_order_mark(tmp_path, suffix, zero_based):
    text = "\ufeff1 1:2 3:4\n-1 2:1\n".encode()
    path = write(tmp_path / f"a{'.svm' if zero_based is None else ''}{suffix}", COMPRESSORS.get(suffix, bytes)(text))
    X, y = read_all(open_stream(path, zero_based=zero_based))
    Z, z = read_svmlight(path)
    for rows, targets in ((X, y), (Z, z)):
        np.testing.assert_array_equal(rows.toarray(), [[2, 0, 4], [0, 1, 0]])
        np.testing.assert_array_equal(targets, [1, -1])


def test_a_byte_order_mark_is_no_part_of_a_column(tmp_path):
    path = write(tmp_path / "a.svm", "\ufeffx 1:2\n")
    for read in (read_svmlight, lambda path: list(open_stream(path))):
        with pytest.raises(ValueError, match=r'^a\.svm, line 1, column 1: expected a target, got "x"\.$'):
            read(path)
