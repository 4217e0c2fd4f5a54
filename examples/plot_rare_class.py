"""
A class of one row in a thousand, with 50 features
==================================================

A rare class is marked by some of 10,000 words, and the model may use 50 of them. Accuracy is useless here: a model
that never predicts the class is right on 999 of 1,000 rows. Precision over recall shows how many of the rows at the
top of the ranking are right. ``PoolCWClassifier`` keeps the covariance of its pool of weights and prunes it.
``AROWClassifier`` with ``n_features_to_select=50`` takes the features with the strongest evidence, at a fraction of
the cost. Both keep most of what AROW reaches with all features. A penalty on gradients (``FTRLClassifier``) selects
frequent words, which are not those of the rare class.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.metrics import average_precision_score, precision_recall_curve

from thresher.confidence import PoolCWClassifier
from thresher.datasets import make_sparse_stream
from thresher.dual_averaging import FTRLClassifier
from thresher.online import AROWClassifier

batches = list(make_sparse_stream(160_000, 10_000, n_relevant=200, positives=0.001, random_state=0).batches)
learn, test = batches[:11], batches[11:]
X_test, y_test = sparse.vstack([X for X, _ in test], format="csr"), np.concatenate([y for _, y in test])
models = {
    "PoolCWClassifier": PoolCWClassifier(n_features_to_select=50, cost=0.5),
    "AROWClassifier": AROWClassifier(n_features_to_select=50),
    "FTRLClassifier": FTRLClassifier(n_features_to_select=50),
    "AROWClassifier, all features": AROWClassifier(),
}
for model in models.values():
    for X, y in learn:
        model.partial_fit(X, y, classes=[0, 1])

# %%

figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
looks = (("#0072B2", "-"), ("#009E73", "-"), ("#D55E00", "-"), ("#888888", "--"))
for (name, model), (colour, line) in zip(models.items(), looks, strict=True):
    scores = model.decision_function(X_test)
    precision, recall, _ = precision_recall_curve(y_test, scores)
    area = average_precision_score(y_test, scores)
    axes.step(recall, precision, line, where="post", color=colour, linewidth=2, label=f"{area:.2f}  {name}")
axes.set(xlabel="recall: share of the rare rows found", ylabel="precision: share of those found that are right")
axes.set(xlim=(0, 1), ylim=(0, 1.02))
axes.legend(title="average precision", frameon=False, loc="center left", alignment="left")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
