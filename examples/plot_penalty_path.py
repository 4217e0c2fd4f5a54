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

stream = make_sparse_stream(30_000, 10_000, n_relevant=60, positives=0.2, random_state=0)
alphas = np.geomspace(3e-3, 1e-6, 16)
path = penalty_path(AdaptiveL1RDAClassifier(loss="logistic"), alphas, stream.batches)
smaller = path.within(0.05)
print(path)

# %%

figure, axes = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
axes.plot(path.n_features, path.progressive_loss, "o-", color="#0072B2")
for model, words, colour in ((path.best_model, "least loss", "#D55E00"), (smaller, "smallest within 5 %", "#009E73")):
    n = len(model.support_)
    loss = path.progressive_loss[list(path.models).index(model)]
    axes.plot(n, loss, "o", markersize=11, color=colour, label=f"{words}: {n:,} features")
axes.set(xscale="symlog", xlabel="features in use (log scale)", ylabel="progressive logistic loss")
axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
