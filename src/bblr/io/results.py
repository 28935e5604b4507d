"""What a command found: lines for a reader, and one JSON object for a script."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import Any

from rich.console import Console

from bblr._atomic import whole_file
from bblr._settings import SettingError, check_writable, escaped
from bblr._version import __version__

__all__ = ["SCHEMA", "Results"]

SCHEMA = 1
"""Raised when a key of an object changes its meaning or goes; new keys do not raise it."""


class Results:
    """Where a command says what it found.

    Parameters
    ----------
    command : str
        Its name.
    path : Path or None
        Where the JSON object goes, ``-`` for standard output; lines for a reader then go to
        standard error. None writes none.
    """

    def __init__(self, command: str, path: Path | None) -> None:
        self._command = command
        self._path = path
        self._piped = str(path) == "-"
        if path is not None and not self._piped:
            check_writable("json", path, (".json",))
        self._console = Console(stderr=self._piped)

    @property
    def is_piped(self) -> bool:
        """Whether the JSON object goes to standard output, so that nothing else may."""
        return self._piped

    def say(self, lines: Iterable[str]) -> None:
        """Print lines as they are."""
        for line in lines:
            self._console.print(escaped(line), highlight=False, markup=False, soft_wrap=True)

    def save(self, found: dict[str, Any]) -> None:
        """Write the JSON object, if one is wanted."""
        if self._path is None:
            return
        head = {"bblr": __version__, "command": self._command, "schema": SCHEMA}
        text = json.dumps(_plain({**head, **found}), indent=2, allow_nan=False) + "\n"
        if self._piped:
            print(text, end="", flush=True)
            return
        try:
            with whole_file(self._path) as file:
                file.write(text.encode())
        except OSError as error:
            raise SettingError(
                "json",
                f"cannot be written: {error.strerror or error}; make room or choose another place",
            ) from error
        self.say([f"Wrote {self._path}"])


def _plain(value: Any) -> Any:
    """Return a value in JSON's types; what is not finite becomes null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return str(value) if isinstance(value, Path) else value
