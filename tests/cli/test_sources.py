"""Queries, standard input, spreadsheets and folders, as a user's shell sees them."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest

from thresher.cli import _options, main
from thresher.persistence import load_model
from thresher.streams import _source


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)}).round(3)
    frame["kind"] = np.where(frame["a"] > 0, "up", "down")
    frame.to_csv("rows.csv", index=False)
    frame.to_parquet("rows.parquet")
    return frame


def refused(capsys, *words):
    capsys.readouterr()
    assert main(list(words)) == 2
    return capsys.readouterr().err.splitlines()[-1]


def coefficients(path):
    return load_model(path)[-1].coef_.tolist()


def predictions(path):
    return open(path).read()


def test_train_tune_auto_and_predict_take_a_query(capsys, rows):
    assert main(["train", "rows.parquet", "--model", "file.m", "--quiet"]) == 0
    query = ["--sql", "select * from 'rows.parquet'"]
    assert main(["train", *query, "--model", "query.m", "--quiet"]) == 0
    assert coefficients("query.m") == coefficients("file.m")
    for model, source in (("file.m", ["rows.csv"]), ("query.m", ["--sql", "select b, a from 'rows.parquet'"])):
        assert main(["predict", model, *source, "-o", f"{model}.csv"]) == 0
    assert predictions("query.m.csv") == predictions("file.m.csv")
    with duckdb.connect("rows.db") as connection:
        connection.execute("create table rows as select * from 'rows.parquet'")
    stored = ["--sql", "from rows", "--database", "rows.db"]
    assert main(["tune", *stored, "--method", "arow", "--n-evaluations", "2", "--model", "t.m", "--quiet"]) == 0
    assert main(["auto", *stored, "--method", "arow", "--n-evaluations", "2", "--model", "u.m", "--quiet"]) == 0
    python = load_model("u.m").record_["python"]
    assert "auto(" in python
    assert "sql='from rows', database='rows.db'" in python


def test_a_query_is_refused_in_one_sentence(capsys, tmp_path):
    assert "DATA is missing; name a file, - for standard input, or give a query with --sql." in refused(
        capsys, "train", "--model", "m"
    )
    assert "give either DATA or --sql, not both." in refused(capsys, "train", "rows.csv", "--sql", "from 'rows.csv'")
    assert "give one with --sql" in refused(capsys, "predict", "m", "rows.csv", "--database", "rows.csv")
    assert "sql cannot be run (" in refused(capsys, "train", "--sql", "selec 1")
    assert "sql must be a query that returns rows" in refused(capsys, "train", "--sql", ";")
    for query in (f"copy (select 1) to '{tmp_path}/out'", "select 1; select 2", "create table x(a int)"):
        assert "sql must be a query that returns rows" in refused(capsys, "train", "--sql", query)
    assert not (tmp_path / "out").exists()
    assert "several columns have the same name" in refused(capsys, "train", "--sql", "select 1 as a, 1 as a, 2 as y")
    assert "--resume needs files" in refused(capsys, "train", "--sql", "from 'rows.csv'", "--resume", "--model", "m")
    assert "--engine" in refused(capsys, "train", "--sql", "from 'rows.csv'", "--engine", "serial")


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_standard_input_is_a_file_like_others(name, rows):
    def piped(*words):
        with open(name, "rb") as file:
            return subprocess.run(
                [sys.executable, "-m", "thresher", *words], stdin=file, capture_output=True, text=True
            )

    assert main(["train", name, "--model", "file.m", "--quiet"]) == 0
    done = piped("train", "-", "--model", "pipe.m", "--quiet")
    assert done.returncode == 0, done.stderr
    assert coefficients("pipe.m") == coefficients("file.m")
    assert load_model("pipe.m").record_["python"].splitlines()[-4].startswith("stream = open_stream('stdin'")
    assert main(["predict", "file.m", name, "-o", "out.csv"]) == 0
    done = piped("predict", "file.m", "-")
    assert done.stdout == predictions("out.csv")
    done = piped("train", "-", "--model", "pipe.m", "--resume")
    assert (done.returncode, done.stderr.splitlines()[-1][:31]) == (2, "thresher: --resume needs files;")


def test_the_formats_are_those_of_streams():
    assert tuple(_options.FORMATS) == _source.FORMATS


def test_a_sheet_is_chosen_by_name(capsys, rows):
    with pd.ExcelWriter("book.xlsx") as book:
        pd.DataFrame({"note": ["nothing here"]}).to_excel(book, sheet_name="notes", index=False)
        rows.to_excel(book, sheet_name="data", index=False)
    assert main(["train", "rows.csv", "--model", "file.m", "--quiet"]) == 0
    assert main(["train", "book.xlsx", "--sheet", "data", "--model", "sheet.m", "--quiet"]) == 0
    assert coefficients("sheet.m") == coefficients("file.m")
    assert main(["predict", "sheet.m", "book.xlsx", "--sheet", "1", "-o", "out.csv"]) == 0
    assert "--sheet dat, but the sheets are notes, data." in refused(capsys, "train", "book.xlsx", "--sheet", "dat")
