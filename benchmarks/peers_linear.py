"""What a user could take instead for a linear classifier, on the same rows: accuracy, CPU time, weights, memory.

Defaults of every library but for the number of passes. Learners of one pass are run in turn, each time in a child of
their own; solvers of many passes once. Memory is what a child takes above the rows, which it shares with the parent.
"""

from __future__ import annotations

from ._forked import best_cpu, in_turns, memory
from ._front import FrontLine, cell, has, number
from ._linear_data import LinearTask, linear_tasks
from ._linear_peers import Answer, contestants
from ._report import Table

REPEATS = 3
PEER = "SGDClassifier, one pass"
COLUMNS = ["learner", "passes", "CPU ms", "SGD's / it", "held-out accuracy", "weights not 0", "MB beside the rows"]
NOTES = [
    f"One pass: best of {REPEATS} children in turn; others once. Rows are in the form that each library prefers, made "
    "before the clock starts: CSR or dense, CSC for skglm, its own structure for LIBLINEAR, dicts for River's "
    "learn_one, Vowpal Wabbit's cache; skglm is compiled before. Where passes are empty, the library does not tell.",
    "Vowpal Wabbit's time includes the reading of its cache from a file, ours and scikit-learn's the check of all "
    "values. LIBLINEAR's memory includes its copy of the rows.",
]


def run(quick: bool) -> list[Table]:
    return [_table(task, quick) for task in linear_tasks(quick)]


def _table(task: LinearTask, quick: bool) -> Table:
    found, notes = contestants(task, quick)
    runs = in_turns({name: each.work for name, each in found.items() if not each.once}, REPEATS)
    runs |= in_turns({name: each.work for name, each in found.items() if each.once}, 1)
    table = Table(f"Linear classifiers: {task.title}, {task.shape}", COLUMNS, notes=[*NOTES, *notes])
    peer = best_cpu(runs[PEER])
    for name in found:
        answer: Answer = runs[name][-1].result
        best = best_cpu(runs[name])
        size = "" if answer.n_weights is None else f"{answer.n_weights:,}"
        cells = [answer.passes, f"{1e3 * best:,.1f}", f"{peer / best:.2g}", f"{answer.accuracy:.4f}", size]
        table.rows.append([name, *cells, f"{max(0.0, memory(runs[name])):,.0f}"])
    return table


def front(tables: list[Table]) -> list[FrontLine]:
    """Of the first table, text: the batch solver and the stream learner that most would take."""
    text = tables[0]
    lines = []
    for peer, ours in (("LinearSVC", "thresher AROW, drop"), ("river PAClassifier, learn_one", "thresher PA")):
        if has(text, peer, ours):
            lines.append(
                FrontLine(
                    what=text.title.partition(": ")[2],
                    peer=peer,
                    ours=ours.removeprefix("thresher "),
                    their_cost=number(text, peer, "CPU ms"),
                    our_cost=number(text, ours, "CPU ms"),
                    quality="held-out accuracy",
                    their_quality=cell(text, peer, "held-out accuracy"),
                    our_quality=cell(text, ours, "held-out accuracy"),
                )
            )
    return lines
