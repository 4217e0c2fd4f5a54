"""Tables as the world writes them come out right, or a question is asked; nothing is wrong in silence."""

import csv
import dataclasses
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nasty_tables import NAMES, Nasty, as_text, corpus, truth
from thresher import auto
from thresher._gate._column_kinds import number_identifies
from thresher.streams import open_stream

VALUES = truth()


def opened(tmp_path, text, **options):
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    return open_stream(path, batch_size=100, **options)


def whole(stream):
    from thresher._gate import Table

    batches = list(stream)
    return Table.concat([batch.X for batch in batches]), np.concatenate([batch.y for batch in batches])


@pytest.mark.parametrize("how", corpus(), ids=str)
def test_every_value_comes_out_as_it_was_meant(tmp_path, how):
    stream = opened(tmp_path, as_text(VALUES, how))
    table, y = whole(stream)
    names = NAMES if how.header else [f"x{j + 1}" for j in range(7)]
    assert table.columns == names[:-1]
    assert table.dates == (names[3],)
    assert [doubt for found in stream.understood.columns.values() if (doubt := found.doubt)] == []
    assert_allclose(table.numbers, VALUES.numbers, rtol=1e-12)
    assert table[names[4]].to_list() == VALUES.towns
    assert y.tolist() == VALUES.left


@pytest.mark.parametrize("how", corpus()[::6], ids=str)
def test_a_layout_reads_another_table_written_alike(tmp_path, how):
    layout = opened(tmp_path, as_text(VALUES, how)).layout()
    few = dataclasses.replace(VALUES, numbers=VALUES.numbers[:7], towns=VALUES.towns[:7], left=VALUES.left[:7])
    table, y = whole(opened(tmp_path, as_text(few, how), layout=layout))
    assert_allclose(table.numbers, few.numbers, rtol=1e-12)
    assert (table.text[table.columns[4]].to_list(), y.tolist()) == (few.towns, few.left)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_recoded_text_is_read_from_any_position(tmp_path, encoding):
    stream = opened(tmp_path, as_text(VALUES, Nasty(encoding=encoding)))
    batches = list(stream)
    for k, batch in enumerate(batches[:-1]):
        after = next(iter(stream.batches(batch.position)))
        assert_array_equal(after.X.numbers, batches[k + 1].X.numbers)
        assert after.X["town"] == batches[k + 1].X["town"]


def columns_of(tmp_path, rows, target=None, **options):
    path = tmp_path / "some.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=options.pop("written", ",")).writerows(rows)
    return open_stream(path, target=target, **options).understood.columns


def test_commas_that_may_be_decimal_are_a_question(tmp_path):
    rows = [["a", "b"], *([f"{k},{k * 37 % 1000:03d}", str(k)] for k in range(1, 40))]
    found = columns_of(tmp_path, rows, written=";")["a"]
    assert (found.reading.decimal, found.option) == (",", ("decimal", "."))
    assert found.doubt == "'1,037' in column 'a' is read as 1.037"
    assert columns_of(tmp_path, rows, written=";", decimal=".")["a"].reading.thousands == ","
    assert columns_of(tmp_path, rows, written="\t")["a"].doubt == "'1,037' in column 'a' is read as 1037"


def test_other_columns_tell_which_mark_is_decimal(tmp_path):
    rows = [["a", "b"], *([f"{k}.{k * 37 % 1000:03d}", f"0,{k}"] for k in range(1, 40))]
    found = columns_of(tmp_path, rows, written=";")
    assert (found["a"].reading.decimal, found["a"].reading.thousands, found["a"].doubt) == (",", ".", "")


def test_columns_with_words_for_missing_values_tell_which_mark_is_decimal_too(tmp_path):
    rows = [["a", "b"], *([f"{k}.{k * 37 % 1000:03d}", f"{k},5 €" if k % 9 else "k. A."] for k in range(1, 40))]
    found = columns_of(tmp_path, rows, written=";")
    assert (found["a"].reading.decimal, found["a"].reading.thousands, found["a"].doubt) == (",", ".", "")
    assert (found["b"].reading.decimal, found["b"].reading.missing) == (",", ("k. A.",))


def test_day_and_month_that_may_be_either_are_a_question(tmp_path):
    rng = np.random.default_rng(0)
    rows = [["when", "b"], *([f"{d:02d}/{m:02d}/2024", "1"] for d, m in rng.integers(1, 13, size=(40, 2)))]
    found = columns_of(tmp_path, rows)["when"]
    assert (found.reading.pattern, found.option) == ("D/M/Y", ("date", "M/D/Y"))
    assert "is read with the day first" in found.doubt
    assert columns_of(tmp_path, rows, date="M/D/Y")["when"].reading.pattern == "M/D/Y"
    rows[3][0] = "05/23/2024"
    found = columns_of(tmp_path, rows)["when"]
    assert (found.reading.pattern, found.doubt) == ("M/D/Y", "")


