"""The chart of which-method.md and the same tree as a list, both made of ``TREE`` and of what classes declare.

From the root of the project: ``python docs/figures/which_method.py`` writes both anew; ``--check`` fails where they are
not what it would write.
"""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
from html import escape
from pathlib import Path
from typing import NamedTuple

from thresher import registry
from thresher._estimators import LearningProblem, advice_of

HERE = Path(__file__).parent
PAGE, CHART = HERE.with_name("which-method.md"), HERE / "which_method.svg"


MOST_SHOWN = 3  # methods of an answer


class End(NamedTuple):
    """An answer that leads to methods: those whose classes declare this aim, by rank, and a page about them."""

    aim: str
    page: str
    task: str = "classification"

    def methods(self) -> list[str]:
        found = []
        problem = LearningProblem(self.task, aim=self.aim)
        tasks = {method.cls: method.task for method in registry.methods()}
        for family in registry.FAMILIES:
            module = importlib.import_module(f"thresher.{family}")
            for name in module.__all__:
                cls = getattr(module, name)
                if not isinstance(cls, type) or tasks.get(cls, self.task) != self.task:
                    continue
                if (good := advice_of(cls).best(problem)) is not None:
                    found.append((good.rank, f"{family}.{name}{good.settings}"))
        return [name for _, name in sorted(found)[:MOST_SHOWN]]


class Question(NamedTuple):
    text: str
    answers: dict[str, Question | End]


STREAMS, RARE, TASKS = "sparse-models-from-streams.md", "imbalanced-streams.md", "multi-task.md"
FEW, NONE, KERNELS = "few-labels.md", "unknown-classes.md", "many-kernels.md"
CLUSTERS, SHAPES = "clustering.md", "kernel-clustering.md"

TREE = Question(
    "What is known about each row?",
    {
        "Its class; rows come as a stream, a file larger than memory, or with very many columns": Question(
            "What should the model be like?",
            {
                "accurate without tuning": End("nothing to tune", STREAMS),
                "with few features": End("few features", STREAMS),
                "with a few dozen features, for a rare class": End("rare class", RARE),
                "with bounded memory, also during training": End("bounded memory", RARE),
                "with groups of columns selected together": End("groups", f"{STREAMS}#groups"),
                "with one set of features for many classes": End("shared features", TASKS),
                "trained on labels that it queries": End("active learning", RARE),
            },
        ),
        "Its class; all rows fit in memory": Question(
            "What should the model be like?",
            {
                "linear, or you do not know": End("linear", STREAMS),
                "nonlinear": End("curved", KERNELS),
                "a selection of kernels, widths or sources": End("many kernels", KERNELS),
            },
        ),
        "A number": Question(
            "What should the model be like?",
            {
                "with few features": End("few features", STREAMS, "regression"),
                "robust, or a quantile": End("robust", STREAMS, "regression"),
                "nonlinear in single features": End("curved", KERNELS, "regression"),
            },
        ),
        "Its class or number, and its task: a school, a user, a machine": Question(
            "What do you predict? (FOBOS if data drift.)",
            {"a number": End("tasks", TASKS, "regression"), "a class": End("tasks", TASKS)},
        ),
        "The class of a few rows only": Question(
            "What are rows without a label?",
            {
                "of no class, or you do not know": End("unlabelled", FEW),
                "of the classes, with gaps between them": End("gaps", FEW),
                "of nonlinear classes; neighbours are similar": End("neighbours", FEW),
            },
        ),
        "Its class, and some rows will belong to none": Question(
            "How many rows are there?",
            {"a few thousand": End("outliers", NONE), "many, outliers among them": End("many outliers", NONE)},
        ),
        "Nothing; you look for clusters": Question(
            "What is a cluster?",
            {
                "round, described by few features": End("round", CLUSTERS, "clustering"),
                "of any shape": End("curved", SHAPES, "clustering"),
                "flat: a line or a plane": End("flat", CLUSTERS, "clustering"),
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
            first, *others = then.methods()
            rest = f"; else {' or '.join(f'`{name}`' for name in others)}" if others else ""
            lines.append(f"{start}: [**`{first}`**]({then.page}){rest}")
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
            text = [("", line) for line in textwrap.wrap(answer, fold)]
            if isinstance(then, Question):
                middles.append(self.box(depth, [*text, (BOLD, then.text)], BRANCH))
                self.answers(then, depth + 1)
                continue
            first, *others = map(short, then.methods())
            rest = [(SMALL, f"else {name}") for name in others]
            middles.append(self.box(depth, [*text, (FIRST, first), *rest], LEAF))
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
