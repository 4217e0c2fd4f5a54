"""How far exported models are from the models: ``python -m tests.exporting.differences`` prints a table.

The largest difference of probabilities (of values, of a regression) over a thousand rows, for each model and target;
then the same of pipelines of scikit-learn that skl2onnx converts, in both precisions.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path[:0] = [str(Path(__file__).parents[1])]

from exporting.exported_models import MODELS, Expected  # noqa: E402
from exporting.test_exports import HASHES, TARGETS, answers  # noqa: E402
from exporting.test_skl2onnx import LEARNERS, X, run  # noqa: E402


def difference(target: str, model: Any, rows: Any) -> float:
    """The largest one."""
    expected = Expected(model, rows)
    predictions, _, probabilities = answers(target, model, rows)
    if expected.probabilities is None:
        return float(np.abs(np.array(predictions, dtype=float).ravel() - expected.predictions).max())
    return float(np.abs(np.array(probabilities) - expected.probabilities).max())


def main() -> None:
    print(f"{'model':<16}{'rows':>6}" + "".join(f"{target:>10}" for target in TARGETS))
    for name, make in MODELS.items():
        model, rows = make()
        cells = ["-" if name == "words" and t in HASHES else f"{difference(t, model, rows):.0e}" for t in TARGETS]
        print(f"{name:<16}{len(rows):>6}" + "".join(f"{cell:>10}" for cell in cells))
    print(f"\n{'skl2onnx':<16}{'rows':>6}{'float32':>10}{'float64':>10}")
    for name, (learner, y) in LEARNERS.items():
        model = make_pipeline(StandardScaler(), learner).fit(X, y)
        found = [np.abs(run(model, dtype)[1] - model.predict_proba(X)).max() for dtype in (np.float32, np.float64)]
        print(f"{name:<16}{len(X):>6}" + "".join(f"{each:>10.0e}" for each in found))


if __name__ == "__main__":
    main()
