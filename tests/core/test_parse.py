"""The text parsers and the writer of the core, against Python's float(), scikit-learn's loader and the csv module."""

from __future__ import annotations

import csv
import io
import itertools
import mmap
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file

from thresher import _core
from thresher._gate._table import Text

NUMBER = r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?"
number_texts = st.from_regex(NUMBER, fullmatch=True) | st.floats(allow_nan=False, allow_infinity=False).map(repr)

HARD_NUMBERS = [
    "0", "-0", "-0.0", "+5", "5.", ".5", "-.5e-3", "1.e5", "0e500", "0.0e-999999999999999999999", "9007199254740992",
    "9007199254740993", "9007199254740993.0000000000000000000000000001", "1e22", "1e23", "8.5e-23",
    "1.7976931348623157e308",
    "1.7976931348623158e308", "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400",
    "2.2250738585072011e-308", "123456789012345678e-27", "18446744073709551615", "18446744073709551616",
    "0.1234567890123456",
    "9999999999999999999e-27", "0." + "0" * 400 + "1e400", "1" + "0" * 300 + "e-300", "0." + "3" * 10_000, "7" * 308,
    "0." + "0" * 1_000_000 + "1e1000001", "1" + "0" * 1_000_000 + "e-1000000", "1e-99999999999999999999999999",
    "0.5" + "0" * 900 + "1", "1.00000000000000011102230246251565404236316680908203125" + "0" * 900 + "1",
]  # fmt: skip


def bits(x: float) -> bytes:
    return struct.pack("<d", x)


def svmlight(text, **options):
    names = ("targets", "values", "columns", "starts", "width", "consumed", "lines", "skipped")
    return dict(zip(names, _core.parse_svmlight(text, **options), strict=True))


def table(text, **options):
    names = ("targets", "values", "texts", "consumed", "lines", "skipped")
    return dict(zip(names, _core.parse_csv(text, **options), strict=True))


def texts(read):
    return [Text(*column).to_list() for column in read["texts"]]


# ---------------------------------------------------------------------------------------------------------- numbers


@settings(max_examples=1000, deadline=None)
@given(number_texts)
def test_a_number_has_the_bits_of_pythons_float(text):
    expected = float(text)
    line = f"0 1:{text}".encode()
    if np.isinf(expected):
        with pytest.raises(ValueError, match=r"line 1, column 5: a value must be a finite number"):
            svmlight(line)
        return
    assert bits(svmlight(line)["values"][0]) == bits(expected)
    assert bits(svmlight(text.encode())["targets"][0]) == bits(expected)
    assert bits(table(text.encode(), kinds="n")["values"][0, 0]) == bits(expected)


@pytest.mark.parametrize("text", HARD_NUMBERS, ids=lambda text: text[:30])
def test_hard_numbers_have_the_bits_of_pythons_float(text):
    for line in (f"0 1:{text}", f"0 1:{text} 2:12345678"):  # at the end of the buffer, and with bytes to read behind it
        assert bits(svmlight(line.encode())["values"][0]) == bits(float(text))


def test_numbers_of_all_lengths_have_the_bits_of_pythons_float():
    rng = np.random.default_rng(0)
    texts = []
    for n_whole in range(12):
        for n_fraction in range(16):
            for exponent in ("", "e-5", "E+7", "e-20", "e290", "e-310"):
                digits = "".join(map(str, rng.integers(0, 10, n_whole + n_fraction)))
                if digits:
                    texts.append(f"{digits[:n_whole]}.{digits[n_whole:]}{exponent}")
    row = "1 " + " ".join(f"{j}:{text}" for j, text in enumerate(texts, start=1))
    assert svmlight(row.encode())["values"].tobytes() == b"".join(bits(float(text)) for text in texts)


@pytest.mark.parametrize("n_digits", [16, 17, 18, 19])
def test_long_fractions_are_rounded_once(n_digits):
    # one in four thousand lies so close to a tie between two doubles that only the digits cut off decide
    digits = np.random.default_rng(n_digits).integers(10 ** (n_digits - 1), 9 * 10 ** (n_digits - 1), 20_000)
    texts = [f"0.{'0' * (i % 8)}{number}" for i, number in enumerate(digits)]
    row = "1 " + " ".join(f"{j}:{text}" for j, text in enumerate(texts, start=1))
    assert svmlight(row.encode())["values"].tobytes() == b"".join(bits(float(text)) for text in texts)


