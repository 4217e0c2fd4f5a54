"""How a CSV file is looked at, and how another is read alike."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher._gate._table import Table
from thresher.streams._csv import CsvFormat, unique_names
from thresher.streams._source import Head, ReadOptions


def opened(text, complete=True, layout=None, **options):
    head = Head(b"", text.encode() if isinstance(text, str) else text, complete)
    return CsvFormat("data.csv", head, ReadOptions(**options), layout)


def rows(text, **options):
    """All rows of a text, read in two pieces."""
    text = text.encode() if isinstance(text, str) else text
    csv = opened(text, **options)
    first = csv.parse(text[csv.start :], final=True, first_line=csv.first_line, max_rows=1, skip_malformed=False)
    begin, line = csv.start + first.consumed, csv.first_line + first.lines
    second = csv.parse(text[begin:], final=True, first_line=line, max_rows=-1, skip_malformed=False)
    X, y = csv.join([first, second])
    return csv, X, y


# ------------------------------------------------------------------------------------------------------- delimiters


@pytest.mark.parametrize(
    "text, delimiter",
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("1 2 3\n4 5 6\n", " "),
        ("1.5,2\n", ","),
        ("39, clerk, 77516\n50, cook, 83311\n", ","),  # blanks as regular as commas
        ('"free, now; win","spam"\n"see you, later","ham"\n', ","),
        ("hello, you\tspam\nsee, you\tham\n", "\t"),
        ("1;2;3\n4;5;6\n", ";"),
        ('"fixed acidity";"quality"\n7.4;5\n', ";"),
        ("a,b\n1,2\n1,2,3\n1,2\n3,4\n5,6\n", ","),  # one line of ten may be wrong
        ("one word\nor two\n", ","),
        ("10:20,1\n11:20,2\n", ","),
        ("a;b,1,2\nc;d,3,4\n", ","),  # both cut evenly, one leaves numbers
        ("p|1;2\nq|3\nr|4;5\ns|6;7\n", "|"),  # more numbers, but not evenly
    ],
)
def test_the_delimiter_cuts_the_first_rows_evenly(text, delimiter):
    assert opened(text, target=None).delimiter == delimiter


def test_a_given_delimiter_is_believed():
    assert opened("a;b,c\n1;x,3\n", delimiter=";").kinds == "nt"
    with pytest.raises(ValueError, match=r"^open_stream: delimiter must be one ASCII character"):
        opened("1,2\n", delimiter="e")


def test_numbers_with_decimal_commas_are_numbers():
    _, X, y = rows("a;b\n1,5;2\n3;4\n")
    assert_array_equal(X.numbers, [[1.5], [3]])
    assert_array_equal(y, [2, 4])


# ---------------------------------------------------------------------------------------------------------- headers


@pytest.mark.parametrize(
    "text, has_header",
    [
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("5.1,0.2,setosa\n4.9,0.2,setosa\n", False),  # words in the last column only, as in iris.data
        ("RI,Na,Type\n1.5,13.6,1\n", True),  # Na is sodium here
        ("z,?\ny,3\nx,4\n", False),  # a word that says missing above numbers
        ("ham,hello there\nspam,42\nham,bye\n", False),  # a number among words
        (",a,b\n0,1,2\n1,3,4\n", True),  # the row numbers of a data frame have no name
        (",name\n0,foo\n1,bar\n", True),
        ("spam,hello there\nham,how are you\nspam,win\n", False),  # spam comes again
        ("label,message\nham,how are you\nspam,win\nspam,42\n", True),
        ("p,x,s,n,p\ne,x,y,w,t\n", False),  # a name twice
        ("a,b", True),
        ("a,\nb,c\n", False),
        (",\n,\n", False),
        ("colour,size\nred,big\nblue,small\nred,small\n", True),
        (f"spam,{'very ' * 60}long\nham,short\n", False),
    ],
)
def test_a_first_row_unlike_the_others_is_a_header(text, has_header):
    csv = opened(text, target=None)
    assert csv.first_line == 1 + has_header
    assert (csv.feature_names == unique_names(text.split("\n")[0].split(","))) is has_header
    for said in (True, False):
        assert opened(text, target=None, header=said).first_line == 1 + said


def test_a_header_may_span_lines_and_follow_blank_ones():
    text = b'\xef\xbb\xbf\n \n"a\nb",c\n1,2\n3,x\n'
    csv = opened(text, text_columns=[1])
    assert csv.feature_names == ["a\nb"]
    assert (csv.start, csv.first_line) == (len(text) - 8, 5)
    with pytest.raises(ValueError, match=r'^line 6, field 2: expected a number, got "x"\.$'):
        opened(text, complete=True, layout=opened(text[:-4]).layout()).parse(
            text[csv.start :], final=True, first_line=csv.first_line, max_rows=-1, skip_malformed=False
        )


def test_names_are_made_unique():
    assert unique_names(["a", "", "a", "a_2", "a", ""]) == ["a", "x2", "a_3", "a_2", "a_4", "x6"]
    assert unique_names(["x2", "", "b"]) == ["x2", "x2_2", "b"]
    csv, X, y = rows("a,,a\n1,2,3\n4,5,6\n", target="x2")
    assert csv.feature_names == X.columns == ["a", "a_2"]
    assert_array_equal(y, [2, 5])
    with pytest.raises(ValueError, match=r"^data.csv: target='a', but several columns have this name; give a number.$"):
        opened("a,,a\n1,2,3\n", target="a")


# ------------------------------------------------------------------------------------------------- kinds and targets


def test_numbers_and_words_are_told_apart():
    text = "age,job,zip,town,when,cured\n31,clerk,00501,,NA,yes\n?,cook,10001,,2020-01-01,no\n25,,12345,,.,yes\n"
    csv, X, y = rows(text, text_columns=["zip"], drop=[4])
    assert csv.kinds == "nttn-t"
    assert (csv.target_name, csv.target_is_text) == ("cured", True)
    assert isinstance(X, Table)
    assert X.columns == csv.feature_names == ["age", "job", "zip", "town"]
    assert_array_equal(X.numbers, [[31, np.nan], [np.nan, np.nan], [25, np.nan]])
    assert X["job"].to_list() == ["clerk", "cook", ""]
    assert X["zip"].to_list() == ["00501", "10001", "12345"]
    assert y.dtype == object
    assert y.tolist() == ["yes", "no", "yes"]


def test_numbers_without_names_are_a_plain_array():
    csv, X, y = rows("1,2,0\n3,4,1\n", dtype=np.float32)
    assert (type(X), X.dtype, y.dtype) == (np.ndarray, np.float32, np.float64)
    assert (csv.feature_names, csv.target_name, csv.target_is_text) == (None, None, False)
    csv, X, y = rows("1,2,red\n3,4,blue\n")
    assert type(X) is np.ndarray  # words in the target only
    assert y.tolist() == ["red", "blue"]
    csv, X, y = rows("1,red,2\n3,blue,4\n", target=0)
    assert X.columns == csv.feature_names == ["x2", "x3"]
    assert (csv.target_name, y.tolist()) == (None, [1, 3])


def test_no_target_no_y():
    _, X, y = rows("a,b\n1,2\n3,4\n", target=None)
    assert y is None
    assert X.columns == ["a", "b"]
    assert rows("1\n2\n", target=None)[1].tolist() == [[1], [2]]


@pytest.mark.parametrize("target, column", [(-1, 2), (0, 0), (-3, 0), ("b", 1), (np.int64(2), 2)])
def test_the_target_is_chosen_by_number_or_name(target, column):
    _, X, y = rows("a,b,c\n1,2,3\n4,5,6\n", target=target)
    table = np.array([[1, 2, 3], [4, 5, 6]])
    assert_array_equal(y, table[:, column])
    assert_array_equal(X, np.delete(table, column, axis=1))


@pytest.mark.parametrize(
    "text, options, message",
    [
        ("a,b\n1,2\n", {"target": "c"}, "data.csv: target='c', but no column has this name; the columns are a, b."),
        (
            "name,class,klass\n1,2,3\n",
            {"target": "clas"},
            "data.csv: target='clas', but no column has this name; similar names: class, klass; "
            "the columns are name, class, klass.",
        ),
        (
            ",".join(f"c{j}" for j in range(30)) + "\n" + ",".join(["1"] * 30),
            {"drop": ["zzz"]},
            "data.csv: drop='zzz', but no column has this name; "
            "the columns are c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, ....",
        ),
        ("1,2\n", {"target": "a"}, "data.csv: target='a' is a name, but the file has no header; give a column number."),
        ("1,2\n", {"target": 2}, "data.csv: target must be a column name or a number below 2, got 2."),
        ("1,2\n", {"target": True}, "data.csv: target must be a column name or a number below 2, got True."),
        ("1,2\n", {"text_columns": [3]}, "data.csv: text_columns must be a column name or a number below 2, got 3."),
        ("a,b\n1,2\n", {"drop": ["b"]}, "data.csv: drop must not hold the target 'b'."),
        ("a,b\n1,2\n", {"drop": ["a"]}, "data.csv: drop must leave at least one feature."),
        ("1,2\n", {"n_features": 2}, "data.csv: n_features=2, but the file has 1 features."),
        ("1\n2\n", {}, "data.csv: a target and at least one feature are needed, but the first line has one field; "
                       "its fields are expected to be separated by ','."),
        ("\n \n", {}, "data.csv: the file has no rows."),
        ('"a,b\n1,2\n', {}, "data.csv, line 1, field 1: the quote that opens here is not closed."),
        ("1,2\n", {"header": "yes"}, "open_stream: header must be True, False or \"auto\", got 'yes'."),
        ("1,2\n", {"dtype": int}, f"open_stream: dtype must be float32 or float64, got {int!r}."),
    ],
)  # fmt: skip
def test_what_cannot_be_opened_is_refused_in_one_sentence(text, options, message):
    with pytest.raises(ValueError) as refusal:
        opened(text, **options)
    assert str(refusal.value) == message


def test_a_first_row_without_end_is_refused():
    with pytest.raises(ValueError, match=r"^data.csv, line 1: the row does not end within 2 MB.$"):
        opened(b"1," * (1 << 20), complete=False)
    assert opened('a,b\n1,2\n3,"4', complete=False).kinds == "nn"  # the last row of the head may be cut


def test_words_below_the_rows_looked_at_are_refused_with_advice():
    text = "a,b\n" + "1,2\n" * 1000 + "x,3\n"
    with pytest.raises(ValueError, match=r'^line 1002, field 1: expected a number, got "x"; if this .* text_columns.$'):
        rows(text)
    assert rows(text, text_columns=["a"])[1]["a"][1000] == "x"
    with pytest.raises(ValueError, match=r'^line 2, field 1: expected a finite number, got "inf".$'):
        rows("a,b\ninf,1\n2,3\n")  # no advice: this is a number


# ---------------------------------------------------------------------------------------------------------- layouts


TRAINED = "id,age,job,cured\n1,31,clerk,yes\n2,47,cook,no\n"


@pytest.mark.parametrize(
    "text, y",
    [
        ("id,age,job,cured\n3,20,cook,no\n", ["no"]),
        ("cured,job,new,age\nno,cook,hello,20\n", ["no"]),
        ("job;age\ncook;20\n", None),
        ("3,20,cook,no\n", ["no"]),
        ("3,20,cook\n", None),  # without a header, columns are found by place
    ],
)
def test_another_file_is_read_as_the_first(text, y):
    layout = json.loads(json.dumps(opened(TRAINED, drop=["id"]).layout()))
    csv, X, found = rows(text + "\n", layout=layout)
    assert X.columns == csv.feature_names == ["age", "job"]
    assert_array_equal(X.numbers, [[20]])
    assert X["job"].to_list() == ["cook"]
    assert (None if found is None else found.tolist()) == y
    assert csv.layout() == layout
    assert rows(text + "\n", layout=layout, target=None)[2] is None


def test_numbers_come_in_the_order_of_the_first_file():
    layout = opened("a,b,c,d,y\n1,2,w,4,0\n").layout()
    _, X, y = rows("y,d,c,b,a\n9,4,w,2,1\n9,40,v,20,10\n", layout=layout)
    assert X.columns == ["a", "b", "c", "d"]
    assert_array_equal(X.numbers, [[1, 2, 4], [10, 20, 40]])
    assert X["c"].to_list() == ["w", "v"]
    assert y.tolist() == [9, 9]


def test_places_close_up_where_the_target_is_missing():
    layout = opened("y,a,w,b\n0,1,u,2\n", target="y", drop=["w"]).layout()
    for text in ("9,3,v,4\n", "3,v,4\n"):
        _, X, y = rows(text, layout=layout)
        assert X.numbers.tolist() == [[3, 4]]
        assert (y is None) == (text == "3,v,4\n")


def test_a_layout_without_names_goes_by_place():
    layout = opened("1,2,0\n3,4,1\n").layout()
    for text in ("5,6,1\n", "5,6\n", "a,b,c\n5,6,1\n"):
        _, X, y = rows(text, layout=layout)
        assert type(X) is np.ndarray
        assert X.tolist() == [[5, 6]]
        assert (y is None) == (text == "5,6\n")


@pytest.mark.parametrize(
    "text, message",
    [
        ("id,job,cured\n1,cook,no\n", "data.csv: the column 'age' that the model needs is missing."),
        (
            "id,ages,job,cured\n1,2,cook,no\n",
            "data.csv: the column 'age' that the model needs is missing; similar names: ages.",
        ),
        ("id,cured\n1,no\n", "data.csv: the columns 'age' and 'job' that the model needs are missing."),
        (
            "1,2\n",
            "data.csv: the first line names none of the columns that the model needs ('id', 'age', 'job'); without a "
            "header, 4 columns are needed as in the file that was learned from, got 2.",
        ),
    ],
)
def test_a_file_that_lacks_columns_is_refused(text, message):
    with pytest.raises(ValueError) as refusal:
        opened(text, layout=opened(TRAINED).layout())
    assert str(refusal.value) == message


def test_a_layout_of_another_kind_of_table_will_do():
    layout = {"columns": ["age", "job"], "kinds": "nt", "target": "cured"}
    _, X, y = rows("job,age,cured\ncook,20,1\n", layout=layout)
    assert (X.columns, y.tolist()) == (["age", "job"], [1])
    _, X, y = rows("20,cook\n", layout=layout)
    assert (X.columns, y) == (["age", "job"], None)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": "age"}, {"columns": ["age", 1, "id"]}, {"columns": []}, {"columns": ["age", "age", "job"]},
        {"kinds": "nx"}, {"kinds": "n"}, {"kinds": None}, {"kinds": "n--"}, {"target": 3}, {"places": [0, 1]},
        {"places": [0, 0, 1]}, {"places": [0, 1, 9]}, {"places": [0, 1, "2"]}, {"places": [0, 1, 3]},
        {"target_place": None}, {"target_kind": "-"}, {"header": 1}, {"n_columns": 2},
    ],
)  # fmt: skip
def test_a_layout_that_does_not_hold_together_is_refused(change):
    layout = opened(TRAINED).layout() | change
    with pytest.raises(ValueError, match=r"^open_stream: layout "):
        opened(TRAINED, layout=layout)
    with pytest.raises(ValueError, match=r"^open_stream: layout "):
        opened(TRAINED, layout=[1])
