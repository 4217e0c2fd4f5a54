"""Reports on fitted models, as one page, as text or as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._figures import label, plain
from .._lazy import on_first_use
from .._output import write_whole
from ..training import HeldOut, History, Profile, Run, profile_run
from ._subject import Section, Subject
from ._summary import summary

if TYPE_CHECKING:
    from ._profile_section import Say as Say
    from ._profile_section import file_in_words as file_in_words
    from ._profile_section import profile_page as profile_page
    from ._profile_section import profile_section as profile_section
    from ._profile_section import profile_table as profile_table
    from ._profile_section import target_in_words as target_in_words
    from ._profile_section import text_in_words as text_in_words
    from ._profile_text import columns_as_text as columns_as_text
    from ._style import stylesheet as stylesheet
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = ["Report"]

_SECTIONS = {  # in the order of the page, each with the module and the function that make it
    "asked": ("_data_section", "asked"),
    "data": ("_data_section", "data"),
    "model": ("_model_section", "model"),
    "measures": ("_held_out", "measures"),
    "confusion": ("_held_out", "confusion"),
    "no_class": ("_held_out", "no_class"),
    "decision_values": ("_held_out", "decision_values"),
    "ranking": ("_held_out", "ranking"),
    "decisions": ("_decisions", "decisions"),
    "probabilities": ("_probabilities", "probabilities"),
    "residuals": ("_held_out", "residuals"),
    "clusters": ("_cluster_section", "clusters"),
    "profiles": ("_cluster_section", "profiles"),
    "groups": ("_model_section", "groups"),
    "tasks": ("_model_section", "tasks"),
    "kernels": ("_model_section", "kernels"),
    "features": ("_weight_section", "features"),
    "curves": ("_curves", "curves"),
    "explained_rows": ("_explained_rows", "explained_rows"),
    "sparsity": ("_weight_section", "sparsity"),
    "regions": ("_maps", "regions"),
    "objective": ("_course", "objective"),
    "map": ("_maps", "plane"),
    "rounds": ("_course", "rounds"),
    "stream": ("_course", "stream"),
    "race": ("_race_section", "race"),
    "tuning": ("_course", "tuning"),
    "reproduce": ("_data_section", "reproduce"),
}


def _make_section(name: str, subject: Subject) -> Section | None:
    module, function = _SECTIONS[name]
    made: Section | None = getattr(import_module(f".{module}", __name__), function)(subject)
    return made


class _Sections(Mapping[str, Section]):
    """The sections that have content, by name in the order of the page; each is made when it is first asked for."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._made: dict[str, Section | None] = {}

    def __getitem__(self, name: str) -> Section:
        if name not in self._made:
            self._made[name] = _make_section(name, self._subject)
        section = self._made[name]
        if not section:
            raise KeyError(name)
        return section

    def __iter__(self) -> Iterator[str]:
        return (name for name in _SECTIONS if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Report:
    """Report on a model and its results, as a self-contained HTML page, text, Markdown or JSON.

    All arguments but the model are optional; sections without content are left out. All formats contain the same
    numbers, with 95 % intervals.

    Parameters
    ----------
    model : estimator or pipeline
        A fitted classifier, regressor or clusterer, or a pipeline that ends with one.
    title : str, optional
        By default the names of the files and of the model.
    asked : dict, optional
        The task, with any of the keys ``question``, ``reasons`` (a list of sentences), ``command``, ``python``,
        ``versions`` (a dict), ``seed`` and ``cost`` (for two classes, the cost of a missed row of the rare class, or of
        the second if none is rare, in units of a false alarm).
    data : dict, optional
        Facts about the training data, with any of the keys ``files`` (dicts of ``name``, ``rows``, ``bytes``),
        ``n_rows``, ``n_features``, ``n_values`` (those stored), ``classes`` (label to rows), ``n_unlabelled`` (rows
        without a target, which were left out), ``target`` (the column's name), ``skipped`` (malformed lines),
        ``profile`` (from :func:`thresher.training.profile`) and ``distributed`` (the record of
        :func:`thresher.distributed.fit`).
    history : History, optional
        Progressive measures along a stream, from :func:`thresher.training.train`.
    held_out : HeldOut, optional
        Predictions for rows that the model has not learned from. Without it, measures come from the sample, and the
        report says so.
    search : list of dict, optional
        Evaluations of a search, as ``history_`` of :class:`thresher.tuning.CoupledAnnealingSearchCV` has them. With
        ``criterion`` in them, values bear its name, and errors are positive numbers.
    sample : (X, y), optional
        Some rows as the model takes them, and their targets or None; up to 2,000 are used, for maps, decision regions
        and the error of sparser models.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from thresher.online import AROWClassifier
    >>> from thresher.report import Report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AROWClassifier(random_state=0).fit(X[::2], y[::2])
    >>> report = Report(model, sample=(X[1::2], y[1::2]))
    >>> report.to_dict()["sections"]["measures"]["measures"]["error"]["value"]
    0.09333333333333334
    >>> print(report.to_text())  # doctest: +ELLIPSIS
    AROWClassifier
    ==============
    The model is wrong on 9.3 % of rows (between 4.6 % and 18.0 %, 95 % interval);
    guessing the most frequent class, '0', would be wrong on 66.7 %.
    ...
    """

    def __init__(
        self,
        model: Any,
        *,
        title: str | None = None,
        asked: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        history: History | None = None,
        held_out: HeldOut | None = None,
        search: Sequence[Mapping[str, Any]] | None = None,
        sample: tuple[Any, Any] | None = None,
    ) -> None:
        if sample is not None and (not isinstance(sample, (tuple, list)) or len(sample) != 2):
            raise ValueError(f"Report: sample must be a pair of rows and targets, got {type(sample).__name__}.")
        self._subject = Subject(
            model, dict(asked or {}), dict(data or {}), history, held_out, [dict(e) for e in search or ()], sample
        )
        self._sections = _Sections(self._subject)
        self.title = label(title) if title is not None else _title(self._subject)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        return summary(self._subject.task, self._sections, self._subject.model)

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the report as plain values.

        Returns
        -------
        dict
            ``title``, ``thresher`` (the version), ``task``, ``summary`` and ``sections``, each with its ``title``, its
            first sentences, ``says``, and its numbers.
        """
        return {
            "title": self.title,
            "thresher": __version__,
            "task": self._subject.task,
            "summary": plain(self._summary),
            "sections": {
                name: plain({k: v for k, v in section.items() if not k.startswith("_")})
                for name, section in self._sections.items()
            },
        }

    def to_text(self, sections: Sequence[str] | None = None) -> str:
        """Return the report as text for a terminal of 80 columns.

        Parameters
        ----------
        sections : list of str, optional
            Only these, by their names in :meth:`to_dict`; by default all.
        """
        from ._text import text

        names = self._sections if sections is None else [name for name in _SECTIONS if name in sections]
        wanted = {name: self._sections[name] for name in names if name in self._sections}
        return text(self.title, self._summary, wanted)

    def to_markdown(self) -> str:
        """Return the report as Markdown, for a model card."""
        from ._text import markdown

        return markdown(self.title, self._summary, dict(self._sections))

    def to_html(self) -> str:
        """Return the report as a self-contained HTML page. Needs matplotlib and jinja2: ``pip install
        "thresher[lab]"``."""
        from ._page import page

        return page(self.title, self._summary, dict(self._sections))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file, atomically: if it fails, an existing file is not changed.

        Parameters
        ----------
        path : path-like
            The suffix ``.html``, ``.txt``, ``.md`` or ``.json`` determines the format.
        """
        forms: dict[str, Callable[[], str]] = {
            ".html": self.to_html,
            ".txt": self.to_text,
            ".md": self.to_markdown,
            ".json": lambda: json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False),
        }
        make = forms.get(Path(path).suffix.lower())
        if make is None:
            raise ValueError(f"Report: path must end in .html, .txt, .md or .json, got {os.fspath(path)!r}.")
        if Path(path).is_dir():
            raise IsADirectoryError(f"Report: {os.fspath(path)} is a folder; name a file in it.")
        if not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(f"Report: the folder of {os.fspath(path)} does not exist.")
        write_whole(Path(path), make().encode("utf-8", "replace"))


def report_of(
    run: Run,
    files: list[dict[str, Any]],
    *,
    target: Any = None,
    rounds: Any = None,
    profile: Profile | None = None,
    **more: Any,
) -> Report:
    """Describe the result of a training run over some files; `more` are other parameters of :class:`Report`.

    Without a `profile` of the data, that of the run's sample is shown.
    """
    data = {
        "profile": profile or profile_run(run, target if isinstance(target, str) else None),
        "files": files,
        "n_rows": run.facts.n_rows,
        "n_features": run.facts.n_features - (getattr(run.model, "task_column", None) is not None),
        "n_values": run.facts.n_values,
        "classes": run.facts.classes,
        "n_unlabelled": run.facts.n_unlabelled,
        "target": target,
        "skipped": run.n_skipped,
        "distributed": rounds,
    }
    return Report(run.model, data=data, history=run.history, held_out=run.held_out, sample=run.sample, **more)


def _title(subject: Subject) -> str:
    files = [label(f.get("name", "?")) for f in subject.data.get("files") or ()]
    learner = type(subject.learner).__name__
    if not files:
        return learner
    return f"{files[0]}{f' and {len(files) - 1} more' if len(files) > 1 else ''}: {learner}"
