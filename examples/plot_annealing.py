"""
Tuning by coupled annealing
===========================

The plot shows the cross-validated error of a kernel machine over two of its parameters. A grid of 14 by 14 values
draws the landscape for comparison only. The search does not use it and evaluates 40 points: several coupled walkers
explore the space, accepting worse points with a probability that depends on the others, and a simplex refines the
best point.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import KFold, cross_val_score

from thresher.kernels import LSSVC
from thresher.tuning import CoupledAnnealingSearchCV, Log

X, y = make_moons(120, noise=0.3, random_state=0)
folds = KFold(5, shuffle=True, random_state=0)
space = {"gamma": Log(1e-2, 1e2), "C": Log(1e-2, 1e3)}
search = CoupledAnnealingSearchCV(LSSVC(), space, n_evaluations=40, cv=folds, random_state=0).fit(X, y)
print(search.best_params_, f"error {1 - search.best_score_:.3f}")

# %%

gammas, Cs = np.geomspace(1e-2, 1e2, 14), np.geomspace(1e-2, 1e3, 14)
errors = [[1 - cross_val_score(LSSVC(gamma=g, C=C), X, y, cv=folds).mean() for g in gammas] for C in Cs]
figure, axes = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
shades = axes.pcolormesh(gammas, Cs, errors, cmap="viridis_r", shading="nearest")
figure.colorbar(shades, label="cross-validated error")
for stage, mark, colour in (("annealing", "o", "white"), ("simplex", "^", "#D55E00")):
    tried = [(e["params"]["gamma"], e["params"]["C"]) for e in search.history_ if e["stage"] == stage]
    axes.plot(
        *np.transpose(tried),
        mark,
        color=colour,
        markeredgecolor="black",
        markersize=6,
        linestyle="none",
        label=f"{stage}, {len(tried)}",
    )
axes.plot(
    search.best_params_["gamma"],
    search.best_params_["C"],
    "*",
    color="#F0E442",
    markeredgecolor="black",
    markersize=17,
    label="best",
)
axes.set(xscale="log", yscale="log", xlabel="gamma", ylabel="C")
axes.legend(loc="lower left", framealpha=0.9)
plt.show()
