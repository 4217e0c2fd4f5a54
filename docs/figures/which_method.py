"""The chart of which-method.md and the same tree as a list, both made of ``TREE``.

From the root of the project: ``python docs/figures/which_method.py`` writes both anew; ``--check`` fails where they are
not what it would write.
"""

from __future__ import annotations

import re
import sys
import textwrap
from html import escape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PAGE, CHART = HERE.with_name("which-method.md"), HERE / "which_method.svg"


class Method(NamedTuple):
    """A first choice, at most two others, and where to read on."""

    first: str
    others: tuple[str, ...]
    page: str


class Question(NamedTuple):
    text: str
    answers: dict[str, Question | Method]


STREAMS, RARE, TASKS = "sparse-models-from-streams.md", "imbalanced-streams.md", "multi-task.md"
FEW, NONE, KERNELS = "few-labels.md", "unknown-classes.md", "many-kernels.md"
CLUSTERS, SHAPES = "clustering.md", "kernel-clustering.md"

TREE = Question(
    "What do you know of each row?",
    {
        "Its class; rows come as a stream, a file larger than memory, or with very many columns": Question(
            "What should the model be like?",
            {
                "good at once, nothing to tune": Method(
                    "online.AROWClassifier", ("online.SCWClassifier", "stochastic.PegasosClassifier"), STREAMS
                ),
                "of few features": Method(
                    "online.AROWClassifier(n_features_to_select=K)",
                    ("dual_averaging.FTRLClassifier", "dual_averaging.AdaptiveL1RDAClassifier"),
                    STREAMS,
                ),
                "of a few dozen features, for a rare class": Method(
                    "confidence.PoolCWClassifier",
                    ("online.AROWClassifier(n_features_to_select=K)", "confidence.ASCWClassifier"),
                    RARE,
                ),
                "small at every moment, while it learns, too": Method(
                    "online.OFSClassifier", ("online.MBPAClassifier", "online.SOFSClassifier"), RARE
                ),
                "with columns in or out together": Method(
                    "dual_averaging.GroupRDAClassifier", ("dual_averaging.GroupFOBOSClassifier",), f"{STREAMS}#groups"
                ),
                "with one set of features for many classes": Method("dual_averaging.SharedRDAClassifier", (), TASKS),
                "learned from labels that must be asked for": Method("online.CSOALClassifier", (), RARE),
            },
        ),
        "Its class; all rows fit in memory": Question(
            "What should the model be like?",
            {
                "straight, or you do not know": Method(
                    "stochastic.PegasosClassifier",
                    ("stochastic.SparseSDCAClassifier", "confidence.BCWClassifier"),
                    STREAMS,
                ),
                "curved": Method("kernels.FixedSizeNystroem + a linear learner", ("kernels.LSSVC",), KERNELS),
                "a choice among kernels, widths or sources": Method(
                    "mkl.GMKLClassifier", ("mkl.UniformMKLClassifier", "mkl.LpMKLClassifier"), KERNELS
                ),
            },
        ),
        "An amount": Question(
            "What should the model be like?",
            {
                "of few features": Method(
                    "dual_averaging.AdaptiveL1RDARegressor",
                    ("dual_averaging.FTRLRegressor", "dual_averaging.GroupRDARegressor"),
                    STREAMS,
                ),
                "robust, or a quantile": Method("stochastic.PegasosRegressor", (), STREAMS),
                "curved in single features": Method("mkl.GMKLRegressor", (), KERNELS),
            },
        ),
        "Its class or amount, and its task: a school, a user, a machine": Question(
            "What is to be predicted? (FOBOS where data drift.)",
            {
                "an amount": Method(
                    "dual_averaging.MultiTaskRDARegressor", ("dual_averaging.MultiTaskFOBOSRegressor",), TASKS
                ),
                "a class": Method(
                    "dual_averaging.MultiTaskRDAClassifier", ("dual_averaging.MultiTaskFOBOSClassifier",), TASKS
                ),
            },
        ),
        "The class of a few rows only": Question(
            "What are rows without a label?",
            {
                "of no class, or you do not know": Method(
                    "semi_supervised.UniversumSVC", ("semi_supervised.TriClassSVC",), FEW
                ),
                "of the classes, with gaps between them": Method(
                    "semi_supervised.S3VC", ("semi_supervised.UniversumSVC",), FEW
                ),
                "of curved classes; neighbours are alike": Method(
                    "semi_supervised.SemiKSC", ("semi_supervised.LapSVC", "semi_supervised.BiSemiKSC"), FEW
                ),
            },
        ),
        "Its class, and some rows will be of none": Question(
            "How many rows are there?",
            {
                "some thousand": Method("novelty.SNDClassifier", ("novelty.LSSNDClassifier",), NONE),
                "many, outliers among them": Method("novelty.PegasosSNDClassifier", (), NONE),
            },
        ),
        "Nothing; you look for clusters": Question(
            "What is a cluster?",
            {
                "a heap that few features tell apart": Method("cluster.SparseKMeans", (), CLUSTERS),
                "of any shape": Method("cluster.KernelSpectralClustering", (), SHAPES),
                "flat: a line or a plane": Method("cluster.ProximalPlaneClustering", (), CLUSTERS),
            },
        ),
    },
)

