"""Groups of columns: what users pass, what the core reads, what a model shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._dataclasses import dataclass
from .._gate import Rule

PREFIX = "prefix:"
ENCODER = "encoder"  # ask the step before the learner in a pipeline
_LISTS = (list, tuple, set, frozenset, range, np.ndarray)

groups_rule = Rule(
    'None, lists of columns, a dict of names to such lists, one label per column, "prefix:" and a separator, '
    'a fitted encoder, or "encoder"',
    lambda v: v is None or _is_word(v) or _may_be_groups(v),
    type="lists of columns, dict, labels, str or encoder",
)


def _is_word(v: Any) -> bool:
    return isinstance(v, str) and (v == ENCODER or (v.startswith(PREFIX) and v != PREFIX))


def _may_be_groups(v: Any) -> bool:
    return not isinstance(v, (str, bytes)) and (isinstance(v, (Mapping, *_LISTS)) or is_encoder(v) or _is_series(v))


def is_encoder(v: Any) -> bool:
    return hasattr(v, "fit") and hasattr(v, "transform")


def _is_series(v: Any) -> bool:
    return hasattr(v, "to_numpy")


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of columns, checked; those of columns on their own are not listed. ``names`` has one entry per group."""

    core: _core.Groups
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.core.starts) - 1

    def same_as(self, other: Groups | None) -> bool:
        return other is self or (
            other is not None
            and self.names == other.names
            and np.array_equal(self.core.starts, other.core.starts)
            and np.array_equal(self.core.members, other.core.members)
        )

    def plain(self) -> dict[str, Any]:
        """As a file keeps it."""
        names = None if self.names is None else list(self.names)
        return {"starts": self.core.starts, "members": self.core.members, "names": names}

    @classmethod
    def from_plain(cls, plain: Any, n_features: int, who: str) -> Groups:
        """Read from a file, so believed only if it belongs together."""
        starts, members, names = (plain[key] for key in ("starts", "members", "names"))
        for numbers, dtype in ((starts, np.int64), (members, np.int32)):
            if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or numbers.dtype != dtype:
                raise ValueError(f"{who}: groups must be kept as integers.")
        if names is not None and (
            not isinstance(names, list) or len(names) != len(starts) - 1 or not all(isinstance(n, str) for n in names)
        ):
            raise ValueError(f"{who}: there must be one name per group.")
        return _checked(starts, members, None if names is None else tuple(names), n_features, who)

    def any_of(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For each group, whether anything is true of its members."""
        return np.logical_or.reduceat(used[self.core.members], self.core.starts[:-1])


class GroupList(Sequence[NDArray[np.int64]]):
    """The groups of a model: ``groups[k]`` holds the columns of group k.

    Columns on their own are groups of one, after the given ones and in the order of columns. ``names`` holds one name
    per group, or None if the given ones had none.
    """

    def __init__(self, groups: Groups | None, n_features: int, columns: Sequence[str] | None = None) -> None:
        self._groups = groups
        alone = np.ones(n_features, dtype=bool)
        if groups is not None:
            alone[groups.core.members] = False
        self.alone: NDArray[np.int64] = np.flatnonzero(alone)
        self._columns = columns

    @property
    def names(self) -> list[str] | None:
        if self._groups is None or self._groups.names is None:
            return None
        known = self._columns
        return [*self._groups.names, *(f"x{j + 1}" if known is None else str(known[j]) for j in self.alone)]

    def __len__(self) -> int:
        return (0 if self._groups is None else len(self._groups)) + len(self.alone)

    @overload
    def __getitem__(self, k: int) -> NDArray[np.int64]: ...
    @overload
    def __getitem__(self, k: slice) -> list[NDArray[np.int64]]: ...
    def __getitem__(self, k: int | slice) -> NDArray[np.int64] | list[NDArray[np.int64]]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        n_given = len(self) - len(self.alone)
        k = range(len(self))[k]
        if self._groups is None or k >= n_given:
            return self.alone[k - n_given : k - n_given + 1]
        starts = self._groups.core.starts
        return self._groups.core.members[starts[k] : starts[k + 1]].astype(np.int64)

    def __repr__(self) -> str:
        shown = ", ".join(str(group.tolist()) for group in self[:8])
        return f"GroupList([{shown}{', ...' if len(self) > 8 else ''}])"


# --- what users pass ------------------------------------------------------------------------------------------------


def read_groups(
    groups: Any, n_features: int, columns: Sequence[str] | None, who: str, origins: Sequence[str] | None = None
) -> Groups | None:
    """The groups that a user means; None if every column is on its own.

    ``origins`` tells for each feature of an encoder the column it is a word of: such a column stands for all of them.
    """
    if groups is None:
        return None
    if isinstance(groups, str) and groups == ENCODER:
        raise ValueError(
            f'{who}: groups="{ENCODER}" needs a StreamingPipeline whose step before the learner has groups_, such as '
            "InteractionGroups."
        )
    if isinstance(groups, str):
        return _from_labels(_prefixes(groups.removeprefix(PREFIX), columns, who), n_features, who)
    if is_encoder(groups):
        return _from_labels(labels_of_encoder(groups, who), n_features, who)
    if isinstance(groups, Mapping):
        lists = _with_words(list(groups.values()), columns, origins)
        return _from_lists(lists, tuple(map(str, groups)), n_features, columns, who)
    if _is_series(groups):
        groups = groups.to_numpy()
    if len(groups) and isinstance(next(iter(groups)), _LISTS):
        return _from_lists(_with_words(list(groups), columns, origins), None, n_features, columns, who)
    return _from_labels(groups, n_features, who)


def plain_groups(groups: Any, who: str) -> Any:
    """The groups that a user passed, as a file can keep them: of an encoder, the labels it gave."""
    if groups is None or isinstance(groups, str):
        return groups
    if is_encoder(groups):
        return np.asarray(labels_of_encoder(groups, who))
    if isinstance(groups, Mapping):
        return {str(name): np.asarray(list(group)).tolist() for name, group in groups.items()}
    if len(groups) and isinstance(next(iter(groups)), _LISTS):
        return [np.asarray(list(group)).tolist() for group in groups]
    labels = np.asarray(groups)
    return np.array(["" if v is None else v for v in labels.tolist()]) if labels.dtype.kind == "O" else groups


def _prefixes(separator: str, columns: Sequence[str] | None, who: str) -> list[str]:
    if columns is None:
        raise ValueError(f'{who}: groups="{PREFIX}{separator}" needs a data frame, whose columns have names.')
    return [name.partition(separator)[0] if separator in name else "" for name in columns]


def labels_of_encoder(encoder: Any, who: str) -> Sequence[Any]:
    """One label per column that a fitted encoder makes: the name of the column, or columns, it comes from."""
    if hasattr(encoder, "groups_"):
        return encoder.groups_
    if not hasattr(encoder, "categories_") or not hasattr(encoder, "get_feature_names_out"):
        raise ValueError(
            f"{who}: groups must come from a fitted encoder of columns that belong together, got "
            f"{type(encoder).__name__}."
        )
    names = getattr(encoder, "feature_names_in_", [f"x{j}" for j in range(len(encoder.categories_))])
    widths = [len(categories) for categories in encoder.categories_]
    for j, rare in enumerate(getattr(encoder, "infrequent_categories_", ())):
        widths[j] -= 0 if rare is None else len(rare) - 1
    dropped = encoder.drop_idx_ if getattr(encoder, "drop_idx_", None) is not None else [None] * len(widths)
    widths = [n - (gone is not None) for n, gone in zip(widths, dropped, strict=True)]
    if sum(widths) != len(encoder.get_feature_names_out()):
        raise ValueError(f"{who}: groups must come from an encoder with one column per category.")
    return list(chain.from_iterable([str(name)] * n for name, n in zip(names, widths, strict=True)))


def _from_labels(column_labels: Any, n_features: int, who: str) -> Groups | None:
    """Columns with the same label are a group; groups stand in the order of their numbers, or of first appearance."""
    labels = np.asarray(column_labels)
    if labels.dtype.kind == "O":
        labels = np.array(["" if v is None else v for v in labels.tolist()]) if labels.ndim == 1 else labels
    if labels.ndim != 1 or labels.dtype.kind not in "iuU":
        raise ValueError(f"{who}: groups must hold one integer or one name per column, got labels of {labels.dtype}.")
    if len(labels) != n_features:
        raise ValueError(f"{who}: groups must have one label per column, got {len(labels)} for {n_features} columns.")
    texts = labels.dtype.kind == "U"
    grouped = np.flatnonzero(labels != "" if texts else labels != -1)
    if not texts and len(grouped) and labels[grouped].min() < 0:
        raise ValueError(f"{who}: labels must be numbers of at least 0, or -1 for a column on its own.")
    if not len(grouped):
        return None
    number, names = _numbered_texts(labels[grouped]) if texts else (_numbered(labels[grouped]), None)
    starts = np.concatenate([[0], np.cumsum(np.bincount(number))]).astype(np.int64)
    in_order = bool((number[1:] >= number[:-1]).all())
    members = grouped if in_order else grouped[np.argsort(number, kind="stable")]
    return _checked(starts, members.astype(np.int32), names, n_features, who)


def _numbered(labels: NDArray[Any]) -> NDArray[np.int64]:
    """0, 1, ... for the smallest label, the next, ...; without sorting where numbers are about as many as columns."""
    if labels.max() > 4 * len(labels):
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    there = np.bincount(labels) > 0
    return (np.cumsum(there) - 1)[labels]


def _numbered_texts(labels: NDArray[Any]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    values, seen, number = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(seen)
    return np.argsort(order)[number], tuple(values[order].tolist())


def _with_words(lists: list[Any], columns: Sequence[str] | None, origins: Sequence[str] | None) -> list[Any]:
    """Lists of names in which a column of words stands for the features that an encoder made of it."""
    if columns is None or origins is None:
        return lists
    made: dict[str, list[str]] = {}
    for name, origin in zip(columns, origins, strict=True):
        if origin:
            made.setdefault(origin, []).append(name)
    of = {origin: names for origin, names in made.items() if origin not in set(columns)}
    return [
        list(chain.from_iterable(of.get(v, [v]) if isinstance(v, str) else [v] for v in group))
        if isinstance(group, _LISTS)
        else group
        for group in lists
    ]


def _from_lists(
    lists: Sequence[Any], names: tuple[str, ...] | None, n_features: int, columns: Sequence[str] | None, who: str
) -> Groups | None:
    if not lists:
        return None
    if not all(isinstance(group, _LISTS) for group in lists):
        raise ValueError(f"{who}: groups must be either lists of columns or one label per column, not a mixture.")
    starts = np.concatenate([[0], np.cumsum([len(group) for group in lists])]).astype(np.int64)
    return _checked(starts, _places(chain.from_iterable(lists), columns, n_features, who), names, n_features, who)


def _places(members: Iterable[Any], columns: Sequence[str] | None, n_features: int, who: str) -> NDArray[np.int32]:
    """Columns by number, or by name."""
    listed = list(members)
    places = np.asarray(listed) if listed else np.empty(0, dtype=np.int64)
    if places.dtype.kind == "U" and all(isinstance(name, str) for name in listed):
        if columns is None:
            raise ValueError(f"{who}: groups that name columns need a data frame, whose columns have names.")
        known = {name: j for j, name in enumerate(columns)}
        missing = next((name for name in listed if name not in known), None)
        if missing is not None:
            raise ValueError(f"{who}: groups must name columns of X, got {missing!r}.")
        return np.array([known[name] for name in listed], dtype=np.int32)
    if places.dtype.kind not in "iu" or places.ndim != 1:
        raise ValueError(f"{who}: groups must hold numbers of columns, or their names.")
    wrong = np.flatnonzero((places < 0) | (places >= n_features))
    if len(wrong):
        raise ValueError(
            f"{who}: groups must hold columns of X, from 0 to {n_features - 1}, got {int(places[wrong[0]])}."
        )
    return places.astype(np.int32)


def _checked(
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    names: tuple[str, ...] | None,
    n_features: int,
    who: str,
) -> Groups:
    try:
        core = _core.Groups(np.ascontiguousarray(starts), np.ascontiguousarray(members), n_features)
    except ValueError as error:
        raise ValueError(
            f"{who}: groups must hold at least one column each and none of them twice, but {error}."
        ) from None
    return Groups(core, names)
