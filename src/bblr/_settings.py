"""The error for a setting that cannot be used, and where files may be written."""

from __future__ import annotations

import ast
import os
import re
import shlex
from pathlib import Path

# A list of columns at the end of a message.
_DROPPED = re.compile(r"drop=(\[.*\])$")


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


def about_columns(error: Exception) -> SettingError:
    """Say in one line which setting of a command an error about a data file is about."""
    message = " ".join(str(error).split())
    for setting in ("target", "drop"):
        if message.startswith(f"{setting}="):
            return SettingError(setting, message.removeprefix(f"{setting}="))
    return SettingError("data", f"cannot be used: {as_options(message)}")


def as_options(message: str) -> str:
    """Name options of the command line where a message names parameters."""
    message = _DROPPED.sub(_options, message)
    return message.replace("target=", "--target").replace("drop=", "--drop ")


def _options(found: re.Match[str]) -> str:
    return " ".join(f"--drop {shlex.quote(name)}" for name in ast.literal_eval(found[1]))


def check_writable(setting: str, path: Path, suffixes: tuple[str, ...]) -> None:
    """Raise a SettingError unless a file of one of the suffixes can be written there."""
    if path.suffix.lower() not in suffixes:
        raise SettingError(setting, f"must name a {' or '.join(suffixes)} file, got {str(path)!r}")
    folder = path.parent
    if not folder.is_dir():
        raise SettingError(setting, f"needs a folder that exists; create {str(folder)!r} first")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise SettingError(setting, f"{str(path)!r} cannot be written; choose another place")
