"""The contract, for every design of this machine."""

import pytest

from bblr._numeric import threads
from bblr.designs.stream import mapped, parquet
from tests.designs.cases import CASES, IN_MEMORY
from tests.designs.contract import Contract

THREADED = {f"{name}, threaded": name for name in IN_MEMORY if name.endswith("f64")}
# Four storages stand for all where time is short: the others are views or wrappers of them.
BASIC = ("C ", "F ", "csr-array ", "csc-array ")


def cases():
    for name in (*CASES, *THREADED):
        variant = name in THREADED or name in IN_MEMORY
        slow = variant and not name.startswith(BASIC)
        yield pytest.param(name, id=name, marks=pytest.mark.slow if slow else ())


class TestEveryDesign(Contract):
    @pytest.fixture(params=cases())
    def case(self, request, tmp_path, monkeypatch):
        threaded = request.param in THREADED
        monkeypatch.setattr(threads, "MIN_WORK", 1 if threaded else 10**12)
        # Blocks of a hundred rows, so that there are many.
        for module in (mapped, parquet):
            monkeypatch.setattr(module, "BLOCK_BYTES", 8 * 5 * 100)
            monkeypatch.setattr(module, "_COLUMNS", 2)
        monkeypatch.setattr(parquet, "_OPEN_COLUMN", 0)
        return CASES[THREADED.get(request.param, request.param)](tmp_path)
