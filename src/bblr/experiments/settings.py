"""What an experiment was asked to do, and the error for what it cannot do."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["CLEAN", "PLACES", "Condition", "SettingError", "check_writable"]

Place = Literal["training", "everywhere"]
PLACES: tuple[Place, ...] = ("training", "everywhere")


class SettingError(ValueError):
    """A setting that cannot be used.

    Parameters
    ----------
    setting : str
        Its name, as a Python parameter.
    problem : str
        What is wrong and what to do about it, worded to follow the name.
    """

    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(f"{setting} {problem}")
        self.setting = setting
        self.problem = problem

    def __reduce__(self) -> tuple[type[SettingError], tuple[str, str]]:
        """Pickle by what the constructor takes, not by the finished message."""
        return type(self), (self.setting, self.problem)


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


def check_writable(setting: str, path: Path, suffixes: tuple[str, ...]) -> None:
    """Raise a SettingError unless a file of one of the suffixes can be written there."""
    if path.suffix.lower() not in suffixes:
        raise SettingError(setting, f"must name a {' or '.join(suffixes)} file, got {str(path)!r}")
    folder = path.parent
    if not folder.is_dir():
        raise SettingError(setting, f"needs a folder that exists; create {str(folder)!r} first")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise SettingError(setting, f"{str(path)!r} cannot be written; choose another place")
