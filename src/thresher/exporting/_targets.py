"""What the writers share."""

from __future__ import annotations

from ._scoring import Term

POWER_STEPS = 20
"""Steps of Newton's method where a target knows no loop; 16 are the most that probabilities were seen to need."""


def in_comment(text: str) -> str:
    """Text that ends no comment, neither of C nor of SQL: names in model files come from anywhere."""
    return "".join(c if c.isprintable() and c not in "*/\\?" else "." for c in text)


_DOES = {"hash": "hashes the text", "words": "hashes the words"}


def cannot(target: str, term: Term) -> ValueError:
    """The refusal of a term that a target has no words for."""
    return ValueError(
        f"export: {target} has no way to do what the model does with column {term.column!r}, which "
        f"{_DOES[term.kind]}; export to c or json."
    )
