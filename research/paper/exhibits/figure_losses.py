"""The zero-one loss and three losses used in its place."""

from bblr.losses import Hinge, Logistic, Squared, ZeroOne
from research.paper.curves import Curves, Line, Plot

EXHIBIT = Curves(
    name="figure-losses",
    place=1,
    title="Widely used losses",
    about=(
        "Logistic, hinge and zero-one loss of the margin. The first two grow without bound on "
        "the wrong side, so a few far outliers can outweigh all other examples."
    ),
    reading=(
        "The squared loss is drawn as well, after a figure that the paper's source holds but "
        "does not print."
    ),
    plots=(
        Plot(
            title="Losses of the margin",
            x_label="margin z = t · wᵀx",
            y_label="loss",
            reach=3.0,
            heights=(-0.1, 4.2),
            columns=4,
            lines=(
                Line(label="squared", loss=Squared(), colour="sla", dash="dotted"),
                Line(label="hinge", loss=Hinge(), colour="svm", dash="dashed"),
                Line(label="logistic", loss=Logistic(), colour="lr"),
                Line(label="zero-one", loss=ZeroOne(), colour="ink"),
            ),
        ),
    ),
)
