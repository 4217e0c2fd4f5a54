"""
Few labels, and rows of no class
================================

There are two classes in 50 dimensions and 500 unlabelled rows, nine out of ten of which belong to neither class. They
still show where the border should pass: through them. With few labels this helps a lot; with many labels, an ordinary
SVM is enough.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from thresher.datasets import make_tri_class
from thresher.semi_supervised import UniversumSVC

counts = [20, 50, 100, 200, 400]
X_test, y_test = make_tri_class(2000, 0, random_state=99)
found = {"SVC, labelled rows only": [], "UniversumSVC, all rows": []}
for n in counts:
    runs = []
    for seed in range(3):
        X, y = make_tri_class(n, 500, relevant=0.1, random_state=seed)
        labelled = y != -1
        plain = SVC(kernel="linear", C=0.1).fit(X[labelled], y[labelled])
        universum = UniversumSVC(C=0.1, C_unlabelled=0.1, kernel="linear", tol=1e-3).fit(X, y)
        runs.append([plain.score(X_test, y_test), universum.score(X_test, y_test)])
    for kept, runs_of_one in zip(found.values(), np.transpose(runs), strict=True):
        kept.append(runs_of_one)

# %%

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (name, runs), colour in zip(found.items(), ("#D55E00", "#0072B2"), strict=True):
    axes.plot(counts, np.mean(runs, axis=1), "o-", color=colour, linewidth=2, label=name)
    axes.fill_between(counts, np.min(runs, axis=1), np.max(runs, axis=1), color=colour, alpha=0.15)
axes.set(
    xscale="log",
    xticks=counts,
    xticklabels=counts,
    xlabel="labelled rows",
    ylabel="accuracy on new rows",
    ylim=(0.5, 1),
)
axes.minorticks_off()
axes.legend(frameon=False, loc="lower right")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
