"""The settings of the commands where nothing else is said."""

from pathlib import Path

__all__ = [
    "CLAIM_REPEATS", "FOLDS", "NOISE", "OUT", "PAGE_OUTLIERS", "PROTOCOL", "REPEATS",
    "REPRODUCTION",
]  # fmt: skip

# Chosen so that `bblr compare` ends after about two minutes on two cores.
REPEATS = 1
FOLDS = 5
NOISE = 0.1
PROTOCOL = "uniform-one-class"
OUT = Path("report.html")
REPRODUCTION = Path("reproduction")
# What the claims are stated for: 10 x 5 folds.
CLAIM_REPEATS = 10
# Far-off faces on simulated pages: about one in eight.
PAGE_OUTLIERS = 0.12
