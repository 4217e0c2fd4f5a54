"""What the docstrings of all linear learners say alike, said once.

A line ``<name>`` in a class docstring stands for the text of that name; ``{parameter}`` in it for the parameter's
default.
"""

from __future__ import annotations

import inspect
import re

_TEXTS = {
    "intercept": """
fit_intercept : bool, default={fit_intercept}
    Learn a constant term, as the weight of one more feature.
intercept_scaling : float, default={intercept_scaling}
    Value of that constant feature. 1 is the papers' form; on sparse rows a constant that takes full steps drowns the
    features, and 0.1 does not.""",
    "passes": """
max_iter : int, default={max_iter}
    Passes over the data in :meth:`fit`. :meth:`partial_fit` always makes one.
n_steps : int, optional
    Instead of ``max_iter`` passes, that many steps (:math:`T`), of one mini-batch each.
tol : float, optional
    Stop :meth:`fit` when a pass moves the weights by less (Euclidean norm). Never while they are all zero.
shuffle : bool, default={shuffle}
    Visit the rows in a new random order on every pass of :meth:`fit`: blocks of 64 rows, or single rows where they
    come sorted by label.
random_state : int, RandomState or Generator, optional
    Source of the visiting orders.""",
    "fitted": """
support_ : ndarray
    Indices of the features in use.
n_iter_ : int
    Passes made by the last :meth:`fit`.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of str
    Names of the features, when ``X`` had any.
n_samples_seen_ : int
    Rows learned from, with repeats.
n_updates_ : int
    Steps that moved weights.
progressive_loss_ : float
    Their mean loss before they were learned from.
state_ : State
    All that was learned; what a checkpoint saves and shards merge.""",
}


def fill(cls: type) -> None:
    """Put the shared texts into the docstring of a class."""
    if not cls.__doc__ or "<" not in cls.__doc__:
        return
    defaults = {name: p.default for name, p in inspect.signature(cls).parameters.items()}
    defaults["penalty"] = getattr(cls, "_penalty", "alpha")

    def text(match: re.Match[str]) -> str:
        lines = _TEXTS[match["name"]].strip("\n").format_map(defaults).split("\n")
        return "\n".join(match["indent"] + line for line in lines)

    names = "|".join(sorted(_TEXTS, key=len, reverse=True))
    cls.__doc__ = re.sub(rf"(?m)^(?P<indent> +)<(?P<name>{names})>$", text, cls.__doc__)
