"""Where commands write: never over their input, through pipes and links, and nothing that acts on a terminal."""

from __future__ import annotations

import csv
import io
import os
import stat
import threading

import pytest

from thresher.cli import main
from thresher.cli._predict_command import _Terminal


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 2:1\n" * 50)
    assert main(["train", "rows.svm", "--model", "m.thresher", "--quiet"]) == 0
    return tmp_path


@pytest.mark.parametrize("name", ["rows.svm", "m.thresher", "link", "hard"])
def test_predictions_never_replace_an_input(data, capsys, name):
    os.symlink("rows.svm", data / "link")
    os.link(data / "m.thresher", data / "hard")
    before = (data / "rows.svm").read_bytes(), (data / "m.thresher").read_bytes()
    assert main(["predict", "m.thresher", "rows.svm", "-o", name, "--quiet"]) == 2
    assert f"{name}: this file is read as input; write to another one." in capsys.readouterr().err
    assert before == ((data / "rows.svm").read_bytes(), (data / "m.thresher").read_bytes())


def test_predictions_go_through_a_pipe(data):
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((data / "pipe").read_text()))
    reader.start()
    assert main(["predict", "m.thresher", "rows.svm", "-o", "pipe", "--quiet"]) == 0
    reader.join(10)
    assert read[0].startswith("prediction\n1\n-1\n")
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


def test_predictions_follow_no_planted_draft_and_leave_none(data):
    victim = data / "victim"
    victim.write_text("precious")
    os.symlink(victim, ".out.csv.part")
    assert main(["predict", "m.thresher", "rows.svm", "-o", "out.csv", "--quiet"]) == 0
    assert victim.read_text() == "precious"
    assert (data / "out.csv").read_text().startswith("prediction\n")
    os.unlink(".out.csv.part")
    assert not [name for name in os.listdir(data) if name.endswith(".part")]


def test_predictions_of_no_rows_replace_nothing(data):
    (data / "out.csv").write_text("before")
    (data / "none.svm").write_text("# nothing\n")
    assert main(["predict", "m.thresher", "none.svm", "-o", "out.csv", "--quiet"]) == 2
    assert (data / "out.csv").read_text() == "before"


def test_a_model_behind_a_link_is_replaced_and_the_link_stays(data):
    (data / "models").mkdir()
    os.symlink("models/v1", "current")
    assert main(["train", "rows.svm", "--model", "current", "--quiet"]) == 0
    assert os.path.islink("current")
    assert (data / "models" / "v1").is_file()


def test_data_named_by_a_pattern_are_not_overwritten(data, capsys):
    before = (data / "rows.svm").read_bytes()
    assert main(["train", "*.svm", "--model", "rows.svm", "--quiet"]) == 2
    assert main(["merge", "m.thresher", "m.thresher", "--model", "m.thresher"]) == 2
    assert "m.thresher: this file is read as input" in capsys.readouterr().err
    assert (data / "rows.svm").read_bytes() == before


def test_labels_do_not_act_on_a_terminal():
    written = []

    class Screen:
        def write(self, text):
            written.append(text)

    _Terminal(Screen()).write("ham\x1b[2J,é\n")
    assert written == ["ham\\x1b[2J,é\n"]


@pytest.mark.parametrize("label", ["=1+1", "=cmd|' /C calc'!A0", "@SUM(A1:A9)", "-1+a()"])
def test_labels_that_are_formulas_are_written_as_they_are_and_named(tmp_path, monkeypatch, capsys, label):
    monkeypatch.chdir(tmp_path)
    with open("rows.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [["a", "b", "kind"], *[[i % 2, i % 3, "ham" if i % 2 else label] for i in range(60)]]
        )
    assert main(["train", "rows.csv", "--target", "kind", "--model", "m", "--quiet"]) == 0
    assert main(["predict", "m", "rows.csv", "-o", "out.csv"]) == 0
    remark = f"The class {label!r} is a formula to a spreadsheet; import the predictions there as text."
    assert remark in capsys.readouterr().err
    with open("out.csv", newline="") as file:
        assert [row for (row,) in csv.reader(file)] == ["prediction", *[label, "ham"] * 30]


def test_numbers_with_a_sign_are_no_formulas(data, capsys):
    assert main(["predict", "m.thresher", "rows.svm", "-o", "out.csv"]) == 0
    (data / "rows.csv").write_text("a,kind\n" + "0,-1\n1,+1\n" * 20)
    assert main(["train", "rows.csv", "--target", "kind", "--model", "m", "--quiet"]) == 0
    assert main(["predict", "m", "rows.csv", "-o", "out.csv"]) == 0
    assert "formula" not in capsys.readouterr().err


def test_remarks_break_between_words_on_a_terminal(monkeypatch, capsys):
    from thresher import cli

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "50")
    sentence = "A sentence of many words, of which 12.5 % are short. " * 5
    monkeypatch.setattr("sys.stderr", Terminal())
    lines = cli.fitted_to_screen(f"{sentence}\nanother line").splitlines()
    assert max(map(len, lines)) <= 50
    assert " ".join(line.strip() for line in lines[:-1]) == sentence.strip()
    assert lines[-1] == "another line"
    monkeypatch.undo()
    assert cli.fitted_to_screen(sentence) == sentence  # files and pipes get whole lines


def test_a_model_that_is_not_there_is_named(capsys):
    assert main(["predict", "nothing.thresher", "x.csv"]) == 2
    assert capsys.readouterr().err == "thresher: nothing.thresher: no such file.\n"


def test_a_file_whose_name_begins_like_an_option(data, capsys):
    (data / "rows.svm").rename("-rows.svm")
    assert main(["predict", "m.thresher", "-rows.svm"]) == 2
    assert capsys.readouterr().err.endswith("To name the file -rows.svm, write ./-rows.svm.\n")
    assert main(["predict", "m.thresher", "./-rows.svm", "-o", "p.csv"]) == 0
