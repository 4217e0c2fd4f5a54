"""Ctrl-C ends what takes long within a second, and leaves no half of anything behind."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from thresher.dual_averaging import ReweightedL1RDAClassifier
from unsound import save_unsound

# Sends itself SIGINT after 0.2 seconds of a processor in calls that go on for many more, most of them in one native
# loop, and prints what came of it, after how many seconds of a processor, and whether the model is sound.
INTERRUPTED = """
import json, os, signal, sys, threading, time
import numpy as np
from thresher.online import AROWClassifier
from thresher.persistence import load_model
from thresher.solvers import box_qp, lasso

signal.signal(signal.SIGINT, signal.default_int_handler)  # which tests in the background inherit as ignored

def interrupted(call):
    sent = []
    def send():
        begin = time.process_time()
        while time.process_time() < begin + 0.2:
            time.sleep(0.01)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send).start()
    try:
        return repr(call()), 0.0
    except BaseException as error:
        return type(error).__name__, time.process_time() - sent[0]

rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 1500)), np.arange(2000) % 2
model = AROWClassifier(1.0, covariance="full", max_iter=1)
found = {"fit": [*interrupted(lambda: model.fit(X, y)), not hasattr(model, "state_")]}
K, sides = X[:, :9] @ X[:, :9].T, 2.0 * y - 1
boxes = np.minimum(0, 1e12 * sides), np.maximum(0, 1e12 * sides)
found["solver"] = [*interrupted(lambda: box_qp(K, sides, *boxes, tol=0.0)), True]
options = {"loss": "logistic", "tol": 1e-300, "max_iter": 10**9}
found["lasso"] = [*interrupted(lambda: lasso(X, sides, 1e-9, **options)), True]
found["load"] = [*interrupted(lambda: load_model(sys.argv[1])), True]

def batches(model, n):
    for _ in range(n):
        model.partial_fit(X[:100, :300], y[:100], classes=[0, 1])
    return model

model, whole = AROWClassifier(1.0, covariance="full"), AROWClassifier(1.0, covariance="full")
said = interrupted(lambda: batches(model, 10**6))
n_batches, rest = divmod(model.n_samples_seen_, 100)
found["partial_fit"] = [*said, rest == 0 and np.array_equal(batches(whole, n_batches).coef_, model.coef_)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, tuple[str, float, bool]]:
    """What came of interrupting a process; one of its calls loads a file whose weights owe 2**50 steps each."""
    model = ReweightedL1RDAClassifier(eta0=1.0, alpha=1e-12).fit(np.ones((4, 200_000)), [0, 1, 0, 0])
    arrays = model.state_.arrays
    arrays["gradient_sum"][...], arrays["penalty_sum"][...], arrays["n_steps"][...] = 1e12, 1.0, 2.0**50
    path = tmp_path_factory.mktemp("slow") / "slow.thresher"
    save_unsound(model, path)
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("call", ["fit", "solver", "lasso", "load", "partial_fit"])
def test_ctrl_c_ends_it_within_a_second(found, call):
    came, seconds, is_sound = found[call]
    assert came == "KeyboardInterrupt"
    assert seconds < 1
    assert is_sound
