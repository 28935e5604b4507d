"""
Outliers in two dimensions
==========================

A logistic regression and a linear SVM let one row cost as much as it likes. A few rows
that lie far out on the wrong side can then turn the decision boundary. The loss of
:class:`~bblr.BBLRClassifier` has a plateau: a row that is hopelessly wrong costs a
fixed amount, and moving the boundary towards it gains nothing.
"""

# %%
# Two classes, with and without a cluster of strays
# -------------------------------------------------
# The two classes overlap a little. The dirty training set has a further 6 % of rows: a
# small cluster far to the lower right that carries the label of the *left* class, as a
# broken sensor might write it. The test set is clean and large.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from bblr import BBLRClassifier

BLUE, ORANGE = "#0072B2", "#E69F00"
CENTRES = np.array([[-1.5, 0.0], [1.5, 0.0]])


def draw(n, rng):
    y = rng.integers(2, size=n)
    return rng.normal(CENTRES[y], [1.0, 1.5]), y


def with_strays(X, y, share, rng):
    n = round(share * len(y))
    strays = rng.normal([9.0, -9.0], 1.0, size=(n, 2))
    return np.vstack([X, strays]), np.append(y, np.zeros(n, dtype=int))


rng = np.random.default_rng(0)
X, y = draw(300, rng)
X_test, y_test = draw(20_000, rng)
training_sets = {"clean": (X, y), "6 % strays": with_strays(X, y, 0.06, rng)}
models = {
    "logistic regression": LogisticRegression(),
    "linear SVM": LinearSVC(),
    "BBLRClassifier": BBLRClassifier(),
}

# %%
# On clean data the three boundaries are the same line for practical purposes. With the
# strays, two of them turn.

plt.style.use("seaborn-v0_8-whitegrid")
figure, grid = plt.subplots(
    2, 3, figsize=(8.4, 5.9), sharex=True, sharey=True, layout="constrained"
)
u, v = np.meshgrid(np.linspace(-6, 13, 200), np.linspace(-13, 7, 200))
errors = {}
for row, (kind, (X_train, y_train)) in zip(grid, training_sets.items(), strict=True):
    for axes, (name, model) in zip(row, models.items(), strict=True):
        model.fit(X_train, y_train)
        errors[name, kind] = 100 * (1 - model.score(X_test, y_test))
        side = model.decision_function(np.column_stack([u.ravel(), v.ravel()])).reshape(u.shape)
        axes.contourf(u, v, side > 0, levels=[-0.5, 0.5, 1.5], colors=[BLUE, ORANGE], alpha=0.13)
        axes.contour(u, v, side, levels=[0.0], colors="#333333", linewidths=1.8)
        for label, colour, marker in ((0, BLUE, "o"), (1, ORANGE, "^")):
            own = y_train == label
            axes.scatter(*X_train[own].T, s=20, c=colour, marker=marker, lw=0.4, ec="white")
        axes.grid(False)
        axes.set_title(f"{name}, {kind}\ntest error {errors[name, kind]:.1f} %", fontsize=10)
plt.show()

for (name, kind), error in errors.items():
    print(f"{name:20} {kind:10} {error:5.1f} %")

# %%
# How much can it take?
# ---------------------
# A plateau bounds the cost of a row; it does not make rows disappear. When the strays
# become so many that giving up the *other* rows is cheaper, the boundary follows them.
# Here are the test errors as the share of strays grows, on average over ten training
# sets: at 30 % the boundary has not moved, at 40 % it has followed the other
# two.

shares = np.array([0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4])
curves = {name: np.zeros(len(shares)) for name in models}
n_repeats = 10
for seed in range(n_repeats):
    rng = np.random.default_rng(100 + seed)
    X, y = draw(300, rng)
    for k, share in enumerate(shares):
        dirty = with_strays(X, y, share, rng)
        for name, model in models.items():
            curves[name][k] += 100 * (1 - model.fit(*dirty).score(X_test, y_test)) / n_repeats

figure, axes = plt.subplots(figsize=(7.0, 3.8), layout="constrained")
looks = {
    "logistic regression": ("#D55E00", "s"),
    "linear SVM": ("#CC79A7", "D"),
    "BBLRClassifier": (BLUE, "o"),
}
for name, curve in curves.items():
    colour, marker = looks[name]
    axes.plot(100 * shares, curve, marker=marker, ms=5, lw=2, color=colour, label=name)
axes.set(xlabel="strays, % of the clean rows", ylabel="test error, %", ylim=(0, None))
axes.set_title("One cluster of strays, ten training sets", loc="left", fontsize=11)
axes.legend(loc=(0.28, 0.4))
plt.show()

for name, curve in curves.items():
    print(f"{name:20}", " ".join(f"{value:5.1f}" for value in curve))
