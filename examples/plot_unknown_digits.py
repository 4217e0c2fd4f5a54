"""
Digits of unknown classes
=========================

A classifier of the digits 0 to 5 predicts all ten digits. Any ordinary classifier answers with one of its six classes.
``SNDClassifier`` has a function for each class, which is above 0 where the class is, and rejects rows for which all
functions are below 0. It has not seen a 6, 7, 8 or 9 in training. The price is that some of the known digits are
rejected, too; hardly any is taken for another.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from thresher.novelty import SNDClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, stratify=y, random_state=0)
known = y_train < 6
model = SNDClassifier(nu=0.02, gamma=0.02).fit(X_train[known], y_train[known])
predicted = model.predict(X_test)

# %%

right = [np.mean(predicted[y_test == d] == d) for d in range(10)]
none = [np.mean(predicted[y_test == d] == -1) for d in range(10)]
other = 1 - np.array(right) - np.array(none)
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.bar(range(10), none, color="#666666", label="none of them")
axes.bar(range(10), right, bottom=none, color="#0072B2", label="the right class")
axes.bar(range(10), other, bottom=1 - other, color="#E69F00", label="a wrong class")
axes.axvline(5.5, color="black", linewidth=1, linestyle="--")
axes.text(2.5, 1.03, "learned", ha="center")
axes.text(7.5, 1.03, "never met", ha="center")
axes.set(xticks=range(10), xlabel="true digit", ylabel="share of answers", ylim=(0, 1.12))
axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
axes.spines[["top", "right"]].set_visible(False)
plt.show()
