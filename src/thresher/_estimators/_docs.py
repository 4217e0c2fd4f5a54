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
    "kernel": """
kernel : {{"rbf", "polynomial", "linear", "cosine", "precomputed"}} or Kernel, default="rbf"
    By name, or an object of :mod:`thresher.kernels`. With ``"precomputed"``, :meth:`fit` takes the kernel of every row
    with every row, and the other methods that of their rows with those of :meth:`fit`.
gamma : float or "scale", default="scale"
    Width of the RBF and polynomial kernels; ``"scale"`` is ``1 / (n_features * X.var())``.
degree : int, default={degree}
    Degree of the polynomial kernel.
coef0 : float, default={coef0}
    Constant term of the polynomial kernel, at least 0.""",
    "cache": """
cache_size : float, default={cache_size}
    Megabytes for the kernel matrix; a larger one is computed row by row.""",
    "landmarks": """
n_components : int, float or "sqrt", optional
    Compare rows with this many landmarks instead of with one another (the fixed-size Nystroem form): an integer, a
    factor of the root of the number of rows, or ``"sqrt"``. Time and memory then grow with the rows, not their square.
random_state : int, RandomState or Generator, optional
    Source of the landmarks.""",
    "fitted kernel": """
support_ : ndarray
    Indices of the support vectors: rows with a coefficient other than 0.
support_vectors_ : ndarray or csr_array of shape (n_support, n_features)
    These rows, the only ones that are kept.
dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
    Their coefficients (:math:`\\beta`). One row when there are two classes.
intercept_ : ndarray of shape (1,) or (n_classes,)
    Constant terms (:math:`b`).
kernel_ : Kernel or None
    The kernel, with numbers for everything that depends on the data; None if it is precomputed.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of str
    Names of the features, when ``X`` had any.""",
    "kernels": r"""
kernels : list of kernels or "precomputed", optional
    Kernels of :mod:`thresher.kernels`, mostly on some columns each; by default :func:`simple_mkl_kernels`. Each is
    divided by its trace on the training rows. With ``"precomputed"``, ``X`` holds the matrices: of shape (n_kernels, n,
    n) to learn from, (n_kernels, n_rows, n) to predict, divided by the traces of the first.""",
    "machine": r"""
C : float, default={C}
    Weight of the losses (:math:`C`). Kernels have trace 1, so that it must be large, and it matters more than the kind
    of norm: tune it.""",
    "search": r"""
tol : float, default={tol}
    Stop when the bounds of the objective are no further apart than this part of it.
standardise : bool, default={standardise}
    Bring every feature to mean 0 and deviation 1 by what the training rows say, before kernels see it; rows become
    dense then. The default kernels count on it.
max_svm : int, default={max_svm}
    Most machines that are solved, for each class.
cache_size : float, default={cache_size}
    Megabytes for kernel matrices, of which half is kept; those that do not fit are computed anew whenever they are
    needed.""",
    "fitted kernels": r"""
weights_ : ndarray of shape (1, n_kernels) or (n_classes, n_kernels)
    Weights of the kernels (:math:`\theta`). One row when there are two classes, else each class has its own.
kernels_, kernel_names_ : list, ndarray of str
    The kernels, ready for rows like those of the training, and their names.
factors_ : ndarray of shape (n_kernels,)
    What each kernel is multiplied by: 1 over its trace.
support_ : ndarray
    Rows with a coefficient other than 0; the others are forgotten.
dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
    Their coefficients (:math:`\alpha \circ y`).
intercept_ : ndarray of shape (1,) or (n_classes,)
    Constant terms.
bounds_ : ndarray of shape (1, 2) or (n_classes, 2)
    Two numbers between which the optimum lies.
gap_ : float
    Their distance, as a part of the larger; the most of any class.
n_svm_ : int
    Machines that were solved, of all classes together.
history_ : list of ndarray of shape (n_machines, 2)
    The bounds after each machine, for every output. Not kept in files.
mean_, scale_ : ndarray of shape (n_features,)
    What features were standardised by; None without.
n_features_in_ : int
    Number of features; of precomputed kernels, that of training rows.
feature_names_in_ : ndarray of str
    Names of the features, when ``X`` had any.""",
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
