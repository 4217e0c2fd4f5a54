"""The interface of estimators to the rest of the library, beside scikit-learn's contract.

:class:`~thresher._estimators.Estimator` implements all of it; a class overrides what differs. Files, training, merging
and searches use nothing else and refer to no class by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

from .._gate import Range, Rule
from ._contract import Estimator
from ._declared import Param


class EstimatorProtocol(Protocol):
    """An estimator of this library."""

    _params: ClassVar[dict[str, Param]]
    """Its parameters, as declared."""
    _param_rules: ClassVar[dict[str, Rule]]
    _search_space: ClassVar[dict[str, Range]]
    _fitted: ClassVar[tuple[str, ...]]
    """The attributes that a model file keeps beside a state."""
    _needs: ClassVar[tuple[str, ...]]
    """Things that it needs beside rows and targets, such as "groups"."""
    _estimator_type: ClassVar[str | None]

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def set_params(self, **params: Any) -> Self: ...

    @classmethod
    def _file_names(cls) -> dict[str, str]:
        """The permanent name of each parameter, for model files."""

    @classmethod
    def _from_file(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Parameters as this version takes them, from those of a file."""

    def _plain_params(self) -> dict[str, Any]:
        """Parameters as a file keeps them."""

    def _settle(self) -> None:
        """Compute what is otherwise computed on first use."""

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""


_: type[EstimatorProtocol] = Estimator  # type checkers compare the two