def test_dates_in_order_tell_day_from_month(tmp_path):
    days = ["01/12", "02/03", "02/11", "03/05", "04/02"]
    rows = [["when", "b"], *([f"{day}/2024", "1"] for day in days for _ in range(5))]
    found = columns_of(tmp_path, rows)["when"]
    assert (found.reading.pattern, found.doubt) == ("M/D/Y", "")


def test_a_word_among_numbers_is_missing_and_a_question(tmp_path):
    rows = [["income", "b"], *([str(1000 + 7 * k) if k % 5 else "refused", "1"] for k in range(60))]
    found = columns_of(tmp_path, rows)["income"]
    assert (found.reading.kind, found.reading.missing, found.n_missing) == ("number", ("refused",), 12)
    assert found.option == ("text_columns", "income")


@pytest.mark.parametrize(
    "values, kind",
    [
        ([f"{k}" for k in range(60)], "identifier"),
        ([f"K-{k * 7919:06d}" for k in range(60)], "identifier"),
        ([f"{k % 7}" for k in range(60)], "number"),
        ([f"{k * 37 % 101}.5" for k in range(60)], "number"),
        ([f"-{k % 7}" for k in range(60)], "number"),
        ([f"{20240100 + k % 28 + 1}" for k in range(60)], "date"),
        (["7", "", "12"] * 20, "number"),
        ([f"0{k % 9}{k % 7}{k % 5}1" for k in range(60)], "category"),
        (["+", "-"] * 30, "category"),
        (["A", "a"] * 30, "category"),
        (["NA", "DE", "FR", "US"] * 15, "category"),
        (["the cat sat on the mat number " + str(k) for k in range(60)], "text"),
        ([f"{k % 24}:{k % 60:02d}" for k in range(60)], "time"),
        (["(1,234.50)", "12.00", "$3"] * 20, "number"),
        (["true", "false", ""] * 20, "boolean"),
    ],
)
def test_kinds_of_columns(tmp_path, values, kind):
    rows = [["a", "b"], *([value, str(k * 13 % 7)] for k, value in enumerate(values))]
    found = columns_of(tmp_path, rows)["a"]
    assert found.reading.kind == kind
    assert found.doubt == ""
    if kind == "category":
        assert found.reading.spellings == {}
        assert found.n_missing == 0


def test_wide_tables_cost_as_many_looks_as_they_have_columns(tmp_path):
    rng = np.random.default_rng(0)
    n_columns = 20_000
    values = [*map(str, rng.integers(0, 10, size=(3, n_columns)).tolist())]
    lines = [",".join(f"g{j}" for j in range(n_columns)), *(value.strip("[]").replace(" ", "") for value in values)]
    begin = time.process_time()
    stream = opened(tmp_path, "\n".join(lines).encode(), target=None)
    table = next(iter(stream)).X
    columns = [table[name][0] for name in table.columns if name in table]
    assert time.process_time() - begin < 10  # minutes, if each column is looked for among all others
    assert_array_equal(columns, table.numbers[0])


@pytest.mark.parametrize("how", corpus()[::8], ids=str)
def test_auto_learns_the_same_from_a_table_written_in_any_way(tmp_path, how):
    def answers(how):
        path = tmp_path / "learn.csv"
        path.write_bytes(as_text(VALUES, how))
        model = auto(path, method="arow", n_evaluations=1, cv=2)
        rows = whole(opened(tmp_path, as_text(truth(seed=1), how)))[0]
        return model.decision_function(rows)

    assert_allclose(answers(how), answers(Nasty(header=how.header)), rtol=1e-9)


def test_slips_of_spelling_become_the_usual_word(tmp_path):
    rows = [["town", "b"], *([word, "1"] for word in [*["Gent"] * 30, "gent", "GENT ", " Gent", *["Köln"] * 20])]
    path = tmp_path / "slips.csv"
    path.write_text("\n".join(",".join(row) for row in rows), encoding="utf-8")
    batch = next(iter(open_stream(path)))
    assert set(batch.X["town"].to_list()) == {"Gent", "Köln"}


