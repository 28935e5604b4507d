"""Every public name has a docstring that tells the truth, with an example that runs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import io
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

import bblr
from bblr.io import SavedModel
from docs.public_api import all_names, methods, modules

# What `inspect` shows as the default of a field that is made anew for each object.
FACTORY = inspect.signature(SavedModel).parameters["versions"].default
# Their files come over the network or lie in a folder of research data.
FETCHERS = re.compile(r"bblr\.datasets\.fetch_\w+$")


@dataclass(frozen=True)
class Documented:
    """A docstring, and the callable whose parameters it describes (None for a property)."""

    path: str
    value: Any
    call: Any

    @property
    def text(self) -> str:
        return inspect.getdoc(self.value) or ""


def documented() -> list[Documented]:
    """Every public name, and every public method where it is first defined."""
    found: dict[int, Documented] = {}
    for name in all_names():
        if name.kind == "data":
            continue
        value = name.value
        found[id(value)] = Documented(name.path, value, value)
        if name.kind != "class":
            continue
        for method, *_ in methods(value):
            # An override need not repeat what its base says: it has the same signature (tested).
            roots = [c for c in value.__mro__ if method in vars(c) and ours(c)]
            stored = vars(roots[-1])[method]
            call = None if isinstance(stored, property) else getattr(roots[-1], method)
            path = f"{name.path}.{method}"
            found.setdefault(id(stored), Documented(path, call or stored, call))
    return list(found.values())


def ours(cls: type) -> bool:
    return cls.__module__.startswith("bblr")


DOCUMENTED = documented()
CALLS = [d for d in DOCUMENTED if d.call is not None]
every_call = pytest.mark.parametrize("doc", CALLS, ids=lambda d: d.path)


@cache
def sections(text: str) -> dict[str, list[str]]:
    """The lines of each section of a numpydoc docstring, by its title."""
    lines = text.split("\n")
    found: dict[str, list[str]] = {"": []}
    title = ""
    for line, rule in zip(lines, [*lines[1:], ""], strict=True):
        if line.strip() and re.fullmatch(r"-{3,}", rule) and len(rule) == len(line):
            title = line
            found[title] = []
        elif not re.fullmatch(r"-{3,}", line):
            found[title].append(line)
    return found


@dataclass(frozen=True)
class Entry:
    """A line of the section Parameters: some names, their type, and what is said of them."""

    names: tuple[str, ...]
    kind: str
    about: str


def entries(text: str) -> list[Entry]:
    lines = "\n".join(sections(text).get("Parameters", [])).replace("\\\n", "")
    found = re.findall(r"^(\S.*)\n((?:(?:[ ].*)?\n)*)", lines.strip("\n") + "\n", re.MULTILINE)
    pairs = [(head.partition(" : "), about) for head, about in found]
    return [Entry(tuple(left.split(", ")), kind, about) for (left, _, kind), about in pairs]


def described(text: str) -> list[str]:
    """The parameters of a docstring, in its order."""
    return [name for entry in entries(text) for name in entry.names]


def parameters(call: Any) -> dict[str, inspect.Parameter]:
    if inspect.isclass(call) and issubclass(call, Exception):
        return {}
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    given = inspect.signature(call).parameters.values()
    return {stars.get(p.kind, "") + p.name: p for p in given if p.name not in ("self", "cls")}


def test_there_are_names():
    assert {"bblr", "bblr.dask", "bblr.losses", "bblr.structured"} <= set(modules())
    assert len(DOCUMENTED) > 100


@every_call
def test_parameters_match_the_signature(doc):
    assert described(doc.text) == list(parameters(doc.call))


@every_call
def test_defaults_are_stated_truly(doc):
    given = parameters(doc.call)
    for entry in entries(doc.text):
        actual = [given[name].default for name in entry.names]
        assert stated_defaults(entry, doc.call) == actual, entry.names


def stated_defaults(entry: Entry, call: Any) -> list[Any]:
    """The defaults a docstring states, by itself or by naming a class that has the same."""
    if entry.names[0].startswith("*"):
        return [inspect.Parameter.empty]
    if not entry.kind:
        other = re.match(r"\s*As in :class:`~?(?:bblr\.)?(\w+)`", entry.about)
        assert other, f"{entry.names}: say what they are, or as in which class"
        return [parameters(getattr(bblr, other[1]))[name].default for name in entry.names]
    stated = re.search(r"default=(.+)$", entry.kind)
    if entry.kind.endswith("optional"):
        return [FACTORY] * len(entry.names)
    if not stated:
        return [inspect.Parameter.empty] * len(entry.names)
    value = ast.literal_eval(stated[1])
    return [value] if len(entry.names) == 1 else list(value)


@pytest.mark.parametrize("doc", DOCUMENTED, ids=lambda d: d.path)
def test_summary(doc):
    assert re.match(r"\S.*[.:]$", doc.text.split("\n\n")[0], re.DOTALL)


CLASSES = [name for name in all_names() if name.kind == "class"]


@pytest.mark.parametrize("name", CLASSES, ids=lambda n: n.path)
def test_overrides_keep_signature_and_have_a_docstring(name):
    for method, stored, owner in methods(name.value):
        roots = [c for c in name.value.__mro__ if method in vars(c) and ours(c)]
        assert inspect.getdoc(stored), method
        if not isinstance(stored, property):
            mine, first = getattr(owner, method), getattr(roots[-1], method)
            assert list(parameters(mine)) == list(parameters(first)), f"{method} of {owner}"


def examples(doc: Documented) -> doctest.DocTest:
    text = "\n".join(sections(doc.text).get("Examples", []))
    return doctest.DocTestParser().get_doctest(text, {}, doc.path, None, None)


@cache
def collected(module: str) -> set[str]:
    """The docstrings that `pytest --doctest-modules` finds in a module."""
    tests = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module))
    return {inspect.cleandoc(test.docstring) for test in tests if test.examples}


@every_call
def test_examples_run(doc, monkeypatch, tmp_path):
    test = examples(doc)
    assert test.examples, "no example"
    assert FETCHERS.match(doc.path) or not any(e.options.get(doctest.SKIP) for e in test.examples)
    # Decorated methods are not found by doctest: their globals are those of the decorator.
    if doc.text not in collected(doc.value.__module__):
        monkeypatch.chdir(tmp_path)
        assert run(test) == ""


@pytest.mark.parametrize("doc", [d for d in CALLS if FETCHERS.match(d.path)], ids=lambda d: d.path)
def test_examples_of_research_data_run(doc, data_home, monkeypatch):
    known = importlib.import_module(doc.value.__module__)._FILES.values()
    files = [file for some in known for file in (some if isinstance(some, list) else [some])]
    missing = [file.name for file in files if not (data_home / file.name).exists()]
    if missing:
        pytest.skip(f"{missing[0]} is not in {data_home}")
    monkeypatch.setenv("BBLR_DATA_HOME", str(data_home))
    test = examples(doc)
    for example in test.examples:
        example.options.pop(doctest.SKIP, None)
    assert run(test) == ""


def run(test: doctest.DocTest) -> str:
    """What fails in the examples, in words."""
    out = io.StringIO()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(optionflags=flags).run(test, out=out.write)
    return out.getvalue()
