"""
Sparse text from a stream: which weights survive
================================================

Rows like short texts arrive in chunks of 500. Both learners are asked for a sparse linear model by an l1 penalty.
Stochastic gradients (scikit-learn's ``SGDClassifier``) keep their zeros within one call of ``partial_fit`` only, so
that over many calls nearly every word that ever occurred gets a weight. Dual averaging keeps one sum per feature and
cuts all of them by the same rule at any moment: the number of weights does not grow with the number of chunks, and
the error is no larger.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from thresher.datasets import make_sparse_stream
from thresher.dual_averaging import L1RDAClassifier

stream = make_sparse_stream(50_000, 20_000, n_relevant=50, positives=0.2, batch_size=500, random_state=0)
models = {
    "SGDClassifier(penalty='l1')": SGDClassifier(loss="log_loss", penalty="l1", alpha=1e-5, random_state=0),
    "L1RDAClassifier": L1RDAClassifier(alpha=1e-4, eta0=300.0, loss="logistic"),
}

# %%
# Every chunk is predicted before it is learned from.

rows, weights, wrong = [], {name: [] for name in models}, {name: [] for name in models}
for X, y in stream.batches:
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn takes no others
    rows.append(len(y) + (rows[-1] if rows else 0))
    for name, model in models.items():
        if hasattr(model, "classes_"):
            wrong[name].append(np.mean(model.predict(X) != y))
        model.partial_fit(X, y, classes=[0, 1])
        weights[name].append(np.count_nonzero(model.coef_))

# %%

colours = dict(zip(models, ("#D55E00", "#0072B2"), strict=True))
figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.3), layout="constrained")
for name, colour in colours.items():
    left.plot(rows, weights[name], color=colour, linewidth=2)
    left.annotate(
        f"{weights[name][-1]:,}",
        (rows[-1], weights[name][-1]),
        (4, 0),
        textcoords="offset points",
        va="center",
        color=colour,
    )
    smooth = np.convolve(wrong[name], np.ones(10) / 10, mode="valid")
    right.plot(rows[10:], smooth, color=colour, linewidth=2, label=name)
left.set(title="weights other than 0", xlabel="rows so far", yscale="log", xlim=(0, 1.17 * rows[-1]), ylim=(1, 40_000))
right.set(title="error, last 10 chunks", xlabel="rows so far", xlim=(0, rows[-1]), ylim=(0, 0.25))
right.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xticks([0, 20_000, 40_000])
left.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
plt.show()

# %%
# How many of the features in use are among the 50 that matter, and how often was each learner wrong?

for name, model in models.items():
    used = np.flatnonzero(model.coef_)
    relevant = np.isin(used, stream.relevant).sum()
    print(f"{name:30} {len(used):6,} in use, {relevant} of them relevant, error {np.mean(wrong[name]):.3f}")
