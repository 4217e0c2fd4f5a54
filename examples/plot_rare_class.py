"""
One row in two hundred, and 50 features
=======================================

A rare class is marked by few of 20,000 words, and the model may use 50 features. What counts then is not accuracy, which is high for a model that
never says yes, but how many of the rows at the top of the list are right: precision over recall. ``PoolCWClassifier`` keeps the full covariance of its pool of
weights and prunes it; ``AROWClassifier(n_features_to_select=50)`` is far cheaper and comes close; a budget kept by truncation (``OFSClassifier``)
loses features before it knows their worth. All read the same stream once.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.metrics import average_precision_score, precision_recall_curve

from thresher.confidence import PoolCWClassifier
from thresher.datasets import make_sparse_stream
from thresher.online import AROWClassifier, OFSClassifier

stream = make_sparse_stream(60_000, 20_000, n_relevant=60, positives=0.005, batch_size=5_000, random_state=1)
batches = list(stream.batches)
learn, test = batches[:8], batches[8:]
X_test, y_test = sparse.vstack([X for X, _ in test], format="csr"), np.concatenate([y for _, y in test])
models = {
    "PoolCWClassifier": PoolCWClassifier(n_features_to_select=50, cost=0.5, scout=True, fit_intercept=True),
    "AROWClassifier, 50 features": AROWClassifier(r="auto", n_features_to_select=50),
    "OFSClassifier": OFSClassifier(n_features_to_select=50),
}
for model in models.values():
    for X, y in learn:
        model.partial_fit(X, y, classes=[0, 1])

# %%

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for (name, model), colour in zip(models.items(), ("#0072B2", "#009E73", "#D55E00"), strict=True):
    scores = model.decision_function(X_test)
    precision, recall, _ = precision_recall_curve(y_test, scores)
    axes.step(recall, precision, where="post", color=colour, linewidth=2, label=f"{name}: {average_precision_score(y_test, scores):.2f}")
axes.axhline(y_test.mean(), color="#666666", linestyle=":", label=f"a guess: {y_test.mean():.3f}")
axes.set(xlabel="recall: share of the rare rows found", ylabel="precision: share of the found that are right", xlim=(0, 1), ylim=(0, 1.02))
axes.legend(title="average precision", frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
