"""The settings of ``bblr compare`` and ``bblr claims`` where nothing else is said."""

from pathlib import Path

__all__ = ["CLAIM_REPEATS", "FOLDS", "NOISE", "OUT", "PROTOCOL", "REPEATS"]

# Chosen so that `bblr compare` ends after about two minutes on two cores.
REPEATS = 1
FOLDS = 5
NOISE = 0.1
PROTOCOL = "uniform-one-class"
OUT = Path("report.html")
# What the claims are stated for: 10 x 5 folds.
CLAIM_REPEATS = 10
