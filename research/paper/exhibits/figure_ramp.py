"""The ramp loss as a sum of two hinges."""

from bblr.losses import Hinge, Loss, Ramp
from research.paper.curves import Curves, Level, Line, Plot

_END = -1.0


def _plot(title: str, label: str, loss: Loss, *levels: Level, negative: bool = False) -> Plot:
    # The hinge falls to 0 at 1; moved by 1 - s it does so at s.
    shift, factor = (1.0 - _END, -1.0) if negative else (0.0, 1.0)
    line = Line(label=label, loss=loss, colour="svm", shift=shift, factor=factor)
    return Plot(
        title=title,
        x_label="margin z = t · wᵀx",
        y_label="loss",
        reach=3.0,
        heights=(-2.2, 4.2),
        levels=levels,
        lines=(line,),
    )


EXHIBIT = Curves(
    name="figure-ramp",
    place=5,
    title="The ramp loss of two hinge losses",
    about=(
        "Collobert and others add to the hinge loss a second one, negative and moved to s: their "
        "sum rises no further below s, a bounded loss like the Beta-Bernoulli one."
    ),
    reading="s = −1, as in the paper.",
    plots=(
        _plot("Hinge", "max(0, 1 − z)", Hinge()),
        _plot("Hinge at s, negative", "−max(0, s − z), s = −1", Hinge(), negative=True),
        _plot(
            "Ramp, their sum",
            "min(1 − s, max(0, 1 − z))",
            Ramp(s=_END),
            Level(label="1 − s", value=float(Ramp(s=_END).limit(1, -1.0))),
        ),
    ),
)
