"""
Variances of AROW's weights
===========================

Second-order learners keep a variance for each weight. It starts at 1 and shrinks whenever the feature occurs in a row
that causes an update. Weights of frequent features soon settle; those of rare features still take large steps.
``n_features_to_select`` chooses features by the same numbers.
"""

import matplotlib.pyplot as plt
import numpy as np

from thresher.datasets import make_sparse_stream
from thresher.online import AROWClassifier

stream = make_sparse_stream(40_000, 5_000, n_relevant=40, positives=0.3, batch_size=2_000, random_state=0)
model, occurrences, rows, spread = AROWClassifier(), np.zeros(5_000), [], []
for X, y in stream.batches:
    model.partial_fit(X, y, classes=[0, 1])
    occurrences += np.bincount(X.indices, minlength=5_000)
    rows.append(model.n_samples_seen_)
    spread.append(np.sqrt(np.ravel(model.variance_)[:5_000]))

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
order = np.argsort(-occurrences)
for rank, colour in ((5, "#0072B2"), (100, "#009E73"), (1_000, "#E69F00"), (4_000, "#D55E00")):
    j = order[rank]
    left.plot(
        [0, *rows], [1, *(s[j] for s in spread)], color=colour, linewidth=2, label=f"in {occurrences[j]:,.0f} rows"
    )
left.set(xlabel="rows so far", ylabel="deviation of the weight", title="four features along the stream", ylim=(0, 1.05))
left.legend(frameon=False, fontsize=8, ncols=2)
right.scatter(occurrences + 1, spread[-1], s=4, color="#888888", linewidths=0, label="others")
right.scatter(
    occurrences[stream.relevant] + 1, spread[-1][stream.relevant], s=14, color="#D55E00", label="the 40 that matter"
)
right.set(xscale="log", xlabel="rows that have the feature", title="all features at the end")
right.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
left.set_xticks([0, 20_000, 40_000], ["0", "20,000", "40,000"])
plt.show()
