"""A run under way, on the driver: what is done before the first round, each round, and the books."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_clusterer

from .._engine import Facts, Sums, join
from .._gate import widened
from ..training import Interrupted, learner_of, merge_models, stacked
from ._averaging import Average, averaged, averages
from ._checkpoint import Checkpoint
from ._engines import Engine, Failure, ShardError, Task
from ._jobs import Ask, Learn, Look, Prepare, Seen, joined, learn_more
from ._shard_progress import Progress, Watch
from ._shards import Shard, rows_at

_SAMPLE = 4096  # rows from everywhere, by which starts are chosen


@dataclass(frozen=True)
class Options:
    """How rounds are made."""

    mode: str
    shuffle: int
    random_state: int
    average: bool | str
    identity: int | None
    """Of the shards, if they can be told from others."""
    knows_the_rows: bool
    """Whether the start has learned from these shards before."""
    keep_checkpoint: bool


class Rounds:
    """A run under way, on the driver."""

    def __init__(
        self,
        model: Any,
        shards: Sequence[Shard],
        engine: Engine,
        options: Options,
        classes: Any,
        checkpoint: Checkpoint,
        watch: Watch,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        self.model, self.shards, self.engine, self.options = model, shards, engine, options
        self.mode = options.mode
        self.classes = None if classes is None else np.asarray(classes)
        self.checkpoint, self._watch, self._should_stop = checkpoint, watch, should_stop
        self.facts: Facts | None = None
        self.history: list[dict[str, Any]] = []
        self._counts: dict[str, Any] = {}
        self._n_rounds, self._remark = 0, ""

    def all(self, n_rounds: int | None, resume: bool) -> Any:
        """Every round, from the first or from where a checkpoint stands."""
        kept = self.checkpoint.load() if resume else None
        if not resume:
            self.checkpoint.remove()
        done = kept is not None and self._take_up(*kept)
        learner = learner_of(self.model)
        self._n_rounds = n_rounds if n_rounds is not None else learner._n_rounds() if self.mode == "sums" else 1
        if self.facts is None:
            self._begin()
            if hasattr(learner_of(self.model), "n_features_in_"):  # what cannot be kept is refused before hours of work
                self.checkpoint.save(self.model, self._noted(False))
            self._stop_if_asked()
        mean = self._mean_so_far()
        for n_round in range(len(self.history), self._n_rounds):
            if done:
                break
            begin = time.perf_counter()
            before = books(learner_of(self.model))
            n_questions, done = self._one_round(n_round)
            spent = time.perf_counter() - begin
            self._note(n_round, n_questions, spent, before)
            if hasattr(learner_of(self.model), "state_"):
                learner_of(self.model).n_iter_ = len(self.history)
            if mean is not None:
                mean.add(learner_of(self.model))
            self.checkpoint.save(self.model, self._noted(done), None if mean is None else mean.to_keep())
            self._stop_if_asked()
        if mean is not None:
            self._put(mean.result(learner_of(self.model)))
        self.model.record_ = {"distributed": self._noted(done)}
        if not self.options.keep_checkpoint:
            self.checkpoint.remove()
        return self.model

    def _take_up(self, model: Any, noted: dict[str, Any]) -> bool:
        """Stand where a checkpoint stands; returns whether all was done by then."""
        try:
            self.history, self._counts, done = list(noted["rounds"]), dict(noted["data"]), bool(noted["done"])
            self.classes = learner_of(model).classes_ if is_classifier(model) else None
            self.facts = Facts(int(noted["facts"][0]), int(noted["facts"][1]), self.classes)
            books(learner_of(model)), [int(each["round"]) for each in self.history]
        except (LookupError, TypeError, ValueError, AttributeError):
            raise self.checkpoint.damaged() from None
        self.model = model
        return done

    def _mean_so_far(self) -> Average | None:
        """The mean of the models after each round, if it is asked for."""
        learner, n_done = learner_of(self.model), len(self.history)
        if not averages(learner, self.mode, self.options.average):
            return None
        if not n_done:
            return Average()
        kept, arrays = self.checkpoint.beside(n_done), learner.state_.arrays
        if kept is None:
            raise ValueError("fit: the mean of the rounds so far is missing beside the checkpoint.")
        shapes = {name: np.shape(each) for name, each in kept.items()}
        if shapes != {**{name: arrays[name].shape for name in averaged(learner.state_)}, "n": ()}:
            raise self.checkpoint.damaged()
        return Average(kept)

    # --- before the first round -------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """A look through the rows, transformers that know them all, and a learner that has learned from none."""
        fitted = hasattr(learner_of(self.model), "n_features_in_")
        if fitted and is_classifier(self.model):
            self.classes = learner_of(self.model).classes_
        asks = is_classifier(self.model) and self.classes is None
        n_sample = max(8, -(-_SAMPLE // len(self.shards)))
        pipeline = self.model if hasattr(self.model, "steps") else None
        look = Look(n_sample, asks, asks or self.mode == "sums" or pipeline is not None, pipeline)
        looked = list(self._run(look, 0, "looking"))
        refuse_unlike([(shard.name, each) for shard, each in zip(self.shards, looked, strict=True) if each.n_rows])
        seen = [each for each in looked if each.n_rows]
        if asks:
            self.classes = self._classes_of(seen)
        if pipeline is not None and not fitted:
            self._prepare(pipeline)
        parts = [part for each in seen for part in each.sample or []]
        sample = stacked(parts)
        Z = sample[0] if pipeline is None else pipeline.transform(sample[0])
        width = Z.shape[1] if pipeline is not None else max(each.n_features for each in seen)
        self.facts = Facts(sum(each.n_rows for each in seen), width, self.classes, (widened(Z, width), sample[1]))
        self._counts["n_features"] = max(each.n_features for each in seen)
        if look.whole:  # else the first round counts rows
            self._counts |= {"n_rows": self.facts.n_rows, "n_values": sum(each.n_values for each in seen)}
        if not fitted:
            self._blank(sample, [each.tasks for each in seen if each.tasks is not None])
        elif sparse.issparse(Z) and pipeline is None and not is_clusterer(self.model) and sample[1] is not None:
            # Features that the start has not met.
            learn_more(self.model, widened(Z, width)[:1], sample[1][:1], np.zeros(1), self.classes)

    def _classes_of(self, seen: list[Seen]) -> NDArray[Any]:
        labels: Any = (None, None)
        for each in seen:
            labels = joined(labels, (each.labels, each.counts))
        if len(labels[0]) < 2:
            raise ValueError(f"fit: all rows have the same class, {labels[0][0]!r}; two are needed.")
        self._counts["classes"] = {str(label): int(n) for label, n in zip(*labels, strict=True)}
        found: NDArray[Any] = labels[0]
        return found

    def _prepare(self, pipeline: Any) -> None:
        """Fit every transformer to all shards, one after the other."""
        for place, (name, step) in enumerate(pipeline.steps[:-1]):
            if hasattr(step, "n_features_in_"):
                continue
            begun = self._begun(pipeline, place) if hasattr(step, "_stays") or hasattr(step, "_emptied") else None
            if getattr(step, "_stays", False):  # learns from the first rows it sees, and no others
                pipeline.steps[place] = (name, begun)
                continue
            if not hasattr(step, "_merged"):
                raise ValueError(
                    f"fit: step {name!r}, a {type(step).__name__}, cannot be put together from shards; "
                    "give start, a pipeline that is fitted already."
                )
            task = Prepare(pipeline, place, None if begun is None else begun._emptied())
            fitted = self._run(task, 0, f"preparing {name}")
            first, *others = [each for each in fitted if hasattr(each, "n_features_in_")]
            first._merged(others)
            pipeline.steps[place] = (name, first)

    def _begun(self, pipeline: Any, place: int) -> Any:
        """A transformer that has seen the first rows of all, by which it decides what one machine would."""
        for shard in self.shards:
            for found in self.engine.run(Prepare(pipeline, place, whole=False), [shard], lambda n_done: None):
                if isinstance(found, Failure):
                    raise ShardError(found.shard, found.words)
                if hasattr(found, "n_features_in_"):
                    return found
        raise ValueError("fit: the shards have no rows.")

    def _blank(self, sample: tuple[Any, Any], tasks: list[NDArray[Any]]) -> None:
        """A learner that knows classes, columns and tasks, and has learned from no row."""
        assert self.facts is not None
        learner = learner_of(self.model)
        if is_clusterer(learner):
            if self.mode == "passes":
                learner._begin(self.facts)
            return
        X, y = sample
        if y is None:
            raise ValueError("fit: training needs a target; y names it, or reading={'target': ...} for files.")
        some = self._a_row_of_each_task(X, tasks)
        X = widened(X, self.facts.n_features) if self.model is learner else X
        weighs = getattr(learner, "class_weight", None) if self.mode == "sums" else None
        if isinstance(weighs, str):  # sums count the classes themselves
            learner.set_params(class_weight=None)
        learn_more(self.model, rows_at(X, some), y[some], np.zeros(len(some)), self.classes)
        if isinstance(weighs, str):
            learner.set_params(class_weight=weighs)

    def _a_row_of_each_task(self, X: Any, tasks: list[NDArray[Any]]) -> NDArray[np.int64]:
        if not tasks:
            return np.zeros(1, dtype=np.int64)
        here = self.model._parted(X)[1]["tasks"]
        every = np.unique(np.concatenate(tasks))
        missing = every[~np.isin(every, here)]
        if len(missing):
            raise ValueError(
                f"fit: the task {missing[0]!r} is too rare to be among the {len(here)} rows that were looked at "
                "closely; give start, a model that has met all tasks."
            )
        return np.array([np.flatnonzero(here == task)[0] for task in every])

    # --- a round ----------------------------------------------------------------------------------------------------

    def _one_round(self, n_round: int) -> tuple[int, bool]:
        """How many questions it took, and whether it was the last that changes anything."""
        if self.mode == "passes":
            task = Learn(self.model, self.classes, self.options.shuffle, (self.options.random_state, n_round))
            reached = list(self._run(task, n_round + 1, "learning"))
            before = books(learner_of(self.model))["rows"]
            if all(books(each)["rows"] == before for each in reached):
                raise ValueError("fit: no row has a weight above 0.")
            again = n_round > 0 or self.options.knows_the_rows or is_clocked(learner_of(self.model))
            merged = merge_models(reached, learner_of(self.model), again=again)
            self._put(merged)
            return 1, False
        learner = learner_of(self.model)
        steps: Any = learner._round(self.facts)
        kept, total, n_asked = self.checkpoint.totals(n_round), None, 0
        while True:
            try:
                question = steps.send(total)
            except StopIteration as end:
                if not books(learner)["rows"]:
                    raise ValueError("fit: no row has a weight above 0.") from None
                return n_asked, bool(end.value)
            except (LookupError, TypeError, ValueError):
                if 0 < n_asked <= len(kept):  # what was kept is no answer
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
        pipeline = self.model if hasattr(self.model, "steps") else None
        total: Sums | None = None
        for answer in self._run(Ask(question, pipeline), n_round + 1, getattr(question, "doing", "adding up")):
            total = total if answer is None else join(question, total, answer)
        if total is None:
            raise ValueError("fit: the shards have no rows.")
        return total

    def _put(self, learner: Any) -> None:
        if hasattr(self.model, "steps"):
            self.model.steps[-1] = (self.model.steps[-1][0], learner)
        else:
            self.model = learner

    def _run(self, task: Task, n_round: int, doing: str) -> Iterator[Any]:
        """The results of a task, in the order of the shards."""

        def on_done(n_done: int) -> None:
            self._watch(Progress(doing, n_round, self._n_rounds, n_done, len(self.shards), self._remark))

        on_done(0)
        for result in self.engine.run(task, self.shards, on_done):
            if isinstance(result, Failure):
                raise ShardError(result.shard, result.words)
            yield result

    def _stop_if_asked(self) -> None:
        """Between two tasks, when what the last one came to is kept."""
        if self._should_stop is not None and self._should_stop():
            raise Interrupted

    # --- books ------------------------------------------------------------------------------------------------------

    def _note(self, n_round: int, n_questions: int, seconds: float, before: dict[str, float]) -> None:
        after = books(learner_of(self.model))
        gained = {name: value - before.get(name, 0) for name, value in after.items()}
        rows = gained.get("rows", 0)
        if n_round == 0:
            self._counts.setdefault("n_rows", int(rows))
        self.history.append({"round": n_round + 1, "questions": n_questions, "seconds": seconds, **gained})
        if self.mode == "passes" and rows and is_classifier(self.model):
            self._remark = f"error {gained['mistakes'] / rows:.2%} before learning"

    def _noted(self, done: bool) -> dict[str, Any]:
        assert self.facts is not None
        return {
            "rounds": self.history,
            "data": self._counts,
            "done": done,
            "mode": self.mode,
            "shards": [shard.name for shard in self.shards],
            "identity": self.options.identity,
            "facts": [self.facts.n_rows, self.facts.n_features],
        }


def books(learner: Any) -> dict[str, float]:
    """Rows, mistakes and loss so far, of a learner that keeps books."""
    state = getattr(learner, "state_", None)
    if state is None:
        return {"rows": float(getattr(learner, "n_samples_seen_", 0))}
    rows = float(learner.n_samples_seen_)
    return {
        "rows": rows,
        "mistakes": float(getattr(learner, "n_mistakes_", 0)),
        "loss": learner.progressive_loss_ * rows,
    }


def is_clocked(learner: Any) -> bool:
    """Whether weights are gradient sums times a root of the clock (dual averaging): with the clocks of all shards added
    up, they would be too long from the first round on."""
    return not {"gradient_sum", "z"}.isdisjoint(getattr(getattr(learner, "state_", None), "arrays", ()))


def refuse_unlike(seen: list[tuple[str, Seen]]) -> None:
    """Shards must be of one kind, and dense ones of one width."""
    if not seen:
        raise ValueError("fit: the shards have no rows.")
    name, first = seen[0]
    for other, each in seen[1:]:
        if each.kind != first.kind:
            raise ValueError(f"fit: {name!r} holds {first.kind} rows, but {other!r} {each.kind} ones.")
        if each.kind == "dense" and each.n_features != first.n_features:
            raise ValueError(f"fit: {name!r} has {first.n_features} features, but {other!r} {each.n_features}.")
