"""Write the reference: a page for each public name, and one that lists them by module."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable
from pathlib import Path

import public_api

_HEAD = """API reference
=============

Every public name, with an example that runs in the tests. What is not here is the inside of the
house and may change: :doc:`/architecture` tells about it.
"""


_TABLE = ".. list-table::\n   :widths: 35 65\n\n"


def write(folder: Path) -> None:
    """Write the pages into a folder; pages that are as they should be are left alone."""
    folder.mkdir(exist_ok=True)
    public = public_api.all_names()
    pages = {f"{n.path}.rst": _page(n) for n in public if n.kind != "data"}
    pages["index.rst"] = _index({id(n.value): n.path for n in public})
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("*.rst"):
        if path.name not in pages:
            path.unlink()


def _title(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _page(name: public_api.Name) -> str:
    lines = [_title(name.path, "=")]
    lines += [f".. currentmodule:: {name.module}\n\n.. auto{name.kind}:: {name.name}\n"]
    if name.kind == "class":
        for method, stored, _ in public_api.methods(name.value):
            kind = "property" if isinstance(stored, property) else "method"
            lines += [f"   .. auto{kind}:: {method}\n"]
    return "\n".join(lines)


def _index(homes: dict[int, str]) -> str:
    parts = [_HEAD]
    for module in public_api.modules():
        space = importlib.import_module(module)
        names = public_api.names(module)
        parts += [_title(module, "-"), f".. module:: {module}\n", _rubrics(inspect.getdoc(space))]
        listed = [n for n in names if n.kind != "data"]
        if listed:
            parts += [_TABLE + "".join(_row(homes[id(n.value)], n.value) for n in listed)]
        hidden = [n.path for n in listed if homes[id(n.value)] == n.path]
        if hidden:
            parts += [".. toctree::\n   :hidden:\n\n" + _indented(f"{p} <{p}>" for p in hidden)]
        for data in (n for n in names if n.kind == "data"):
            keys = list(data.value) if isinstance(data.value, dict) else data.value
            parts += [f".. py:data:: {data.path}\n\n   ``{keys!r}``\n"]
    return "\n".join(parts)


def _rubrics(text: str | None) -> str:
    """Turn the headings of a docstring into what may stand inside a section."""
    return re.sub(r"^(.+)\n-{3,}$", r".. rubric:: \1\n", text or "", flags=re.MULTILINE) + "\n"


def _row(path: str, value: object) -> str:
    summary = (inspect.getdoc(value) or "").split("\n\n", 1)[0].replace("\n", " ")
    return f"   * - :py:obj:`~{path}`\n     - {summary}\n"


def _indented(lines: Iterable[str]) -> str:
    return "".join(f"   {line}\n" for line in lines)
