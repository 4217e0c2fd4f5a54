"""A model over HTTP: the same answers as the command line, labels that come later, and measures."""

from __future__ import annotations

import csv
import io
import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors import safe_open
from scipy import sparse
from tests.web.service_process import Service, rows, train_model, write_csv

from thresher.cli import main as thresher
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import prepared
from thresher.streams import open_stream
from thresher.training import predict_with_scores
from thresher.web._live_model import LiveModel
from thresher.web._row_form import RowForm
from thresher.web._row_scorer import row_scorer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    return train_model(folder)


@pytest.fixture(scope="module")
def service(model: Path):
    with Service(model, "--learn", model.parent / "live") as running:
        yield running


def plain(table):
    return [{name: value for name, value in row.items() if name != "label"} for row in table]


def written(row):
    """A row as the file has it: with decimal commas."""
    return {**row, "b": str(row["b"]).replace(".", ",")}


@pytest.fixture(scope="module")
def by_command_line(model: Path, folder: Path):
    """What ``thresher predict`` says of some rows."""
    table = [written(row) for row in rows(40, seed=2)]
    path, out = write_csv(folder / "new.csv", table), folder / "out.csv"
    assert thresher(["predict", str(model), str(path), "--scores", "-o", str(out), "--quiet"]) == 0
    with out.open() as file:
        return [{"prediction": p, "score": float(s)} for p, s in list(csv.reader(file))[1:]]


def test_predictions_are_those_of_the_command_line(service, by_command_line, folder):
    table = plain(rows(40, seed=2))
    status, many = service.post("/predict", {"rows": table})
    assert status == 200
    assert many["predictions"] == by_command_line
    for row, wanted in zip(table, by_command_line, strict=True):
        status, content = service.post("/predict", {"row": row})
        assert (status, content["prediction"]) == (200, wanted["prediction"])
        assert content["score"] == pytest.approx(wanted["score"], rel=1e-9, abs=1e-12)
    assert service.post("/predict", {"rows": [list(row.values()) for row in table]}) == (200, many)
    assert service.post("/predict", {"rows": list(map(written, table))}) == (200, many)  # texts, as the file has them
    assert service.post("/predict", (folder / "new.csv").read_bytes(), "text/csv; charset=utf-8") == (200, many)
    more = {"note": "columns that the model does not know are passed over", **table[0]}
    assert service.post("/predict", {"rows": [more]}) == (200, {"predictions": by_command_line[:1]})


def test_arrow_is_read_as_tables_are(service):
    pyarrow = pytest.importorskip("pyarrow")
    table = plain(rows(40, seed=2))
    for row in table:
        row["a"] = float(row["a"].replace(",", "."))
    wanted = service.post("/predict", {"rows": table})
    frame = pyarrow.Table.from_pylist(table)
    for make, kind in ((pyarrow.ipc.new_stream, "stream"), (pyarrow.ipc.new_file, "file")):
        sink = io.BytesIO()
        with make(sink, frame.schema) as writer:
            writer.write_table(frame)
        assert service.post("/predict", sink.getvalue(), f"application/vnd.apache.arrow.{kind}") == wanted
    status, content = service.post("/predict", b"no arrow", "application/vnd.apache.arrow.stream")
    assert (status, content["error"]) == (400, "The body is not what Arrow writes as a stream or a file.")


def test_probabilities_are_those_of_the_model(service, model):
    row = plain(rows(1))[0]
    _, content = service.post("/predict", {"row": row, "probabilities": True})
    assert set(content["probabilities"]) == {"yes", "no"}
    assert sum(content["probabilities"].values()) == pytest.approx(1)
    assert max(content["probabilities"], key=content["probabilities"].get) == content["prediction"]


def test_parts_of_an_explanation_add_up_to_the_score(service):
    table = plain(rows(3, seed=4))
    _, answers = service.post("/predict", {"rows": table})
    _, content = service.post("/explain", {"rows": table})
    for answer, found in zip(answers["predictions"], content["rows"], strict=True):
        assert found["answer"] == answer["prediction"]
        assert found["baseline"] + sum(part["part"] for part in found["parts"]) == pytest.approx(abs(answer["score"]))
    assert service.post("/explain", {"row": table[0]}) == (200, content["rows"][0])


