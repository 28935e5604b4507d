"""Smooth losses that tend to the hinge and to the zero-one loss."""

from bblr.losses import GeneralizedLogistic, Hinge, Logistic, Sigmoid, ZeroOne
from research.paper.curves import Curves, Line, Plot

EXHIBIT = Curves(
    name="figure-smooth-losses",
    place=3,
    title="Smooth approximations of hinge and zero-one loss",
    about=(
        "Zhang and Oles shift the logistic loss and sharpen it by γ until it is nearly the hinge "
        "loss; Nguyen and Sanner sharpen a sigmoid until it is nearly the zero-one loss."
    ),
    reading="γ = 2 and 4 towards the hinge, γ = 1, 2 and 32 towards zero-one, as printed.",
    plots=(
        Plot(
            title="Towards the hinge loss",
            x_label="margin z = t · wᵀx",
            y_label="loss",
            reach=3.0,
            heights=(-0.1, 4.2),
            lines=(
                Line(label="hinge", loss=Hinge(), colour="svm", dash="dashed"),
                Line(label="logistic", loss=Logistic(), colour="lr", dash="dotted"),
                Line(
                    label="generalised, γ = 2",
                    loss=GeneralizedLogistic(gamma=2),
                    colour="lr",
                    opacity=0.6,
                ),
                Line(label="generalised, γ = 4", loss=GeneralizedLogistic(gamma=4), colour="lr"),
            ),
        ),
        Plot(
            title="Towards the zero-one loss",
            x_label="margin z = t · wᵀx",
            y_label="loss",
            reach=3.0,
            heights=(-0.04, 1.08),
            lines=(
                Line(label="zero-one", loss=ZeroOne(), colour="ink", dash="dashed"),
                Line(label="sigmoid, γ = 1", loss=Sigmoid(gamma=1), colour="sla", opacity=0.5),
                Line(label="sigmoid, γ = 2", loss=Sigmoid(gamma=2), colour="sla", opacity=0.75),
                Line(label="sigmoid, γ = 32", loss=Sigmoid(gamma=32), colour="sla"),
            ),
        ),
    ),
)
