"""The same rows in every format and from every object: the same batches, the same model, bit for bit."""

from __future__ import annotations

import contextlib
import json

import duckdb
import narwhals
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from stream_files import write
from thresher import auto
from thresher.online import AROWClassifier
from thresher.persistence import save_model
from thresher.preprocessing import RunningScaler, StreamingPipeline, TableEncoder
from thresher.streams import open_stream
from thresher.training import train

N = 60


@pytest.fixture(scope="module")
def rows():
    """Numbers with a fraction, whole numbers of which some are missing, words, and a target of words."""
    rng = np.random.default_rng(0)
    age, dose = rng.integers(18, 80, N).astype(float), np.round(rng.normal(size=N), 3)
    age[3::7] = np.nan
    town = rng.choice(["Köln", "Gent", "Aix, la Chapelle"], N)
    cured = np.where(dose + (town == "Gent") > 0.3, "yes", "no")
    return pd.DataFrame({"age": age, "dose": dose, "town": town, "cured": cured})


def csv(rows, folder):
    rows.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def excel(rows, folder, name="rows.xlsx"):
    book = openpyxl.Workbook()
    book.active.append(list(rows.columns))
    for row in rows.itertuples(index=False):
        book.active.append([None if isinstance(cell, float) and np.isnan(cell) else cell for cell in row])
    book.save(folder / name)
    return folder / name


def json_lines(rows, folder, name="rows.jsonl"):
    kept = ({k: v for k, v in row.items() if v == v} for row in rows.to_dict("records"))
    return write(folder / name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept))


def arrow(rows):
    return pa.Table.from_pandas(rows, preserve_index=False)


def parquet_folder(rows, folder):
    """As Spark writes it."""
    (folder / "rows").mkdir()
    for i, begin in enumerate(range(0, N, 25)):
        pa.parquet.write_table(arrow(rows[begin : begin + 25]), folder / "rows" / f"part-{i:05}.snappy.parquet")
    write(folder / "rows" / "_SUCCESS", "")
    write(folder / "rows" / ".part-00000.crc", b"\0\0")
    return folder / "rows"


def csv_folder(rows, folder):
    (folder / "parts").mkdir()
    for i, begin in enumerate(range(0, N, 25)):
        rows[begin : begin + 25].to_csv(folder / "parts" / f"part-{i}.csv", index=False)
    return folder / "parts"


FILES = {
    "csv": csv,
    "excel": excel,
    "json lines": json_lines,
    "json lines, by content": lambda rows, folder: json_lines(rows, folder, "rows.txt"),
    "excel, by content": lambda rows, folder: excel(rows, folder, "sheet.xlsx").rename(folder / "rows.dat"),
    "parquet folder": parquet_folder,
    "csv folder": csv_folder,
}
OBJECTS = {
    "pandas": lambda rows: rows,
    "pyarrow": arrow,
    "record batch": lambda rows: arrow(rows).to_batches()[0],
    "reader": lambda rows: arrow(rows).to_reader(7),
    "polars": pl.from_pandas,
    "lazy": lambda rows: pl.from_pandas(rows).lazy(),
    "narwhals": lambda rows: narwhals.from_native(pl.from_pandas(rows)),
    "narwhals, lazy": lambda rows: narwhals.from_native(pl.from_pandas(rows).lazy()),
    "duckdb": lambda rows: duckdb.from_arrow(arrow(rows)),
    "data set": lambda rows: pa.dataset.dataset(arrow(rows)),
    "generator": lambda rows: (rows[i : i + 13] for i in range(0, N, 13)),
    "callable": lambda rows: lambda: (arrow(rows[i : i + 13]) for i in range(0, N, 13)),
    "list": lambda rows: [pl.from_pandas(rows[:11]), arrow(rows[11:])],
}


def bits(model, path):
    """The model file, without the record of where its rows came from."""
    with contextlib.suppress(AttributeError):
        del model.record_
    save_model(model, path)
    return path.read_bytes()


def learned(source=None, **options):
    steps = [("encode", TableEncoder()), ("scale", RunningScaler()), ("learn", AROWClassifier())]
    stream = open_stream(source, target="cured", **options)
    return train(StreamingPipeline(steps), stream, classes=["no", "yes"]).model


@pytest.fixture(scope="module")
def expected(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv")
    whole, parts = learned(csv(rows, folder)), learned(csv_folder(rows, folder))
    answers = whole.predict(rows.drop(columns="cured"))
    assert np.mean(answers == rows["cured"]) > 0.8
    return {"whole": bits(whole, folder / "whole"), "parts": bits(parts, folder / "parts.model"), "answers": answers}


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_files_of_every_format_make_the_same_model(make, rows, expected, tmp_path):
    path = make(rows, tmp_path)
    model = learned(path)
    assert bits(model, tmp_path / "model") == expected["parts" if path.is_dir() else "whole"]
    layout = open_stream(path, target="cured").layout()
    predicted = [model.predict(batch.X) for batch in open_stream(path, layout=layout, batch_size=7)]
    if not path.is_dir():
        assert np.concatenate(predicted).tolist() == expected["answers"].tolist()


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_objects_of_every_library_make_the_same_model(make, rows, expected, tmp_path):
    model = learned(make(rows))
    assert bits(model, tmp_path / "model") == expected["whole"]
    predicted = [model.predict(batch.X) for batch in open_stream(make(rows), target="cured", batch_size=7)]
    assert np.concatenate(predicted).tolist() == expected["answers"].tolist()


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_rows_from_a_position_on_are_those_of_a_file(make, rows):
    stream = open_stream(make(rows), target="cured", batch_size=8)
    if not stream.repeats:
        with pytest.raises(
            ValueError, match=r"^open_stream: max_iter must be 1 for rows that can be read only once, got 2\.$"
        ):
            open_stream(make(rows), max_iter=2)
        assert sum(map(len, stream)) == N
        with pytest.raises(ValueError, match=r"^<\w+>: these rows can be read only once, and were read"):
            list(stream)
        return
    batches = list(stream)
    again = list(stream.batches(batches[3].position))
    assert [batch.y.tolist() for batch in again] == [batch.y.tolist() for batch in batches[4:]]
    assert [batch.X["dose"].tolist() for batch in again] == [batch.X["dose"].tolist() for batch in batches[4:]]
    passes = open_stream(make(rows), target="cured", max_iter=2, shuffle=100)
    assert sum(map(len, passes)) == 2 * N
    wrong = batches[-1].position._replace(offset=1000, line=1001)
    with pytest.raises(ValueError, match="does not fit this file"):
        list(stream.batches(wrong))


def test_a_query_makes_the_same_model(rows, expected, tmp_path):
    pa.parquet.write_table(arrow(rows), tmp_path / "rows.parquet")
    query = f"select * from '{tmp_path}/*.parquet'"
    assert bits(learned(sql=query), tmp_path / "model") == expected["whole"]
    with duckdb.connect(tmp_path / "rows.duckdb") as connection:
        connection.execute(f"create table rows as {query}")
    stored = open_stream(sql="select * from rows where dose > 0;", database=tmp_path / "rows.duckdb", batch_size=9)
    assert sum(map(len, stored)) == sum(map(len, stored)) == int((rows["dose"] > 0).sum())


@pytest.mark.parametrize("name", ["lazy", "duckdb", "pyarrow", "generator"])
def test_auto_takes_objects(name, rows):
    model = auto(OBJECTS[name](rows), target="cured", method="arow", n_evaluations=2)
    assert np.mean(model.predict(rows.drop(columns="cured")) == rows["cured"]) > 0.8
