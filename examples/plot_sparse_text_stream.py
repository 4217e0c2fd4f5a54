"""
Sparse text from a stream: how few weights are enough
=====================================================

Rows like short texts arrive in chunks of 500, and each is seen once. How good is a linear model of few weights? The
picture shows the error on rows that come later, over the number of weights other than 0.

All learners are tuned by one rule. Each goes through seven values, over three decades, of the parameter that makes it
sparse: the l1 penalty of scikit-learn's ``SGDClassifier`` and of our ``L1RDAClassifier`` and ``FTRLClassifier``, all
with the logistic loss, and the number of features of ``AROWClassifier``. The step size is the one with the fewest
mistakes on chunks that were predicted before they were learned from. Our learners find it during their one pass.
``SGDClassifier`` makes a pass with each of seven schedules, and the best one counts.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from thresher.datasets import make_sparse_stream
from thresher.dual_averaging import FTRLClassifier, L1RDAClassifier
from thresher.online import AROWClassifier

stream = make_sparse_stream(140_000, 20_000, n_relevant=50, positives=0.2, batch_size=500, random_state=0)
chunks = list(stream.batches)
for X, _ in chunks:
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn takes no others
chunks, later = chunks[:80], chunks[80:]
X_later, y_later = sparse.vstack([X for X, _ in later], format="csr"), np.concatenate([y for _, y in later])

SCHEDULES = [
    {"learning_rate": "optimal"},
    *({"learning_rate": "constant", "eta0": eta0} for eta0 in (0.1, 1.0, 10.0)),
    *({"learning_rate": "invscaling", "eta0": eta0, "power_t": 0.5} for eta0 in (10.0, 100.0, 1000.0)),
]


def sgd(alpha):
    return [SGDClassifier(loss="log_loss", penalty="l1", alpha=alpha, random_state=0, **each) for each in SCHEDULES]


PATHS = {
    "SGDClassifier": (sgd, np.geomspace(3e-6, 3e-3, 7)),
    "L1RDAClassifier": (lambda alpha: [L1RDAClassifier(alpha, loss="logistic")], np.geomspace(1e-6, 1e-3, 7)),
    "FTRLClassifier": (lambda alpha: [FTRLClassifier(alpha=alpha)], np.geomspace(0.02, 20, 7)),
    "AROWClassifier": (lambda k: [AROWClassifier(n_features_to_select=round(k))], np.geomspace(10, 10_000, 7)),
}

# %%
# Every chunk is predicted before it is learned from, and of several schedules the one with the fewest mistakes stays.


def mistakes_of_one_pass(model):
    n_wrong = 0
    for X, y in chunks:
        n_wrong += np.sum(model.predict(X) != y) if hasattr(model, "classes_") else 0
        model.partial_fit(X, y, classes=[0, 1])
    return n_wrong


def weights_and_error(model):
    used = np.flatnonzero(model.coef_)
    return len(used), np.isin(used, stream.relevant).sum(), 100 * np.mean(model.predict(X_later) != y_later)


found = {}
best_sgd, fewest = None, np.inf
for name, (candidates, values) in PATHS.items():
    found[name] = []
    for value in values:
        models = candidates(value)
        mistakes = [mistakes_of_one_pass(model) for model in models]
        model = models[np.argmin(mistakes)]
        found[name].append(weights_and_error(model))
        if name == "SGDClassifier" and min(mistakes) < fewest:
            best_sgd, fewest = model, min(mistakes)

# %%
# ``SGDClassifier`` is sparse after one call over all rows, but its zeros do not survive the next call of
# ``partial_fit``. Someone who knows that will cut its weights when the stream is over: of the model with the fewest
# mistakes, keep the largest weights, as many as AROW may use.

CUT = "SGDClassifier, cut afterwards"
all_weights, found[CUT] = best_sgd.coef_.copy(), []
for k in PATHS["AROWClassifier"][1]:
    least = np.sort(np.abs(all_weights[0]))[-round(k)]
    best_sgd.coef_ = np.where(np.abs(all_weights) >= least, all_weights, 0)
    found[CUT].append(weights_and_error(best_sgd))

# %%

looks = {  # colour, line, and where the name stands
    "SGDClassifier": ("#D55E00", "-", (1_350, 8.2)),
    "L1RDAClassifier": ("#0072B2", "-", (34, 5.85)),
    "FTRLClassifier": ("#009E73", "-", (130, 4.3)),
    "AROWClassifier": ("#7B3294", "-", (9.2, 4.3)),
    CUT: ("#D55E00", "--", (10, 8.7)),
}
figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
for name, (colour, line, place) in looks.items():
    n_weights, _, error = zip(*found[name], strict=True)
    axes.plot(n_weights, error, marker="o", markersize=4.5, linestyle=line, linewidth=1.8, color=colour)
    axes.annotate(name, place, color=colour, weight="bold")
axes.set(xscale="log", yscale="log", xlim=(8, 25_000), ylim=(4, 13))
axes.set(xlabel="weights other than 0", ylabel="error on 100,000 later rows")
axes.set_yticks([4, 5, 6, 8, 10, 12], [f"{tick} %" for tick in (4, 5, 6, 8, 10, 12)])
axes.yaxis.set_minor_formatter("")
axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
axes.grid(color="#dddddd", linewidth=0.6)
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Each line: the number of weights, how many of them belong to the 50 features that matter, and the error in %.

for name, points in found.items():
    print(name)
    for n_weights, n_relevant, error in points:
        print(f"  {n_weights:6,} weights, {n_relevant:2} of them relevant, error {error:5.2f} %")

# %%
# How many weights does each learner need to come within half a point of the least error of all?

least = min(error for points in found.values() for *_, error in points)
print(f"least error {least:.2f} %; within half a point of it:")
for name, points in found.items():
    print(f"{name:30} {min(n_weights for n_weights, _, error in points if error <= least + 0.5):6,} weights")
