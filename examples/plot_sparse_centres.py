"""
Clusters that differ in few features
====================================

There are three clusters and fifty columns, of which the first six matter. Plain K-means has centres of 150 nonzero
values. ``SparseKMeans`` moves each value towards 0 by ``alpha``, so that only the columns that distinguish a cluster
remain.
"""

import matplotlib.pyplot as plt
import numpy as np

from thresher.cluster import SparseKMeans

rng = np.random.default_rng(0)
kind = np.arange(450) % 3
X = rng.normal(size=(450, 50))
for c in range(3):
    X[kind == c, 2 * c : 2 * c + 2] += 3
X -= X.mean(axis=0)

# %%

figure, panels = plt.subplots(2, 1, figsize=(8, 3.2), layout="constrained", sharex=True)
for axes, alpha in zip(panels, (0.0, 0.3), strict=True):
    model = SparseKMeans(3, alpha=alpha, n_init=5, random_state=0).fit(X)
    axes.imshow(model.cluster_centers_, cmap="PuOr", vmin=-2, vmax=2, aspect="auto")
    used = np.count_nonzero(model.cluster_centers_)
    axes.set(
        title=f"alpha = {alpha:g}: {used} of 150 values in use, {len(model.support_)} of 50 columns",
        ylabel="cluster",
        yticks=range(3),
    )
    axes.title.set_fontsize(10)
panels[1].set_xlabel("column")
plt.show()
