"""
Asymmetric costs: pseudo counts that differ
===========================================

The plateaus of the loss come from a Beta prior with α pseudo positives and β pseudo
negatives next to n examples: a = α/(α + β + n) and b = n/(α + β + n). A positive that is
hopelessly wrong costs −log a, a negative −log(1 − a − b). With α = β both cost the
same. With α < β a missed positive is dearer than a false alarm. This example shows what
that does to the decisions, what it does not do, and when ``class_weight`` is the better
tool.
"""

# %%
# Two losses, one for each class
# ------------------------------
# From the left plateau to the right one, the loss falls by log((a + b)/a) for a
# positive and by log((1 − a)/(1 − a − b)) for a negative. The quotient of the two is
# what a missed positive costs in false alarms.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from bblr import BBLRClassifier, Plateaus
from bblr.losses import BetaBernoulli

BLUE, ORANGE, RED = "#0072B2", "#E69F00", "#D55E00"
priors = {beta: Plateaus.from_counts([beta, 50 - beta], n=75) for beta in (25, 35, 45)}


def cost_ratio(prior):
    low = 1 - prior.a - prior.b
    return np.log((prior.a + prior.b) / prior.a) / np.log((1 - prior.a) / low)


plt.style.use("seaborn-v0_8-whitegrid")
figure, row = plt.subplots(1, 3, figsize=(8.4, 2.9), sharey=True, layout="constrained")
margin = np.linspace(-4, 4, 401)
for axes, (beta, prior) in zip(row, priors.items(), strict=True):
    loss = BetaBernoulli(prior, gamma=2.0)
    axes.plot(margin, loss.value(1, margin), color=ORANGE, lw=2.2, label="a positive")
    axes.plot(margin, loss.value(-1, -margin), color=BLUE, lw=2.2, ls="--", label="a negative")
    axes.set_title(
        f"α = {50 - beta}, β = {beta}: {cost_ratio(prior):.1f} to 1",
        loc="left",
        fontsize=11,
    )
    axes.set_xlabel("margin (right side: > 0)")
row[0].set(ylabel="loss, n = 75, γ = 2", ylim=(0, None))
row[0].legend(loc="lower left")
plt.show()

# %%
# What the decisions do
# ---------------------
# Two overlapping clouds, half of the rows positive. Two thresholds offer themselves.
# ``predict`` decides where the *probability* of the positive class is 1/2. But the
# plateaus are part of that probability: β > α also says that a negative label is
# believed more readily, and this takes back most of the shift. The loss itself changes
# sides half-way between the plateaus, where the probability is a + b/2. Whoever reads α
# and β as costs decides there.


def draw(n, rng):
    y = rng.integers(2, size=n)
    return rng.normal(np.where(y[:, None] == 1, 1.0, -1.0) * [0.8, 0.5]), y


def mistakes(y, predicted):
    """Return missed positives and false alarms in per cent of all rows."""
    return np.array([100 * np.mean(y > predicted), 100 * np.mean(y < predicted)])


def average(fit_predict, n_repeats=8):
    """Return the mean mistakes over training sets of 600 rows."""
    total = np.zeros(2)
    for seed in range(n_repeats):
        rng = np.random.default_rng(seed)
        X, y = draw(600, rng)
        X_test, y_test = draw(10_000, rng)
        total += mistakes(y_test, fit_predict(X, y, X_test)) / n_repeats
    return total


def with_prior(prior, threshold):
    def fit_predict(X, y, X_test):
        return BBLRClassifier(prior).fit(X, y).predict_proba(X_test)[:, 1] > threshold

    return fit_predict


def with_weight(model, ratio):
    def fit_predict(X, y, X_test):
        return model.set_params(class_weight={0: 1, 1: ratio}).fit(X, y).predict(X_test)

    return fit_predict


found = {
    "α ≠ β, a + b/2": [average(with_prior(p, p.a + p.b / 2)) for p in priors.values()],
    "α ≠ β, 1/2": [average(with_prior(p, 0.5)) for p in priors.values()],
    "class_weight, BBLR": [
        average(with_weight(BBLRClassifier(), cost_ratio(p))) for p in priors.values()
    ],
    "class_weight, LR": [
        average(with_weight(LogisticRegression(), cost_ratio(p))) for p in priors.values()
    ],
}
print(
    f"{'missed + false alarms, %':26}",
    "   ".join(f"{cost_ratio(p):4.1f} to 1 " for p in priors.values()),
)
for name, pairs in found.items():
    print(
        f"{name:26}",
        "   ".join(f"{missed:4.1f} + {alarms:4.1f}" for missed, alarms in pairs),
    )

