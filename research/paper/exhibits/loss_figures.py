"""Curves of losses: widely used ones, smooth ones, ramps and plateaus."""

from functools import partial

from bblr.losses import (
    BetaBernoulli,
    GeneralizedLogistic,
    Hinge,
    Logistic,
    Loss,
    Plateaus,
    Ramp,
    Sigmoid,
    Squared,
    ZeroOne,
)
from research.paper.curves import Curves, Level, Line, Plot

_OF_MARGIN = partial(Plot, x_label="margin z = t · wᵀx", y_label="loss", reach=3.0)
_OF_SCORE = partial(Plot, x_label="score wᵀx")


def _line(
    label: str, loss: Loss, colour: str = "bblr", dash: str = "solid", **look: float
) -> Line:
    return Line(label=label, loss=loss, colour=colour, dash=dash, **look)  # type: ignore[arg-type]


def _family(loss: BetaBernoulli, powers: range) -> tuple[Line, ...]:
    """Sharpen a loss by powers of two, the sharper the less pale, and the logistic one."""
    family = (
        _line(f"γ = {2**k}", loss.sharpened(2.0**k), opacity=0.4 + 0.6 * k / max(powers))
        for k in powers
    )
    return (_line("logistic", Logistic(), "lr", "dashed"), *family)


LOSSES = Curves(
    name="figure-losses",
    place=1,
    title="Widely used losses",
    about="Logistic, hinge and zero-one loss of the margin. The first two grow without bound on "
    "the wrong side, so a few far outliers can outweigh all other examples.",
    reading="The squared loss is drawn as well, after a figure that the paper's source holds but "
    "does not print.",
    plots=(
        _OF_MARGIN(
            title="Losses of the margin",
            heights=(-0.1, 4.2),
            columns=4,
            lines=(
                _line("squared", Squared(), "sla", "dotted"),
                _line("hinge", Hinge(), "svm", "dashed"),
                _line("logistic", Logistic(), "lr"),
                _line("zero-one", ZeroOne(), "ink"),
            ),
        ),
    ),
)

_PRIOR = Plateaus.from_counts([1, 1], 100)
_SHARP = BetaBernoulli(_PRIOR, gamma=1024.0)
_LINES = _family(_SHARP, range(11))
_WRONG, _RIGHT = _SHARP.limit(1, [-1.0, 1.0])
_GAMMA_PLOT = partial(_OF_SCORE, reach=6.0, columns=4, places=(-6.0, -0.1, 0.1, 6.0), lines=_LINES)

GAMMAS = Curves(
    name="figure-gammas",
    place=2,
    title="From the logistic loss to the zero-one loss",
    about="The Beta-Bernoulli model with a weak prior for growing γ: its negative log probability "
    "is bounded and tends to a step, a scaled and shifted zero-one loss.",
    reading="α = β = 1 and n = 100; γ doubles ten times, from 1 to 1,024. An example with t = 1.",
    notes=(
        f"The paper's caption says a = 0.1. Its formulas give a = {_PRIOR.a:.4f} and "
        f"b = {_PRIOR.b:.4f} for these counts, and these are drawn.",
    ),
    plots=(
        _GAMMA_PLOT(
            title="Negative log probability",
            y_label="−log P(t = 1)",
            heights=(-0.15, 6.2),
            levels=(
                Level(label="−log a", value=float(_WRONG), side="right"),
                Level(label="−log(a + b)", value=float(_RIGHT), side="left"),
            ),
        ),
        _GAMMA_PLOT(
            title="Probability",
            y_label="P(t = 1)",
            view="probability",
            heights=(-0.02, 1.06),
            levels=(
                Level(label="a", value=_PRIOR.a, side="right"),
                Level(label="a + b", value=_PRIOR.a + _PRIOR.b, side="left"),
            ),
        ),
    ),
)

