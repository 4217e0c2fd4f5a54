"""
Clusters of any shape
=====================

K-means cuts the plane into cells around centres. Kernel spectral clustering groups rows that are connected by
similar rows. Its result holds for the whole plane, so new rows get a cluster, too.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from thresher.cluster import KernelSpectralClustering

rings, ring = make_circles((150, 250), factor=0.4, noise=0.05, random_state=0)
blob = np.random.default_rng(0).normal([2.2, 0.0], 0.15, (100, 2))
X, truth = np.vstack([rings, blob]), np.concatenate([ring, np.full(100, 2)])
models = {
    "KMeans": KMeans(3, n_init=10, random_state=0),
    "KernelSpectralClustering": KernelSpectralClustering(3, gamma=20.0),
}

# %%

across, up = np.linspace(-1.5, 3.0, 200), np.linspace(-1.4, 1.4, 200)
grid = np.array(np.meshgrid(across, up)).reshape(2, -1).T
colours = ("#0072B2", "#E69F00", "#009E73")
figure, panels = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for axes, (name, model) in zip(panels, models.items(), strict=True):
    model.fit(X)
    axes.contourf(
        across, up, model.predict(grid).reshape(200, 200), levels=[-0.5, 0.5, 1.5, 2.5], colors=colours, alpha=0.25
    )
    for cluster, colour in enumerate(colours):
        axes.plot(*X[model.labels_ == cluster].T, ".", color=colour, markersize=4)
    axes.set(
        title=f"{name}: adjusted Rand index {adjusted_rand_score(truth, model.labels_):.2f}",
        xticks=[],
        yticks=[],
        aspect="equal",
    )
plt.show()
