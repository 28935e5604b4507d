"""
Proofs of optimality
====================

How few training errors can a hyperplane make? :class:`~bblr.ZeroOneClassifier` searches
for the answer, and with ``solver="mip"`` it also proves how few are possible at all:
rows that contradict each other cannot all be right, and a bound follows from enough
contradictions. Every bound is checked in whole numbers, so it does not hang on a
tolerance.
"""

# %%
# Found, then proved
# ------------------
# Breast has 683 tumours and nine features. The search ends at eleven errors. The bound
# then climbs until it meets them: no hyperplane whatever makes ten. Heart has 270
# patients and thirteen features and is much harder. We stop after five branches, and a
# gap stays open.

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, ZeroOneClassifier
from bblr.datasets import load_uci
from bblr.plotting import CertificateDisplay

breast = load_uci("breast", return_X_y=True)
heart = load_uci("heart", return_X_y=True)
proved = ZeroOneClassifier("mip", random_state=0).fit(*breast)
still_open = ZeroOneClassifier("mip", max_steps=5, random_state=0).fit(*heart)
for name, model in (("Breast", proved), ("Heart", still_open)):
    loss, bound = model.zero_one_loss_, model.lower_bound_
    print(f"{name:7} {loss:.0f} errors, at least {bound:.0f} are needed ({model.reason_})")

# %%

plt.style.use("seaborn-v0_8-whitegrid")
figure, row = plt.subplots(1, 2, figsize=(8.4, 3.5), layout="constrained")
titles = (
    f"Breast: {proved.zero_one_loss_:.0f} is the least",
    "Heart: a gap stays open",
)
for axes, model, title in zip(row, (proved, still_open), titles, strict=True):
    CertificateDisplay.from_estimator(
        model, ax=axes, lw=2.2, color="#0072B2", bound_kwargs={"color": "#D55E00"}
    )
    axes.set_title(title, loc="left", fontsize=11)
    axes.set(
        xscale="linear",
        xlabel="seconds on this machine",
        xlim=(0, None),
        ylim=(0, None),
    )
    axes.legend(loc="lower left")
plt.show()

# %%
# Two proofs of one number
# ------------------------
# With two features every hyperplane can be enumerated (``solver="exact"``). Branch and
# cut must come to the same number by another way.

two_features = (breast[0][:, [1, 5]], breast[1])
counted = ZeroOneClassifier("exact").fit(*two_features)
argued = ZeroOneClassifier("mip", random_state=0).fit(*two_features)
print(
    f"enumeration {counted.zero_one_loss_:.0f}, branch and cut {argued.zero_one_loss_:.0f}, "
    f"both proved: {counted.optimal_ and argued.optimal_}"
)

# %%
# The fewest training errors are not the aim
# ------------------------------------------
# They are a fact about the data, and a benchmark for other solvers. They promise nothing
# for new rows: the last errors are often saved by fitting noise. Here are training errors
# next to those of two-fold cross-validation.

folds = StratifiedKFold(2, shuffle=True, random_state=0)
models = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "BBLRClassifier": BBLRClassifier(),
    "ZeroOneClassifier": ZeroOneClassifier("search", random_state=0),
}
fitted = {"ZeroOneClassifier": proved}
X, y = breast
table = {}
for name, model in models.items():
    held_out = int((cross_val_predict(model, X, y, cv=folds) != y).sum())
    model = fitted.get(name) or model.fit(X, y)
    training = int((model.predict(X) != y).sum())
    table[name] = (training, held_out)
    print(f"{name:20} training errors {training:3d}, held-out errors {held_out:3d}")

# %%
# The classifier with the fewest training errors makes the most on held-out rows. The
# other two are level here, give or take luck: with three folds instead of two logistic
# regression leads. Use :class:`~bblr.ZeroOneClassifier` to know what is possible, and
# the smooth losses to predict.