SMOOTH_LOSSES = Curves(
    name="figure-smooth-losses",
    place=3,
    title="Smooth approximations of hinge and zero-one loss",
    about="Zhang and Oles shift the logistic loss and sharpen it by γ until it is nearly the "
    "hinge loss; Nguyen and Sanner sharpen a sigmoid until it is nearly the zero-one loss.",
    reading="γ = 2 and 4 towards the hinge, γ = 1, 2 and 32 towards zero-one, as printed.",
    plots=(
        _OF_MARGIN(
            title="Towards the hinge loss",
            heights=(-0.1, 4.2),
            lines=(
                _line("hinge", Hinge(), "svm", "dashed"),
                _line("logistic", Logistic(), "lr", "dotted"),
                _line("generalised, γ = 2", GeneralizedLogistic(gamma=2), "lr", opacity=0.6),
                _line("generalised, γ = 4", GeneralizedLogistic(gamma=4), "lr"),
            ),
        ),
        _OF_MARGIN(
            title="Towards the zero-one loss",
            heights=(-0.04, 1.08),
            lines=(
                _line("zero-one", ZeroOne(), "ink", "dashed"),
                _line("sigmoid, γ = 1", Sigmoid(gamma=1), "sla", opacity=0.5),
                _line("sigmoid, γ = 2", Sigmoid(gamma=2), "sla", opacity=0.75),
                _line("sigmoid, γ = 32", Sigmoid(gamma=32), "sla"),
            ),
        ),
    ),
)

_END = -1.0
_RAMP_PLOT = partial(_OF_MARGIN, heights=(-2.2, 4.2))
# The hinge falls to 0 at 1; moved by 1 - s it does so at s.
_MOVED = _line("−max(0, s − z), s = −1", Hinge(), "svm", shift=1.0 - _END, factor=-1.0)

RAMP = Curves(
    name="figure-ramp",
    place=5,
    title="The ramp loss of two hinge losses",
    about="Collobert and others add to the hinge loss a second one, negative and moved to s: "
    "their sum rises no further below s, a bounded loss like the Beta-Bernoulli one.",
    reading="s = −1, as in the paper.",
    plots=(
        _RAMP_PLOT(title="Hinge", lines=(_line("max(0, 1 − z)", Hinge(), "svm"),)),
        _RAMP_PLOT(title="Hinge at s, negative", lines=(_MOVED,)),
        _RAMP_PLOT(
            title="Ramp, their sum",
            lines=(_line("min(1 − s, max(0, 1 − z))", Ramp(s=_END), "svm"),),
            levels=(Level(label="1 − s", value=float(Ramp(s=_END).limit(1, -1.0))),),
        ),
    ),
)

_STRONG = BetaBernoulli.binary(a=1 / 4, b=1 / 2)
_UNEVEN = BetaBernoulli(Plateaus.from_counts([200, 100], 100), gamma=8.0)
_STRONG_WRONG, _STRONG_RIGHT = _STRONG.limit(1, [-1.0, 1.0])
_MISSED, _FOUND = _UNEVEN.limit(1, [-1.0, 1.0])
(_CLEARED,) = _UNEVEN.limit(-1, [-1.0])

PLATEAUS = Curves(
    name="figure-plateaus",
    place=6,
    title="A strong prior, and an asymmetric one",
    about="A stronger prior brings the plateaus closer together. A prior that favours one class "
    "gives misses and false alarms different costs.",
    reading="Strong: a = 1/4 and b = 1/2, that is α = β = n/2, for an example with t = 1. "
    "Asymmetric: α = n and β = 2n, that is a = b = 1/4, at γ = 8, for both labels.",
    notes=(
        "With α = n and β = 2n the probability of t = 1 lies between 1/4 and 1/2 for any score: "
        "the more probable class is always t = −1. The figure shows unequal costs, not plateaus "
        "to classify with.",
    ),
    plots=(
        _OF_SCORE(
            title="Strong prior",
            y_label="−log P(t = 1)",
            heights=(-0.05, 2.15),
            columns=4,
            places=(-4.0, -0.1, 0.1, 4.0),
            levels=(
                Level(label="−log a", value=float(_STRONG_WRONG), side="right"),
                Level(label="−log(a + b)", value=float(_STRONG_RIGHT), side="left"),
            ),
            lines=_family(_STRONG, range(7)),
        ),
        _OF_SCORE(
            title="Asymmetric prior, γ = 8",
            y_label="−log P(t)",
            reach=6.0,
            heights=(-0.05, 2.15),
            levels=(
                Level(label="−log 1/4", value=float(_MISSED)),
                Level(label="−log 3/4", value=float(_CLEARED)),
                Level(label="−log 1/2", value=float(_FOUND)),
            ),
            lines=(
                _line("logistic, t = 1", Logistic(), "lr"),
                _line("logistic, t = −1", Logistic(), "lr", "dashed", t=-1),
                _line("BBγ, t = 1", _UNEVEN),
                _line("BBγ, t = −1", _UNEVEN, dash="dashed", t=-1),
            ),
        ),
    ),
)

EXHIBITS = (LOSSES, GAMMAS, SMOOTH_LOSSES, RAMP, PLATEAUS)
