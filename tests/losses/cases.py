"""Every loss of the registry, and Beta-Bernoulli losses of more classes, with rows to cost."""

import numpy as np

from bblr.losses import LOSSES, BetaBernoulli, Loss, Plateaus, Ramp

TWO = [*LOSSES.values()]
TWO += [BetaBernoulli(Plateaus(low), 3.0) for low in [(0.1, 0.1), (0.3, 0.05), (0.0, 0.2)]]
TWO += [BetaBernoulli.binary(0.25, 0.75, 0.5), BetaBernoulli(Plateaus.none(), 2.0)]
TWO += [loss.sharpened(4.0) for loss in LOSSES.values() if hasattr(loss, "gamma")]
TWO += [Ramp(3.0, s=-0.25), Ramp(1.0, s=0.0)]
MORE = [
    BetaBernoulli(Plateaus(low), gamma)
    for low, gamma in [
        ((0.1, 0.1, 0.1), 1.0),
        ((0.2, 0.1, 0.02), 3.0),
        ((0.1, 0.0, 0.3), 2.0),
        ((0.0, 0.0, 0.0), 1.0),
        ((0.05,) * 5, 4.0),
        ((0.1, 0.02, 0.2, 0.05, 0.01), 0.5),
        ((0.1, 0.0, 0.2, 0.0, 0.01), 1.0),
    ]
]
EVERY = [*TWO, *MORE]


def named(loss: Loss) -> str:
    low = getattr(loss, "low", None)
    return repr(loss) if low is None else f"BetaBernoulli({low}, {loss.gamma:g})"


def kinks(loss: Loss) -> list[float]:
    """Margins at which the loss has no derivative."""
    if isinstance(loss, Ramp):
        return [1.0 / loss.gamma, loss.s / loss.gamma]
    return {"zero-one": [0.0], "hinge": [1.0]}.get(loss.name, [])


def rows(loss: Loss, n=90, scale=2.0, seed=0):
    """Labels, scores away from kinks, and weights of which some are zero."""
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.2, 2.0, n) * (rng.random(n) < 0.9)
    if loss.n_scores > 1:
        raw = scale * rng.normal(size=(n, loss.n_scores))
        return rng.integers(0, loss.n_scores, n), raw, weight
    y, raw = rng.choice([-1.0, 1.0], n), scale * rng.normal(size=n)
    for kink in kinks(loss):
        raw = np.where(np.abs(y * raw - kink) < 0.05, raw + 0.2, raw)
    return y, raw, weight
