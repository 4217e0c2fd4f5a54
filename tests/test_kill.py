"""Real processes, really killed: a run that is started again ends in the bit-identical model."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kills import TARGETS
from thresher.cli import main
from thresher.datasets import make_sparse_stream
from thresher.persistence import load_model
from thresher.streams import write_svmlight

EVERY = "0.02"  # seconds between checkpoints


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two svmlight files and a table with words; runs on them take half a second."""
    folder = tmp_path_factory.mktemp("data")
    with (folder / "a.svm").open("wb") as file:
        for X, y in make_sparse_stream(8000, 3000, n_relevant=50, random_state=0).batches:
            write_svmlight(file, X, y)
    subprocess.run(["gzip", "-k", folder / "a.svm"], check=True)
    rng = np.random.default_rng(0)
    with (folder / "t.csv").open("w") as file:
        file.write("age,job,note,rich\n")
        for _ in range(20000):
            age, job = rng.normal(40, 10), rng.choice(["clerk", "cook", "smith", "judge"])
            rich = "yes" if age + 20 * (job == "judge") + rng.normal(0, 5) > 50 else "no"
            file.write(f"{age:.3f},{job},{rng.integers(1000)},{rich}\n")
    return folder


CASES = {
    "two classes": "a.svm --method arow --max-iter 25 --batch-size 200",
    "gzip, shuffled": "a.svm.gz --method ftrl --max-iter 20 --shuffle 1500 --batch-size 100",
    "several files, mini-batches": "a.svm a.svm.gz --method pegasos --batch-size 7 --max-iter 12",
    "a table with words": "t.csv --target rich --method arow --max-iter 8 --shuffle 999 --batch-size 250",
}


def command(data, case, model):
    args = [str(data / arg) if arg[:2] in ("a.", "t.") else arg for arg in CASES[case].split()]
    return ["train", *args, "--model", str(model), "--checkpoint-seconds", EVERY, "--quiet"]


def start(args):
    """The command line in a process of its own; forked, because 50 cold starts would take minutes."""
    child = os.fork()
    if child == 0:
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        os._exit(main(args))
    return child


def run(args, kill=None):
    """Run to the end, or kill it when `kill` returns. Returns the exit code, or None if it was killed."""
    child = start(args)
    if kill is not None:
        kill()
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def some_time_later(model, checkpoint, choose):
    """Waits for a few checkpoints, then for a moment: somewhere in reading, learning or writing."""
    wanted, seen, deadline = choose.randrange(6), set(), time.monotonic() + 20
    while len(seen) < wanted and time.monotonic() < deadline and not model.exists():
        with contextlib.suppress(FileNotFoundError):
            seen.add(checkpoint.stat().st_mtime_ns)
        time.sleep(0.0005)
    time.sleep(choose.uniform(0, 0.05))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_killed_at_any_moment_and_resumed_it_ends_in_the_same_model(tmp_path, data, case):
    assert run(command(data, case, tmp_path / "whole.thresher")) == 0
    whole = (tmp_path / "whole.thresher").read_bytes()
    model, checkpoint = tmp_path / "model.thresher", tmp_path / "model.thresher.checkpoint"
    choose = random.Random(case)
    kills = resumed = 0
    while kills < 13:
        model.unlink(missing_ok=True)
        args = command(data, case, model)
        while run(args, (lambda: some_time_later(model, checkpoint, choose)) if kills < 13 else None) is None:
            kills += 1  # perhaps several before one run gets through
            resumed += checkpoint.exists()
            args = [*command(data, case, model), "--resume"]
        assert model.read_bytes() == whole
        assert not checkpoint.exists()
    assert resumed >= 4  # of the kills, some came after a checkpoint


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_few_of_the_kills_that_go_on_for_hours(target):
    """``tests/kills.py``, in a process without threads, which it forks."""
    script = Path(__file__).with_name("kills.py")
    done = subprocess.run([sys.executable, script, f"{target}=3"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{target}: 3 kills, 0 findings\n"), done.stderr


def wait_for(path):
    deadline = time.monotonic() + 100
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.001)


def test_a_killed_executable_goes_on(tmp_path, data):
    """The same through the shell's own door, once."""
    case = "two classes"
    args = command(data, case, tmp_path / "model.thresher")
    assert run(command(data, case, tmp_path / "whole.thresher")) == 0
    process = subprocess.Popen([sys.executable, "-m", "thresher", *args])
    wait_for(tmp_path / "model.thresher.checkpoint")
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "model.thresher").exists()
    subprocess.run([sys.executable, "-m", "thresher", *args, "--resume"], check=True, stdout=subprocess.DEVNULL)
    whole = (tmp_path / "whole.thresher").read_bytes()
    assert (tmp_path / "model.thresher").read_bytes() == whole
    measures = load_model(tmp_path / "model.thresher").record_["history"]["measures"]  # of the rarer class
    assert measures["rows"][-1] == 8000
    assert 0.5 < measures["average_precision"][-1] < 1


def test_two_trainings_of_one_model_leave_one_of_them(tmp_path, data):
    def args(model, passes):
        return [*command(data, "two classes", tmp_path / model), "--max-iter", passes]

    for passes in ("1", "2"):
        assert run(args(passes, passes)) == 0
    both = [start(args("both", passes)) for passes in ("1", "2")]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in both] == [0, 0]
    assert (tmp_path / "both").read_bytes() in [(tmp_path / passes).read_bytes() for passes in ("1", "2")]
    assert sorted(os.listdir(tmp_path)) == ["1", "2", "both"]


def test_ctrl_c_keeps_the_checkpoint_and_says_how_to_go_on(tmp_path, data):
    args = command(data, "gzip, shuffled", tmp_path / "model.thresher")
    args.remove("--quiet")
    process = subprocess.Popen(
        [sys.executable, "-m", "thresher", *args, "--max-iter", "100000"], stderr=subprocess.PIPE, text=True
    )
    checkpoint = tmp_path / "model.thresher.checkpoint"
    wait_for(checkpoint)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert checkpoint.exists()
    assert "continue with:\n  thresher train " in said
    assert said.rstrip().endswith("--resume")
    assert "Traceback" not in said
