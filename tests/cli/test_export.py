"""``thresher export``: from a file of dates, decimal commas and gaps to a query."""

from __future__ import annotations

import csv
import json
import sqlite3

import numpy as np
import pytest

from thresher.cli import main


@pytest.fixture
def trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + rng.integers(0, 1500, 400)
    price, job = rng.normal(50, 20, 400).round(2), rng.choice(["cook", "clerk", ""], 400)
    bought = np.where(price / 20 + 2 * (job == "cook") + rng.normal(size=400) > 3, "yes", "no")
    written = [f"{p:.2f}".replace(".", ",") if p > 20 else "" for p in price]
    lines = [f"{d};{p};{j};{b}" for d, p, j, b in zip(days, written, job, bought, strict=True)]
    (tmp_path / "sales.csv").write_text("\n".join(["sold;price;job;bought", *lines]) + "\n")
    assert (
        main(["train", "sales.csv", "--target", "bought", "--method", "arow", "--model", "m.thresher", "--quiet"]) == 0
    )
    return tmp_path


def test_a_query_repeats_what_predict_writes(trained, capsys):
    assert main(["predict", "m.thresher", "sales.csv", "--probabilities", "-o", "p.csv"]) == 0
    assert main(["export", "m.thresher", "-o", "m.sql", "--key", "id"]) == 0
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (id INTEGER, sold DOUBLE, price DOUBLE, job TEXT)")
    for i, row in enumerate(csv.DictReader((trained / "sales.csv").open(), delimiter=";")):
        days = int(np.datetime64(row["sold"]).astype(np.int64))
        price = float(row["price"].replace(",", ".")) if row["price"] else None
        connection.execute("INSERT INTO data VALUES (?, ?, ?, ?)", (i, days, price, row["job"] or None))
    cursor = connection.execute((trained / "m.sql").read_text())
    names = [each[0] for each in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in sorted(cursor)]
    for row, told in zip(csv.DictReader((trained / "p.csv").open()), found, strict=True):
        assert row["prediction"] == told["prediction"]
        assert float(row["probability yes"]) == pytest.approx(told["probability yes"], abs=1e-9)


def test_what_is_written_goes_by_the_name_or_to_stdout(trained, capsys):
    assert main(["export", "m.thresher", "--to", "json"]) == 0
    assert {each["name"]: each["type"] for each in json.loads(capsys.readouterr().out)["inputs"]} == {
        "sold": "date",
        "price": "number",
        "job": "text",
    }
    assert main(["export", "m.thresher", "--json", "-o", "m.c"]) == 0
    assert json.loads(capsys.readouterr().out)["to"] == "c"
    for wrong, sentence in (
        (["-o", "m.txt"], "--to must be one of onnx, sql, json, c"),
        (["--to", "onnx"], "--output must name a file"),
        (["--to", "c", "-o", "m.thresher"], "m.thresher"),
        (["--to", "c", "--table", "x"], "--table is for sql only"),
    ):
        assert main(["export", "m.thresher", *wrong]) == 2
        assert sentence in capsys.readouterr().err


def test_the_command_knows_every_target():
    """It lists them itself, because nothing heavy is imported before a command runs."""
    from thresher import exporting
    from thresher.cli import _export_command

    assert _export_command.TARGETS == exporting.TARGETS