def test_float32_rounds_the_double_and_refuses_what_it_cannot_hold():
    values = svmlight(b"1 1:0.1 2:1e-46 3:16777217", float32=True)["values"]
    assert values.dtype == np.float32
    assert_array_equal(values, np.array([0.1, 1e-46, 16777217]).astype(np.float32))
    with pytest.raises(ValueError, match=r'^line 1, column 5: a value must be a finite number, got "1e39".$'):
        svmlight(b"1 1:1e39", float32=True)


# --------------------------------------------------------------------------------------------------------- svmlight


def random_file(rng: np.random.Generator, n_rows: int = 200) -> bytes:
    lines = []
    for _ in range(n_rows):
        columns = np.sort(rng.choice(5000, rng.integers(0, 30), replace=False)) + 1
        pairs = [f"{j}:{rng.normal() * 10.0 ** rng.integers(-8, 8):.{rng.integers(1, 18)}g}" for j in columns]
        lines.append(f"{rng.normal():.6g} " + " ".join(pairs))
        if rng.random() < 0.2:
            lines.append(rng.choice(["", "# a comment 1:2", "   "]))
    return "\n".join(lines).encode()


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_file_reads_as_scikit_learn_reads_it(seed, zero_based):
    text = random_file(np.random.default_rng(seed))
    X, y = load_svmlight_file(io.BytesIO(text), zero_based=zero_based)
    rows = svmlight(text, zero_based=zero_based)
    assert_array_equal(rows["targets"], y)
    assert_array_equal(rows["values"], X.data)
    assert_array_equal(rows["columns"], X.indices)
    assert_array_equal(rows["starts"], X.indptr)
    assert rows["width"] == X.shape[1]
    assert rows["consumed"] == len(text)
    assert rows["lines"] == text.count(b"\n") + 1


def test_every_form_the_format_allows_is_read():
    text = b"+1 qid:7 3:1 10:2.5e-1# note\r\n\r\n#all comment\n \t-2\t1:.5   2:5.\t \n0\n1 5:1 2:2 9:3"
    rows = svmlight(text)
    assert_array_equal(rows["targets"], [1, -2, 0, 1])
    assert_array_equal(rows["starts"], [0, 2, 4, 4, 7])
    assert_array_equal(rows["columns"], [2, 9, 0, 1, 1, 4, 8])  # the last row was not sorted
    assert_array_equal(rows["values"], [1, 0.25, 0.5, 5, 2, 1, 3])
    assert (rows["width"], rows["lines"], rows["skipped"]) == (10, 6, 0)


def test_any_buffer_is_read_without_a_copy_and_the_result_outlives_it(tmp_path):
    text = b"1 1:2 3:4\n"
    (tmp_path / "a.svm").write_bytes(text)
    with open(tmp_path / "a.svm", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        results = [svmlight(buffer) for buffer in (text, bytearray(text), memoryview(b"x" + text)[1:], mapped)]
    results.append(svmlight(np.frombuffer(text, np.uint8)))
    for rows in results:
        assert_array_equal(rows["values"], [2, 4])
        rows["values"] += 1  # ours to change
    assert text == b"1 1:2 3:4\n"
    with pytest.raises(TypeError):
        svmlight("a str is not bytes")
    with pytest.raises((BufferError, ValueError)):
        svmlight(np.zeros((4, 4), np.uint8)[:, ::2])


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 3000), max_size=8), st.integers(1, 7))
def test_text_cut_anywhere_gives_the_rows_of_the_whole(seed, cuts, max_rows):
    text = random_file(np.random.default_rng(seed), n_rows=12)
    whole = svmlight(text)
    bounds = sorted({0, len(text), *(c % len(text) for c in cuts)})
    targets, values, line, rest = [], [], 1, b""
    for begin, end in itertools.pairwise(bounds):
        rest += text[begin:end]
        while True:
            part = svmlight(rest, final=end == len(text), first_line=line, max_rows=max_rows)
            assert len(part["targets"]) <= max_rows
            rest, line = rest[part["consumed"] :], line + part["lines"]
            targets.extend(part["targets"])
            values.extend(part["values"])
            if part["lines"] == 0:
                break
    assert rest == b""
    assert line == whole["lines"] + 1
    assert_array_equal(targets, whole["targets"])
    assert_array_equal(values, whole["values"])


