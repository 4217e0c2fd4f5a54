"""
Comparing learners by paired tests
==================================

Four learners are trained on the same rows in twenty random splits. Scores of one split belong together, so a paired
test, corrected for overlapping splits, shows which differences may be due to chance. Here all of them may: the
learner with the smallest error is not significantly better than the others. The number of features in use does
differ: the sparse learner needs half.
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