@pytest.mark.parametrize(
    "path, body, status, words",
    [
        ("/predict", b"{", 400, "The body must be JSON, in UTF-8."),
        ("/predict", b"[" * 100_000, 400, "The body must be JSON, in UTF-8."),
        ("/predict", b"[1]", 400, "The body must be an object"),
        ("/predict", b'{"row": [NaN]}', 400, "NaN is not a number in JSON; write null for a missing value."),
        ("/predict", {}, 400, "The body must have a row or rows, and not both."),
        ("/predict", {"rows": []}, 400, "rows must be a list of at least one row."),
        ("/predict", {"row": 3}, 400, "A row must be an object of column names and values, or a list of values."),
        ("/predict", {"row": [1]}, 400, "A row must have 4 values, got 1."),
        ("/predict", {"row": {"day": None, "twn": "x", "a": 1, "b": 2}}, 400, "has no column 'town'"),
        ("/predict", {"row": {"day": None, "twn": "x", "a": 1, "b": 2}}, 400, "the row has 'twn'"),
        ("/predict", {"row": ["35.01.2024", "x", 1, 2]}, 400, "The column 'day' expects a date, got '35.01.2024'."),
        ("/explain", {"row": [10**30, "x", 1, 2]}, 400, "The column 'day' expects a date, got 1000"),
        ("/predict", {"row": [2932897.0, "x", 1, 2]}, 400, "The column 'day' expects a date, got 2932897.0."),
        ("/predict", {"row": [None, "x", "one", 2]}, 400, "The column 'a' expects a number, got 'one'."),
        ("/predict", {"row": [None, "x", 1e200, 2]}, 400, "The column 'a' expects a number, got 1e+200."),
        ("/predict", {"row": [None, {}, 1, 2]}, 400, "The column 'town' expects a text, got {}."),
        ("/learn", {"row": [None, "x", 1, 2], "label": "maybe"}, 400, "one of the classes 'no', 'yes', got 'maybe'."),
        ("/learn", {"rows": [[None, "x", 1, 2]], "labels": ["no", "no"]}, 400, "one label for each row"),
        ("/learn", {"label": "no"}, 400, "A label needs the id of an earlier prediction, or its row."),
        ("/learn", {"id": "unknown", "label": "no"}, 404, "No prediction has the id 'unknown'"),
        ("/learn", {"row": [None, "x", 1, 2], "label": "no", "id": 7}, 400, "Ids must be texts"),
        ("/learn", {"row": [None, "x", 1, 2]}, 400, "The body must have a label or labels"),
        ("/explain", {"rows": [[None, "x", 1, 2]] * 101}, 400, "At most 100 rows"),
        ("/nothing", {}, 404, "There is no such address"),
    ],
)
def test_wrong_requests_are_refused_in_one_sentence(service, path, body, status, words):
    found, content = service.post(path, body)
    assert found == status
    assert words in content["error"]
    assert "\n" not in content["error"]


def test_csv_that_cannot_be_read_is_refused_by_line(service):
    text = b"day;town;a;b\n01.02.2024;Oslo;1;2\n01.02.2024;Oslo;x;2\n"
    status, content = service.post("/predict", text, "text/csv")
    assert status == 400
    assert content["error"].startswith("The body, line 3")
    status, content = service.post("/learn", text.replace(b"x", b"3"), "text/csv")
    assert (status, "'label'" in content["error"]) == (400, True)


def test_missing_values_are_null(service):
    status, content = service.post("/predict", {"row": [None, None, None, None]})
    assert (status, content["prediction"] in ("yes", "no")) == (200, True)


def test_labels_that_come_later_find_their_prediction(model, tmp_path):
    table = rows(30, seed=5)
    with Service(model, "--learn", tmp_path / "live") as service:
        asked = {"rows": plain(table), "ids": [f"r{k}" for k in range(30)]}
        _, content = service.post("/predict", asked)
        answers = [each["prediction"] for each in content["predictions"]]
        labels = [row["label"] for row in table]
        for k in range(10):
            status, content = service.post("/learn", {"id": f"r{k}", "label": labels[k]})
            assert (status, content["accepted"]) == (200, 1)
        rest = {"ids": [f"r{k}" for k in range(5, 30)], "labels": labels[5:]}
        assert service.post("/learn", rest) == (200, {"accepted": 20, "known": 5, "entry": 12})
        assert service.post("/learn", rest) == (200, {"accepted": 0, "known": 25})
        assert service.stop() == 0
        service.start()
        assert service.post("/learn", rest) == (200, {"accepted": 0, "known": 25})
        _, found = service.request("GET", "/measures")
    assert found["learned"] == found["measures"]["rows"] == 30
    wrong = sum(a != b for a, b in zip(answers, labels, strict=True))
    assert found["measures"]["error"] == pytest.approx(wrong / 30)
    assert found["waiting_for_labels"] == found["not_yet_learned"] == 0
    counts = {(each["label"], each["answer"]): each["rows"] for each in found["measures"]["answers"]}
    assert counts["yes", "yes"] == sum(a == b == "yes" for a, b in zip(answers, labels, strict=True))


def arrays(path: Path) -> dict[str, bytes]:
    with safe_open(path, framework="numpy") as file:
        return {key: file.get_tensor(key).tobytes() for key in file.keys()}  # noqa: SIM118