def test_an_unfinished_line_is_left_over():
    rows = svmlight(b"1 1:2\n-1 3:4", final=False)
    assert (len(rows["targets"]), rows["consumed"], rows["lines"]) == (1, 6, 1)
    assert svmlight(b"", final=True)["starts"].tolist() == [0]


def test_columns_are_int32_until_one_does_not_fit():
    assert svmlight(b"1 1:1 2147483647:1")["columns"].dtype == np.int32
    rows = svmlight(b"1 1:1\n1 7:1 2147483648:2\n1 2:3")
    assert rows["columns"].dtype == np.int64
    assert_array_equal(rows["columns"], [0, 6, 2147483647, 1])
    assert_array_equal(rows["values"], [1, 1, 2, 3])
    assert rows["width"] == 2**31
    assert svmlight(b"1 9223372036854775807:1")["width"] == 2**63 - 1
    assert svmlight(b"1 00000000000000000000000000000012:1")["columns"].tolist() == [11]
    assert svmlight(b"1 1:1", n_features=2**31 - 1)["columns"].dtype == np.int32
    assert svmlight(b"1 1:1", n_features=2**31)["columns"].dtype == np.int64  # every chunk of such a file alike


REFUSED = {
    b"1 1:2 abc": 'column 7: expected "index:value", got "abc".',
    b"1 12": 'column 3: expected "index:value", got "12".',
    b"1 -3:1": 'column 3: expected "index:value", got "-3:1".',
    b"1 :1": 'column 3: expected "index:value", got ":1".',
    b"1 1.5:1": 'column 3: expected "index:value", got "1.5:1".',
    b"1 1:": "column 5: expected a number after the colon, got nothing.",
    b"1 1: 2": "column 5: expected a number after the colon, got nothing.",
    b"1 1:#2": "column 5: expected a number after the colon, got nothing.",
    b"1 1:x": 'column 5: expected a number, got "x".',
    b"1 1:2x 3:4": 'column 5: expected a number, got "2x".',
    b"1 1:2:3": 'column 5: expected a number, got "2:3".',
    b"1 1:0x10": 'column 5: expected a number, got "0x10".',
    b"1 1:1e": 'column 5: expected a number, got "1e".',
    b"1 1:1e+": 'column 5: expected a number, got "1e+".',
    b"1 1:.": 'column 5: expected a number, got ".".',
    b"1 1:+-1": 'column 5: expected a number, got "+-1".',
    b"1 1:1_000": 'column 5: expected a number, got "1_000".',
    b"1 1:1,5": 'column 5: expected a number, got "1,5".',
    b"1 1:2\r 3:4": 'column 5: expected a number, got "2\\x0d".',
    b"1 1:\xff\x00": 'column 5: expected a number, got "\\xff\\x00".',
    b"1 1:" + b"z" * 60: 'column 5: expected a number, got "' + "z" * 40 + '...".',
    b"1 1:nan": 'column 5: a value must be a finite number, got "nan".',
    b"1 1:-Infinity": 'column 5: a value must be a finite number, got "-Infinity".',
    b"1 1:1e400": 'column 5: a value must be a finite number, got "1e400".',
    b"nan 1:1": 'column 1: a target must be a finite number, got "nan".',
    b"1e999 1:1": 'column 1: a target must be a finite number, got "1e999".',
    b" 1:1 2:2": 'column 2: expected a target, got "1:1".',
    b"1,2 1:1": 'column 1: expected a target, got "1,2".',
    b"1 qid:x 1:1": 'column 3: expected qid: and a whole number, got "qid:x".',
    b"1 0:1": "column 3: index 0 where indices start at 1; pass zero_based=True if they start at 0.",
    b"1 3:1 1:1 3:2": 'column 11: index "3" appears twice in this row.',
    b"1 3:1 003:1": 'column 7: index "003" appears twice in this row.',
    b"1 9223372036854775808:1": 'column 3: index "9223372036854775808" does not fit 64 bits.',
    b"1 123456789012345678901234567890:1": 'column 3: index "123456789012345678901234567890" does not fit 64 bits.',
}


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n", b"\n1 1:1\n"])
@pytest.mark.parametrize("line", REFUSED, ids=repr)
def test_a_malformed_line_is_refused_with_its_place(line, ending):
    with pytest.raises(ValueError) as refusal:
        svmlight(b"# first\n1 1:1\n" + line + ending, first_line=15)
    assert str(refusal.value) == "line 17, " + REFUSED[line]


