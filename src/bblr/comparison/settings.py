"""What an experiment was asked to do, and the error for what it cannot do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bblr._settings import SettingError, check_writable

__all__ = ["CLEAN", "PLACES", "Condition", "SettingError", "check_writable"]

Place = Literal["training", "everywhere"]
PLACES: tuple[Place, ...] = ("training", "everywhere")


@dataclass(frozen=True)
class Condition:
    """How the data are spoilt before a classifier sees them.

    Parameters
    ----------
    noise : float
        Noisy rows as a fraction of the rows; 0 leaves the data clean.
    protocol : str or None
        A protocol of :func:`bblr.evaluation.add_noise`; None when clean.
    place : {"training", "everywhere"} or None
        Noise in the training part of each fold only, or in all data before they are split;
        None when clean.
    """

    noise: float = 0.0
    protocol: str | None = None
    place: Place | None = None

    @property
    def label(self) -> str:
        """Words for tables: ``clean``, or how much noise of which kind and where."""
        if not self.noise:
            return "clean"
        where = "in training" if self.place == "training" else "everywhere"
        return f"{100 * self.noise:g} % {self.protocol} noise {where}"


CLEAN = Condition()