def test_classes_that_differ_by_an_accent_stay_two(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("x,class\n1,côte\n2,coté\n3,côté\n4,cote\n".encode("latin-1"))
    assert next(iter(open_stream(path))).y.tolist() == ["côte", "coté", "côté", "cote"]


def test_text_that_stops_being_utf8_is_refused_not_replaced(tmp_path):
    path = tmp_path / "late.csv"
    path.write_bytes(b"x,word\n" + b"1,abc\n" * 700_000 + b"2,caf\xe9\n")
    with pytest.raises(ValueError, match=r"late.csv, line 700002, field 2: the text is not UTF-8; name its encoding"):
        for _ in open_stream(path, batch_size=100_000):
            pass


@pytest.mark.parametrize(
    "first, target, named",
    [
        (["0", "1", "2", "label"], "label", True),
        (["0", "1", "2", "label"], -1, True),
        (["0", "1", "2", "3"], -1, True),
        (["land", "2019", "2020", "2021"], -1, True),
        (["5.1", "3.5", "1.4", "a"], -1, False),
        (["1,5", "2,5", "3,5", "a"], -1, False),
        (["01.02.2024", "b", "c", "a"], -1, False),
    ],
)
def test_headers_of_numbers(tmp_path, first, target, named):
    rng = np.random.default_rng(0)
    words = first[0] == "land"
    rows = [[*(f"{v:.1f}" for v in rng.normal(5, 3, 3)), "ab"[k % 2]] for k in range(30)]
    rows = [[row[3], *row[:3]] if words else row for row in rows]
    path = tmp_path / "head.csv"
    path.write_text("\n".join(";".join(row) for row in [first, *rows]))
    assert open_stream(path, target=target).understood.header is named


@pytest.mark.parametrize("first", [["0", "1", "2", "3"], ["1", "2", "3", "4"], ["1", "0", "1", "0"]])
def test_small_whole_numbers_are_no_header(tmp_path, first):
    rows = [[str((j + k) % 4) for j in range(4)] for k in range(30)]
    path = tmp_path / "digits.csv"
    path.write_text("\n".join(",".join(row) for row in [first, *rows]))
    assert open_stream(path).understood.header is False


def test_the_first_line_may_name_the_delimiter(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_text("sep=;\na;b\n1,5;2\n2,5;3\n")
    assert_array_equal(next(iter(open_stream(path))).X.numbers, [[1.5], [2.5]])


def test_columns_are_read_as_told(tmp_path):
    rows = [["code", "when", "note", "y"], *([str(k), f"0{1 + k % 9}022024", "x", "1"] for k in range(60))]
    told = {"code": "number", "when": {"kind": "date", "pattern": "dNY"}, 2: "drop"}
    found = columns_of(tmp_path, rows, target="y", columns=told)
    assert [each.reading.kind for each in found.values()] == ["number", "date", "drop", "number"]
    with pytest.raises(
        ValueError, match=r"some.csv: columns must say how 'code' is read: kind must be one of number, "
    ):
        columns_of(tmp_path, rows, columns={"code": "digits"})


def test_a_pattern_of_dates_is_taken_where_it_fits(tmp_path):
    rows = [["when", "b"], *([f"{1 + k % 28:02d}{1 + k % 12:02d}{1990 + k}", str(k % 7)] for k in range(40))]
    assert columns_of(tmp_path, rows)["when"].reading.kind != "date"
    found = columns_of(tmp_path, rows, date="dNY")
    assert (found["when"].reading.pattern, found["b"].reading.kind) == ("dNY", "number")


def test_an_encoding_that_is_not_that_of_the_text_is_refused(tmp_path):
    text = as_text(VALUES, Nasty(encoding="cp1252"))
    with pytest.raises(ValueError, match=r"^table.csv: the text is not utf-8 \(.*\); name its encoding\.$"):
        opened(tmp_path, text, encoding="utf8", skip_malformed=True)
    assert opened(tmp_path, text, encoding="latin-1").understood.encoding == "iso8859-1"


@pytest.mark.parametrize(
    ("name", "values", "identifies"),
    [
        ("Kundennr", 70_000 + 3 * np.arange(50), True),
        ("Account Number", np.random.default_rng(0).permutation(100), True),
        ("anything", 100_000 + np.arange(300), True),  # no year, no age
        ("year", 1950 + np.arange(70), False),
        ("number", np.repeat(np.arange(25), 2), False),  # rows share it
        ("Kundennr", np.arange(50) / 7, False),
    ],
)
def test_numbers_that_only_tell_rows_apart_are_found(name, values, identifies):
    assert (number_identifies(name, values.astype(float)) is not None) == identifies
