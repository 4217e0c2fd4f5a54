"""Hyper-parameter search with few evaluations, reproducible from a seed.

==========================================  ========================================================================
:class:`CoupledAnnealingSearchCV`           tune an estimator by cross-validation
:func:`coupled_annealing`                   maximise any function by annealing and a simplex
:func:`directed_search`                     maximise any function along its coordinates
:func:`nelder_mead`, :func:`random_search`  maximise any function by a simplex, or at random
:class:`SearchResult`                       the result of these four
:class:`Log`, :class:`Uniform`,             ranges of a parameter
:class:`Whole`, :class:`Choice`
:func:`search_space`                        the ranges that an estimator declares
:func:`criterion`, ``CRITERIA``             scorers by name
:func:`sparsity_scorer`                     scorers that reward sparse models
:class:`LabelledKFold`                      folds of partly labelled rows
:func:`tune_tri_class`                      tune a 3C-SVM in stages
:class:`NoveltyKFold`                       folds in which outliers are scored, but not learned from
==========================================  ========================================================================
"""

from .._gate import Choice, Log, Range, Uniform, Whole, search_space
from ._annealing import coupled_annealing
from ._folds import LabelledKFold, NoveltyKFold
from ._scorers import CRITERIA, criterion, sparsity_scorer
from ._scorers import weights_of as weights_of
from ._search_cv import CoupledAnnealingSearchCV
from ._searches import directed_search, nelder_mead, random_search
from ._stages import TriClassTuning, tune_tri_class
from ._trials import SearchResult

__all__ = [
    "CRITERIA",
    "Choice",
    "CoupledAnnealingSearchCV",
    "LabelledKFold",
    "Log",
    "NoveltyKFold",
    "Range",
    "SearchResult",
    "TriClassTuning",
    "Uniform",
    "Whole",
    "coupled_annealing",
    "criterion",
    "directed_search",
    "nelder_mead",
    "random_search",
    "search_space",
    "sparsity_scorer",
    "tune_tri_class",
]
