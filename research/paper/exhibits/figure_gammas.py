"""The Beta-Bernoulli loss and its probability, from gamma = 1 to 1,024."""

from bblr.losses import BetaBernoulli, Logistic, Plateaus
from research.paper.curves import Curves, Level, Line, Plot

_PRIOR = Plateaus.from_counts([1, 1], 100)
_POWERS = range(11)
_SHARP = BetaBernoulli(_PRIOR, gamma=2.0 ** max(_POWERS))
_LINES = (
    Line(label="logistic", loss=Logistic(), colour="lr", dash="dashed"),
    *(
        Line(
            label=f"γ = {2**power}",
            loss=_SHARP.sharpened(2.0**power),
            opacity=0.4 + 0.6 * power / max(_POWERS),
        )
        for power in _POWERS
    ),
)
_WRONG, _RIGHT = _SHARP.limit(1, [-1.0, 1.0])

EXHIBIT = Curves(
    name="figure-gammas",
    place=2,
    title="From the logistic loss to the zero-one loss",
    about=(
        "The Beta-Bernoulli model with a weak prior for growing γ: its negative log probability "
        "is bounded and tends to a step, a scaled and shifted zero-one loss."
    ),
    reading="α = β = 1 and n = 100; γ doubles ten times, from 1 to 1,024. An example with t = 1.",
    notes=(
        f"The paper's caption says a = 0.1. Its formulas give a = {_PRIOR.a:.4f} and "
        f"b = {_PRIOR.b:.4f} for these counts, and these are drawn.",
    ),
    plots=(
        Plot(
            title="Negative log probability",
            x_label="score wᵀx",
            y_label="−log P(t = 1)",
            reach=6.0,
            heights=(-0.15, 6.2),
            columns=4,
            places=(-6.0, -0.1, 0.1, 6.0),
            levels=(
                Level(label="−log a", value=float(_WRONG), side="right"),
                Level(label="−log(a + b)", value=float(_RIGHT), side="left"),
            ),
            lines=_LINES,
        ),
        Plot(
            title="Probability",
            x_label="score wᵀx",
            y_label="P(t = 1)",
            view="probability",
            reach=6.0,
            heights=(-0.02, 1.06),
            columns=4,
            places=(-6.0, -0.1, 0.1, 6.0),
            levels=(
                Level(label="a", value=_PRIOR.a, side="right"),
                Level(label="a + b", value=_PRIOR.a + _PRIOR.b, side="left"),
            ),
            lines=_LINES,
        ),
    ),
)