def test_what_is_learned_is_what_partial_fit_learns(model, tmp_path):
    table = rows(100, seed=6)
    with Service(model, "--learn", tmp_path / "live") as service:
        assert service.post("/learn", {"rows": plain(table), "labels": [row["label"] for row in table]})[0] == 200
        text = write_csv(tmp_path / "a.csv", list(map(written, table))).read_bytes()
        assert service.post("/learn", text, "text/csv")[0] == 200
        assert service.stop(signal.SIGTERM) in (0, -signal.SIGTERM)
    alone = load_model(model)
    for _ in range(2):
        stream = open_stream(tmp_path / "a.csv", layout=alone.record_["layout"], batch_size=64, prefetch=False)
        for batch in stream:
            alone.partial_fit(batch.X, batch.y)
    save_model(alone, tmp_path / "alone")
    assert arrays(tmp_path / "live" / "checkpoint.thresher") == arrays(tmp_path / "alone")
    assert [path.name for path in sorted((tmp_path / "live").iterdir())] == [
        *("checkpoint.thresher", "journal-000000000003", "lock")
    ]


@pytest.mark.parametrize("regression", [False, True])
def test_single_rows_are_predicted_as_many_are(tmp_path, regression):
    """By another way, which is quicker; also where values are missing or new, and after learning."""
    model = load_model(train_model(tmp_path, regression=regression))
    form = RowForm(model, {"layout": model.record_["layout"]})
    asked = [*plain(rows(30, seed=8)), {"day": None, "town": None, "a": None, "b": None}]
    asked += [{"day": "29.02.2096", "town": "Bonn", "a": -3, "b": 1e9}, {"day": 1234.56, "town": "", "a": 0, "b": 0}]
    table = list(map(form.read, asked))
    for _ in range(2):
        scorer = row_scorer(model, form)
        wanted, scores = predict_with_scores(model, form.matrix(table))
        found = [scorer.score(row) for row in table]
        np.testing.assert_allclose(found, wanted if scores is None else scores, rtol=1e-9, atol=1e-12)
        assert regression or [scorer.answer(score) for score in found] == wanted.tolist()
        labels = [float(k % 5) for k in range(len(table))] if regression else ["yes"] * len(table)
        model.partial_fit(form.matrix(table), form.targets(labels))


def balanced_model(path, y, **record):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = AROWClassifier(class_weight="balanced", random_state=0).fit(X, y)
    model.record_ = record
    save_model(model, path)
    return model


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1)])
def test_a_model_of_balanced_classes_goes_on_with_their_weights(tmp_path, labels):
    first, second = labels
    y = np.array([first] * 50 + [second] * 10)
    model = balanced_model(tmp_path / "m", y, data={"classes": {str(first): 50, str(second): 10}})
    live = LiveModel(tmp_path / "m", tmp_path)
    for label in labels:
        for _ in live.apply(["learn", [["id", [0.5, 0.1], label, None]]]):
            pass
    assert (live.n_learned, live.last_refusal) == (2, None)
    model.set_params(class_weight={first: 60 / 100, second: 60 / 20})
    model.partial_fit([[0.5, 0.1]], [first]).partial_fit([[0.5, 0.1]], [second])
    assert_array_equal(live.model.coef_, model.coef_)


def test_a_model_of_balanced_classes_that_were_not_counted_is_refused(tmp_path):
    balanced_model(tmp_path / "m", np.array([0] * 50 + [1] * 10))
    with pytest.raises(ValueError, match="--learn needs numbers in place of class_weight"):
        LiveModel(tmp_path / "m", tmp_path)


def test_single_rows_are_soon_predicted_by_what_was_learned(model, tmp_path):
    row = plain(rows(1))[0]
    with Service(model, "--learn", tmp_path / "live") as service:
        before = service.post("/predict", {"row": row})[1]["score"]
        service.post("/learn", {"rows": [row] * 20, "labels": ["yes" if before < 0 else "no"] * 20})
        end = time.monotonic() + 10
        while service.post("/predict", {"row": row})[1]["score"] == before:
            assert time.monotonic() < end
            time.sleep(0.05)
        (many,) = service.post("/predict", {"rows": [row]})[1]["predictions"]
        assert service.post("/predict", {"row": row})[1]["score"] == pytest.approx(many["score"], rel=1e-9)


def test_a_folder_is_for_one_service_and_one_model(model, tmp_path, capfd):
    with Service(model, "--learn", tmp_path / "live"):
        assert thresher(["serve", str(model), "--learn", str(tmp_path / "live")]) == 2
        assert "another service is using this folder" in capfd.readouterr().err
    other = load_model(model)
    first = next(iter(_batches(model)))
    other.partial_fit(first.X, first.y)
    save_model(other, tmp_path / "other")
    assert thresher(["serve", str(tmp_path / "other"), "--learn", str(tmp_path / "live")]) == 2
    assert "belongs to another model" in capfd.readouterr().err


