"""The error for a setting that cannot be used, where files may be written, and what is shown."""

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
# Control characters, but for the ends of lines and tabs, and marks that turn the order of text.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


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


def escaped(text: str) -> str:
    r"""Return a text with control characters as ``\x1b``: a terminal obeys them.

    Parameters
    ----------
    text : str
        What is to be shown.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def escaped_part(value: object) -> object:
    """Return what is put into a page: a text without control characters, anything else as it is.

    Parameters
    ----------
    value : object
        What is put in; what is markup already stays so.
    """
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return escaped(str(value)) if is_text else value