def test_an_index_beyond_n_features_is_refused():
    assert svmlight(b"1 10:1", n_features=10)["width"] == 10
    with pytest.raises(ValueError, match=r'^line 1, column 3: index "11" is beyond n_features=10.$'):
        svmlight(b"1 11:1", n_features=10)
    with pytest.raises(ValueError, match=r'^line 1, column 3: index "10" is beyond n_features=10.$'):
        svmlight(b"1 10:1", n_features=10, zero_based=True)


def test_skip_malformed_keeps_all_other_lines():
    bad = b"\n".join(REFUSED)
    rows = svmlight(b"1 1:1 2:2\n" + bad + b"\n2 5:3\n", skip_malformed=True)
    assert_array_equal(rows["targets"], [1, 2])
    assert_array_equal(rows["values"], [1, 2, 3])
    assert_array_equal(rows["starts"], [0, 2, 3])
    assert (rows["skipped"], rows["lines"], rows["width"]) == (len(REFUSED), len(REFUSED) + 2, 5)


# -------------------------------------------------------------------------------------------------------------- CSV


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_table_reads_as_the_csv_module_reads_it(seed, delimiter, ending, quote):
    rng = np.random.default_rng(seed)
    n_columns = int(rng.integers(2, 9))
    rows = [
        [f"{x:.{rng.integers(1, 18)}g}" if rng.random() < 0.9 else "" for x in rng.normal(size=n_columns)]
        for _ in range(20)
    ]
    out = io.StringIO()
    csv.writer(
        out, delimiter=delimiter, lineterminator=ending, quoting=csv.QUOTE_ALL if quote else csv.QUOTE_MINIMAL
    ).writerows(rows)
    text = out.getvalue()
    expected = [
        [float(f or "nan") for f in row] for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    ]
    read = table(text.encode(), kinds="n" * n_columns, delimiter=delimiter)
    assert_array_equal(read["values"], expected)
    assert read["targets"] is None
    target = int(rng.integers(n_columns))
    read = table(text.encode(), kinds="n" * n_columns, delimiter=delimiter, target=target, float32=True)
    assert_array_equal(read["targets"], [row[target] for row in expected])
    assert_array_equal(read["values"], np.delete(np.array(expected), target, axis=1).astype(np.float32))


def test_blanks_quotes_and_empty_fields_are_read():
    text = b' 1 ,\t"2.5",""\n\n   \n,, \n" -3 " , +4,.5\r\n7,8,9'
    read = table(text, kinds="nnn")
    assert_array_equal(read["values"], [[1, 2.5, np.nan], [np.nan] * 3, [-3, 4, 0.5], [7, 8, 9]])
    assert (read["lines"], read["consumed"]) == (6, len(text))
    assert table(text, kinds="nnn", final=False)["consumed"] == len(text) - 5
    assert_array_equal(table(b"\t1\n\t\n", kinds="nn", delimiter="\t")["values"], [[np.nan, 1], [np.nan, np.nan]])


@pytest.mark.parametrize("word", ["", "NA", "na", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "?", "."])
def test_words_for_a_missing_number_are_nan_also_in_targets(word):
    for written in (word, f" {word}\t", f'"{word}"', f' " {word} " '):
        assert_array_equal(table(f"1,{written}\n".encode(), kinds="nn")["values"], [[1, np.nan]])
        assert_array_equal(table(f"1,{written}\n".encode(), kinds="nn", target=1)["targets"], [np.nan])


def test_a_blank_text_target_is_empty():
    read = table(b'1,\n2,yes\n3,""\n4,  \n', kinds="nt", target=1)
    assert Text(*read["targets"]).to_list() == ["", "yes", "", ""]