# --- the list --------------------------------------------------------------------------------------------------------


def listed(question: Question, depth: int = 0) -> list[str]:
    lines = []
    for answer, then in question.answers.items():
        start = f"{'  ' * depth}- {answer}"
        if isinstance(then, Question):
            lines += [f"{start}. *{then.text}*", *listed(then, depth + 1)]
        else:
            others = f"; else {' or '.join(f'`{name}`' for name in then.others)}" if then.others else ""
            lines.append(f"{start}: [**`{then.first}`**]({then.page}){others}")
    return lines


def page(text: str) -> str:
    """The page with a list that is current."""
    tree = "\n".join([f"*{TREE.text}*", "", *listed(TREE)])
    return re.sub(r"(<!-- tree: begin -->\n).*?(<!-- tree: end -->)", rf"\g<1>\n{tree}\n\n\2", text, flags=re.DOTALL)


# --- the chart: every text stands on a box of its own, so that any background will do -------------------------------

WIDTH, STEP, GAP, PAD, LINE = 460, 18, 7, 8, 17
QUESTION = {"fill": "#1f4e79", "text": "#ffffff"}
BRANCH = {"fill": "#cfe0f0", "text": "#12263a"}
LEAF = {"fill": "#ffffff", "text": "#333333"}


class Chart:
    def __init__(self) -> None:
        self.y, self.parts = 4, []

    def box(self, depth: int, lines: list[tuple[str, str]], look: dict[str, str]) -> float:
        """Lines of (style, text), one box; returns the height of its middle."""
        left = 4 + STEP * depth
        height = LINE * len(lines) + 2 * PAD - 3
        self.parts.append(
            f'<rect x="{left}" y="{self.y}" width="{WIDTH - 4 - left}" height="{height}" rx="6" '
            f'fill="{look["fill"]}" stroke="#7f8c99"/>'
        )
        for k, (style, text) in enumerate(lines):
            at = f'x="{left + 10}" y="{self.y + PAD + LINE * k + 11}"'
            self.parts.append(f'<text {at} fill="{look["text"]}" {style}>{escape(text)}</text>')
        middle = self.y + height / 2
        self.y += height + GAP
        return middle

    def branch(self, depth: int, top: float, middles: list[float]) -> None:
        """Lines from a question down and across to its answers."""
        x = 4 + STEP * depth - STEP / 2
        path = f"M{x} {top}V{middles[-1]}" + "".join(f"M{x} {y}h{STEP / 2}" for y in middles)
        self.parts.insert(0, f'<path d="{path}" stroke="#7f8c99" stroke-width="1.5" fill="none"/>')

    def answers(self, question: Question, depth: int) -> None:
        top, middles = self.y - GAP, []
        for answer, then in question.answers.items():
            fold = 58 - 3 * depth
            said = [("", line) for line in textwrap.wrap(answer, fold)]
            if isinstance(then, Question):
                middles.append(self.box(depth, [*said, (BOLD, then.text)], BRANCH))
                self.answers(then, depth + 1)
                continue
            others = [(SMALL, f"else {short(name)}") for name in then.others]
            middles.append(self.box(depth, [*said, (FIRST, short(then.first)), *others], LEAF))
        self.branch(depth, top, middles)


BOLD = 'font-weight="600"'
FIRST = 'font-weight="600" style="fill:#0b5cad"'
SMALL = 'font-size="12" style="fill:#555"'


def short(name: str) -> str:
    """Without its module, which the list says."""
    return re.sub(r"^[a-z_]+\.", "", name)


def chart() -> str:
    drawn = Chart()
    drawn.box(0, [(BOLD, TREE.text)], QUESTION)
    drawn.answers(TREE, 1)
    height = drawn.y - GAP + 4
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif" font-size="13.5" role="img">'
    )
    return "\n".join([head, "<title>Which method?</title>", *drawn.parts, "</svg>\n"])


def main(check: bool) -> None:
    made = {CHART: chart(), PAGE: page(PAGE.read_text(encoding="utf-8"))}
    old = [path.name for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if check and old:
        sys.exit(f"{' and '.join(old)} must be made anew: python docs/figures/which_method.py")
    for path, text in made.items() if not check else ():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(check="--check" in sys.argv)
