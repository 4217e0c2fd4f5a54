"""Parameters of learners that choose features in groups."""

from __future__ import annotations

from typing import Any

from .._estimators import SelectsFeatures, param
from .._gate import at_least, non_negative, none, one_of, positive


class GroupParams(SelectsFeatures):
    """Mixin: declares the parameters of :class:`~._group_search.GroupSearch`."""

    n_features_to_select: int = param(
        default=50,
        rule=at_least(1),
        doc="""Number of features to choose in every batch (:math:`p`); so many are in use at most. The constant does
        not count.""",
        kw_only=False,
    )
    C: float = param(
        default=0.1,
        rule=positive,
        doc="""Weight of the losses, and of a row in the covariance (:math:`C`). Large values trust a batch more; beyond
        1 the ranking begins to prefer rare features.""",
    )
    sigma: float = param(
        default=1.0,
        rule=positive,
        doc=r"""Weight of the ridge in the penalty (:math:`\sigma`); near 0, one to four groups remain in use before the
        refit.""",
    )
    n_groups: int = param(
        default=15,
        rule=at_least(1),
        doc="""Features are chosen in so many rounds, ``n_features_to_select / n_groups`` at a time (:math:`r`). More
        rounds see better what the features chosen so far leave unexplained, and cost more.""",
    )
    loss: str = param(
        default="squared_hinge",
        rule=one_of("hinge", "squared_hinge"),
        doc="The hinge loss (:math:`q = 1`), or its square (:math:`q = 2`).",
    )
    group_tol: float | None = param(
        default=None,
        rule=non_negative | none,
        doc="""Stop before there are ``n_features_to_select`` when a round changes the objective by no more than this
        part of it, or when the next group would get no weight.""",
    )

    def _search_params(self) -> dict[str, Any]:
        """Parameters of a search for groups."""
        p, squared = int(self.n_features_to_select), self.loss == "squared_hinge"
        return {
            "p": p,
            "r": -(-p // int(self.n_groups)),
            "C": float(self.C),
            "sigma": float(self.sigma),
            "squared": squared,
            "ridge": float(squared),
            "step": "corrected" if self.sigma >= 1 else "exact",
            "group_tol": self.group_tol,
            "printed": False,
        }
