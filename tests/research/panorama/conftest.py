"""Made-up tables and methods in place of the real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from research.panorama import cells, methods, plan
from research.panorama.methods import Method
from research.panorama.results import Results
from research.panorama.tables import Table
from tests.research.panorama.made import MADE, hand_made


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Table]:
    """The made-up tables stand for those of the panorama."""

    def load(name: str) -> tuple[Any, Any]:
        return MADE[name][1:]

    monkeypatch.setattr(cells, "load", load)
    monkeypatch.setattr(plan, "load", load)
    return {name: entry[0] for name, entry in MADE.items()}


@pytest.fixture
def few_methods(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Put methods that take no time, and a source of one file, into the place of the real ones."""
    source = tmp_path / "source.py"
    source.write_text("version = 1\n")
    monkeypatch.setattr(methods, "own_sources", lambda: [source])
    loaded = methods.fingerprint(methods.METHODS["BBLR"])["source"]
    monkeypatch.setattr(cells, "LOADED_SOURCE", loaded)

    def install(**builds: Callable[[], Any]) -> None:
        found = {
            name: Method(
                name, build, name, 0.1, 0.01, name.startswith("BBLR"), dense_only=name == "HGB"
            )
            for name, build in builds.items()
        }
        for module in (cells, plan, methods):
            monkeypatch.setattr(module, "METHODS", found)

    return install


@pytest.fixture
def results_of() -> Callable[..., Results]:
    """Make results from the errors by (table, condition, method)."""

    def make(
        errors: Mapping[tuple[str, str, str], Sequence[int]],
        kinds: Mapping[str, str],
        changes: Mapping[tuple[str, str, str], Mapping[str, Any]] | None = None,
    ) -> Results:
        planned, records = hand_made(errors, kinds)
        for cell in planned:
            place = (cell.data, cell.condition, cell.method)
            records[cell.key].update((changes or {}).get(place, {}))
        return Results(planned, records)

    return make
