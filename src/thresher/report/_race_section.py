"""The race of a report: the candidates from which a learner has chosen while it learned."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._figures import count, formatter, number, plural, unmarked
from ._subject import Section, Subject

FORMS = {"joint": "jointly", "one_vs_rest": "one against the rest"}
_SECOND = ("alpha", "n_features_to_select")  # what may race after the steps


def race(subject: Subject) -> Section | None:
    """List the candidates, with their error on rows that they had not seen."""
    learner = subject.learner
    found = getattr(learner, "race_", None)
    if found is None or np.count_nonzero(found["n_rows"]) < 2:
        return None
    step = learner._raced.name
    measure, judged = ("error", "n_mistakes") if "n_mistakes" in found else ("loss", "loss")
    named = {step: found["value"], **{k: found[k] for k in ("multi_class", *_SECOND) if k in found}}
    candidates = []
    for k in np.flatnonzero(found["n_rows"]):
        rows = int(found["n_rows"][k])
        figures = {measure: float(found[judged][k]), "best": float(found["best"][k])}
        candidates.append(
            {"params": {name: values[k].item() for name, values in named.items()}, "part": int(found["part"][k])}
            | {name: value / rows if measure == "error" else value for name, value in figures.items()}
            | {"rows": rows, "running": bool(found["running"][k]), "chosen": bool(found["chosen"][k])}
        )
    section: Section = {
        "title": "Chosen during training",
        "parameter": step,
        "word": _word(learner._params[step].doc),
        "second": next((name for name in _SECOND if name in named), None),
        "measure": measure,
        "candidates": candidates,
        "settled": learner._settled(),
        "passes": subject.n_passes,
    }
    return section | {"says": _sentences(section, type(learner).__name__)}


def _word(doc: str) -> str:
    """The first words of a parameter's documentation."""
    words = re.split(r"[.,:;(]", unmarked(doc))[0].strip()
    return words[:1].lower() + words[1:]


def _sentences(section: Section, kind: str) -> str:
    candidates, measure, form = section["candidates"], section["measure"], formatter(section["measure"])
    chosen = next(c for c in candidates if c["chosen"])
    says = [_what_raced(section, kind), "Every row was predicted before the model learned from it."]
    if section["passes"] > 1:
        says[-1] = f"{says[-1][:-1]}; rows were read {section['passes']} times, so later ones had been seen before."
    says.append(f"The model uses the candidate that did best on late rows: {_in_words(chosen['params'])}.")
    says.append(f"Its {measure} over {plural(chosen['rows'], 'row')} is {form(chosen[measure])}.")
    if n_left := sum(not c["running"] for c in candidates):
        says.append(f"{plural(n_left, 'candidate was', 'candidates were')} dropped during training.")
    given = ", ".join(f"{name}={_python(value)}" for name, value in section["settled"].items())
    says.append(f"To skip this comparison, use {kind}({given})")
    says[-1] += "." if measure == "error" else "; its steps are not damped, so a smaller one may be safer."
    return " ".join(says)


def _what_raced(section: Section, kind: str) -> str:
    candidates, step, second = section["candidates"], section["parameter"], section["second"]
    forms = (
        ", each with the classes jointly and one against the rest" if "multi_class" in candidates[0]["params"] else ""
    )
    n_steps = len({c["params"][step] for c in candidates})
    says = f"{kind} chose {step} ({section['word']}) while it learned: "
    says += f"{plural(n_steps, 'value')} learned side by side{forms}."
    if n_second := len({c["params"][second] for c in candidates if c["part"] == 2}):
        says += f" Then {plural(n_second, 'value')} of {second} went on from the step that led."
    return says


def _in_words(params: dict[str, Any]) -> str:
    form = [f"classes {FORMS[params['multi_class']]}"] if "multi_class" in params else []
    return ", ".join([f"{k} = {number(v, 3)}" for k, v in params.items() if k != "multi_class"] + form)


def _python(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value:.3g}" if isinstance(value, float) else repr(value)


def table(section: Section) -> list[tuple[str, ...]]:
    """Write the candidates as a table of text, under a line of titles."""
    names, measure, form = list(section["candidates"][0]["params"]), section["measure"], formatter(section["measure"])
    lines: list[tuple[str, ...]] = [(*names, measure, "leader then", "rows", "")]
    for c in section["candidates"]:
        values = [FORMS.get(v, v) if isinstance(v, str) else number(v, 3) for v in c["params"].values()]
        best = form(c["best"]) if np.isfinite(c["best"]) else ""
        state = "in use" if c["chosen"] else "" if c["running"] else "dropped"
        lines.append((*values, form(c[measure]), best, count(c["rows"]), state))
    return lines
