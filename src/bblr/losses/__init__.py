"""Losses: what one example costs, given its label and its raw score.

``LOSSES`` is the registry: one instance of every family, under its name.
"""

from bblr.losses.beta_bernoulli import BetaBernoulli, Logistic
from bblr.losses.loss import Loss
from bblr.losses.plateaus import Plateaus
from bblr.losses.surrogates import (
    GeneralizedLogistic,
    Hinge,
    Ramp,
    Sigmoid,
    Squared,
    SquaredTanh,
    Tanh,
    ZeroOne,
)

LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        ZeroOne(),
        Logistic(),
        Hinge(),
        Squared(),
        BetaBernoulli(Plateaus.weak()),
        GeneralizedLogistic(),
        Sigmoid(),
        Ramp(),
        Tanh(),
        SquaredTanh(),
    )
}


def get_loss(name: str) -> Loss:
    """Return the registered loss of that name, at its default parameters.

    Parameters
    ----------
    name : str
        A key of ``LOSSES``.

    Returns
    -------
    Loss
        The loss.

    Examples
    --------
    >>> from bblr.losses import get_loss
    >>> get_loss("sigmoid").sharpened(32.0).value([1, -1], [0.5, 0.5]).round(3)
    array([0., 1.])
    """
    try:
        return LOSSES[name]
    except KeyError:
        known = ", ".join(sorted(LOSSES))
        raise ValueError(f"name must be one of {known}; got {name!r}.") from None


__all__ = [
    "LOSSES",
    "BetaBernoulli",
    "GeneralizedLogistic",
    "Hinge",
    "Logistic",
    "Loss",
    "Plateaus",
    "Ramp",
    "Sigmoid",
    "Squared",
    "SquaredTanh",
    "Tanh",
    "ZeroOne",
    "get_loss",
]
