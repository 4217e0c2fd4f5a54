"""``python -m benchmarks.device [--quick] [--update]``: what a GPU gains over the CPU. Needs PyTorch and CUDA.

Every fit gets rows and landmarks of its own. Time on the GPU is wall-clock time of a whole ``fit`` on rows that lie
there, after a first fit that is not counted: the median of five, the least and the most. That on the CPU is CPU time of
one fit by NumPy on the first of these rows, all threads added up: what one core would need.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from sklearn import config_context
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.metrics import accuracy_score, adjusted_rand_score
from sklearn.pipeline import make_pipeline

from thresher.cluster import KernelSpectralClustering, SparseKMeans
from thresher.kernels import LSSVC, RBF, FixedSizeNystroem, LeastSquaresClassifier, LogisticClassifier
from thresher.mkl import GMKLClassifier
from thresher.novelty import LSSNDClassifier
from thresher.semi_supervised import LapSVC, SemiKSC

from ._machine import cpu
from ._report import Table

PAGE = Path(__file__).with_name("device.md")
N_FEATURES, N_LANDMARKS, FEW_LANDMARKS = 100, 1_000, 100
N_HEAPS, N_TEST, N_LABELS = 20, 10_000, 100
DRAWS = 5
N_DIGITS = 1_200  # training rows of the 1,797 real ones
Array = np.ndarray[Any, Any]


class Work(NamedTuple):
    """Something to fit, and how good it is on other rows; ``sizes`` with NumPy up to ``most`` rows."""

    name: str
    make: Callable[[int], Any]  # from a seed
    targets: Callable[[Array], Any]
    quality: Callable[[Array, Array], float]
    sizes: tuple[int, ...]
    most: int


def heaps(n_rows: int, seed: int) -> tuple[Array, Array]:
    """Rows around centres that are always the same, and the numbers of the centres."""
    centres = np.random.default_rng(0).normal(size=(N_HEAPS, N_FEATURES))
    rng = np.random.default_rng(seed)
    heap = rng.integers(N_HEAPS, size=n_rows)
    return centres[heap] + rng.normal(size=(n_rows, N_FEATURES)), heap


def _few_labels(heap: Array) -> Array:
    return np.where(np.arange(len(heap)) < N_LABELS, heap % 2, -1)


def _works(quick: bool) -> list[Work]:
    sizes = (2_000,) if quick else (10_000, 100_000, 1_000_000)
    exact = (1_000,) if quick else (5_000, 10_000, 40_000)
    landmarks = FEW_LANDMARKS if quick else N_LANDMARKS
    options: dict[str, Any] = {"gamma": 0.5 / N_FEATURES, "n_components": landmarks}
    unread: dict[str, Any] = {"probability": "none"}

    def accuracy(heap: Array, found: Array) -> float:
        return float(accuracy_score(heap % 2, found))

    def head(seed: int) -> Any:
        return make_pipeline(FixedSizeNystroem(**options, random_state=seed), LeastSquaresClassifier(**unread))

    def logistic_head(seed: int) -> Any:
        return make_pipeline(FixedSizeNystroem(**options, random_state=seed), LogisticClassifier(**unread))

    def rand(heap: Array, found: Array) -> float:
        return float(adjusted_rand_score(heap, found))

    return [
        Work("Nystroem map and least-squares head", head, lambda heap: heap % 2, accuracy, sizes, 1_000_000),
        Work("Nystroem map and logistic head", logistic_head, lambda heap: heap % 2, accuracy, sizes, 100_000),
        Work(
            "kernel spectral clustering, landmarks",
            lambda seed: KernelSpectralClustering(
                N_HEAPS, decoding="angle", kernel="rbf", random_state=seed, **options
            ),
            lambda heap: None,
            rand,
            sizes,
            100_000,
        ),
        Work(
            f"K-means, {N_HEAPS} clusters",
            lambda seed: SparseKMeans(N_HEAPS, random_state=seed),
            lambda heap: None,
            rand,
            sizes,
            1_000_000,
        ),
        Work(
            f"SemiKSC, landmarks, {N_LABELS} labels",
            lambda seed: SemiKSC(kernel="rbf", random_state=seed, **options, **unread),
            _few_labels,
            accuracy,
            sizes,
            100_000,
        ),
        Work(
            f"LapSVC, landmarks, {N_LABELS} labels",
            lambda seed: LapSVC(kernel="rbf", solver="primal", random_state=seed, **options, **unread),
            _few_labels,
            accuracy,
            sizes[:2],
            10_000,
        ),
        Work(
            "LS-SND",
            lambda seed: LSSNDClassifier(gamma=0.5 / N_FEATURES, cache_size=20_000, reject=False, **unread),
            lambda heap: heap % 2,
            accuracy,
            exact[:2],
            10_000,
        ),
        Work(
            "exact LSSVC",
            lambda seed: LSSVC(C=1.0, gamma=0.5 / N_FEATURES, cache_size=20_000, **unread),
            lambda heap: heap % 2,
            accuracy,
            exact,
            10_000,
        ),
        Work(
            f"GMKL, {N_FEATURES} kernels",
            lambda seed: GMKLClassifier([RBF(0.5, features=j) for j in range(N_FEATURES)], cache_size=25_000, **unread),
            lambda heap: heap % 2,
            accuracy,
            (300,) if quick else (2_000, 5_000),
            5_000,
        ),
    ]


class Device:
    """Where rows lie: times of what is done there, and the memory that it takes."""

    def __init__(self, name: str) -> None:
        import torch

        self._torch, self._name = torch, name
        self._is_gpu = name != "cpu"
        if self._is_gpu and not torch.cuda.is_available():
            raise SystemExit("benchmarks.device: PyTorch finds no GPU; --quick --device cpu shows whether it runs.")
        self.library = f"PyTorch {torch.__version__}, NumPy {np.__version__}"
        self.called = torch.cuda.get_device_name() if self._is_gpu else "CPU, by PyTorch"

    def put(self, values: Array) -> Any:
        return self._torch.asarray(values, device=self._name)

    def seconds(self, do: Callable[[], Any]) -> tuple[float, Any]:
        self._settle()
        begin = time.perf_counter()
        result = do()
        self._settle()
        return time.perf_counter() - begin, result

    def peak(self) -> float:
        """Most gigabytes in use since the last call."""
        if not self._is_gpu:
            return 0.0
        most = self._torch.cuda.max_memory_allocated() / 1e9
        self._torch.cuda.empty_cache()
        self._torch.cuda.reset_peak_memory_stats()
        return float(most)

    def _settle(self) -> None:
        if self._is_gpu:
            self._torch.cuda.synchronize()


def _spread(values: Sequence[float], digits: int) -> str:
    """The median, from the least to the most."""
    return f"{np.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}"


def _row(work: Work, n_rows: int, device: Device) -> list[str]:
    X_test, heap_test = heaps(N_TEST, 1 + DRAWS)
    there = device.put(X_test)
    seconds, qualities = [], []
    device.peak()
    for seed in range(1, 1 + DRAWS):
        X, heap = heaps(n_rows, seed)
        targets = [y] if (y := work.targets(heap)) is not None else []
        rows = device.put(X)
        if seed == 1:
            work.make(seed).fit(rows, *targets)
        spent, model = device.seconds(partial(work.make(seed).fit, rows, *targets))
        seconds.append(spent)
        qualities.append(work.quality(heap_test, model.predict(there).cpu().numpy()))
        del rows, model
    cells = [_spread(seconds, 3), "", "", _mean(qualities), f"{qualities[0]:.4f}", "", f"{device.peak():.1f}"]
    if n_rows <= work.most:
        X, heap = heaps(n_rows, 1)
        targets = [y] if (y := work.targets(heap)) is not None else []
        begin = time.process_time()
        model = work.make(1).fit(X, *targets)
        cpu = time.process_time() - begin
        cells[1:3] = [f"{cpu:.2f}", f"{cpu / np.median(seconds):.0f}"]
        cells[5] = f"{work.quality(heap_test, model.predict(X_test)):.4f}"
    return [work.name, f"{n_rows:,}", *cells]


def run(quick: bool, device: Device, only: str = "") -> Iterator[Table]:
    """The table, once more after each of its rows: some take minutes."""
    landmarks = FEW_LANDMARKS if quick else N_LANDMARKS
    table = Table(
        f"Fitting on a GPU ({device.called}), {N_FEATURES} columns, {landmarks:,} landmarks, float64",
        ["what", "rows", "seconds, GPU", "CPU seconds, NumPy", "CPU / GPU", "quality, GPU", "first draw, GPU",
         "first draw, NumPy", "GB on the GPU"],
        notes=[f"Seconds: wall-clock time of a fit to rows on the GPU, median (least to most) of {DRAWS} draws of rows "
               "and landmarks; CPU time of one fit by NumPy to the first draw, all threads added up. Quality: accuracy "
               "on other rows, of clusters the adjusted Rand index, mean ± standard deviation over the draws."],
    )  # fmt: skip
    console = Console(width=160)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for work in (work for work in _works(quick) if only in work.name):
            for n_rows in work.sizes:
                table.rows.append(_row(work, n_rows, device))
                console.print(" | ".join(table.rows[-1]), highlight=False)
                yield table


def peers(quick: bool, device: Device) -> Iterator[Table]:
    """Ours beside scikit-learn's estimators that take tensors (``array_api_dispatch``), on the same GPU and rows."""
    n_components = FEW_LANDMARKS if quick else N_LANDMARKS
    table = Table(
        f"Beside scikit-learn on the same GPU ({device.called}), {n_components:,} landmarks",
        ["what", "rows", "seconds, scikit-learn", "seconds, thresher", "scikit-learn / thresher",
         "accuracy, scikit-learn", "accuracy, thresher"],
        notes=[f"Wall-clock time of a fit, median (least to most) of {DRAWS} draws of rows and landmarks, and accuracy "
               "on other rows, mean ± standard deviation over the draws. Both have their defaults, with the same "
               "number of landmarks and gamma = 0.5 / columns. scikit-learn: Nystroem, then RidgeClassifierCV or "
               "LogisticRegression, with array_api_dispatch=True. Digits: the handwritten digits that come with "
               "scikit-learn, even or odd."],
    )  # fmt: skip
    unread: dict[str, Any] = {"probability": "none"}
    pairs = {
        "Nystroem map and ridge or least-squares head": (RidgeClassifierCV, LeastSquaresClassifier),
        "Nystroem map and logistic head": (LogisticRegression, LogisticClassifier),
    }
    sets: list[tuple[str, int, Callable[[int, int], tuple[Array, ...]]]]
    sets = [("", n, _generated) for n in ((2_000,) if quick else (10_000, 100_000, 1_000_000))]
    sets.append((", digits", N_DIGITS, _digits))
    for what, (theirs, ours) in pairs.items():
        for kind, n_rows, draw in sets:
            seconds, scores = [], []
            for seed in (1, *range(1, 1 + DRAWS)):  # the first fits are not counted
                X, y, X_test, y_test = draw(n_rows, seed)
                rows = [device.put(each) for each in (X, y, X_test)]
                options = {"gamma": 0.5 / X.shape[1], "n_components": n_components, "random_state": seed}
                with config_context(array_api_dispatch=True):
                    peer = _fitted(make_pipeline(Nystroem(**options), theirs()), *rows, device)
                own = _fitted(make_pipeline(FixedSizeNystroem(**options), ours(**unread)), *rows, device)
                seconds.append((peer[0], own[0]))
                scores.append([float(accuracy_score(y_test, found)) for _, found in (peer, own)])
            del seconds[0], scores[0]
            ratios = _spread([peer / own for peer, own in seconds], 1)
            times = [_spread(each, 3) for each in zip(*seconds, strict=True)]
            means = [_mean(each) for each in zip(*scores, strict=True)]
            table.rows.append([what + kind, f"{n_rows:,}", *times, ratios, *means])
            yield table


