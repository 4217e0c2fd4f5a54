"""Numbers, dates and truth values as people write them, compared with Python's own reading of them."""

import datetime
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher import _core
from thresher._gate import Text


def read(text, kind="number", **marks):
    column = Text.from_list([text])
    values, wrong, n_missing, n_wrong = _core.read_values(column.offsets, column.data, _core.ValueFormat(kind, **marks))
    assert (wrong == -1) == (n_wrong == 0)
    assert n_missing in (0, 1)
    return None if n_wrong else float(values[0])


@given(
    st.decimals(min_value=-(10**12), max_value=10**12, places=3),
    st.sampled_from([(".", ""), (".", ","), (",", "."), (",", " "), (".", "'"), (",", "")]),
    st.sampled_from(["", "€", "$", "%", "kg"]),
    st.sampled_from(["{s}{u}{n}", "{s}{n}{u}", "{s}{n} {u}", "{u}{s}{n}", " {s}{n}\u00a0{u} "]),
)
def test_numbers_with_marks_are_those_that_python_reads_without(number, marks, unit, shape):
    decimal, thousands = marks
    plain = f"{abs(number):,f}"
    written = plain.replace(",", "\0").replace(".", decimal).replace("\0", thousands)
    text = shape.format(s="-" if number < 0 else "", u=unit, n=written)
    assert read(text, decimal=decimal, thousands=thousands, unit=unit) == float(number)


@pytest.mark.parametrize(
    "text, marks, value",
    [
        ("(12,5)", {"decimal": ","}, -12.5),
        ("\u22123", {}, -3.0),
        ("1\u2019234", {"thousands": "'"}, 1234.0),
        ("1\u202f234\u202f567", {"thousands": " "}, 1234567.0),
        ("12,34,567", {"thousands": ","}, 1234567.0),
        ("1e3", {}, 1000.0),
        ("5-", {}, None),
        ("--5", {}, None),
        ("1.2.3", {}, None),
        ("12.34", {"decimal": ",", "thousands": "."}, None),
        ("1,2345", {"thousands": ","}, None),
        (",5", {"thousands": ","}, None),
        ("5 €", {}, None),
        ("€", {"unit": "€"}, None),
        ("1" * 70, {}, None),
        ("1e999", {}, None),
        ("abc", {}, None),
    ],
)
def test_single_numbers(text, marks, value):
    assert read(text, **marks) == value


@pytest.mark.parametrize("text", ["", " ", "NA", "n/a", "?", "-", "NULL", "#N/A", "<NA>", "\\N", "none", "k.A."])
@pytest.mark.parametrize("kind", [{"kind": "number"}, {"kind": "date", "pattern": "Y-M-D"}])
def test_words_for_a_missing_value(text, kind):
    assert math.isnan(read(text, **kind, missing=["k.A."]))


PATTERNS = [
    *(("Y-M-D", "%Y-%m-%d"), ("D.M.Y", "%d.%m.%Y"), ("M/D/Y", "%m/%d/%Y"), ("YNd", "%Y%m%d"), ("D b Y", "%d %B %Y")),
    *(("b D, Y", "%b %d, %Y"), ("a, D b Y", "%A, %d %b %Y"), ("Y-M-DTh:m:s", "%Y-%m-%dT%H:%M:%S")),
    *(
        ("M/D/Y h:m p", "%m/%d/%Y %I:%M %p"),
        ("D.M.Y h:m:s", "%d.%m.%Y %H:%M:%S.%f"),
        ("Y-M-D h:m:sz", "%Y-%m-%d %H:%M:%S%z"),
    ),
]
MOMENTS = st.datetimes(min_value=datetime.datetime(1900, 1, 1), max_value=datetime.datetime(2199, 12, 31))


@given(MOMENTS, st.sampled_from(PATTERNS), st.integers(-720, 720))
def test_dates_are_those_that_python_reads(moment, patterns, minutes):
    pattern, written = patterns
    zone = datetime.timezone(datetime.timedelta(minutes=minutes))
    text = moment.replace(tzinfo=zone).strftime(written)
    expected = datetime.datetime.strptime(text, written)
    expected = expected.replace(tzinfo=expected.tzinfo or datetime.UTC)
    microseconds = (expected - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)) // datetime.timedelta(microseconds=1)
    assert read(text, "date", pattern=pattern) == microseconds / 86_400_000_000


@pytest.mark.parametrize(
    "text", ["2023-02-29", "2024-13-01", "2024-00-10", "2024-01-32", "24-01-01", "2024-01-01x", "2024"]
)
def test_days_that_do_not_exist_are_no_dates(text):
    assert read(text, "date", pattern="Y-M-D") is None


@pytest.mark.parametrize(
    "text, month",
    [
        ("3 März 2024", 3),
        ("3 mars 2024", 3),
        ("3 août 2024", 8),
        ("3 Dez 2024", 12),
        ("3 juil. 2024", 7),
        ("3 JUN 2024", 6),
    ],
)
def test_months_have_names_in_other_languages(text, month):
    days = (datetime.date(2024, month, 3) - datetime.date(1970, 1, 1)).days
    assert read(text, "date", pattern="D b Y") == days


def test_times_of_day_are_hours():
    assert read("13:30", "date", pattern="h:m") == 13.5
    assert read("12:15 am", "date", pattern="h:m p") == 0.25
    assert read("25:00", "date", pattern="h:m") is None


@given(st.text(max_size=40), st.sampled_from([p for p, _ in PATTERNS]))
def test_any_text_is_read_or_refused(text, pattern):
    for marks in ({"kind": "date", "pattern": pattern}, {"decimal": ",", "thousands": ".", "unit": "€"}):
        value = read(text, **marks)
        assert value is None or math.isnan(value) or math.isfinite(value)


def test_truth_values():
    words = {"yes": ["ja"], "no": ["nein"]}
    assert [read(text, "boolean", **words) for text in ("Ja", "NEIN", "ja ", "vielleicht")] == [1, 0, 1, None]


def test_formats_belong_to_columns_of_numbers():
    with pytest.raises(ValueError, match="formats must be those of columns of numbers"):
        _core.parse_csv(b"1,2\n", kinds="nt", formats={1: _core.ValueFormat("number")})
    with pytest.raises(ValueError, match="unknown marks"):
        _core.ValueFormat("number", decimal=",", thousands=",")


def test_a_value_that_does_not_fit_is_refused_by_line_and_field():
    format = _core.ValueFormat("date", pattern="D.M.Y")
    with pytest.raises(ValueError, match=r'line 2, field 2: expected a date or time, got "32.1.2024"'):
        _core.parse_csv(b"1,1.1.2024\n2,32.1.2024\n", kinds="nn", formats={1: format})
    *_, skipped = _core.parse_csv(
        b"1,1.1.2024\n2,x\n3,2.1.2024\n", kinds="nn", formats={1: format}, skip_malformed=True
    )
    assert skipped == 1
