"""What the three jobs share: exit statuses, messages, and which setting an error is about."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.console import Console

from bblr._bars import Bar
from bblr._settings import SettingError, about_columns, as_options, escaped, out_of_memory
from bblr.io.columns.table_encoder import UNSEEN
from bblr.io.model import SavedModel
from bblr.io.store import ModelFileError, load_model
from bblr.io.tables.blocks import Block, Reader
from bblr.io.tables.training_table import ColumnChoices

DONE, MISUSED, INTERRUPTED = 0, 2, 130
# Characters of a cell that are shown, and columns that are named.
_LONGEST, _MOST = 40, 10
_ARGUMENTS = {"data": "DATA", "saved": "MODEL", "stdout": "standard output"}


def say(console: Console, line: str) -> None:
    """Print a line as it is."""
    console.print(escaped(line), highlight=False, markup=False, soft_wrap=True)


def say_notes(console: Console, notes: Sequence[str]) -> None:
    """Say what was perhaps not meant as it was read."""
    for note in notes:
        say(console, f"Note: {as_options(note)}")


def guarded(work: Callable[[Console], None], stopped: str) -> int:
    """Do the work of a command; return its exit status.

    Parameters
    ----------
    work : callable
        Takes the console for messages.
    stopped : str
        What to say after Ctrl-C.

    Returns
    -------
    int
        0 done, 2 a setting or a file cannot be used, 130 interrupted.
    """
    messages = Console(stderr=True)
    try:
        work(messages)
    except SettingError as error:
        name = _ARGUMENTS.get(error.setting, "--" + error.setting.replace("_", "-"))
        say(messages, f"Error: {name} {error.problem}")
        return MISUSED
    except MemoryError as error:
        say(messages, out_of_memory(error))
        return MISUSED
    except KeyboardInterrupt:
        say(messages, stopped)
        return INTERRUPTED
    return DONE


@contextmanager
def about_the_file() -> Iterator[None]:
    """Turn errors about a data file into errors of the setting that named it."""
    try:
        yield
    except SettingError:
        raise
    except (ValueError, OSError, ImportError) as error:
        raise about_columns(error) from error


@contextmanager
def writing(setting: str) -> Iterator[None]:
    """Turn errors of writing a file into errors of the setting that named it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except ModelFileError as error:
        raise SettingError(setting, f"cannot be written: {error}") from error
    except OSError as error:
        problem = (
            f"cannot be written: {error.strerror or error}; make room or choose another place"
        )
        raise SettingError(setting, problem) from error


def opened(path: Path, messages: Console) -> SavedModel:
    """Load a model; warn where versions differ."""
    try:
        model = load_model(path)
    except ModelFileError as error:
        raise SettingError("saved", f"cannot be used: {error}") from error
    except OSError as error:
        raise SettingError("saved", f"{str(path)!r} cannot be read: {error.strerror}") from error
    if not isinstance(model, SavedModel):
        raise SettingError(
            "saved",
            f"{str(path)!r} holds an estimator that knows no columns; name a file that bblr fit "
            "wrote, or load it in Python by bblr.io.load_model",
        )
    warning = model.version_warning()
    if warning is not None:
        say(messages, f"Warning: {warning}")
    return model


def joined_columns(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with those about columns joined."""
    roles = [each.name for each in fields(ColumnChoices) if each.name != "target"]
    named = {role: tuple(settings[role] or ()) for role in roles}
    columns = ColumnChoices(settings["target"], **named)
    others = {k: v for k, v in settings.items() if k not in ("target", *roles)}
    return {**others, "columns": columns}


def check_unseen(unseen: str) -> None:
    """Raise an error unless the setting for unseen texts is known."""
    if unseen not in UNSEEN:
        raise SettingError("unseen", f"{unseen!r} is unknown; choose from {', '.join(UNSEEN)}")


def blocks_of(
    reader: Reader, path: Path, messages: Console, *, printing: bool = False
) -> Iterator[Block]:
    """Yield the blocks of a file and tell how far it has got; at the end, what was filled or new.

    Not how far where results are `printing` on the same terminal: the two would run into each
    other.
    """
    filled: Counter[str] = Counter()
    unseen: Counter[str] = Counter()
    shown = not (printing and sys.stdout.isatty())
    with Bar(messages, "Reading", shown=shown) as bar:
        blocks = None
        while True:
            with about_the_file():
                blocks = reader.blocks(path) if blocks is None else blocks
                block = next(blocks, None)
            if block is None:
                break
            filled.update(block.filled)
            unseen.update(block.unseen)
            bar.tell(None, f"{block.first_row - 1 + block.X.shape[0]:,} rows read")
            yield block
    if filled:
        say(
            messages,
            f"Note: values are missing in {_counted(filled)}, where none were in training; "
            "filled with the median or most frequent text of the training file",
        )
    if unseen:
        say(
            messages,
            f"Note: categories not seen in training in {_counted(unseen)} are treated as none of "
            "the known ones; --unseen error stops at the first and names its row",
        )


def _counted(counts: Counter[str]) -> str:
    shown = ", ".join(f"{name!r} ({n:,})" for name, n in list(counts.items())[:_MOST])
    return shown + (f", … ({len(counts)} columns in all)" if len(counts) > _MOST else "")


def shown_cell(cell: Any) -> str:
    """Return what a table has in a cell, as a short text."""
    if cell is None or cell != cell:
        return "missing"
    text = f"{cell:g}" if isinstance(cell, float) else str(cell).removesuffix(" 00:00:00")
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
