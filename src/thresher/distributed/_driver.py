"""The rounds of a run, on the driver: preparation, one round after the other, and the record of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._engine import ShardFacts, Sums, join
from .._estimators import plain_transform, task_of
from .._gate import sparse, widened
from ..training import Interrupted, learner_of, merge_models, stack_batches
from ._averaging import Average, averaged, averages
from ._checkpoint import Checkpoint
from ._engines import Engine, ShardTask, results_of
from ._jobs import AddUp, FitTransformer, LearnPass, ScanShard, ShardSummary, join_labels, learn_more
from ._shard_progress import Progress, Watch
from ._shards import Shard, rows_at, rows_checksum

_SAMPLE = 4096  # sampled from all shards, to choose starts by


@dataclass
class Rounds:
    """A run under way, on the driver; see :func:`fit` for its options."""

    model: Any
    shards: Sequence[Shard]
    engine: Engine
    checkpoint: Checkpoint
    watch: Watch
    mode: str
    n_rounds: int | None = None
    average: bool | str = "auto"
    classes: Any = None
    shuffle: int = 0
    random_state: int = 0
    keep_checkpoint: bool = False
    resume: bool = False
    should_stop: Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        self.classes = None if self.classes is None else np.asarray(self.classes)
        self.facts: ShardFacts | None = None
        self.history: list[dict[str, Any]] = []
        self._counts: dict[str, Any] = {}
        self._n_rounds, self._remark = 0, ""
        self._rows = rows_checksum(self.checkpoint.fingerprint["shards"])
        before = (getattr(self.model, "record_", None) or {}).get("distributed", {}).get("identity")
        self._knows_rows = self._rows is not None and before == self._rows  # the start has learned from these shards

    @property
    def learner(self) -> Any:
        """The last step of a pipeline, or the model itself."""
        return learner_of(self.model)

    @learner.setter
    def learner(self, learner: Any) -> None:
        if self.pipeline is None:
            self.model = learner
        else:
            self.model.steps[-1] = (self.model.steps[-1][0], learner)

    @property
    def pipeline(self) -> Any:
        """The model, if it is a pipeline."""
        return self.model if hasattr(self.model, "steps") else None

    @property
    def _classifies(self) -> bool:
        return task_of(self.model) == "classification"

    @property
    def _is_fitted(self) -> bool:
        return hasattr(self.learner, "n_features_in_")

    def run(self) -> Any:
        """Run all rounds, from the first or from that of the checkpoint."""
        if not self.resume:
            self.checkpoint.remove()
        kept = self.checkpoint.load() if self.resume else None
        done = kept is not None and self._take_up(*kept)
        default = self.learner._n_rounds() if self.mode == "sums" else 1
        self._n_rounds = default if self.n_rounds is None else self.n_rounds
        if self.facts is None:
            self._begin()
            if self._is_fitted:  # a model that cannot be saved is refused before hours of work
                self.checkpoint.save(self.model, self._record(False))
            self._stop_if_asked()
        mean = self._mean_so_far()
        while not done and len(self.history) < self._n_rounds:
            done = self._one_round(len(self.history))
            if mean is not None:
                mean.add(self.learner)
            self.checkpoint.save(self.model, self._record(done), None if mean is None else mean.to_keep())
            self._stop_if_asked()
        if mean is not None:
            self.learner = mean.result(self.learner)
        self.model.record_ = {"distributed": self._record(done)}
        if not self.keep_checkpoint:
            self.checkpoint.remove()
        return self.model

    def _take_up(self, model: Any, record: dict[str, Any]) -> bool:
        """Restore the state of the checkpoint; returns whether the run was complete."""
        try:
            self.history, self._counts, done = list(record["rounds"]), dict(record["data"]), bool(record["done"])
            self.classes = learner_of(model).classes_ if task_of(model) == "classification" else None
            self.facts = ShardFacts(int(record["facts"][0]), int(record["facts"][1]), self.classes)
            counts_of(learner_of(model)), [int(each["round"]) for each in self.history]
        except (LookupError, TypeError, ValueError, AttributeError):
            raise self.checkpoint.damaged() from None
        self.model = model
        return done

    def _mean_so_far(self) -> Average | None:
        """The mean of the models after each round, if it is asked for."""
        n_done = len(self.history)
        if not averages(self.learner, self.mode, self.average):
            return None
        if not n_done:
            return Average()
        kept, state = self.checkpoint.beside(n_done), self.learner.state_
        if kept is None:
            raise ValueError("fit: the mean of the rounds so far is missing beside the checkpoint.")
        shapes = {name: np.shape(each) for name, each in kept.items()}
        if shapes != {**{name: state.arrays[name].shape for name in averaged(state)}, "n": ()}:
            raise self.checkpoint.damaged()
        return Average(kept)

    # --- before the first round -------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Scan the rows, fit the transformers to all of them, and make a learner that has learned from none."""
        summaries = self._scan()
        X, y = stack_batches([part for each in summaries for part in each.sample])
        if self.pipeline is None:
            Z = widened(X, self._counts["n_features"])
        else:
            if not self._is_fitted:
                self._fit_transformers(self.pipeline)
            Z = plain_transform(self.pipeline, X)
        self.facts = ShardFacts(sum(each.n_labelled for each in summaries), Z.shape[1], self.classes, (Z, y))
        if not self._is_fitted:
            self._make_learner(X, y, [each.tasks for each in summaries if each.tasks is not None])
        elif sparse.issparse(Z) and self.pipeline is None and task_of(self.model) != "clustering" and y is not None:
            learn_more(self.model, Z[:1], y[:1], np.zeros(1), self.classes)  # features that the start has not met

    def _scan(self) -> list[ShardSummary]:
        """Scan all rows of all shards, or only the first ones if nothing needs to be counted."""
        if self._is_fitted and self._classifies:
            self.classes = self.learner.classes_
        find_classes = self._classifies and self.classes is None
        whole = find_classes or self.mode == "sums" or self.pipeline is not None
        scan = ScanShard(max(8, -(-_SAMPLE // len(self.shards))), find_classes, whole, self.pipeline)
        scanned = [each for each in self._run(scan, 0, "looking") if each.n_rows]
        summaries = [each for each in scanned if each.sample]
        if scanned and not summaries:
            raise ValueError("fit: the target is missing in every row; reading={'target': ...} names another column.")
        check_same_kind(summaries)
        if find_classes:
            self._find_classes(summaries)
        self._counts["n_features"] = max(each.n_features for each in summaries)
        if whole:  # else the first round counts rows
            for name in ("n_rows", "n_values", "n_unlabelled"):
                self._counts[name] = sum(getattr(each, name) for each in scanned)
        return summaries

    def _find_classes(self, summaries: list[ShardSummary]) -> None:
        labels: Any = reduce(join_labels, ((each.labels, each.counts) for each in summaries))
        if len(labels[0]) < 2:
            raise ValueError(f"fit: all rows have the same class, {labels[0][0]!r}; two are needed.")
        self._counts["classes"] = {str(label): int(n) for label, n in zip(*labels, strict=True)}
        self.classes = labels[0]

    def _fit_transformers(self, pipeline: Any) -> None:
        """Fit every transformer to all shards, one after the other."""
        for place, (name, step) in enumerate(pipeline.steps[:-1]):
            if hasattr(step, "n_features_in_"):
                continue
            begun = self._begun(pipeline, place) if hasattr(step, "_stays") or hasattr(step, "_emptied") else None
            if getattr(step, "_stays", False) and not hasattr(step, "_merged"):  # learns from the first rows alone
                pipeline.steps[place] = (name, begun)
                continue
            if not hasattr(step, "_merged"):
                raise ValueError(
                    f"fit: step {name!r}, a {type(step).__name__}, cannot be fitted on shards; "
                    "give start, a pipeline that is fitted already."
                )
            task = FitTransformer(pipeline, place, None if begun is None else begun._emptied())
            fitted = self._run(task, 0, f"preparing {name}")
            first, *others = [each for each in fitted if hasattr(each, "n_features_in_")]
            first._merged(others)
            pipeline.steps[place] = (name, first)

    def _begun(self, pipeline: Any, place: int) -> Any:
        """A transformer that has seen the first rows of all, by which it decides as on one machine."""
        for shard in self.shards:
            task = FitTransformer(pipeline, place, whole=False)
            for step in results_of(self.engine, task, [shard], lambda n_done: None):
                if hasattr(step, "n_features_in_"):
                    return step
        raise ValueError("fit: the shards have no rows.")

    def _make_learner(self, X: Any, y: Any, tasks: list[NDArray[Any]]) -> None:
        """Let the learner know classes, columns and tasks, by rows of weight 0."""
        assert self.facts is not None
        learner = self.learner
        if task_of(learner) == "clustering":
            if self.mode == "passes":
                learner._begin(self.facts)
            return
        if y is None:
            raise ValueError("fit: training needs a target; y names it, or reading={'target': ...} for files.")
        some = self._row_of_each_task(X, tasks)
        X = widened(X, self.facts.n_features) if self.pipeline is None else X
        class_weight = getattr(learner, "class_weight", None)
        counts_itself = self.mode == "sums" and isinstance(class_weight, str)
        if counts_itself:  # sums count the classes themselves
            learner.set_params(class_weight=None)
        learn_more(self.model, rows_at(X, some), y[some], np.zeros(len(some)), self.classes)
        if counts_itself:
            learner.set_params(class_weight=class_weight)

    def _row_of_each_task(self, X: Any, tasks: list[NDArray[Any]]) -> NDArray[np.int64]:
        if not tasks:
            return np.zeros(1, dtype=np.int64)
        here = self.model._split_tasks(X)[1]["tasks"]
        every = np.unique(np.concatenate(tasks))
        missing = every[~np.isin(every, here)]
        if len(missing):
            raise ValueError(
                f"fit: the task {missing[0]!r} does not occur among the {len(here)} rows that were "
                "inspected; give start, a model that has learned all tasks."
            )
        return np.array([np.flatnonzero(here == task)[0] for task in every])

    # --- a round ----------------------------------------------------------------------------------------------------

    def _one_round(self, n_round: int) -> bool:
        """Make a round and add it to the history; returns whether further rounds would change nothing."""
        begin, before = time.perf_counter(), counts_of(self.learner)
        n_questions, done = (self._pass if self.mode == "passes" else self._sums)(n_round)
        gained = {name: value - before.get(name, 0) for name, value in counts_of(self.learner).items()}
        self._counts.setdefault("n_rows", int(gained["rows"]))
        seconds = time.perf_counter() - begin
        self.history.append({"round": n_round + 1, "questions": n_questions, "seconds": seconds, **gained})
        if self.mode == "passes" and gained["rows"] and self._classifies:
            self._remark = f"error {100 * gained['mistakes'] / gained['rows']:.2f} % before learning"
        if hasattr(self.learner, "state_"):
            self.learner.n_iter_ = len(self.history)
        return done

    def _pass(self, n_round: int) -> tuple[int, bool]:
        """Train every shard from the current model, and merge the results."""
        again = n_round > 0 or self._knows_rows
        task = LearnPass(self.model, self.classes, self.shuffle, (self.random_state, n_round), again)
        reached = list(self._run(task, n_round + 1, "learning"))
        before = counts_of(self.learner)["rows"]
        if all(counts_of(each)["rows"] == before for each in reached):
            raise ValueError("fit: no row has a weight above 0.")
        self.learner = merge_models(reached, self.learner, again=again or is_clocked(self.learner))
        return 1, False

    def _sums(self, n_round: int) -> tuple[int, bool]:
        """Put the learner's questions to all shards; returns their number, and whether the learner is done."""
        learner = self.learner
        steps: Any = learner._round(self.facts)
        kept, total, n_asked = self.checkpoint.totals(n_round), None, 0
        while True:
            try:
                question = steps.send(total)
            except StopIteration as end:
                if not counts_of(learner)["rows"]:
                    raise ValueError("fit: no row has a weight above 0.") from None
                return n_asked, bool(end.value)
            except (LookupError, TypeError, ValueError):
                if 0 < n_asked <= len(kept):  # the file held no answer
                    raise self.checkpoint.damaged() from None
                raise
            if n_asked < len(kept):
                total = kept[n_asked]
            else:
                total = self._total(question, n_round)
                self.checkpoint.keep_total(n_round, n_asked, total)
                self._stop_if_asked()
            n_asked += 1

    def _total(self, question: Any, n_round: int) -> Sums:
        total: Sums | None = None
        for answer in self._run(AddUp(question, self.pipeline), n_round + 1, getattr(question, "doing", "adding up")):
            total = total if answer is None else join(question, total, answer)
        if total is None:
            raise ValueError("fit: the shards have no rows.")
        return total

    def _run(self, task: ShardTask, n_round: int, doing: str) -> Iterator[Any]:
        """The results of a task on all shards, in their order."""

        def on_done(n_done: int) -> None:
            self.watch(Progress(doing, n_round, self._n_rounds, n_done, len(self.shards), self._remark))

        on_done(0)
        return results_of(self.engine, task, self.shards, on_done)

    def _stop_if_asked(self) -> None:
        """Between two tasks, when the result of the last one is kept."""
        if self.should_stop is not None and self.should_stop():
            raise Interrupted

    def _record(self, done: bool) -> dict[str, Any]:
        assert self.facts is not None
        return {
            "rounds": self.history,
            "data": self._counts,
            "done": done,
            "mode": self.mode,
            "shards": [shard.name for shard in self.shards],
            "identity": self._rows,
            "facts": [self.facts.n_rows, self.facts.n_features],
        }


def counts_of(learner: Any) -> dict[str, float]:
    """Rows so far, with mistakes and loss if the learner counts them."""
    if getattr(learner, "state_", None) is None:
        return {"rows": float(getattr(learner, "n_samples_seen_", 0))}
    rows = float(learner.n_samples_seen_)
    mistakes = float(getattr(learner, "n_mistakes_", 0))
    return {"rows": rows, "mistakes": mistakes, "loss": learner.progressive_loss_ * rows}


def is_clocked(learner: Any) -> bool:
    """Whether weights are gradient sums times a root of the clock (dual averaging): with the clocks of all shards added
    up, they would be too long from the first round on."""
    return not {"gradient_sum", "z"}.isdisjoint(getattr(getattr(learner, "state_", None), "arrays", ()))


def check_same_kind(summaries: list[ShardSummary]) -> None:
    """Refuse shards of several kinds, and dense ones of several widths."""
    if not summaries:
        raise ValueError("fit: the shards have no rows.")
    first = summaries[0]
    for each in summaries[1:]:
        if each.kind != first.kind:
            raise ValueError(f"fit: {first.name!r} holds {first.kind} rows, but {each.name!r} {each.kind} ones.")
        if each.kind == "dense" and each.n_features != first.n_features:
            raise ValueError(
                f"fit: {first.name!r} has {first.n_features} features, but {each.name!r} {each.n_features}."
            )
