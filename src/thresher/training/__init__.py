"""Training on streams, batch by batch, with checkpoints.

=========================  ============================================================================================
:func:`look`               the task, classes, width and order of a stream, from its first rows
:func:`train`              train on a stream; a killed and resumed run gives the same model, bit for bit
:func:`evaluate`           predictions of a model for a stream that it has not learned from
:func:`predict_in_folds`   predictions for each row by a model that has not seen it: cross-validation
:func:`read_all`           a stream, or an even sample of it, in memory
:func:`rows_to_learn`      the rows of a stream that a model can learn from: those with a target
:func:`merge_models`       merge models that were trained separately
:func:`profile`            kinds, ranges and missing values of the columns, classes, and warnings
=========================  ============================================================================================
"""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._hashed_names import name_hashed_columns as name_hashed_columns
    from ._look import MOST_CLASSES as MOST_CLASSES
    from ._look import Facts, Look, look
    from ._look import LabelCounts as LabelCounts
    from ._look import without_targets as without_targets
    from ._merge import merge_models
    from ._out_of_fold import predict_in_folds
    from ._predictions import drop_unlabelled as drop_unlabelled
    from ._predictions import is_known_label as is_known_label
    from ._predictions import is_no_class as is_no_class
    from ._predictions import learner_of as learner_of
    from ._predictions import mark_unlabelled as mark_unlabelled
    from ._predictions import match_labels as match_labels
    from ._predictions import predict_with_scores as predict_with_scores
    from ._predictions import rows_to_learn
    from ._predictions import weighted_rows_to_learn as weighted_rows_to_learn
    from ._predictions import written_label as written_label
    from ._profile import profile
    from ._profile import profile_run as profile_run
    from ._profile_parts import ColumnProfile, Doubt, Profile
    from ._profile_warnings import DataWarning
    from ._records import HeldOut, History, read_all
    from ._records import Sampler as Sampler
    from ._records import read_and_count as read_and_count
    from ._records import stack_batches as stack_batches
    from ._run_state import check_same_run as check_same_run
    from ._run_state import fingerprint as fingerprint
    from ._run_state import model_signature as model_signature
    from ._train import Interrupted, Run, evaluate, train
    from ._worse_than_guess import worse_than_guess as worse_than_guess
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "ColumnProfile",
    "DataWarning",
    "Doubt",
    "Facts",
    "HeldOut",
    "History",
    "Interrupted",
    "Look",
    "Profile",
    "Run",
    "evaluate",
    "look",
    "merge_models",
    "predict_in_folds",
    "profile",
    "read_all",
    "rows_to_learn",
    "train",
]