@pytest.mark.parametrize(
    "line, message",
    [
        (b"1,2", ": expected 3 fields, got 2."),
        (b"1,2,3,4,5", ": expected 3 fields, got 5."),
        (b"1,2,3,", ": expected 3 fields, got 4."),
        (b"1,abc,3", ', field 2: expected a number, got "abc".'),
        (b"1,1.5 kg,3", ', field 2: expected a number, got "1.5 kg".'),
        (b"1,2, nans ", ', field 3: expected a number, got "nans ".'),
        (b"1,2,1e999", ', field 3: expected a finite number, got "1e999".'),
        (b"1,-inf,3", ', field 2: expected a finite number, got "-inf".'),
        (b"Infinity,2,3", ', field 1: expected a finite number, got "Infinity".'),
        (b'1,"a,b",3', ', field 2: expected a number, got ""a,b"".'),
        (b'1,"2,3', ', field 2: expected a number, got ""2,3".'),
        (b'1,"2"",3', ', field 2: expected a number, got ""2"",3".'),
        (b"1,2 3,4", ', field 2: expected a number, got "2 3".'),
        (b"\xe9\x00,2,4", ', field 1: expected a number, got "\\xe9\\x00".'),
        (b"1," + b"z" * 60 + b",3", ', field 2: expected a number, got "' + "z" * 40 + '...".'),
    ],
)
def test_a_malformed_row_is_refused_with_its_place(line, message):
    text = b"1,2,3\n" + line + b"\n4,5,6\n"
    with pytest.raises(ValueError) as refusal:
        table(text, kinds="nnn", first_line=16)
    assert str(refusal.value) == "line 17" + message
    read = table(text, kinds="nnn", skip_malformed=True)
    assert_array_equal(read["values"], [[1, 2, 3], [4, 5, 6]])
    assert (read["skipped"], read["lines"]) == (1, 3)


@pytest.mark.parametrize(
    "options",
    [
        {"kinds": ""},
        {"kinds": "nx"},
        {"kinds": "nn", "target": 2},
        {"kinds": "n-", "target": 1},
        {"kinds": "nn", "delimiter": "e"},
    ],
)
def test_impossible_tables_are_refused(options):
    with pytest.raises(ValueError):
        table(b"1,2\n", **options)


# ------------------------------------------------------------------------------------------------------ text in CSV


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(words, words, words), max_size=8), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]))
@example([('a"b', "x,y\nz", "\r\n"), ("", " padded ", '"')], ",", "\n")
def test_text_reads_as_the_csv_module_reads_it(rows, delimiter, ending):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=ending, quoting=csv.QUOTE_ALL).writerows(rows)
    text = out.getvalue().encode()
    read = table(text, kinds="t-t", delimiter=delimiter, target=2)
    full = list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=delimiter))
    assert texts(read) == [[row[0] for row in full]]
    assert Text(*read["targets"]).to_list() == [row[2] for row in full]
    assert read["values"].shape == (len(full), 0)
    assert (read["consumed"], read["lines"]) == (len(text), text.count(b"\n"))


def test_text_is_stripped_when_bare_and_kept_when_quoted():
    text = b' two words ,1,"  kept "\nna\tive, 2 ,\n" a ""b"" " , 3,x"y"\n'
    read = table(text, kinds="tnt")
    assert texts(read) == [["two words", "na\tive", ' a "b" '], ["  kept ", "", 'x"y"']]
    assert_array_equal(read["values"], [[1], [2], [3]])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.binary(max_size=12), min_size=1, max_size=4))
@example([b"\xed\xa0\x80", b"\xe2\x82", b"\xf4\x90\x80\x80", b"a\x00b\xc0\x80ok-ascii\xff"])
def test_what_is_no_utf8_is_refused(values):
    text = b"".join(b'"' + value.replace(b'"', b'""') + b'",1\n' for value in values)
    read = table(text, kinds="tn", skip_malformed=True)
    ((offsets, data),) = read["texts"]
    good = [value for value in values if is_utf8(value)]
    assert data.tobytes() == b"".join(good)
    assert np.diff(offsets).tolist() == [len(value) for value in good]
    assert read["skipped"] == len(values) - len(good)


