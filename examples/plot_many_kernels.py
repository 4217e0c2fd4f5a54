"""
Selecting among many kernels
============================

Three of ten features matter, each by a curve. ``GMKLClassifier`` gets a wide and a narrow Gaussian kernel for each
feature, learns their weights, and leaves most of them at exactly 0. The narrow kernels of the first three features
have the largest weights, and a few others have a small one.
"""

import matplotlib.pyplot as plt

from thresher.datasets import make_additive
from thresher.inspection import kernels_in_use
from thresher.kernels import RBF
from thresher.mkl import GMKLClassifier

X, y = make_additive(800, 10, noise=0.5, random_state=0)
kernels = [RBF(gamma, features=[j]) for j in range(10) for gamma in (0.05, 0.5)]
model = GMKLClassifier(kernels, v=1.0).fit(X[:400], y[:400])

# %%

strength = {kernel.name: kernel.strength for kernel in kernels_in_use(model)}
names = list(model.kernel_names_)
figure, axes = plt.subplots(figsize=(6.5, 4.6), layout="constrained")
bars = axes.barh(names, [strength.get(name, 0.0) for name in names], color="#0072B2")
axes.bar_label(bars, [f"{strength[name]:.2f}" if name in strength else "0" for name in names], padding=3, fontsize=8)
axes.invert_yaxis()
axes.set(
    xlabel="weight of the kernel",
    title=f"accuracy on new rows {model.score(X[400:], y[400:]):.0%}; {len(strength)} of {len(names)} kernels in use",
)
axes.tick_params(axis="y", labelsize=8)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
