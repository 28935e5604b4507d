"""The plan on paper must add up: every value in docs/scale.md follows from its expression."""

import math
import re
from pathlib import Path

import pytest

PLAN = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
ROW = re.compile(r"\| `(\w+)` \| [^|]* \| `([^`]+)` \| ([\d.e-]+) ?(\S*) \|")
UNITS = {
    **{"": 1.0, "s": 1.0, "ms": 1e-3, "h": 1.0},
    **{f"{prefix}B": 10.0**power for prefix, power in zip("kMGT", (3, 6, 9, 12), strict=True)},
    "GB/s": 1e9,
}


def rows():
    lines = [line for line in PLAN.read_text(encoding="utf-8").splitlines() if "| `" in line]
    found = [ROW.fullmatch(line) for line in lines]
    assert all(found), f"not a row of the plan: {lines[found.index(None)]}"
    return [match.groups() for match in found]


def resolution(text):
    """Half a unit in the last digit that is shown."""
    digits, _, power = text.partition("e")
    return 0.5 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def evaluated():
    names = {"ceil": math.ceil, "log2": math.log2}
    for name, expression, _, _ in rows():
        assert name not in names, f"{name} stands twice"
        names[name] = eval(expression, {"__builtins__": {}}, names)
    return names


def test_every_value_follows_from_its_expression():
    names = evaluated()
    for name, _, shown, unit in rows():
        value = names[name]
        given, off = float(shown) * UNITS[unit], resolution(shown) * UNITS[unit]
        assert abs(value - given) <= off * 1.0000001, f"{name} = {value:.4g}, not {shown} {unit}"
        assert off <= 0.13 * abs(given) or value == given, f"{name} shows too few digits"


@pytest.mark.parametrize(("shown", "half"), [("3.33", 0.005), ("1e-7", 0.5e-7), ("100", 0.5)])
def test_resolution(shown, half):
    assert resolution(shown) == pytest.approx(half)


def test_the_sentences_that_state_sizes():
    names = evaluated()
    assert names["x32"] < names["cluster"] < names["x64"]
    assert 5.5 < names["fit_few"] / 60 < names["fit_many"] / 60 < 12.5
    assert 6 < names["load"] / 60 < 7.5
    assert 45 < names["fit_csr"] < 75
    assert 20 < names["fit_store"] < 28
