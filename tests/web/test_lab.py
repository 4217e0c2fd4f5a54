"""The lab as a server: files, what is understood of them, runs in processes of their own, and what is asked of them."""

from __future__ import annotations

import json
import os
import re
import time
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import numpy as np
import pytest

pytest.importorskip("starlette")

from thresher.cli import main as thresher
from thresher.web._lab_app import lab_app
from thresher.web._lab_folder import LabFolder, safe_name
from thresher.web._lab_runs import LabRuns
from thresher.wizard._questions import QUESTIONS
from web.asgi_client import AsgiClient
from web.lab_files import ATTACK, SCRIPT, write_hostile, write_messy

STATIC = resources.files("thresher.web") / "static"


@pytest.fixture
def lab(tmp_path):
    return AsgiClient(lab_app(LabFolder(tmp_path)))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A lab with one run, which is done."""
    folder = tmp_path_factory.mktemp("lab")
    write_messy(folder / "messy.csv")
    client = AsgiClient(lab_app(LabFolder(folder)))
    asked = {"file": "messy.csv", "typed": {"max_seconds": "3 s"}, "kinds": {"plan": "category"}}
    answer = client.ask("POST", "/api/runs", asked)
    assert answer.status == 200, answer.body
    run = LabRuns(LabFolder(folder)).find(answer.json()["number"])
    wait_until_over(run)
    assert run.state == "done", (run.path / "log.txt").read_text()
    return client, folder, run


def wait_until_over(run, seconds=900):
    end = time.monotonic() + seconds
    while run.state == "running" and time.monotonic() < end:
        time.sleep(0.1)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, name",
    [
        ("../../etc/rows.csv", "rows.csv"),
        ("C:\\data\\rows.csv", "rows.csv"),
        (ATTACK + ".csv", "_img src_x onerror__document.title__hacked___.csv"),
        ("-rf.csv", "rf.csv"),
        ("..hidden.csv", "hidden.csv"),
        ("nul\0\n.csv.gz", "nul__.csv.gz"),
        ("Zürich (2).xlsx", "Zürich (2).xlsx"),
        ("x" * 300 + ".csv", "x" * 97 + ".csv"),
    ],
)
def test_names_of_files_lose_what_means_something_elsewhere(given, name):
    assert safe_name(given) == name


@pytest.mark.parametrize("name", ["", "rows", "run.exe", ".csv", "page.html", "a/b/"])
def test_a_file_that_is_no_data_is_refused_in_a_sentence(lab, name):
    answer = lab.ask("POST", f"/api/files?name={quote(name)}", b"a,b\n")
    assert answer.status == 415
    assert answer.json()["error"].endswith(".")


def test_added_files_replace_none_and_stay_in_the_folder(lab, tmp_path):
    names = [lab.ask("POST", f"/api/files?name={quote('../rows.csv')}", text).json()["name"] for text in (b"1", b"2")]
    assert names == ["rows.csv", "rows-2.csv"]
    assert [(tmp_path / name).read_bytes() for name in names] == [b"1", b"2"]
    assert not (tmp_path.parent / "rows.csv").exists()
    assert [path.name for path in (tmp_path / "thresher-runs").iterdir()] == []


def test_a_file_that_is_too_long_leaves_nothing_behind(tmp_path):
    lab = AsgiClient(lab_app(LabFolder(tmp_path)), max_bytes=1000)
    answer = lab.ask("POST", "/api/files?name=a.csv", b"x" * 2000)
    assert answer.status == 413
    assert [path.name for path in tmp_path.rglob("*")] == ["thresher-runs"]


@pytest.mark.parametrize(("place", "says"), [("nothing", "does not exist"), ("file", "is a file")])
def test_a_lab_needs_a_folder(tmp_path, place, says, capfd):
    (tmp_path / "file").touch()
    assert thresher(["lab", str(tmp_path / place), "--no-open"]) == 2
    told = capfd.readouterr().err
    assert says in told
    assert told.startswith(f"thresher: {tmp_path / place}: ")
    assert told.count("\n") == 1


def test_an_error_that_nobody_expected_is_told_in_a_sentence_and_logged(lab, monkeypatch, caplog):
    monkeypatch.setattr(LabFolder, "files", lambda self: 1 / 0)
    answer = lab.ask("GET", "/api/folder")
    assert answer.status == 500
    assert answer.json() == {"error": "The server failed to answer this request; see its log."}
    assert "division by zero" in caplog.text


def test_a_client_that_goes_in_the_middle_of_a_file_is_no_error(lab, tmp_path, caplog):
    answer = lab.ask("POST", "/api/files?name=a.csv", AsgiClient.CUT_OFF)
    assert answer.status == 400
    assert answer.json()["error"] == "The body ended too early."
    assert not caplog.records
    assert not list(tmp_path.glob("*.csv"))


def test_links_to_other_places_are_not_files_of_the_folder(tmp_path):
    outside, folder = tmp_path / "secret.csv", tmp_path / "lab"
    folder.mkdir()
    write_messy(outside)
    os.symlink(outside, folder / "link.csv")
    lab = AsgiClient(lab_app(LabFolder(folder)))
    assert lab.ask("GET", "/api/folder").json()["files"] == []
    for name in ("link.csv", "../secret.csv", str(outside)):
        assert lab.ask("POST", "/api/look", {"file": name}).status == 404


# --- what is understood -----------------------------------------------------------------------------------------------


def test_the_page_asks_the_questions_of_the_wizard(lab, tmp_path):
    write_messy(tmp_path / "messy.csv")
    found = lab.ask("POST", "/api/look", {"file": "messy.csv"}).json()
    known = {question.id: question for question in QUESTIONS}
    assert [entry["id"] for entry in found["questions"]] == ["target", "cost", "max_seconds"]
    assert all(entry["explanation"] == known[entry["id"]].explanation for entry in found["questions"])
    assert found["left_out"] == ["note"]
    kinds = {column["column"]: column["kind"] for column in found["profile"]["columns"]}
    assert (kinds["joined"], kinds["income"], kinds["id"]) == ("date D.M.Y", "number, decimal comma", "identifier")
    assert found["command"] == "thresher auto messy.csv --target left --drop note"


def test_columns_are_corrected_by_kind_and_by_leaving_them_out(lab, tmp_path):
    write_messy(tmp_path / "messy.csv")
    asked = {"file": "messy.csv", "kinds": {"age": "category"}, "left_out": ["note", "town"], "typed": {"cost": "5"}}
    found = lab.ask("POST", "/api/look", asked).json()
    age = next(column for column in found["profile"]["columns"] if column["column"] == "age")
    assert age["kind"].startswith("category")
    assert "columns={'age': 'category'}" in found["python"]
    assert "drop=['note', 'town']" in found["python"]
    assert "cost={" in found["python"]
    assert "--columns columns.yaml" in found["command"]


@pytest.mark.parametrize(
    "asked, status",
    [
        ({"file": "none.csv"}, 404),
        ({"file": 3}, 400),
        ({"file": "messy.csv", "typed": {"cost": 3}}, 400),
        ({"file": "messy.csv", "typed": []}, 400),
        ({"file": "messy.csv", "kinds": {"age": "code"}}, 400),
        ({"file": "messy.csv", "kinds": {"nowhere": "number"}}, 400),
        ({"file": "messy.csv", "kinds": {"town": "number"}}, 400),
        ({"file": "messy.csv", "left_out": ["nowhere"]}, 400),
        ({"file": "messy.csv", "left_out": "age"}, 400),
        ({"file": "messy.csv", "left_out": ["id", "joined", "age", "income", "town", "plan", "note", "left"]}, 400),
        ([], 400),
        (b"{", 415),
    ],
)
def test_what_is_not_understood_is_refused_in_a_sentence(lab, tmp_path, asked, status):
    write_messy(tmp_path / "messy.csv")
    for place in ("/api/look", "/api/runs"):
        answer = lab.ask("POST", place, asked)
        assert answer.status == status
        assert answer.json()["error"].endswith(".")
    assert not list((tmp_path / "thresher-runs").iterdir())


def test_an_answer_that_is_not_allowed_is_told_beside_its_question(lab, tmp_path):
    write_messy(tmp_path / "messy.csv")
    asked = {"file": "messy.csv", "typed": {"max_seconds": "soon"}}
    found = lab.ask("POST", "/api/look", asked).json()
    assert found["questions"][-1]["refusal"] == "Please answer with a time such as 30 s, 5 min or 1 h."
    assert "command" not in found
    assert lab.ask("POST", "/api/runs", asked).status == 400


def test_columns_whose_names_differ_in_capitals_are_told_apart(lab, tmp_path):
    (tmp_path / "a.csv").write_text("A,a,b\n" + "1.5,x,2\n2.5,y,3\n" * 30)
    for name in ("A", "a"):
        found = lab.ask("POST", "/api/look", {"file": "a.csv", "typed": {"target": name}, "left_out": []}).json()
        assert found["target"] == name


def test_hostile_names_are_told_as_they_are(lab, tmp_path):
    write_hostile(tmp_path / "hostile.csv")
    found = lab.ask("POST", "/api/look", {"file": "hostile.csv"}).json()
    assert [column["column"] for column in found["profile"]["columns"]][:4] == ["x", "__proto__", "constructor", ATTACK]
    assert found["target"] == f"{SCRIPT} target"


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_run_tells_what_it_does_and_what_came_of_it(done):
    client, _folder, run = done
    found = client.ask("GET", f"/api/runs/{run.number}").json()
    assert (found["state"], found["target"], found["task"]) == ("done", "left", "classification")
    assert found["summary"]["tiles"][0]["label"] == "Error"
    assert found["downloads"] == ["model.thresher", "report.html", "predictions.csv", "columns.yaml"]
    events = [json.loads(line)["event"] for _, line in run.events()]
    assert events[0] == "begin"
    assert events[-1] == "done"
    assert {"doing", "measured"} <= set(events)
    assert client.ask("GET", "/api/folder").json()["runs"][0]["number"] == run.number


def test_a_stream_of_events_goes_on_behind_the_last_one_that_was_seen(done):
    client, _, run = done
    whole = client.ask("GET", f"/api/runs/{run.number}/events")
    assert whole.headers["content-type"].startswith("text/event-stream")
    numbers = [int(number) for number in re.findall(r"^id: (\d+)$", whole.body.decode(), re.M)]
    assert numbers == list(range(1, len(run.events()) + 1))
    rest = client.ask("GET", f"/api/runs/{run.number}/events", last_event_id=str(numbers[-2]))
    assert re.findall(r"^id: (\d+)$", rest.body.decode(), re.M) == [str(numbers[-1])]
    assert rest.body.endswith(b'event: end\ndata: "done"\n\n')


def test_the_command_of_a_run_makes_the_same_model(done, monkeypatch):
    from thresher.cli import main
    from thresher.persistence import load_model

    _client, folder, run = done
    command = " ".join(run.result["command"].replace("\\\n", " ").split())
    assert command.startswith("thresher auto messy.csv --target left --drop note")
    assert f"--columns thresher-runs/{run.number}/columns.yaml" in command
    monkeypatch.chdir(folder)
    assert (
        main(["predict", f"thresher-runs/{run.number}/model.thresher", "messy.csv", "-o", "again.csv", "--quiet"]) == 0
    )
    again = (folder / "again.csv").read_text()
    assert again == (run.path / "predictions.csv").read_text()
    assert load_model(run.path / "model.thresher").record_["command"].startswith("thresher auto messy.csv")


def test_why_has_parts_that_add_up_and_values_that_can_be_moved(done):
    client, _folder, run = done
    place = f"/api/runs/{run.number}/why"
    first = client.ask("POST", place, {"row": 3}).json()
    total = first["baseline"] + sum(part["part"] for part in first["parts"]) + first["rest"]
    assert first["score"] == pytest.approx(total)
    values = {value["name"]: value for value in first["values"]}
    assert values["joined"]["kind"] == "date"
    assert set(values["plan"]["choices"]) == {"basic", "plus", "pro"}
    low, high = values["income"]["range"]
    answers = set()
    for income, age, plan in ((low, 80, "basic"), (high, 18, "pro")):
        changes = {"income": income, "age": age, "plan": plan, "joined": "2015-01-31", "town": None}
        moved = client.ask("POST", place, {"row": 3, "changes": changes}).json()
        assert {value["name"]: value["value"] for value in moved["values"]}["joined"] == "2015-01-31"
        answers.add(moved["answer"])
    assert answers == {"yes", "no"}


def test_the_smallest_change_leads_to_the_answer_that_it_names(done):
    client, _, run = done
    place = f"/api/runs/{run.number}/why"
    change = client.ask("POST", place, {"row": 1}).json()["change"]
    changes = {each["column"]: each["then"] for each in change["columns"]}
    assert client.ask("POST", place, {"row": 1, "changes": changes}).json()["answer"] == change["answer"]


def test_why_of_a_model_that_compares_rows_is_about_columns(monkeypatch, tmp_path):
    from thresher._gate import Table
    from thresher.kernels import LSSVC
    from thresher.preprocessing import prepared
    from thresher.web import _lab_rows

    rng = np.random.default_rng(0)
    X = Table(["a", "b"], rng.normal(size=(100, 2)))
    model = prepared(LSSVC(), X).fit(X, X["a"] * X["b"] > 0)
    (tmp_path / _lab_rows.MODEL).touch()
    monkeypatch.setattr(_lab_rows, "_model", lambda *_: model)
    monkeypatch.setattr(_lab_rows, "_read", lambda *_: (X[:1], None, X))
    found = _lab_rows.explain_row(SimpleNamespace(path=tmp_path), 1, {})
    assert {part["column"] for part in found["parts"]} == {"a", "b"}
    assert not found["of_rows"]
    assert "replace those of 64 training rows" in found["meaning"]


@pytest.mark.parametrize(
    "asked",
    [
        {"row": 0},
        {"row": True},
        {"row": "1"},
        {"row": 10**9},
        {"row": 1, "changes": []},
        {"row": 1, "changes": {"nowhere": 1}},
        {"row": 1, "changes": {"age": "old"}},
        {"row": 1, "changes": {"age": 1e999}},
        {"row": 1, "changes": {"age": {"a": 1}}},
        {"row": 1, "changes": {"joined": "soon"}},
    ],
)
def test_questions_about_rows_that_make_no_sense_are_refused_in_a_sentence(done, asked):
    client, _, run = done
    answer = client.ask(
        "POST", f"/api/runs/{run.number}/why", json.dumps(asked).encode(), content_type="application/json"
    )
    assert answer.status in (400, 404)
    assert answer.json()["error"].endswith(".")


def test_thresholds_count_the_rows_that_were_held_out(done):
    _client, _, run = done
    found = run.result["decisions"]
    assert found["class"] in ("yes", "no")
    called, hit = found["called"], found["found"]
    assert called == sorted(called, reverse=True)
    assert all(h <= c for h, c in zip(hit, called, strict=True))
    assert max(hit) <= found["of the class"] <= found["rows"]


def test_a_report_runs_nothing_and_stays_in_its_frame(done):
    client, _, run = done
    answer = client.ask("GET", f"/api/runs/{run.number}/report?theme=dark")
    policy = answer.headers["content-security-policy"]
    assert "sandbox" in policy.split("; ")[-1]
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert b"@media all" in answer.body
    assert b"prefers-color-scheme" not in answer.body


@pytest.mark.parametrize("name", ["../job.json", "job.json", "log.txt", "lock", "..%2f..%2fmessy.csv", ""])
def test_only_results_can_be_downloaded(done, name):
    client, _, run = done
    assert client.ask("GET", f"/api/runs/{run.number}/files/{name}").status == 404


@pytest.mark.parametrize("number", ["9999", "..", "%2e%2e", "0001%2f..", "x"])
def test_only_runs_can_be_asked_for(done, number):
    client, folder, _ = done
    assert client.ask("GET", f"/api/runs/{number}").status == 404
    assert client.ask("DELETE", f"/api/runs/{number}").status == 404
    assert (folder / "messy.csv").exists()


def test_a_run_whose_file_has_changed_does_not_go_on(done):
    _, folder, run = done
    runs = LabRuns(LabFolder(folder))
    job = run.job | {"file": "changed.csv"}
    write_messy(folder / "changed.csv", 40)
    other = runs._place()
    (other.path / "job.json").write_text(json.dumps(job))
    assert other.state == "interrupted"
    assert runs.go_on() == [other.number]
    wait_until_over(other)
    assert other.state == "failed"
    assert "changed.csv has changed" in other.describe()["failure"]
    assert runs.go_on() == []
    other.delete()
    assert not other.path.exists()


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_weighs_less_than_300_kb_and_asks_nobody_else(lab):
    page = lab.ask("GET", "/")
    names = re.findall(r'(?:src|href)="/([a-z.]+)"', page.body.decode())
    modules = {f"/{Path(file.name).name}" for file in STATIC.iterdir() if file.name.endswith(".js")}
    everything = [lab.ask("GET", place) for place in {f"/{name}" for name in names} | modules]
    assert all(answer.status == 200 for answer in everything)
    assert sum(len(answer.body) for answer in [page, *everything]) < 300_000
    text = b"".join(answer.body for answer in [page, *everything]).replace(b"http://www.w3.org/2000/svg", b"")
    assert not re.search(rb"https?://", text)


def test_no_text_is_ever_read_as_markup_or_code():
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|srcdoc"
    for file in STATIC.iterdir():
        assert not re.search(forbidden, file.read_text("utf-8")), file.name
    page = (STATIC / "index.html").read_text("utf-8")
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", page)
