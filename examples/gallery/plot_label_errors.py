"""
Finding wrong labels
====================

A row that the model has given up on lies on the wrong plateau: its label contradicts
what all the other rows say. :func:`~bblr.find_label_errors` ranks rows by the evidence
that their label is wrong. Every row is judged by models that were trained without it.
"""

# %%
# Digits, one label in ten wrong
# ------------------------------
# We turn over 10 % of the labels of scikit-learn's digits, so that we know what is to
# be found. The audit sees the dirty labels only.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, find_label_errors
from bblr.evaluation import add_noise

X, y = load_digits(return_X_y=True)
X /= X.max()
_, dirty, flipped = add_noise(
    X, y, protocol="label-flip", fraction=0.1, random_state=0, return_index=True
)
found = find_label_errors(BBLRClassifier(), X, dirty, random_state=0)
wrong = np.isin(np.arange(len(y)), flipped)

print(f"{len(flipped)} labels were turned over; the audit estimates {found.n_errors}")
print(f"of the {found.n_errors} rows that it names {wrong[found.indices].sum()} are wrong")
print(f"its suggestion is the true digit in {np.mean(found.suggested[flipped] == y[flipped]):.0%}")

# %%
# Against a simple recipe
# -----------------------
# A simple audit needs no library: fit a logistic regression in five folds and sort the
# rows by the held-out probability of their own label. On digits with random mistakes it
# finds as many.
#
# The second set is one of tumours, of which 7.5 % carry a wrong label that is not
# random: the largest malignant ones are called benign, as if a batch had been filed
# wrongly. There the mistakes bias the logistic regression that should find them.


def plain_ranking(X, y):
    """Return all rows, those whose label is least probable first."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = LogisticRegression(max_iter=2000)
    proba = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    return np.argsort(proba[np.arange(len(y)), y], kind="stable")


tumours, truth = load_breast_cancer(return_X_y=True)
tumours = StandardScaler().fit_transform(tumours)
malignant = np.flatnonzero(truth == 0)
size = tumours.mean(axis=1)
misfiled = malignant[np.argsort(-size[malignant])[: round(0.075 * len(truth))]]
labels = truth.copy()
labels[misfiled] = 1
audit = find_label_errors(BBLRClassifier(), tumours, labels, random_state=0)

cases = {
    "digits, random mistakes": (wrong, found.ranking, plain_ranking(X, dirty)),
    "tumours, a misfiled batch": (
        labels != truth,
        audit.ranking,
        plain_ranking(tumours, labels),
    ),
}
hits = {}
for case, (is_wrong, ours, plain) in cases.items():
    n = int(is_wrong.sum())
    hits[case] = (int(is_wrong[ours[:n]].sum()), int(is_wrong[plain[:n]].sum()), n)
    print(f"{case}: {hits[case][0]} of {n} by find_label_errors, {hits[case][1]} by hand")

# %%

plt.style.use("seaborn-v0_8-whitegrid")
figure, row = plt.subplots(1, 2, figsize=(8.4, 3.5), layout="constrained")
for axes, (case, (is_wrong, ours, plain)) in zip(row, cases.items(), strict=True):
    n = int(is_wrong.sum())
    looked_at = np.arange(1, 2 * n + 1)
    axes.plot(
        looked_at,
        np.minimum(looked_at, n),
        color="#555555",
        lw=1.2,
        ls=":",
        label="the best possible",
    )
    axes.plot(
        looked_at,
        np.cumsum(is_wrong[ours])[: 2 * n],
        color="#0072B2",
        lw=2.2,
        label="find_label_errors",
    )
    axes.plot(
        looked_at,
        np.cumsum(is_wrong[plain])[: 2 * n],
        color="#D55E00",
        lw=2.2,
        ls="--",
        label="logistic regression by hand",
    )
    axes.set(xlabel="rows looked at, in order", ylim=(0, None), xlim=(0, None))
    axes.set_title(case, loc="left", fontsize=11)
row[0].set_ylabel("wrong labels found")
row[0].legend(loc="lower right")
plt.show()

# %%
# What to look at
# ---------------
# The rows at the head of the ranking are plain cases. The interesting ones lie where
# evidence runs out: here are the last sixteen rows among those that the audit thinks
# are wrong. In orange are those whose label we had not touched; look at them before you
# change anything.

figure, grid = plt.subplots(2, 8, figsize=(8.4, 2.9), layout="constrained")
doubtful = found.indices[-16:]
for axes, row in zip(grid.ravel(), doubtful, strict=True):
    axes.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axes.set(xticks=[], yticks=[])
    colour = "#0072B2" if wrong[row] else "#D55E00"
    axes.set_xlabel(f"{dirty[row]}, rather {found.suggested[row]}?", color=colour, fontsize=9)
plt.show()