def _generated(n_rows: int, seed: int) -> tuple[Array, ...]:
    (X, heap), (X_test, heap_test) = heaps(n_rows, seed), heaps(N_TEST, 1 + DRAWS)
    return X, heap % 2, X_test, heap_test % 2


def _digits(n_rows: int, seed: int) -> tuple[Array, ...]:
    """Images of handwritten digits, even or odd."""
    X, digit = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(digit))
    X, y = X[order] / 8, digit[order] % 2
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def _fitted(model: Any, X: Any, y: Any, X_test: Any, device: Device) -> tuple[float, Array]:
    """The time of a fit, and predictions."""
    return device.seconds(lambda: model.fit(X, y))[0], model.predict(X_test).cpu().numpy()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.device", description="What a GPU gains.")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run; the figures mean little")
    parser.add_argument("--device", default="cuda", help="where PyTorch puts the rows; cuda by default")
    parser.add_argument("--only", default="", help="work whose name holds this text, such as LapSVC")
    parser.add_argument("--update", action="store_true", help="write the table into benchmarks/device.md")
    options = parser.parse_args()
    if "SCIPY_ARRAY_API" not in os.environ:  # scikit-learn asks for it, and SciPy reads it when it is imported
        os.environ["SCIPY_ARRAY_API"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.device", *sys.argv[1:]])
    if options.update and (options.quick or options.only or options.device == "cpu"):
        parser.error("--update needs all work, full sizes and a GPU.")
    device = Device(options.device)
    by = f"`python -m benchmarks.device --update`: {device.called}, {device.library}; {cpu()}, {date.today()}."
    shown: dict[str, Table] = {}
    for table in chain(run(options.quick, device, options.only), () if options.only else peers(options.quick, device)):
        shown[table.title] = table
        if options.update:
            pages = "\n\n".join(each.markdown() for each in shown.values())
            PAGE.write_text(f"# What a GPU gains\n\n{by}\n\n{pages}")
    for table in shown.values():
        table.show(Console(width=160))


if __name__ == "__main__":
    main()
