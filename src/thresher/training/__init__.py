"""From a stream to a trained model: one batch after the other, with a checkpoint to go on from.

=========================  ============================================================================================
:func:`look`               what a stream holds, from its first rows: task, classes, width, order
:func:`train`              learn from a stream; killed and resumed, it ends in the same model, bit for bit
:func:`evaluate`           what a model says of a stream that it has not learned from
:func:`read_all`           a stream, or an even sample of it, in memory
:func:`merge_models`       one model from several that learned apart
=========================  ============================================================================================
"""

from .._records import HeldOut, History
from ._folds import predict_in_folds
from ._look import Facts, Look, facts_of, look
from ._merge import merge_models
from ._model import alike, known_to, learner_of, plain, said, with_label, without_class
from ._progress import fingerprint
from ._sample import Sampler, read_all, sample_of
from ._train import Interrupted, Run, evaluate, train

__all__ = [
    "Facts",
    "HeldOut",
    "History",
    "Interrupted",
    "Look",
    "Run",
    "Sampler",
    "alike",
    "evaluate",
    "facts_of",
    "fingerprint",
    "known_to",
    "learner_of",
    "look",
    "merge_models",
    "plain",
    "predict_in_folds",
    "read_all",
    "said",
    "sample_of",
    "train",
    "with_label",
    "without_class",
]
