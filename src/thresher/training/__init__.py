"""From a stream to a trained model: one batch after the other, with a checkpoint to go on from.

=========================  ============================================================================================
:func:`look`               what a stream holds, from its first rows: task, classes, width, order
:func:`train`              learn from a stream; killed and resumed, it ends in the same model, bit for bit
:func:`evaluate`           what a model says of a stream that it has not learned from
:func:`read_all`           a stream, or an even sample of it, in memory
:func:`merge_models`       one model from several that learned apart
=========================  ============================================================================================
"""

from ._look import MOST_CLASSES as MOST_CLASSES
from ._look import Facts, Look, facts_of, look
from ._merge import merge_models
from ._out_of_fold import predict_in_folds
from ._predictions import alike, known_to, learner_of, plain, said, with_label, without_class
from ._records import HeldOut, History
from ._row_sample import Sampler, read_all, sample_of
from ._row_sample import stacked as stacked
from ._run_state import difference as difference
from ._run_state import digest as digest
from ._run_state import fingerprint
from ._run_state import spelled as spelled
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
