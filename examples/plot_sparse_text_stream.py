"""
Sparse text from a stream: how few weights are enough
=====================================================

Rows like short texts arrive in chunks of 500, and each is seen once. How good is a linear model of few weights? The
picture shows the error on rows that come later, over the number of weights other than 0: five streams, thin, and their
medians.

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

N_STREAMS = 5


def rows_of(seed):
    """Chunks to learn from, all later rows, and the features that matter."""
    stream = make_sparse_stream(140_000, 20_000, n_relevant=50, positives=0.2, batch_size=500, random_state=seed)
    chunks = list(stream.batches)
    for X, _ in chunks:
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn takes no others
    chunks, later = chunks[:80], chunks[80:]
    X_later, y_later = sparse.vstack([X for X, _ in later], format="csr"), np.concatenate([y for _, y in later])
    return chunks, X_later, y_later, stream.relevant


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


def mistakes_of_one_pass(model, chunks):
    n_wrong = 0
    for X, y in chunks:
        n_wrong += np.sum(model.predict(X) != y) if hasattr(model, "classes_") else 0
        model.partial_fit(X, y, classes=[0, 1])
    return n_wrong


def best_of(models, chunks):
    mistakes = [mistakes_of_one_pass(model, chunks) for model in models]
    return models[np.argmin(mistakes)], min(mistakes)


# %%
# ``SGDClassifier`` is sparse after one call over all rows, but its zeros do not survive the next call of
# ``partial_fit``. Someone who knows that will cut its weights when the stream is over: of the model with the fewest
# mistakes, keep the largest weights, as many as AROW may use.

CUT = "SGDClassifier, cut afterwards"


def cut_to(model, weights, k):
    least = np.sort(np.abs(weights[0]))[-round(k)]
    model.coef_ = np.where(np.abs(weights) >= least, weights, 0)
    return model


def points_of(seed):
    """For each learner and value: weights other than 0, how many of them matter, and the error in %."""
    chunks, X_later, y_later, relevant = rows_of(seed)

    def point(model):
        used = np.flatnonzero(model.coef_)
        return len(used), np.isin(used, relevant).sum(), 100 * np.mean(model.predict(X_later) != y_later)

    points, of_sgd = {}, []
    for name, (candidates, values) in PATHS.items():
        found = [best_of(candidates(value), chunks) for value in values]
        points[name] = [point(model) for model, _ in found]
        of_sgd += found if name == "SGDClassifier" else []
    best, _ = min(of_sgd, key=lambda each: each[1])
    weights = best.coef_.copy()
    points[CUT] = [point(cut_to(best, weights, k)) for k in PATHS["AROWClassifier"][1]]
    return points


streams = [points_of(seed) for seed in range(N_STREAMS)]

# %%

looks = {  # colour, line, and where the name stands
    "SGDClassifier": ("#D55E00", "-", (1_350, 8.2)),
    "L1RDAClassifier": ("#0072B2", "-", (34, 5.85)),
    "FTRLClassifier": ("#009E73", "-", (125, 4.15)),
    "AROWClassifier": ("#7B3294", "-", (8.6, 3.65)),
    CUT: ("#D55E00", "--", (10, 8.7)),
}
figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
for name, (colour, line, place) in looks.items():
    paths = np.array([points[name] for points in streams])
    for n_weights, _, error in paths.transpose(0, 2, 1):
        axes.plot(n_weights, error, linestyle=line, linewidth=0.6, alpha=0.4, color=colour)
    n_weights, _, error = np.median(paths, axis=0).T
    axes.plot(n_weights, error, marker="o", markersize=4.5, linestyle=line, linewidth=1.8, color=colour)
    axes.annotate(name, place, color=colour, weight="bold")
axes.set(xscale="log", yscale="log", xlim=(8, 25_000), ylim=(3.2, 13))
axes.set(xlabel="weights other than 0", ylabel="error on 100,000 later rows")
axes.set_yticks([4, 5, 6, 8, 10, 12], [f"{tick} %" for tick in (4, 5, 6, 8, 10, 12)])
axes.yaxis.set_minor_formatter("")
axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
axes.grid(color="#dddddd", linewidth=0.6)
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Medians over the streams: the number of weights, how many of them belong to the 50 features that matter, and the error
# in %.

for name in looks:
    print(name)
    for n_weights, n_relevant, error in np.median([points[name] for points in streams], axis=0):
        print(f"  {n_weights:6,.0f} weights, {n_relevant:2.0f} of them relevant, error {error:5.2f} %")

# %%
# How many weights does each learner need to come within half a point of the least error of all? The median over the
# streams, the fewest and the most.


def n_needed(points, name):
    least = min(error for path in points.values() for *_, error in path)
    return min(n_weights for n_weights, _, error in points[name] if error <= least + 0.5)


for name in looks:
    needed = [n_needed(points, name) for points in streams]
    print(f"{name:30} {np.median(needed):6,.0f} weights ({min(needed):,} to {max(needed):,})")
