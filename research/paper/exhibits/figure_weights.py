"""Weights of the vectors before and after a kernel fit was made sparse."""

from research.paper.exhibits.figure_sparsity import FULL, QUICK
from research.paper.growth import WeightsFigure

EXHIBIT = WeightsFigure(
    name="figure-weights",
    place=23,
    title="Kernel weights before and after",
    about=(
        "The L2 penalty spreads the weights over all training rows; the mixture of a narrow "
        "Laplacian and a wide Gaussian sends many of them to zero."
    ),
    reading=(
        "One fit to the most rows of figure-sparsity, the same as there: the weights of the fit "
        "with an L2 penalty, and those left when it was made sparse and fitted again, by the "
        "paper's mixture prior and by our backward elimination. Under the mixture the penalty is "
        "on the weights, as in the paper; before elimination it is on the function, and the "
        "weights differ."
    ),
    minutes=(0.2, 1.1),
    quick=QUICK,
    full=FULL,
)
