"""Comparison of candidates within a budget: all of them on few rows, the better ones on more, and the best one in
depth.

All of them are measured on the same folds of the rows by the same score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._estimators import clone
from .._figures import listed
from ..streams import Stream
from ._candidate_model import (
    KERNEL_FEATURES,
    are_like_texts,
    build,
    is_worth_a_kernel,
    space_of,
    with_curves,
    with_kernel,
    with_unit_rows,
)
from ._choice import other_kinds
from ._combination import combine, may_be_a_sum
from ._compared_rows import sampled
from ._evaluation import Clock, TunedCandidate, gain_in_words, measure, tune, with_more_landmarks
from ._few_labels import choose, has_few_labels, with_variants
from ._plan import Candidate, Plan, has_kernel

READINGS: tuple[dict[str, Any], ...] = (  # of text: options of the encoder, and a name
    {},
    {"encoder": (("ngrams", 2),), "note": " with pairs of words"},
    {"encoder": (("ngrams", 2), ("words", "binary"), ("idf", False)), "note": " with pairs of words, without weights"},
)
_EQUAL = 1e-9  # scores that differ by no more are the same
_MOST_CLUSTERS = 10
_FIRST_ROWS, _MOST_ROWS = 2_000, 10_000  # rows of the first round, and of all others
_TRIES, _LEAST_TRIES = 6, 2  # evaluations of a candidate in the first round
_FOR_FIRST_ROUND, _TIME_FOR_FIRST_ROUND = 0.6, 0.45  # of the evaluations, and of the time
_FINALISTS = 3
_IN_DEPTH = 6  # evaluations for each parameter of the best candidate, after which little is gained
_FEW_IN_DEPTH = 4  # of one that compares all of many rows, and takes its time
_MOST_LANDMARKS = 1_500
_CLEARLY = 0.5  # standard errors by which a model that is harder to read must be better


def compare(
    candidates: list[Candidate], plan: Plan, clock: Clock | None = None
) -> tuple[TunedCandidate, list[str], list[dict[str, Any]]]:
    """The best candidate with tuned parameters, the reasons, and all evaluations in order."""
    clock = clock or Clock(plan.options.max_seconds)
    contest = line_up(candidates, plan)
    if not plan.folds:
        none = TunedCandidate(contest[0], build(contest[0], plan), {}, np.empty(0), [])
        return none, [f"There are too few labels to compare models: {contest[0].name} is used without tuning."], []
    if plan.task == "clustering":
        results, best, reasons = _clusters(contest, plan, clock)
    else:
        results, best, reasons = _rounds(contest, for_comparison(plan), clock)
    history = [entry for result in results for entry in result.history]
    told = {"criterion": plan.measure}
    return best, reasons, [{**entry, "evaluation": number, **told} for number, entry in enumerate(history)]


def for_comparison(plan: Plan, best: TunedCandidate | None = None) -> Plan:
    """The rows on which models are compared; those on which the best one was, if that is known."""
    whole = sampled(plan, _FIRST_ROWS if has_few_labels(plan) else _MOST_ROWS)  # labels, not rows, limit the comparison
    return whole if best is None or best.n_rows in (0, whole.data.X.shape[0]) else sampled(whole, _FIRST_ROWS)


# --- classes and amounts ----------------------------------------------------------------------------------------------


def _rounds(
    contest: list[Candidate], plan: Plan, clock: Clock
) -> tuple[list[TunedCandidate], TunedCandidate, list[str]]:
    """The results of all rounds, the best of them, and why."""
    n_evaluations = plan.options.n_evaluations
    n_compared = max(1, min(len(contest), int(_FOR_FIRST_ROUND * n_evaluations) // _LEAST_TRIES))
    if n_compared == 1 or len(contest) == 1:
        best = tune(contest[0], plan, n_evaluations, _seconds(clock.left))
        return [best], best, _left_out(contest[1:])
    small = sampled(plan, _FIRST_ROWS)
    results, reasons = _first_round(contest[:n_compared], small, clock)
    finalists, more = _finalists(results, plan, clock)
    results += more
    is_partly_labelled = plan.options.unlabelled_label is not None
    best, why = choose(finalists, plan) if is_partly_labelled else _winner(finalists, plan.score_text)
    reasons = [*_left_out(contest[n_compared:]), *reasons, *_describe_scores(results, finalists, plan), *why]
    room = n_evaluations - sum(len(result.history) for result in results)
    on_rows = plan if best.n_rows == plan.data.X.shape[0] else small
    best, deeper = _deepened(best, on_rows, room, clock)
    rivals = [each for each in finalists if each.candidate.name != best.candidate.name and each.n_rows == best.n_rows]
    if rivals and may_be_a_sum(plan) and not plan.options.one_model:  # what is left goes to the second of the sum
        second = max(rivals, key=lambda each: each.score)
        tuned, more = _deepened(second, on_rows, room - sum(len(each.history) for each in deeper), clock)
        finalists, deeper = [tuned if each is second else each for each in finalists], [*deeper, *more]
    answer, why = combine(best, finalists, on_rows, clock)
    return [*results, *deeper], answer, [*reasons, *why]


def _seconds(seconds: float) -> float | None:
    return max(seconds, 0.01) if np.isfinite(seconds) else None


def _first_round(contest: list[Candidate], plan: Plan, clock: Clock) -> tuple[list[TunedCandidate], list[str]]:
    """Evaluate every candidate with the same share of the budget, per parameter if others leave some of theirs.
    Candidates that cannot learn from the rows are left out."""
    room = int(_FOR_FIRST_ROUND * plan.options.n_evaluations)
    share = int(np.clip(room // len(contest), _LEAST_TRIES, _TRIES))
    results: list[TunedCandidate] = []
    reasons: list[str] = []
    untried: list[str] = []
    end = (1 - _TIME_FOR_FIRST_ROUND) * clock.left
    for place, candidate in enumerate(contest):
        seconds = (clock.left - end) / (len(contest) - place)
        if results and seconds <= 0:
            untried.append(candidate.name)
            continue
        clock.tell(f"trying {candidate.name} on {plan.data.X.shape[0]:,} rows")
        try:
            if has_few_labels(plan):
                results.append(measure(candidate, build(candidate, plan), plan))
                continue
            n_params = len(space_of(build(candidate, plan), candidate, plan))
            spare = room - sum(len(result.history) for result in results) - share * (len(contest) - place - 1)
            n_tries = max(share, min(share * n_params, spare))
            results.append(tune(candidate, plan, n_tries, _seconds(seconds)))
        except ValueError as refusal:
            if place == len(contest) - 1 and not results:
                raise
            reasons.append(f"{candidate.name} was left out: {refusal}")
    return results, reasons + ([f"There was no time to try {listed(untried, len(untried))}."] if untried else [])


def _finalists(
    results: list[TunedCandidate], plan: Plan, clock: Clock
) -> tuple[list[TunedCandidate], list[TunedCandidate]]:
    """The best results, measured on all rows of the comparison, and those of them that were measured again for it.

    If time is short, candidates whose last fit would take too long are dropped, and the others are compared by their
    scores on fewer rows.
    """
    n_rows, n_all = plan.data.X.shape[0], plan.data.facts.n_rows
    in_time = [result for result in results if result.seconds_to_finish(n_all) < clock.left_for_last_fit]
    ranked = sorted(in_time or [min(results, key=lambda each: each.seconds(n_all))], key=lambda each: -each.score)
    plain = [result for result in ranked[_FINALISTS:] if result.candidate.is_plain][:1]
    chosen = [*ranked[:_FINALISTS], *plain]
    needed = sum(each.seconds(n_rows) for each in chosen) + max(each.seconds_to_finish(n_all) for each in chosen)
    if results[0].n_rows == n_rows or needed > clock.left:
        return chosen, []
    measured: list[TunedCandidate] = []
    for result in chosen:
        if clock.is_over():
            return chosen, measured
        clock.tell(f"measuring {result.candidate.name} on {n_rows:,} rows")
        measured.append(measure(result.candidate, result.model, plan, result.params))
    return measured, measured


def _deepened(best: TunedCandidate, plan: Plan, room: int, clock: Clock) -> tuple[TunedCandidate, list[TunedCandidate]]:
    """A result, or a better one of the same candidate by some more evaluations; and these."""
    found = _in_depth(best, plan, room, clock)
    for result in found:
        best = replace(result, params=best.params | result.params) if result.score > best.score else best
    return best, found


def _in_depth(best: TunedCandidate, plan: Plan, room: int, clock: Clock) -> list[TunedCandidate]:
    """Evaluate the best candidate further: other parameters, then more and more landmarks."""
    n_rows, found = plan.data.X.shape[0], [best]
    last = best.seconds_after(plan.data.facts.n_rows, clock)
    n_steps = 2 if best.candidate.kernel is not None and room > 4 else 0  # kept for landmarks
    compares_many = has_kernel(best.candidate.method) and n_rows > _FIRST_ROWS
    room = min(room - n_steps, (_FEW_IN_DEPTH if compares_many else _IN_DEPTH) * len(best.params))
    clock.tell(f"tuning {best.candidate.name} on {n_rows:,} rows")
    if room > 0 and clock.left - last > best.seconds(n_rows):
        seconds, score = _seconds(clock.left - last), best.score
        found.append(tune(best.candidate, plan, room, seconds, best.model, known_score=score))
    best = max(found, key=lambda result: result.score)
    for _ in range(n_steps):
        wider = with_more_landmarks(best, _MOST_LANDMARKS)
        if wider is None or clock.left < 4 * (best.seconds(n_rows) + last):
            break
        found.append(
            measure(wider.candidate, wider.model, plan, {**best.params, "map__n_components": _landmarks(wider)})
        )
        if found[-1].score <= best.score:
            break
        best = found[-1]
    return found[1:]


def _landmarks(result: TunedCandidate) -> float:
    return float(result.model.get_params()["map__n_components"])


def line_up(candidates: list[Candidate], plan: Plan) -> list[Candidate]:
    """The candidates and variants with other kinds of features, in the order in which they get their budget."""
    options = plan.options
    if options.unlabelled_label is not None and options.method is None:
        return with_variants(candidates, plan)
    if options.kernel == "linear" or options.needs & {"groups", "tasks"} or has_kernel(candidates[0].method):
        return candidates  # groups and tasks are about columns, not about features of a map
    if options.kernel is not None:
        maps = [other for other in other_kinds(plan) if other.kernel is not None]
        return [with_kernel(candidate, options, options.kernel) for candidate in [*candidates, *maps]]
    if options.outlier_label is not None and plan.data.is_narrow(KERNEL_FEATURES):
        return [with_kernel(candidate, options) for candidate in candidates]  # a straight boundary surrounds no class
    if plan.data.is_text and options.method is None and not options.needs:
        return [replace(each, **read) for n, each in enumerate(candidates) for read in READINGS[: 2 if n else 3]]
    if options.method is None and not options.needs and are_like_texts(plan.data.X):
        return [each for one in candidates for each in (one, with_unit_rows(one))]
    others = [] if options.method is not None or isinstance(plan.data.rest, Stream) else other_kinds(plan)
    if is_worth_a_kernel(plan) and not any(other.kernel is not None for other in others):
        others = [with_kernel(candidates[0], options), with_curves(candidates[0], options), *others]
    return [*candidates, *others]


def _left_out(candidates: list[Candidate]) -> list[str]:
    if not candidates:
        return []
    names = listed([candidate.name for candidate in candidates], len(candidates))
    return [f"With so few evaluations, {names} {'was' if len(candidates) == 1 else 'were'} not compared."]


def _describe_scores(results: list[TunedCandidate], finalists: list[TunedCandidate], plan: Plan) -> list[str]:
    """Sentences on the scores of all candidates, and of the best on more rows."""
    n_first, n_rows = results[0].n_rows, finalists[0].n_rows
    first = [result for result in results if result.n_rows == n_first]
    sentences = [plan.scores_text(f"In cross-validation{_of_rows(n_first, plan)}", _scores(first))]
    if n_first < n_rows:
        sentences.append(plan.scores_text(f"The best of them{_of_rows(n_rows, plan)}", _scores(finalists)))
    return sentences


def _of_rows(n_rows: int, plan: Plan) -> str:
    n_all = plan.data.facts.n_rows
    return f" of {n_rows:,} of {n_all:,} rows" if n_rows < n_all else ""


def _scores(results: list[TunedCandidate]) -> list[tuple[str, float]]:
    return [(result.candidate.name, result.score) for result in results]


def _winner(results: list[TunedCandidate], score_text: Callable[[float], str]) -> tuple[TunedCandidate, list[str]]:
    """The best candidate, unless one that is linear in the columns is as good, or nearly."""
    straight = [result for result in results if result.candidate.is_plain]
    curved = [result for result in results if not result.candidate.is_plain]
    best = max(straight or results, key=lambda result: (result.score, bool(result.candidate.note)))  # plainer of equals
    if not (straight and curved):
        return best, [f"Method: {best.candidate.name}, the best of them."] if len(results) > 1 else []
    other = max(curved, key=lambda result: result.score)
    gain, error = other.gain_over(best)
    measured = gain_in_words(other.candidate.name, best.candidate.name, gain, error)
    if gain > _CLEARLY * error:
        return other, [f"Boundaries: curved, because {measured}."]
    return best, [f"Boundaries: straight, because curved ones are not clearly better: {measured}."]


# --- clusters ---------------------------------------------------------------------------------------------------------


def _clusters(
    contest: list[Candidate], plan: Plan, clock: Clock
) -> tuple[list[TunedCandidate], TunedCandidate, list[str]]:
    """The number of clusters, if it is not given, then the other parameters."""
    candidate, n_evaluations = contest[0], plan.options.n_evaluations
    if "n_clusters" in candidate.params:
        best = tune(candidate, plan, n_evaluations, _seconds(clock.left))
        return [best], best, []
    best, why = _counted(candidate, plan)
    results, room = [best], n_evaluations - len(best.history)
    if best.params and room > 0 and clock.left > 0:
        results.append(tune(candidate, plan, room, _seconds(clock.left), best.model))
        if results[-1].score > best.score:
            best = replace(results[-1], params=best.params | results[-1].params)
    return results, best, [why]


def _counted(candidate: Candidate, plan: Plan) -> tuple[TunedCandidate, str]:
    """The number of clusters that keeps rows apart best, with everything else at its start; a kernel has no good start,
    and its width is searched with the number."""
    n_evaluations, seconds = plan.options.n_evaluations, plan.options.max_seconds
    share = max(1, 2 * n_evaluations // 3)
    counts = list(range(2, max(3, min(_MOST_CLUSTERS, plan.data.X.shape[0] // 4)) + 1))[:share]
    by_kernel = has_kernel(candidate.method)
    share = max(len(counts), 2 * n_evaluations // 3) if by_kernel else len(counts)
    result = tune(candidate, plan, share, seconds, counts=counts, only_counts=not by_kernel)
    best: dict[int, float] = {}
    for entry in result.history:
        n = next((value for name, value in entry["params"].items() if name.endswith("n_clusters")), None)
        if n is not None and entry["score"] is not None:
            best[n] = max(best.get(n, -np.inf), entry["score"])
    scores = ", ".join(f"{n} clusters {best[n]:.3g}" for n in sorted(best) if np.isfinite(best[n]))
    criterion = f"{plan.criterion} and sparsity" if plan.options.sparsity else plan.criterion
    return _fewest(result, best), f"Number of clusters by {criterion}: {scores}."


def _fewest(result: TunedCandidate, best: dict[int, float]) -> TunedCandidate:
    """The same with fewer clusters, if the score is as good."""
    name = next((name for name in result.params if name.endswith("n_clusters")), None)
    equal = [n for n, score in best.items() if score >= result.score - _EQUAL]
    if name is None or len(result.params) > 1 or not equal or min(equal) >= result.params[name]:
        return result
    fewest = {name: min(equal)}
    return replace(result, model=clone(result.model).set_params(**fewest), params=fewest)
