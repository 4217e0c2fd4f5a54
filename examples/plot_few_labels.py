"""
Semi-supervised learning with eight labels
==========================================

There are two curved classes and eight labels. A machine that uses only the labels draws a border between eight
points. The semi-supervised machines use all 300 rows: labels spread along the moons and stop at the gap.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from thresher.semi_supervised import LapSVC, SemiKSC

X, truth = make_moons(300, noise=0.08, random_state=4)
y = np.where(np.arange(300) < 8, truth, -1)
models = {
    "labels alone": LapSVC(gamma=2.0, alpha_graph=0.0),
    "LapSVC": LapSVC(gamma=2.0),
    "SemiKSC": SemiKSC(gamma=10.0),
}

# %%

ticks = np.linspace(-1.6, 2.6, 150), np.linspace(-1.1, 1.6, 150)
grid = np.array(np.meshgrid(*ticks)).reshape(2, -1).T
colours = ("#0072B2", "#E69F00")
figure, panels = plt.subplots(1, 3, figsize=(9, 2.9), layout="constrained")
for axes, (name, model) in zip(panels, models.items(), strict=True):
    model.fit(X, y)
    side = model.predict(grid).reshape(150, 150)
    axes.contourf(*ticks, side, levels=[-0.5, 0.5, 1.5], colors=colours, alpha=0.25)
    axes.plot(*X[y == -1].T, ".", color="#555555", markersize=3)
    for label, colour in enumerate(colours):
        axes.plot(*X[y == label].T, "o", color=colour, markersize=9, markeredgecolor="black")
    right = np.mean(model.transduction_[8:] == truth[8:])
    axes.set(title=f"{name}: {right:.0%} of the others right", xticks=[], yticks=[])
    axes.title.set_fontsize(10)
plt.show()
