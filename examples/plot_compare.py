"""
Is it better, or was it lucky?
==============================

Four learners see the same rows in the same order, in twenty random splits. Scores of one split belong together, so
that a paired test, corrected for rows that splits share, says which differences may be luck. Here all of them may:
the learner with the smallest error is not significantly better than the others. What does differ is the number of
features in use, where the sparse one needs half.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from thresher.compare import compare
from thresher.dual_averaging import AdaptiveL1RDAClassifier
from thresher.online import AROWClassifier, PAClassifier
from thresher.stochastic import PegasosClassifier

X, y = load_breast_cancer(return_X_y=True)
learners = {
    "AROW": AROWClassifier(),
    "Pegasos": PegasosClassifier(alpha=1e-3, max_iter=5),
    "adaptive l1-RDA": AdaptiveL1RDAClassifier(alpha=1e-2, max_iter=5),
    "PA": PAClassifier(),
}
models = {name: make_pipeline(StandardScaler(), learner) for name, learner in learners.items()}
found = compare(models, X, y, scoring="error", repeats=20, random_state=0)
print(found)

# %%

figure, axes = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
found.plot(ax=axes)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
