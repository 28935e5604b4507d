"""The error for a setting that cannot be used, and where files may be written."""

from __future__ import annotations

import os
from pathlib import Path


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


def check_writable(setting: str, path: Path, suffixes: tuple[str, ...]) -> None:
    """Raise a SettingError unless a file of one of the suffixes can be written there."""
    if path.suffix.lower() not in suffixes:
        raise SettingError(setting, f"must name a {' or '.join(suffixes)} file, got {str(path)!r}")
    folder = path.parent
    if not folder.is_dir():
        raise SettingError(setting, f"needs a folder that exists; create {str(folder)!r} first")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise SettingError(setting, f"{str(path)!r} cannot be written; choose another place")
