"""Pooled McNemar tests on clean and noisy data."""

from dataclasses import replace

from research.paper.common import CLEAN_UCI, NOISY_UCI, RIVALS, UCI
from research.paper.pooled import PooledTests

_CLEAN, _NOISY = "Clean", "Noisy"

EXHIBIT = PooledTests(
    name="table-mcnemar",
    place=13,
    title="Pooled McNemar tests of BBLR3, z",
    about="BBLR3 against LR and a linear SVM over all folds of the four UCI sets; 2.32 and more "
    "is significant at 1 % on one side.",
    reading="The fits of table-sums and table-noisy-sums. The paper takes every fold of every "
    "repetition as a test of its own; but ten repetitions are ten looks at the same rows. The "
    "last columns count each row once.",
    data=UCI,
    method="BBLR3",
    rivals=RIVALS,
    readings=(
        replace(CLEAN_UCI[0], part=_CLEAN),
        replace(NOISY_UCI[0], part=_NOISY),
        replace(NOISY_UCI[1], part="Noisy, random labels"),
    ),
    printed={_CLEAN: (3.17, 0.69), _NOISY: (4.33, 3.7)},
    minutes=(0.0, 0.0),
)
