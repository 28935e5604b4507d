"""The settings of ``bblr compare`` where nothing else is said."""

from pathlib import Path

__all__ = ["FOLDS", "NOISE", "OUT", "PROTOCOL", "REPEATS"]

# Chosen so that `bblr compare` ends after about two minutes on two cores.
REPEATS = 2
FOLDS = 5
NOISE = 0.1
PROTOCOL = "uniform-one-class"
OUT = Path("report.html")
