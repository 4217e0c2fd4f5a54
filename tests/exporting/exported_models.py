"""Models of every kind that can be exported, rows to try them on, and what each target says of these rows."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

import thresher
from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier
from thresher.preprocessing import ColumnSplines, RunningScaler, StreamingPipeline, TableEncoder, prepared
from thresher.stochastic import PegasosClassifier, PegasosRegressor
from thresher.streams import Table, Text

N = 1000
JOBS = ["cook", "clerk", 'it\'s "odd"', "Köln??", ""]


def people(n: int, seed: int, is_new: bool = False) -> Table:
    """A table of numbers with gaps, whole numbers far from 0, dates with times, and categories; new ones have words and
    centuries that a model has not met."""
    rng = np.random.default_rng(seed)
    numbers = np.column_stack(
        [
            rng.normal(40, 12, n),
            1e9 + rng.integers(0, 50, n),
            rng.uniform(-3000, 21000, n) * (10 if is_new else 1),
            rng.choice([0.0, 1.0], n),
            np.full(n, 7.0),
        ]
    )
    numbers[rng.random((n, 5)) < 0.1] = np.nan
    jobs = rng.choice([*JOBS, "new"] if is_new else JOBS, n)
    towns = rng.choice(["Gent", "Ulm"], n)
    return Table(
        ["age", "serial no", "job", "sold", "town", "member", "constant"],
        numbers,
        {"job": Text.from_list(jobs.tolist()), "town": Text.from_list(towns.tolist())},
        dates=["sold"],
    )


def signal(table: Table) -> Any:
    """A target that depends on numbers, a category and the month."""
    age, sold = np.nan_to_num(table["age"], nan=40.0), np.nan_to_num(table["sold"])
    months = np.floor(sold).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    jobs = np.array(table["job"].to_list()) == "cook"
    noise = np.random.default_rng(9).normal(size=len(table))
    return (age - 40) / 12 - ((age - 40) / 12) ** 2 / 2 + 2 * jobs + (months == 4) + noise


def messages(n: int, seed: int) -> Table:
    """Prose, with words beyond ASCII, apostrophes and punctuation."""
    rng = np.random.default_rng(seed)
    words = [
        "free",
        "WINNER",
        "don't",
        "Straße",
        "l'eau",
        "x",
        "42",
        "naïve",
        "– dash",
        "hello,",
        "日本語",
        "cash!",
        "'tis",
    ]
    texts = [" ".join(rng.choice(words, rng.integers(5, 30))) for _ in range(n - 1)]
    return Table(["text", "size"], rng.normal(size=(n, 1)), {"text": Text.from_list([*texts, ""])})


def two_classes() -> tuple[Any, Table]:
    train = people(3000, 0)
    y = np.where(signal(train) > 0, "yes", "no")
    return prepared(AROWClassifier(random_state=0), train, missing="indicator").fit(train, y), people(N, 1, True)


def several_classes() -> tuple[Any, Table]:
    train = people(3000, 2)
    y = np.digitize(signal(train), [-1, 0, 1.5]) * 10
    return prepared(AROWClassifier(random_state=0), train).fit(train, y), people(N, 3, True)


def regression() -> tuple[Any, Table]:
    train = people(2000, 4)
    return prepared(PegasosRegressor(random_state=0), train).fit(train, signal(train)), people(N, 5, True)


def additive() -> tuple[Any, Table]:
    train = people(3000, 6)
    splines = ColumnSplines(n_knots=6, pairs=[("age", "sold"), ("age", "member")])
    model = prepared(L1RDAClassifier(random_state=0), train, splines=splines, missing="indicator")
    return model.fit(train, signal(train) > 0), people(N, 7, True)


def words() -> tuple[Any, Table]:
    train = messages(1500, 8)
    y = np.array(["spam" if "free" in text and "cash" in text else "ham" for text in train["text"]])
    encoder = TableEncoder(n_buckets=5000, ngrams=2)
    steps = [("scale", RunningScaler()), ("encode", encoder), ("learn", AROWClassifier(random_state=0))]
    return StreamingPipeline(steps).fit(train, y), messages(N, 9)


def array_rows() -> tuple[Any, Any]:
    """An array: columns are known by their places."""
    X = np.random.default_rng(10).normal(size=(600, 9))
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", PAClassifier(random_state=0))])
    return model.fit(X, np.digitize(X[:, 3] + X[:, 7], [-1, 1])), np.random.default_rng(11).normal(size=(N, 9))


def rare_class() -> tuple[Any, Table]:
    """One class in twenty, and weights against that."""
    train = people(3000, 12)
    learner = PegasosClassifier(loss="logistic", class_weight={False: 1.0, True: 19.0}, random_state=0)
    return prepared(learner, train).fit(train, signal(train) > 3), people(N, 13, True)


MODELS = {f.__name__: f for f in (two_classes, several_classes, regression, additive, words, array_rows, rare_class)}


class Expected:
    """What a model itself says of rows."""

    def __init__(self, model: Any, rows: Any) -> None:
        self.predictions = model.predict(rows).tolist()
        has_scores = hasattr(model, "decision_function")
        scores = model.decision_function(rows) if has_scores else model.predict(rows)
        self.scores = scores.reshape(len(self.predictions), -1)
        self.probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None


def columns_of(rows: Any) -> dict[str, list[Any]]:
    """Columns as lists, None where a value is missing."""
    named = {name: rows[name] for name in rows.columns} if isinstance(rows, Table) else None
    columns = named or {f"x{j + 1}": column for j, column in enumerate(rows.T)}
    lists = {
        name: column.to_list() if isinstance(column, Text) else column.tolist() for name, column in columns.items()
    }
    return {name: [None if v == "" or v != v else v for v in values] for name, values in lists.items()}


# --- targets --------------------------------------------------------------------------------------------------------


def by_sql(model: Any, rows: Any, connection: Any) -> list[tuple[Any, ...]]:
    """The answers of a database, in the order of the rows."""
    columns = columns_of(rows)
    columns = {"id": list(range(len(rows))), **columns}
    if hasattr(connection, "register"):  # DuckDB, whose inserts are slow
        import pyarrow as pa

        connection.register("my rows", pa.table(columns))
    else:
        names = ", ".join(f'"{name}"' for name in columns)
        connection.execute(f'CREATE TABLE "my rows" ({names})')
        values = zip(*columns.values(), strict=True)
        connection.executemany(f'INSERT INTO "my rows" VALUES ({", ".join("?" * len(columns))})', values)
    query = thresher.export(model, to="sql", table="my rows", key="id")
    return [row[1:] for row in sorted(connection.execute(query).fetchall())]


def by_onnx(model: Any, rows: Any) -> dict[str, Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(thresher.export(model, to="onnx"), providers=["CPUExecutionProvider"])
    if isinstance(rows, np.ndarray):
        feed = {"X": rows}
    else:
        feed = {}
        for each in session.get_inputs():
            column = rows[each.name]
            values = np.array(column.to_list(), dtype=object) if each.type == "tensor(string)" else column
            feed[each.name] = values.reshape(-1, 1)
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


def by_c(model: Any, rows: Any, folder: Path) -> list[list[str]]:
    """The answers of a compiled program: prediction, scores, probabilities."""
    scoring = json.loads(thresher.export(model, to="json"))
    fields = [
        line.split(";")[0].split()[-1].strip("*") for line in _struct(thresher.export(model, folder / "m.c", to="c"))
    ]
    columns = columns_of(rows)
    n_classes, n_scores = len(scoring.get("classes", ())), len(scoring["intercept"])
    reads = []
    for place, each in enumerate(scoring["inputs"]):
        if each.get("place") is not None:
            reads.append(f"row.x[{each['place']}] = strtod(next(line), NULL);")
        elif each["type"] == "text":
            reads.append(f"row.{fields[place]} = next(line); if (!*row.{fields[place]}) row.{fields[place]} = NULL;")
        else:
            reads.append(f"row.{fields[place]} = strtod(next(line), NULL);")
    said = (
        'printf("%.17g", model_predict(&row));' if not n_classes else 'printf("%s", model_class(model_predict(&row)));'
    )
    said += f' model_scores(&row, out); for (k = 0; k < {n_scores}; ++k) printf("\\t%.17g", out[k]);'
    if scoring.get("probabilities"):
        said += f' model_probabilities(&row, out); for (k = 0; k < {n_classes}; ++k) printf("\\t%.17g", out[k]);'
    program = f"""
#include "m.c"
#include <stdio.h>
static char *next(char **line) {{
  char *begin = *line, *end = strpbrk(begin, "\\t\\n");
  *end = 0;
  *line = end + 1;
  return begin;
}}
int main(void) {{
  static char text[65536];
  double out[100];
  int k;
  while (fgets(text, sizeof text, stdin)) {{
    struct model_row row;
    char *at = text, **line = &at;
    {" ".join(reads)}
    {said}
    printf("\\n");
  }}
  return 0;
}}
"""
    (folder / "main.c").write_text(program)
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wno-overlength-strings"]
    subprocess.run(["gcc", *flags, "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
    used = [columns[each["name"]] for each in scoring["inputs"]]
    lines = [
        "\t".join(_written(value, c) for value, c in zip(row, scoring["inputs"], strict=True))
        for row in zip(*used, strict=True)
    ]
    done = subprocess.run(
        [str(folder / "main")], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


def _struct(source: str) -> list[str]:
    return source[source.index("_row {") :].split("};")[0].splitlines()[1:]


def _written(value: Any, column: dict[str, Any]) -> str:
    if value is None:
        return "" if column["type"] == "text" else "nan"
    return value if isinstance(value, str) else repr(float(value))
