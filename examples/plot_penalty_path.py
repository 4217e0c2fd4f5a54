"""
How many features? A path of penalties in one read
==================================================

``penalty_path`` learns with many strengths of the penalty side by side, from one read of the stream. Rows are
predicted before they are learned from, so the loss of each model is an honest one. The least loss marks one model,
and ``path.within(0.05)`` the smallest one that loses no more than 5 % against it.
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
