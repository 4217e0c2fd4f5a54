"""
A class of one row in a thousand, with 50 features
==================================================

A rare class is marked by some of 10,000 words, and the model may use 50 of them. Accuracy is useless here: a model
that never predicts the class is right on 999 of 1,000 rows. Precision over recall shows how many of the rows at the
top of the ranking are right. ``PoolCWClassifier`` keeps the covariance of its pool of weights and prunes it.
``AROWClassifier`` and ``FTRLClassifier`` with ``n_features_to_select=50`` cost less. On these generated rows,
``FTRLClassifier`` ranks as well as the pool. On real text, the pool and AROW are ahead of it: see the table of
:doc:`/imbalanced-streams`. With all features, AROW ranks almost without mistakes.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import average_precision_score, precision_recall_curve

from thresher.confidence import PoolCWClassifier
from thresher.datasets import make_sparse_stream
from thresher.dual_averaging import FTRLClassifier
from thresher.online import AROWClassifier

learners = {
    "PoolCWClassifier": PoolCWClassifier(n_features_to_select=50, cost=0.5),
    "AROWClassifier": AROWClassifier(n_features_to_select=50),
    "FTRLClassifier": FTRLClassifier(n_features_to_select=50),
    "AROWClassifier, all features": AROWClassifier(),
}
areas, scores = {name: [] for name in learners}, {}
for seed in range(5):
    stream = make_sparse_stream(160_000, 10_000, n_relevant=200, positives=0.001, random_state=seed)
    batches = list(stream.batches)
    learn, test = batches[:11], batches[11:]
    X_test, y_test = sparse.vstack([X for X, _ in test], format="csr"), np.concatenate([y for _, y in test])
    for name, learner in learners.items():
        model = clone(learner)
        for X, y in learn:
            model.partial_fit(X, y, classes=[0, 1])
        scores[name] = model.decision_function(X_test)
        areas[name].append(average_precision_score(y_test, scores[name]))

# %%
# The curves are those of the last stream. The legend has the mean and the standard deviation over five streams.

figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
looks = (("#0072B2", "-"), ("#009E73", "-"), ("#D55E00", "-"), ("#888888", "--"))
for name, (colour, line) in zip(learners, looks, strict=True):
    precision, recall, _ = precision_recall_curve(y_test, scores[name])
    label = f"{np.mean(areas[name]):.2f} ± {np.std(areas[name], ddof=1):.2f}  {name}"
    axes.step(recall, precision, line, where="post", color=colour, linewidth=2, label=label)
axes.set(xlabel="recall: share of the rare rows found", ylabel="precision: share of those found that are right")
axes.set(xlim=(0, 1), ylim=(0, 1.02))
axes.legend(title="average precision", frameon=False, loc="center left", alignment="left")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
