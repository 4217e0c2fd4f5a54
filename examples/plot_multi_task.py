"""
One set of features for several tasks
=====================================

Eight tasks depend on the same six of forty features, each with its own weights and 60 rows. Separately (penalty
``"l1"``), every task selects its own features, with noise among them. Together (``"l21"``), a feature is used for all
tasks or for none, so the rows of all tasks decide which ones matter.
"""

import matplotlib.pyplot as plt
import numpy as np

from thresher.datasets import make_multi_task
from thresher.dual_averaging import MultiTaskRDARegressor

X, y, tasks, rounds, truth = make_multi_task(160, 40, 8, n_relevant=6, noise=2.0, return_coef=True, random_state=0)
train = rounds < 60
models = {
    "each task alone: penalty='l1'": MultiTaskRDARegressor("l1", alpha=0.45, eta0=0.1, max_iter=20, random_state=0),
    "together: penalty='l21'": MultiTaskRDARegressor("l21", alpha=0.9, eta0=0.1, max_iter=20, random_state=0),
}

# %%

figure, panels = plt.subplots(3, 1, figsize=(8, 5.2), layout="constrained", sharex=True)
panels[0].imshow(truth, cmap="PuOr", vmin=-2, vmax=2, aspect="auto")
panels[0].set_title("truth", fontsize=10)
for axes, (name, model) in zip(panels[1:], models.items(), strict=True):
    model.fit(X[train], y[train], tasks=tasks[train])
    rest = y[~train] - model.predict(X[~train], tasks=tasks[~train])
    axes.imshow(model.coef_[np.argsort(model.tasks_)], cmap="PuOr", vmin=-2, vmax=2, aspect="auto")
    axes.set_title(
        f"{name}: {len(model.support_)} features in use, mean squared error {np.mean(rest**2):.1f}", fontsize=10
    )
for axes in panels:
    axes.set(ylabel="task", yticks=[])
panels[-1].set_xlabel("feature")
plt.show()