def _batches(model):
    return open_stream(model.parent / "rows.csv", layout=load_model(model).record_["layout"], prefetch=False)


def test_metrics_and_openapi_describe_the_service(service):
    service.post("/learn", {"row": [None, "x", 1, 2], "label": "no"})
    while service.request("GET", "/measures")[1]["not_yet_learned"]:
        time.sleep(0.01)
    status, headers, text = service.whole("GET", "/metrics")
    assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    values = {name: float(value) for name, value in (line.rsplit(" ", 1) for line in samples)}
    assert values['thresher_requests_total{path="/learn",status="200"}'] >= 1
    assert {"thresher_progressive_error", "thresher_drift_alarms_total", "thresher_learned_rows_total"} <= set(values)
    assert all(line.split()[1] in ("HELP", "TYPE") for line in text.splitlines() if line.startswith("#"))
    _, described = service.request("GET", "/openapi.json")
    wanted = ("predict", "explain", "learn", "measures", "health", "metrics", "openapi.json")
    assert set(described["paths"]) == {f"/{name}" for name in wanted}
    row = described["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert row["properties"]["row"]["oneOf"][0]["required"] == ["day", "town", "a", "b"]
    assert service.request("GET", "/")[1]["columns"] == ["day", "town", "a", "b"]


def test_a_service_without_a_folder_does_not_learn(model):
    with Service(model) as service:
        status, content = service.post("/learn", {"row": [None, "x", 1, 2], "label": "no"})
        assert (status, content["error"]) == (403, "This service does not learn; start it with --learn FOLDER.")
        assert service.request("GET", "/measures") == (200, {"learning": False})
        assert "/learn" not in service.request("GET", "/openapi.json")[1]["paths"]


def test_values_are_predicted_and_learned(tmp_path):
    with Service(train_model(tmp_path, regression=True), "--learn", tmp_path / "live") as service:
        table = rows(20, seed=7)
        labels = [float(row["a"].replace(",", ".")) for row in table]
        assert service.post("/learn", {"rows": plain(table), "labels": labels})[0] == 200
        assert service.post("/learn", {"rows": plain(table), "labels": ["x"] * 20})[0] == 400
        assert isinstance(service.post("/predict", {"row": plain(table)[0]})[1]["prediction"], float)
        assert service.stop() == 0
        service.start()
        _, found = service.request("GET", "/measures")
    assert found["measures"]["rows"] == 20
    assert found["measures"]["rmse"] >= 0


def test_sparse_rows_are_columns_and_values(tmp_path):
    X = sparse.random_array((60, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    y = np.where(X.sum(axis=1) > 3, 1, -1)
    model = AROWClassifier().partial_fit(X, y, classes=[-1, 1])
    model.record_ = {"layout": {"zero_based": False}}
    save_model(model, tmp_path / "m")
    asked = [
        {str(j + 1): v for j, v in zip(X[[i]].indices.tolist(), X[[i]].data.tolist(), strict=True)} for i in range(60)
    ]
    with Service(tmp_path / "m", "--learn", tmp_path / "live") as service:
        _, content = service.post("/predict", {"rows": asked})
        assert [each["prediction"] for each in content["predictions"]] == model.predict(X).tolist()
        assert service.post("/predict", {"row": {**asked[0], "99999": 1.0}}) == (200, content["predictions"][0])
        assert service.post("/learn", {"row": {"40": 1.5}, "label": 1})[0] == 200
        for row in (
            {"0": 1},
            {"a": 1},
            {"1.5": 1},
            {"9999999999": 1},
            [[1, 2], [1, 3]],
            {"1": "x"},
            {"1": None, "2": []},
        ):
            assert service.post("/predict", {"row": row})[0] == 400, row
        assert service.stop() == 0
    learned = load_model(tmp_path / "live" / "checkpoint.thresher")
    model.partial_fit(sparse.csr_array(([1.5], ([0], [39])), shape=(1, 40)), [1], grow=True)
    np.testing.assert_array_equal(learned.coef_, model.coef_)


def test_a_model_made_in_python_is_served_by_its_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "w": ["a", "b", "a", "b"]})
    model = prepared(AROWClassifier(), frame).fit(frame, [0, 0, 1, 1])
    save_model(model, tmp_path / "m")
    with Service(tmp_path / "m") as service:
        _, content = service.post("/predict", {"rows": frame.to_dict("records")})
    assert [each["prediction"] for each in content["predictions"]] == model.predict(frame).tolist()
    assert json.loads(json.dumps(content)) == content
