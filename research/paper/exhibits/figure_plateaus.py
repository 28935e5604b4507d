"""Plateaus of a strong and of an asymmetric prior."""

from bblr.losses import BetaBernoulli, Logistic, Plateaus
from research.paper.curves import Curves, Level, Line, Plot

_STRONG = BetaBernoulli.binary(a=1 / 4, b=1 / 2)
_POWERS = range(7)
_UNEVEN = BetaBernoulli(Plateaus.from_counts([200, 100], 100), gamma=8.0)
_WRONG, _RIGHT = _STRONG.limit(1, [-1.0, 1.0])
_MISSED, _FOUND = _UNEVEN.limit(1, [-1.0, 1.0])
_CLEARED = _UNEVEN.limit(-1, -1.0)

EXHIBIT = Curves(
    name="figure-plateaus",
    place=6,
    title="A strong prior, and an asymmetric one",
    about=(
        "A stronger prior brings the plateaus closer together. A prior that favours one class "
        "gives misses and false alarms different costs."
    ),
    reading=(
        "Strong: a = 1/4 and b = 1/2, that is α = β = n/2, for an example with t = 1. "
        "Asymmetric: α = n and β = 2n, that is a = b = 1/4, at γ = 8, for both labels."
    ),
    notes=(
        "With α = n and β = 2n the probability of t = 1 lies between 1/4 and 1/2 for any score: "
        "the more probable class is always t = −1. The figure shows unequal costs, not plateaus "
        "to classify with.",
    ),
    plots=(
        Plot(
            title="Strong prior",
            x_label="score wᵀx",
            y_label="−log P(t = 1)",
            heights=(-0.05, 2.15),
            columns=4,
            places=(-4.0, -0.1, 0.1, 4.0),
            levels=(
                Level(label="−log a", value=float(_WRONG), side="right"),
                Level(label="−log(a + b)", value=float(_RIGHT), side="left"),
            ),
            lines=(
                Line(label="logistic", loss=Logistic(), colour="lr", dash="dashed"),
                *(
                    Line(
                        label=f"γ = {2**power}",
                        loss=_STRONG.sharpened(2.0**power),
                        opacity=0.4 + 0.6 * power / max(_POWERS),
                    )
                    for power in _POWERS
                ),
            ),
        ),
        Plot(
            title="Asymmetric prior, γ = 8",
            x_label="score wᵀx",
            y_label="−log P(t)",
            reach=6.0,
            heights=(-0.05, 2.15),
            levels=(
                Level(label="−log 1/4", value=float(_MISSED), side="right"),
                Level(label="−log 3/4", value=float(_CLEARED), side="right"),
                Level(label="−log 1/2", value=float(_FOUND), side="right"),
            ),
            lines=(
                Line(label="logistic, t = 1", loss=Logistic(), colour="lr"),
                Line(label="logistic, t = −1", loss=Logistic(), colour="lr", dash="dashed", t=-1),
                Line(label="BBγ, t = 1", loss=_UNEVEN),
                Line(label="BBγ, t = −1", loss=_UNEVEN, dash="dashed", t=-1),
            ),
        ),
    ),
)