# %%

figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
looks = {
    "α ≠ β, a + b/2": (BLUE, "o", "-"),
    "α ≠ β, 1/2": ("#56B4E9", "o", ":"),
    "class_weight, BBLR": ("#009E73", "D", "--"),
    "class_weight, LR": (RED, "s", "--"),
}
for name, (colour, marker, line) in looks.items():
    missed, alarms = np.array(found[name]).T
    axes.plot(alarms, missed, marker=marker, ls=line, lw=2, ms=6, color=colour, label=name)
axes.annotate("1 to 1", found["α ≠ β, 1/2"][0][::-1], xytext=(8, 8), textcoords="offset points")
for k, place in ((1, (-10, -16)), (2, (-10, -16))):
    text = f"{cost_ratio(list(priors.values())[k]):.1f} to 1"
    axes.annotate(
        text,
        found["α ≠ β, a + b/2"][k][::-1],
        xytext=place,
        textcoords="offset points",
        ha="right",
        color=BLUE,
    )
axes.set(
    xlabel="false alarms, % of the test rows",
    ylabel="missed positives, %",
    ylim=(0, None),
)
axes.legend()
plt.show()

# %%
# All methods move along the same trade-off; missed positives are never avoided for
# free. For *costs* in clean data ``class_weight`` is the plainer tool, for logistic
# regression as for ours: it says what it means, and ``predict`` follows it.
#
# Where α ≠ β is the right thing
# ------------------------------
# Suppose that 30 % of the positives were never found and stand in the training data as
# negatives. Then a negative label on the positive side is no scandal, and a positive
# label on the negative side is one. That is what unequal plateaus say: 30 % of the
# positives may look negative, hardly any negative looks positive.
# :meth:`bblr.Plateaus.from_rates` takes the two rates. The labels that we want are the
# true ones, so the decision is again half-way between the plateaus.


def missed_in_training(fit_predict):
    def spoilt(X, y, X_test):
        lost = np.random.default_rng(1).random(len(y)) < 0.3
        return fit_predict(X, np.where(lost, 0, y), X_test)

    return spoilt


def logistic(threshold):
    def fit_predict(X, y, X_test):
        return LogisticRegression().fit(X, y).predict_proba(X_test)[:, 1] > threshold

    return fit_predict


known = Plateaus.from_rates([0.99, 0.7])
one_sided = {
    "logistic regression": average(missed_in_training(logistic(0.5))),
    "BBLRClassifier(), α = β": average(missed_in_training(with_prior("robust", 0.5))),
    "LR, threshold (1 − 0.3)/2": average(missed_in_training(logistic(0.35))),
    "α ≠ β from the rates": average(missed_in_training(with_prior(known, known.a + known.b / 2))),
}
for name, (missed, alarms) in one_sided.items():
    print(f"{name:26} missed {missed:4.1f} %, false alarms {alarms:4.1f} %")

# %%
# Whoever does not tell the model of the lost positives misses many more. With the rates
# known, both models recover: unequal plateaus come within a per cent of what clean
# labels give, and a logistic regression whose threshold is moved by the same knowledge
# does as well in this plain case.

figure, axes = plt.subplots(figsize=(7.0, 2.8), layout="constrained")
bars = np.array(list(one_sided.values()))
place = np.arange(len(bars))[::-1]
axes.barh(place, bars[:, 0], color=ORANGE, label="missed positives")
axes.barh(place, bars[:, 1], left=bars[:, 0], color=BLUE, label="false alarms")
axes.axvline(
    found["α ≠ β, 1/2"][0].sum(),
    color="#333333",
    lw=1.2,
    ls=":",
    label="errors with clean labels",
)
axes.set_yticks(place, list(one_sided))
axes.set(xlabel="test rows, %")
axes.grid(axis="y", visible=False)
figure.legend(loc="outside upper center", ncols=3)
plt.show()
