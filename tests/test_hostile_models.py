"""Model files from strangers: ten thousand damaged ones. None crashes the process, none runs code, each is refused in
one sentence or is a model that works."""

import json
import os
import random
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from thresher.cluster import KernelSpectralClustering, ProximalPlaneClustering, SparseKMeans
from thresher.confidence import BCWClassifier, PoolCWClassifier
from thresher.dual_averaging import L1RDARegressor
from thresher.kernels import LSSVC, RBF, FixedSizeNystroem, Linear, WeightedSum
from thresher.mkl import GMKLClassifier
from thresher.novelty import LSSNDClassifier, PegasosSNDClassifier, SNDClassifier
from thresher.online import AROWClassifier, CSOALClassifier, OFSClassifier, SOFSClassifier
from thresher.persistence import save_model
from thresher.preprocessing import ColumnSplines, RunningScaler, StreamingPipeline, TableEncoder, prepared
from thresher.semi_supervised import BiSemiKSC, LapSVC, SemiKSC, TriClassSVC
from thresher.stochastic import DropoutPegasosClassifier, PegasosClassifier, SparseSDCAClassifier
from thresher.streams import Table, Text

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))
from damage import changed, try_file

N_FILES = 10_000

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(60, 3))
CLASSES = np.array(["no", "perhaps", "yes"])[NUMBERS.argmax(1)]
WORDS = Text.from_list([["red", "green", "blue"][i % 3] for i in range(60)])
NOTES = Text.from_list([f"the {i} quick brown foxes jump over dog number {i * i}" for i in range(60)])
TABLE = Table(["a", "colour", "b", "c", "note"], NUMBERS, {"colour": WORDS, "note": NOTES})


def models():
    scaled = StreamingPipeline([("scale", RunningScaler()), ("learn", PegasosClassifier(average=True, batch_size=3))])
    words = StreamingPipeline([("scale", RunningScaler()), ("encode", TableEncoder()), ("learn", AROWClassifier())])
    hashed = StreamingPipeline(
        [("encode", TableEncoder(categories="hash", n_buckets=64, text=["note"])), ("learn", AROWClassifier())]
    )
    additive = prepared(AROWClassifier(), TABLE, splines=ColumnSplines(4, pairs=[("a", "b")]), n_buckets=64)
    curved = StreamingPipeline([("map", FixedSizeNystroem(n_components=5)), ("learn", AROWClassifier())])
    return [
        (AROWClassifier(covariance="full").fit(NUMBERS, CLASSES), NUMBERS),
        (L1RDARegressor(eta0=0.01).fit(sparse.csr_array(NUMBERS), NUMBERS[:, 0]), NUMBERS),
        (scaled.partial_fit(NUMBERS, CLASSES, classes=np.unique(CLASSES)), NUMBERS),
        (words.partial_fit(TABLE, CLASSES, classes=np.unique(CLASSES)), TABLE),
        (hashed.partial_fit(TABLE, CLASSES, classes=np.unique(CLASSES)), TABLE),
        (curved.fit(NUMBERS, CLASSES), NUMBERS),
        (additive.fit(TABLE, CLASSES), TABLE),
        (LSSVC(kernel=WeightedSum([RBF(features=[0, 2]), Linear()], [0.5, 1.0])).fit(NUMBERS, CLASSES), NUMBERS),
        (BCWClassifier(batch_size=20).fit(NUMBERS, CLASSES), NUMBERS),
        (PoolCWClassifier(2, cost=0.5, batch_size=20, random_state=0).fit(NUMBERS, CLASSES), NUMBERS),
        (SparseKMeans(n_clusters=3, random_state=0).fit(NUMBERS), NUMBERS),
        (KernelSpectralClustering(n_clusters=3, n_components=20, random_state=0).fit(NUMBERS), NUMBERS),
        (ProximalPlaneClustering(n_clusters=2, C_others=0.0, random_state=0).fit(NUMBERS), NUMBERS),
        (DropoutPegasosClassifier(alpha=0.1, random_state=0).fit(NUMBERS, CLASSES), NUMBERS),
        (SparseSDCAClassifier(alpha=0.1, random_state=0).fit(NUMBERS, CLASSES), NUMBERS),
        (OFSClassifier(2).fit(NUMBERS, CLASSES), NUMBERS),
        (GMKLClassifier([RBF(0.5), Linear(features=1)]).fit(NUMBERS, CLASSES), NUMBERS),
        (SOFSClassifier(2).fit(NUMBERS, CLASSES), NUMBERS),
        (CSOALClassifier(random_state=0).fit(NUMBERS, CLASSES), NUMBERS),
        (SNDClassifier(outlier_label="perhaps").fit(NUMBERS, CLASSES), NUMBERS),
        (LSSNDClassifier().fit(sparse.csr_array(NUMBERS), CLASSES), NUMBERS),
        (PegasosSNDClassifier(outlier_label="perhaps", random_state=0).fit(NUMBERS, CLASSES), NUMBERS),
        (TriClassSVC(unlabelled_label="perhaps", irrelevant_label="none").fit(NUMBERS, CLASSES), NUMBERS),
        (SemiKSC(unlabelled_label="perhaps", fit_intercept=True).fit(NUMBERS, CLASSES), NUMBERS),
        (BiSemiKSC(n_components=9, outlier_label="none", random_state=0).fit(NUMBERS, CLASSES), NUMBERS),
        (LapSVC(unlabelled_label="perhaps", n_components=9, random_state=0).fit(NUMBERS, CLASSES), NUMBERS),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_ten_thousand_damaged_files(tmp_path, part):
    """In a process of its own with little memory, which must live to the end."""
    files = []
    for i, (model, X) in enumerate(models()):
        path = tmp_path / f"{i}.thresher"
        model.record_ = {"layout": {"columns": ["a"], "kinds": "n", "target": None}, "command": "thresher train x"}
        save_model(model, path)
        assert try_file(path, X) == "works"
        files.append((path.read_bytes(), X))
    os.chdir(tmp_path)
    before = set(os.listdir(tmp_path))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (held + (2 << 30),) * 2)  # other tests may have loaded much before
            choose = random.Random(part)
            path = tmp_path / "damaged.thresher"
            outcomes = {"refused": 0, "refused later": 0, "works": 0}
            for _ in range(N_FILES // 4):
                content, X = choose.choice(files)
                path.write_bytes(changed(content, choose))
                begin = time.process_time()
                outcomes[try_file(path, X)] += 1
                assert time.process_time() - begin < 2
            path.unlink()
            (tmp_path / "outcomes.json").write_text(json.dumps(outcomes))
            code = 0
        except BaseException:
            import traceback

            (tmp_path / "failure.txt").write_text(traceback.format_exc())
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    failure = tmp_path / "failure.txt"
    assert status == 0, failure.read_text() if failure.exists() else f"died of {status}"
    assert set(os.listdir(tmp_path)) - before == {"outcomes.json"}  # nobody wrote anything: no code ran
    outcomes = json.loads((tmp_path / "outcomes.json").read_text())
    assert sum(outcomes.values()) == N_FILES // 4
    assert outcomes["refused"] > 0.5 * N_FILES // 4
