"""What LightGBM and XGBoost share: the loss as rounds see it, and a classifier around either."""

from bblr.boosting.boosted_classifier import BoostedClassifier, WatchedRows, settled
from bblr.boosting.steps import Floats, Rho, class_shares, mean_loss, step

__all__ = [
    "BoostedClassifier", "Floats", "Rho", "WatchedRows", "class_shares", "mean_loss", "settled",
    "step",
]  # fmt: skip
