"""
Groups of features, in or out together
======================================

Ten groups of ten features; six of them matter, some in full and some by a single feature. An l1 penalty looks at features one by one and leaves crumbs in
groups that do not matter. The group penalty of ``GroupRDAClassifier`` takes a group as a whole or not at all; its sparse form, with ``l1_weight``, drops
features inside the groups as well.
"""

import matplotlib.pyplot as plt
import numpy as np

from thresher.datasets import make_sparse_groups
from thresher.dual_averaging import GroupRDAClassifier, L1RDAClassifier

X, y, truth, groups = make_sparse_groups(6000, noise=2.0, return_coef=True, random_state=3)
columns = [np.flatnonzero(groups == g).tolist() for g in range(10)]
how = {"max_iter": 3, "fit_intercept": False, "random_state": 0}
models = {
    "truth": None,
    "L1RDAClassifier": L1RDAClassifier(alpha=0.03, **how),
    "GroupRDAClassifier": GroupRDAClassifier(columns, alpha=0.03, **how),
    "GroupRDAClassifier, l1_weight=0.5": GroupRDAClassifier(columns, alpha=0.025, l1_weight=0.5, **how),
}
weights = {name: truth if model is None else model.fit(X[:4000], y[:4000]).coef_[0] for name, model in models.items()}

# %%
# Each square is a feature, each row of squares a group. White is a weight of exactly 0.

figure, panels = plt.subplots(1, 4, figsize=(9, 3.1), layout="constrained")
for axes, (name, w) in zip(panels, weights.items(), strict=True):
    table = w.reshape(10, 10)
    largest = np.abs(table).max()
    axes.imshow(table, cmap="PuOr", vmin=-largest, vmax=largest)
    in_use = np.count_nonzero(table.any(axis=1))
    error = "" if models[name] is None else f"\nerror {np.mean(models[name].predict(X[4000:]) != y[4000:]):.1%}"
    axes.set_title(f"{name}\n{in_use} groups, {np.count_nonzero(w)} features{error}", fontsize=9)
    axes.set(xticks=[], yticks=range(10), yticklabels=range(1, 11))
    axes.tick_params(length=0, labelsize=8)
panels[0].set_ylabel("group")
plt.show()
