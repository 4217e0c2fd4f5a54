"""
A path of penalties in one pass
===============================

``penalty_path`` trains models with many strengths of a penalty in one pass over a stream. Rows are predicted before
they are learned from, so the loss of each model is out of sample. The plot marks the model with the smallest loss,
and the sparsest one whose loss is at most 5 % larger, ``path.within(0.05)``.
"""

import matplotlib.pyplot as plt
import numpy as np

from thresher.datasets import make_sparse_stream
from thresher.dual_averaging import AdaptiveL1RDAClassifier
from thresher.paths import penalty_path
from thresher.plotting import PenaltyPathDisplay

stream = make_sparse_stream(30_000, 10_000, n_relevant=60, positives=0.2, random_state=0)
alphas = np.geomspace(3e-3, 1e-6, 16)
path = penalty_path(AdaptiveL1RDAClassifier(loss="logistic"), alphas, stream.batches)
print(path)

# %%

PenaltyPathDisplay.from_path(path, tolerance=0.05)
plt.show()
