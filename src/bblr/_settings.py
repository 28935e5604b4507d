"""The error for a setting that cannot be used, and where files may be written."""

from __future__ import annotations

import ast
import os
import re
import shlex
from pathlib import Path

_ABOUT_COLUMNS = ("target", "drop", "number", "category", "date", "text")
# A list of columns in a message, or a column.
_LIST = re.compile(r"\b(drop|number|text)=(\[.*?\])(?=;|$)")
_NAMED = re.compile(r"\b(drop|number|category|date|text)=(?=['\"])")


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
    for setting in _ABOUT_COLUMNS:
        if message.startswith(f"{setting}="):
            return SettingError(setting, message.removeprefix(f"{setting}="))
    return SettingError("data", f"cannot be used: {as_options(message)}")


def out_of_memory(error: MemoryError) -> str:
    """Say in one line that data are too large for this machine."""
    wanted = f": {' '.join(str(error).split())}" if str(error) else ""
    return f"Error: not enough memory{wanted}; take fewer rows, columns or classes"


def as_options(message: str) -> str:
    """Name options of the command line where a message names parameters."""
    message = _NAMED.sub(r"--\1 ", _LIST.sub(_options, message))
    return message.replace("target=", "--target")


def _options(found: re.Match[str]) -> str:
    try:
        names = ast.literal_eval(found[2])
    except (SyntaxError, ValueError):  # a name with brackets of its own
        return found[0]
    return " ".join(f"--{found[1]} {shlex.quote(name)}" for name in names)


def check_writable(setting: str, path: Path, suffixes: tuple[str, ...]) -> None:
    """Raise a SettingError unless a file of one of the suffixes can be written there."""
    if path.suffix.lower() not in suffixes:
        raise SettingError(setting, f"must name a {' or '.join(suffixes)} file, got {str(path)!r}")
    folder = path.parent
    if not folder.is_dir():
        raise SettingError(setting, f"needs a folder that exists; create {str(folder)!r} first")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise SettingError(setting, f"{str(path)!r} cannot be written; choose another place")
