"""
Calibration under noise
=======================

A probability is calibrated if events predicted with 80 % happen in 80 % of the cases.
Plateaus are statements about probabilities: no row is ever more certain than they
allow, so it matters where they come from. This example compares three answers
with logistic regression, on clean and on dirty training data, by reliability diagrams
over clean test rows.
"""

# %%
# Data that follow logistic regression
# ------------------------------------
# The labels are drawn from a logistic model of ten features. With clean data nothing
# can then be better calibrated than ``LogisticRegression``. The second training set has
# a further 10 % of rows from anywhere, all called positive; in the third 10 % of the
# labels are turned over.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, BBLRClassifierCV
from bblr.evaluation import add_noise, expected_calibration_error
from bblr.plotting import ReliabilityDisplay

WEIGHTS = np.array([1.5, -1.0, 0.8, 0.5, 0, 0, 0, 0, 0, 0])


def draw(n, rng):
    X = rng.normal(size=(n, len(WEIGHTS)))
    return X, (rng.random(n) < 1 / (1 + np.exp(-X @ WEIGHTS))).astype(int)


rng = np.random.default_rng(0)
X, y = draw(2_000, rng)
X_test, y_test = draw(20_000, rng)
training_sets = {
    "clean": (X, y),
    "10 % outliers": add_noise(X, y, fraction=0.1, random_state=0),
    "10 % flipped labels": add_noise(X, y, protocol="label-flip", fraction=0.1, random_state=0),
}

# %%
# Three ways to have plateaus
# ---------------------------
# ``BBLRClassifier()`` trains with plateaus at the rates of stray labels that it finds in
# the data, ``prior="learned"`` with those of greatest likelihood, and
# :class:`~bblr.BBLRClassifierCV` with those that decide held-out rows best. What they
# *report* is fitted apart from that, to leave-one-out or held-out scores.

models = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "BBLRClassifier()": BBLRClassifier(),
    'BBLRClassifier("learned")': BBLRClassifier("learned"),
    "BBLRClassifierCV()": BBLRClassifierCV(random_state=0),
}
predicted, figures = {}, {}
print(f"{'':22}{'':28}error %  calibration error  log loss")
for kind, (X_train, y_train) in training_sets.items():
    for name, model in models.items():
        proba = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
        error = 100 * np.mean((proba > 0.5) != y_test)
        gap = expected_calibration_error(y_test, proba)
        predicted[kind, name] = proba
        figures[kind, name] = (error, gap, log_loss(y_test, proba))
        print(f"{kind:22}{name:28}{error:6.1f}{gap:17.3f}{log_loss(y_test, proba):13.3f}")

# %%
# Points on the diagonal are calibrated. Each point is a twentieth of the test rows.

plt.style.use("seaborn-v0_8-whitegrid")
figure, row = plt.subplots(
    1, 3, figsize=(8.4, 3.8), sharex=True, sharey=True, layout="constrained"
)
colours = dict(zip(models, ("#D55E00", "#56B4E9", "#009E73", "#0072B2"), strict=True))
for axes, kind in zip(row, training_sets, strict=True):
    for name, colour in colours.items():
        ReliabilityDisplay.from_predictions(
            y_test, predicted[kind, name], n_bins=20, strategy="quantile",
            ax=axes, label=name, color=colour, linewidth=1.4, markersize=5,
        )  # fmt: skip
    axes.get_legend().remove()  # one for all three, below
    axes.set_title(kind, loc="left", fontsize=11)
    axes.set(xlabel="predicted probability", ylabel="", aspect="equal")
    axes.set_xticks([0, 0.5, 1])
row[0].set_ylabel("share of positives")
figure.legend(*row[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=9)
plt.show()

# %%
# What to take from it
# --------------------
# - On clean data logistic regression is as good as it gets, and the others are next to
#   it: plateaus for training cost nothing in calibration.
# - With outliers logistic regression loses on all counts: more errors, and
#   probabilities shrunk towards the middle. The plateaus and the bound on leverage keep
#   the decisions, and nearly all of the calibration error goes away.
# - Flipped labels bend everybody's probabilities alike, since they are calibrated to
#   the labels that there are. No decision changes much, logistic regression's included.