def is_utf8(value):
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def test_a_text_may_span_lines_and_the_line_numbers_stay_right():
    text = b'1,"a\nb\r\n",2\n3,c,4\n5,"d\n\n",x\n'
    read = table(text[: text.index(b"5,")], kinds="ntn")
    assert texts(read) == [["a\nb\r\n", "c"]]
    assert read["lines"] == 4
    with pytest.raises(ValueError, match=r'^line 15, field 3: expected a number, got "x".$'):
        table(text, kinds="ntn", first_line=11)
    read = table(text + b"6,e,7\n", kinds="ntn", skip_malformed=True)
    assert_array_equal(read["values"], [[1, 2], [3, 4], [6, 7]])
    assert (read["lines"], read["skipped"]) == (8, 1)  # a bad row of several lines is one


@pytest.mark.parametrize(
    "line, message",
    [
        (b'1,"open', ", field 2: the quote that opens here is not closed."),
        (b'1,"a"b,2', ', field 2: expected nothing behind the closing quote, got ""a"b".'),
        (b'1,"a\nb" c,2', ', field 2: expected nothing behind the closing quote, got ""a\\x0ab" c".'),
        (b'1,"a\n",2,3', ": expected 3 fields, got 4."),
        (b'x,"a\n",2', ', field 1: expected a number, got "x".'),
        (b'x,"a\n', ', field 1: expected a number, got "x".'),
    ],
)
def test_a_malformed_text_is_refused_with_its_place(line, message):
    with pytest.raises(ValueError) as refusal:
        table(b"0,a,0\n" + line + b"\n3,b,4\n", kinds="ntn", first_line=16)
    assert str(refusal.value) == "line 17" + message
    read = table(b"0,a,0\n" + line + b"\n3,b,4\n", kinds="ntn", skip_malformed=True)
    assert_array_equal(read["values"], [[0, 0], [3, 4]])  # an open quote costs its own line, not the rest of the file
    assert texts(read) == [["a", "b"]]


def test_an_open_quote_waits_for_more_text_but_not_forever():
    assert table(b'1,a\n2,"b\n3,c\n', kinds="nt", final=False)["consumed"] == 4
    assert table(b'1,a\n2,"b"', kinds="nt", final=False)["consumed"] == 4
    assert table(b'1,a\n2,"b"\n', kinds="nt", final=False)["consumed"] == 10
    long = b'2,"' + b"b\n" * (1 << 23) + b"3,c\n"
    for final in (True, False):  # a stray quote must not swallow the rest of a large file
        with pytest.raises(ValueError, match=r"^line 1, field 2: the quote that opens here is not closed.$"):
            table(long, kinds="nt", final=final)
    longest = b'2,"\n' + b"b" * ((1 << 24) - 2)
    assert table(longest, kinds="nt", final=False)["consumed"] == 0
    assert table(longest + b'"   ', kinds="nt", final=False)["consumed"] == 0  # closed, but the row goes on
    read = table(longest + b'"\n', kinds="nt", final=False)
    assert len(read["texts"][0][1]) == (1 << 24) - 1


def test_nothing_is_read_behind_the_text():
    text = memoryview(b'1,"a""b')
    assert texts(table(text[:5], kinds="nt")) == [["a"]]  # a second quote would make it another text


def test_a_column_passed_over_may_hold_anything():
    read = table(b'1,"x"y,2\n3,"a,\nb",4\n5,,6\n', kinds="n-n")
    assert_array_equal(read["values"], [[1, 2], [3, 4], [5, 6]])
    assert read["texts"] == []


def test_rows_are_split_before_anything_is_known_of_them():
    rows, consumed, lines = _core.split_csv(b'\n a ,"b\nc"\n1,2,3\n"x"y,\n', max_rows=2)
    assert rows == [["a", "b\nc"], ["1", "2", "3"]]
    assert (consumed, lines) == (17, 4)
    assert _core.split_csv(b'"x"y,\n')[0] == [["x", ""]]
    assert _core.split_csv(b'1,"2', final=False) == ([], 0, 0)
    with pytest.raises(ValueError, match=r"^line 3, field 2: the quote that opens here is not closed.$"):
        _core.split_csv(b'1,"2', first_line=3)
    assert _core.split_csv(b'1,"2\n3,4\n', skip_malformed=True)[0] == [["3", "4"]]
    assert _core.split_csv(b'"a\n1,2\nx","c\n3,4\n', skip_malformed=True)[0] == [["1", "2"], ["3", "4"]]


