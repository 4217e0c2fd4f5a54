"""Code that all writers share."""

from __future__ import annotations

from ._scoring import Term

POWER_STEPS = 20
"""Steps of Newton's method where a target has no loops; 16 are the most that probabilities were seen to need."""


def in_comment(text: str) -> str:
    """Text that cannot end a comment of C or SQL: names in model files are untrusted."""
    return "".join(c if c.isprintable() and c not in "*/\\?" else "." for c in text)


_DOES = {"hash": "hashes the text", "words": "hashes the words"}


def cannot(target: str, term: Term) -> ValueError:
    """The error for a term that a target cannot express."""
    return ValueError(
        f"export: {target} cannot express what the model does with column {term.column!r}, which "
        f"{_DOES[term.kind]}; export to c or json."
    )
