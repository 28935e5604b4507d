"""Joint inference: many small groups at once, and beside one at a time."""

from __future__ import annotations

import numpy as np

from bblr.structured import Group, JointModel
from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.timing import race, seconds, show

GROUPS, SIZE, IMAGES = 100_000, 7, 3
# One at a time is too slow for all of them.
FEW = 500


def _groups(n: int, seed: int) -> list[Group]:
    """Pages of seven faces in three images, all faces of different images compared."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n, SIZE)) < 0.3).astype(int)
    X = rng.normal(size=(n, SIZE, 5)) + labels[:, :, None]
    extra = rng.integers(IMAGES, size=(n, SIZE - IMAGES))
    images = np.concatenate([np.tile(np.arange(IMAGES), (n, 1)), extra], axis=1)
    every = np.array([(i, j) for i in range(SIZE) for j in range(i)])
    apart = images[:, every[:, 0]] != images[:, every[:, 1]]
    close = rng.normal(0.4 + 0.3 * labels[:, every].prod(axis=2), 0.15)
    return [
        Group(X[k], images[k], every[apart[k]], close[k][apart[k]], labels[k]) for k in range(n)
    ]


@case(
    "structured-inference",
    "labels and probabilities of 100,000 groups of 7 with similarities, features included",
    Bar("labels, ms per group", "<=", 0.05),
    Bar("probabilities, ms per group", "<=", 0.05),
    Bar("labels of all groups, seconds", "<=", 10.0),
    Bar("probabilities of all groups, seconds", "<=", 10.0),
    Bar("batched / one at a time, per group", "<=", 0.2),
)
def structured_inference(settings: Settings) -> Measured:
    groups = _groups(settings.rows(GROUPS), settings.seed)
    model = JointModel(random_state=settings.seed).fit(groups[:500])
    few = groups[:FEW]
    timings = race(
        {
            "labels": lambda: model.predict(groups),
            "probabilities": lambda: model.predict_proba(groups),
            "one at a time": lambda: [model.predict([group]) for group in few],
        },
        settings.repeats(3),
    )
    scale = GROUPS / len(groups)
    single = timings["one at a time"].best / len(few)
    figures = {"batched / one at a time, per group": timings["labels"].best / len(groups) / single}
    for what in ("labels", "probabilities"):
        figures[f"{what}, ms per group"] = 1000 * timings[what].best / len(groups)
        figures[f"{what} of all groups, seconds"] = timings[what].best * scale
    return Measured(figures, [show(timings)], {"seconds": seconds(timings)})
