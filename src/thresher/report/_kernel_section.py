"""The kernels that a model chose."""

from __future__ import annotations

from .._figures import count, label, listed, number, plural, quoted
from ..inspection import kernels_in_use
from ._subject import Section, Subject

_MOST = 30


def kernels(subject: Subject) -> Section | None:
    """List the kernels with a weight, the strongest first."""
    learner = subject.learner
    if not hasattr(learner, "kernel_names_"):
        return None
    found = kernels_in_use(subject.model)
    n_kernels = len(learner.kernel_names_)
    says = f"{count(len(found))} of {plural(n_kernels, 'kernel')} {'is' if len(found) == 1 else 'are'} in use"
    says += f"; the most weight lies on {listed([quoted(label(k.name)) for k in found[:3]], 3)}." if found else "."
    bounds = [(float(lower), float(upper)) for lower, upper in learner.bounds_]
    says += f" The objective is within {number(100 * learner.gap_, 2)} % of the best there is."
    outputs = list(found[0].weights) if found else []
    return {
        "title": "Kernels in use",
        "says": says,
        "n_kernels": n_kernels,
        "n_used": len(found),
        "n_machines": learner.n_svm_,
        "bounds": bounds,
        "outputs": [label(key) for key in outputs],
        "kernels": [
            {"name": label(kernel.name), "weight": kernel.strength, "weights": list(kernel.weights.values())}
            for kernel in found[:_MOST]
        ],
    }