def test_values_of_a_text_column_are_counted_by_what_they_say():
    column = Text.from_list(["1", " 2.5e3 ", "-inf", "", "NA", "1 kg", "x", "."])
    assert _core.count_numbers(column.offsets, column.data) == (3, 3, 2)
    assert _core.count_numbers(column[4:].offsets, column.data) == (0, 2, 2)
    for offsets in ([], [0, 99], [-1, 1], [2, 1]):
        with pytest.raises(ValueError, match="offsets"):
            _core.count_numbers(np.array(offsets, dtype=np.int64), column.data)


# ----------------------------------------------------------------------------------------------------------- writer


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(finite, st.dictionaries(st.integers(0, 2**31 - 3), finite))), st.booleans())
@example([(1.0, {0: -0.0, 5: 5e-324}), (-3.0, {}), (1e22, {2: 1.7976931348623157e308})], False)
def test_what_is_written_reads_back_bit_for_bit(rows, zero_based):
    targets = np.array([target for target, _ in rows], dtype=np.float64)
    pairs = [pair for _, row in rows for pair in sorted(row.items())]
    columns = np.array([j for j, _ in pairs], dtype=np.int32)
    values = np.array([x for _, x in pairs], dtype=np.float64)
    starts = np.cumsum([0] + [len(row) for _, row in rows], dtype=np.int64)
    text = _core.format_svmlight(values, columns, starts, targets, zero_based)
    read = svmlight(text, zero_based=zero_based)
    for name, written in {"targets": targets, "values": values, "columns": columns, "starts": starts}.items():
        assert read[name].tobytes() == written.tobytes()
    assert _core.format_svmlight(values, columns.astype(np.int64), starts, targets, zero_based) == text


def test_numbers_are_written_as_short_as_python_writes_them():
    rng = np.random.default_rng(0)
    values = np.concatenate([np.round(rng.normal(size=500) * 10.0**e, k) for e in range(-2, 8) for k in range(0, 10)])
    values = values[(np.abs(values) >= 1e-3) & (np.abs(values) < 1e8)]  # where Python writes no exponent
    row = values, np.arange(len(values), dtype=np.int32), np.array([0, len(values)]), values[:1]
    text = _core.format_svmlight(*row, True).decode()
    expected = [repr(float(x)).removesuffix(".0") for x in values]
    assert text == expected[0] + "".join(f" {j}:{x}" for j, x in enumerate(expected)) + "\n"


def test_float32_values_are_written_short_and_read_back():
    values = np.random.default_rng(0).normal(size=10_000).astype(np.float32)
    starts, columns = np.array([0, len(values)]), np.arange(len(values), dtype=np.int32)
    text = _core.format_svmlight(values, columns, starts, np.array([1.0]), False)
    assert_array_equal(svmlight(text, float32=True)["values"], values)
    assert len(text) < 20 * len(values)
    assert _core.format_svmlight(values[:0], columns[:0], np.array([0, 0]), np.array([-2.0]), False) == b"-2\n"


@pytest.mark.parametrize(
    "change, message",
    [
        ({"starts": [0, 3, 2]}, "row 1: its start"),
        ({"starts": [0, 1, 4]}, "row 1: its start"),
        ({"starts": [-1, 1, 3]}, "row 0: its start"),
        ({"starts": [0, 3]}, "starts must be one longer"),
        ({"columns": [0, 1]}, "equally long"),
        ({"columns": [0, -1, 2]}, "row 0: a column must not be negative"),
        ({"values": [1, np.nan, 2]}, "row 0: a value must be a finite number"),
        ({"targets": [1, np.inf]}, "row 1: a target must be a finite number"),
    ],
)
def test_rows_that_could_not_be_read_back_are_refused(change, message):
    rows = {"values": [1, 2, 3], "columns": [0, 1, 0], "starts": [0, 2, 3], "targets": [1, -1]} | change
    types = {"values": np.float64, "columns": np.int32, "starts": np.int64, "targets": np.float64}
    with pytest.raises(ValueError, match=message):
        _core.format_svmlight(*(np.array(rows[name], dtype=kind) for name, kind in types.items()), False)
