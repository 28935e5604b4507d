"""Direct zero-one minimisation: time to the losses of SLA, and one exact line search."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bblr import SLAClassifier, ZeroOneClassifier
from bblr._numeric.zero_one import exact_line
from bblr.datasets import UCI_NAMES, load_uci
from bblr.designs import DenseDesign
from bblr.losses import BetaBernoulli
from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.data import gaussian
from research.benchmarks.timing import race, seconds, show
from research.claims.zero_one import PUBLISHED

ROWS, FEATURES = 350_000, 254
LOSS = BetaBernoulli.binary(0.1, 0.8, gamma=4.0)
SEEDS = 5


def _seconds_to(loss: float, X: Any, y: Any, seed: int) -> float:
    model = ZeroOneClassifier(time_limit=2, random_state=seed).fit(X, y)
    return min((moment.seconds for moment in model.trace_ if moment.loss <= loss), default=np.inf)


@case(
    "zero-one-sla",
    "search until it has SLA's published loss, against SLA to its end (median of five seeds)",
    *(Bar(f"{name}: time of SLA / time of search", ">=", 20) for name in UCI_NAMES),
)
def zero_one_sla(settings: Settings) -> Measured:
    figures, notes, details = {}, [], {}
    X, y = load_uci("liver", return_X_y=True)
    _seconds_to(0, X, y, 0)  # compiled code is loaded before the clock runs
    for name in UCI_NAMES:
        X, y = load_uci(name, return_X_y=True)
        target = PUBLISHED["sla"][name]
        sla = race({"SLA": partial(SLAClassifier().fit, X, y)}, settings.repeats(5))["SLA"]
        times = [_seconds_to(target, X, y, seed) for seed in range(settings.repeats(SEEDS))]
        reached = int(np.sum(sla.result.predict(X) != y))
        middle = float(np.median(times))
        figures[f"{name}: time of SLA / time of search"] = sla.best / middle
        notes.append(
            f"{name}: SLA {1000 * sla.best:.0f} ms to {reached} errors, "
            f"search {1000 * middle:.0f} ms to {target}"
        )
        details[name] = {"sla": sla.seconds, "search": times}
    return Measured(figures, notes, details)


@case(
    "zero-one-line",
    "one exact line search over 350,000 x 254, against one pass for value and gradient",
    Bar("time / pass", "<=", 8.0),
)
def zero_one_line(settings: Settings) -> Measured:
    X, y = gaussian(settings.rows(ROWS), FEATURES, settings.seed)
    rng = np.random.default_rng(settings.seed + 1)
    coef, direction = rng.normal(size=(2, 1, FEATURES))
    design, weight = DenseDesign(X), np.ones(len(y))
    zero = np.zeros(1)
    raw = design.scores(coef, zero)
    timings = race(
        {
            "line": lambda: exact_line(raw, design.scores(direction, zero), y, weight),
            "pass": lambda: design.value_gradient(coef, zero, y, weight, LOSS),
        },
        settings.repeats(9),
        warm_up=True,
    )
    ratio = timings["line"].best / timings["pass"].best
    return Measured({"time / pass": ratio}, [show(timings)], {"seconds": seconds(timings)})
