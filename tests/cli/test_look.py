"""``thresher look``: what it prints, the page, and the file by which columns are read in the same way."""

from __future__ import annotations

import json
import random
import re
import shlex

import numpy as np
import pytest
import yaml

from thresher.cli import main
from thresher.streams import open_stream


def look(*arguments, code=0):
    assert main(["look", *map(str, arguments)]) == code


@pytest.fixture
def customers(tmp_path, monkeypatch):
    """A table as a German spreadsheet writes it."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(0)
    rows = ["No client;opened;sales;plan;share;active;branch;remark;closed;left"]
    for row in range(300):
        left = draw.random() < 0.3
        opened = f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.20{draw.randint(10, 24)}"
        sales = f"{draw.randint(1, 9)}.{draw.randint(0, 999):03d},{draw.randint(10, 99)} €"
        share, plan = f"{draw.randint(0, 99)},{draw.randint(1, 9)} %", draw.choice(["Basis", "Familie", "Plus"])
        remark = " ".join(draw.choice(["zieht", "bald", "um", "nach", "Köln", "und", "Ulm"]) for _ in range(9))
        closed = f"{draw.randint(1, 28):02d}.03.2025" if left else ""
        fields = [f"K{row:04d}", opened, sales, plan, share, draw.choice(["ja", "nein"]), "Köln", remark, closed]
        rows.append(";".join([*fields, "yes" if left else "no"]))
    path = tmp_path / "customers.csv"
    path.write_bytes("\n".join([*rows, ""]).encode("cp1252"))
    return path


def table_of(text):
    """The cells of the table, joined over the lines into which they are wrapped, by the name of the column."""
    lines = text.splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("column "))
    begins = [match.start() for match in re.finditer(r"\S+", lines[head])]
    rows = []
    for line in lines[head + 2 : lines.index("", head)]:
        cells = [line[a:b].strip() for a, b in zip(begins, [*begins[1:], None], strict=True)]
        if cells[0]:
            rows.append(cells)
        else:
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
    return {row[0]: dict(zip(lines[head].split(), row, strict=True)) for row in rows}


def test_the_table_says_what_was_understood_and_what_becomes_of_it(customers, capsys):
    look(customers)
    text = capsys.readouterr().out
    assert text.startswith("customers.csv, ")
    assert "300 rows, 10 columns. Encoding cp1252, fields separated by ';', the first row holds names." in " ".join(
        text.split()
    )
    table = {name: (cells["kind"], cells["becomes"]) for name, cells in table_of(text).items()}
    assert table == {
        "No client": ("identifier", "left out: every row has its own value"),
        "opened": ("date D.M.Y", "years, month, weekday"),
        "sales": ("number, decimal comma, in €", "a number"),
        "plan": ("category, 3 values", "one feature for each value"),
        "share": ("number, decimal comma, in %", "a number"),
        "active": ("ja/nein", "1 for ja, 0 for nein"),
        "branch": ("category, 1 value", "one feature for each value"),
        "remark": ("text", "word counts"),
        "closed": ("date D.M.Y", "years, month, weekday"),
        "left": ("category, 2 values", "the target"),
    }
    assert re.fullmatch(r"[67]\d(\.\d)? %", table_of(text)["closed"]["missing"])
    assert max(map(len, text.splitlines())) <= 100
    assert "Target 'left' (the last column; --target chooses another): 'no' " in text


def test_warnings_come_with_an_option_for_the_shell(customers, capsys):
    text = customers.read_text("cp1252").replace("branch", "the branch", 1)
    customers.write_text(text, "cp1252")
    look(customers)
    said = capsys.readouterr().out
    assert "Column 'closed' alone predicts the target" in said
    options = [line.strip() for line in said.splitlines() if line.strip().startswith("--")]
    assert options == ["--drop closed", "--drop 'the branch'"]
    look(customers, *(word for line in options for word in shlex.split(line)))
    said = capsys.readouterr().out
    assert "Warnings" not in said
    assert table_of(said)["closed"]["becomes"] == "left out, as requested"


def test_a_column_that_is_named_by_a_number_is_dropped_by_its_place(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a,2019,y\n" + "".join(f"{i % 7},5,{'uvw'[i * i % 3]}\n" for i in range(60)))
    look(path, "--header")
    assert "--drop 1\n" in capsys.readouterr().out


def test_doubts_come_with_the_option_that_decides_otherwise(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text(
        "day\tprice\ty\n" + "".join(f"0{i % 9 + 1}/0{i * 5 % 9 + 1}/2024\t{i % 13}\tu\n" for i in range(40))
    )
    look(path, "--json")
    (doubt,) = json.loads(capsys.readouterr().out)["doubts"]
    assert doubt["option"] == ["date", "M/D/Y"]
    look(path)
    said = capsys.readouterr().out
    assert "Not certain\n  - '01/01/2024' in column 'day' is read with the day first\n      --date M/D/Y\n" in said


def test_json_has_the_profile(customers, capsys):
    look(customers, "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["n_rows"], found["target"], found["task"]) == (300, "left", "classification")
    assert found["text"] == {"encoding": "cp1252", "delimiter": ";", "header": True}
    assert [warning["kind"] for warning in found["warnings"]] == ["leak", "constant"]
    assert sum(found["columns"][2]["histogram"]) == 300


def test_the_page_shows_the_same(customers, capsys):
    look(customers, "--report", "look.html")
    page = (customers.parent / "look.html").read_text()
    assert "report written to look.html" in capsys.readouterr().out
    assert page.count('class="spark') == 9  # not of the column that is left out
    for words in (
        "number, decimal comma, in €",
        "--drop closed",
        "prefers-color-scheme: dark",
        "default-src &#39;none",
    ):
        assert words in page or words.replace("&#39;", "'") in page
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_every_report_begins_its_data_with_the_profile(customers, capsys):
    assert main(["train", str(customers), "--report", "r.json", "--quiet"]) == 0
    data = json.loads((customers.parent / "r.json").read_text())["sections"]["data"]["profile"]
    assert [column["name"] for column in data["columns"]][:3] == ["No client", "opened", "sales"]
    assert "alone predicts the target" in data["warnings"][0]
    assert main(["train", str(customers), "--report", "r.html", "--quiet"]) == 0
    assert "number, decimal comma, in €" in (customers.parent / "r.html").read_text()


def test_what_is_written_reads_the_file_in_the_same_way(customers, capsys):
    look(customers, "--target", "left", "--write", "columns.yml")
    told = yaml.safe_load((customers.parent / "columns.yml").read_text())
    assert told["columns"]["sales"] == {"kind": "number", "decimal": ",", "thousands": ".", "unit": "€"}
    again, first = open_stream(customers, **told), open_stream(customers, target="left")
    assert again.layout() == first.layout()
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.X.numbers, other.X.numbers)
        assert one.X.text == other.X.text


HOSTILE = [': "#', "- a", "{x}", "naïve \U0001f600", "null", "2019", "tab\tbed", "line\u2028sep", "back\\slash"]


def test_names_that_yaml_would_misread_come_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [*HOSTILE, "twice", "twice", "y"]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    rows = [",".join(f'"{(i * 7 + j) % 5} %"' for j in range(len(names))) for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(quoted), *rows, ""]))
    look("t.csv", "--header", "--write", "c.yml")
    told = yaml.safe_load((tmp_path / "c.yml").read_text())
    assert open_stream("t.csv", **told).layout() == open_stream("t.csv", header=True).layout()


def test_a_file_that_may_have_been_changed_is_not_overwritten(customers, capsys):
    (customers.parent / "columns.yml").write_text("mine")
    look(customers, "--write", "columns.yml", code=2)
    assert (customers.parent / "columns.yml").read_text() == "mine"
    assert "the file exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--report", "look.pdf"], "--report must end in .html"),
        (["--report", "customers.csv"], "this file is an input"),
        (["--write", "nowhere/c.yml"], "the folder does not exist"),
        (["--target", "lost"], "no column has this name"),
    ],
)
def test_mistakes_are_named(customers, capsys, options, says):
    look("customers.csv", *options, code=2)
    assert says in capsys.readouterr().err


def test_rows_without_columns_of_their_own(tmp_path, capsys):
    path = tmp_path / "t.svm"
    path.write_text("1 1:0.5 3:2\n-1 2:1\n" * 20)
    look(path)
    said = capsys.readouterr().out
    assert table_of(said)["x3"]["values"] == "0 to 2"
    assert "Target 'target': '-1' 20 (50.0 %), '1' 20 (50.0 %)." in said
    look(path, "--write", str(tmp_path / "c.yml"), code=2)
    assert "--write is for tables" in capsys.readouterr().err


def test_a_file_of_one_column_has_no_target(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("day\n" + "".join(f"2024-01-{i % 28 + 1:02d}\n" for i in range(40)))
    look(path)
    said = capsys.readouterr().out
    assert table_of(said)["day"]["kind"] == "date Y-M-D"
    assert "No column is used as the target; --target chooses one." in said


def test_lines_that_cannot_be_read_are_counted(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,2\n3,5\n" * 30 + "1,2,3\n")
    look(path)
    said = " ".join(capsys.readouterr().out.split())
    assert "1 line could not be read; correct them, or have such lines skipped (the first: t.csv, line 62: " in said
    assert "got 3) --skip-malformed" in said
    path.write_text("a,y\n" + "1,2\n3,5\n" * 30 + "unknown,2\n")
    look(path)
    said = " ".join(capsys.readouterr().out.split())
    assert "name it in --missing; if this column holds text, name it in --text)" in said


def test_options_for_doubts_and_warnings_are_those_of_the_command(tmp_path, capsys):
    path = tmp_path / "t.csv"
    ages = [str(20 + i % 50) if i % 9 else "unknown" for i in range(120)]
    path.write_text("age,shop,left\n" + "".join(f"{age},A,{i * i % 7 % 2}\n" for i, age in enumerate(ages)))
    look(path)
    said = capsys.readouterr().out
    assert "'unknown' in column 'age' counts as missing\n      --text age\n" in said
    options = [word for line in said.splitlines() if line.startswith("      --") for word in shlex.split(line)]
    look(path, *options)
    assert "counts as missing" not in capsys.readouterr().out


def test_many_columns_are_cut(tmp_path, capsys):
    path = tmp_path / "t.csv"
    names = ",".join(f"c{j}" for j in range(99))
    path.write_text(f"{names}\n" + "".join(",".join(str(i * j % 31) for j in range(99)) + "\n" for i in range(120)))
    look(path)
    assert "and 39 more columns, which `thresher look --json` shows" in capsys.readouterr().out


def test_names_cannot_steer_the_terminal(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a\x1b[31m,[bold]b,y\n" + "1,2,u\n2,3,v\n" * 30)
    look(path)
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "[bold]b" in said
