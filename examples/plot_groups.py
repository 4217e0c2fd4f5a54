"""
Selecting groups of features
============================

There are ten groups of ten features. All features of three groups matter, and no others. 800 rows are few for a
hundred weights. An l1 penalty treats features one by one: it misses some that matter and selects others by chance.
The group penalty of ``GroupRDAClassifier`` selects a group as a whole or not at all, so that ten weak signals add
up.
"""

import matplotlib.pyplot as plt
import numpy as np

from thresher.datasets import make_sparse_groups
from thresher.dual_averaging import GroupRDAClassifier, L1RDAClassifier

active = (10, 10, 10, 0, 0, 0, 0, 0, 0, 0)
X, y, truth, groups = make_sparse_groups(4000, active=active, noise=3.0, return_coef=True, random_state=3)
columns = [np.flatnonzero(groups == g).tolist() for g in range(10)]
how = {"alpha": 0.03, "max_iter": 5, "fit_intercept": False, "random_state": 0}
models = {"L1RDAClassifier": L1RDAClassifier(**how), "GroupRDAClassifier": GroupRDAClassifier(columns, **how)}

# %%
# Each square is a feature, each row of squares a group. White is a weight of exactly 0.

figure, panels = plt.subplots(1, 3, figsize=(8.5, 3.4), layout="constrained")
panels[0].imshow(truth.reshape(10, 10), cmap="PuOr", vmin=-1.5, vmax=1.5)
panels[0].set_title("truth\n3 groups, 30 features", fontsize=10)
for axes, (name, model) in zip(panels[1:], models.items(), strict=True):
    table = model.fit(X[:800], y[:800]).coef_.reshape(10, 10)
    axes.imshow(table, cmap="PuOr", vmin=-np.abs(table).max(), vmax=np.abs(table).max())
    in_use = np.count_nonzero(table.any(axis=1))
    error = np.mean(model.predict(X[800:]) != y[800:])
    axes.set_title(f"{name}\n{in_use} groups, {len(model.support_)} features, error {error:.0%}", fontsize=10)
for axes in panels:
    axes.set(xticks=[], yticks=range(10), yticklabels=range(1, 11), ylabel="group")
    axes.tick_params(length=0)
plt.show()
