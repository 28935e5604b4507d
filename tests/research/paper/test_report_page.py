"""The report in a browser: it is seen, it sorts, it fits a phone, and it suits the dark."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from research.paper.report import Reproduction
from tests.research.paper.browser import CHROMIUM, ask
from tests.research.paper.report_sample import (
    panels,
    render_report,
    sample,
    table,
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium to open the report in")

# Presses every heading twice and notes the order of the lines each time.
LOOK = """
(wide, phone) => {
  const lines = (table, place) => Array.from(table.tBodies[0].rows, (row) => {
    const cell = row.cells[place];
    return { line: row.dataset.line, text: cell.textContent.trim() };
  });
  const tables = Array.from(wide.document.querySelectorAll("table.lines"), (table) => {
    Array.from(table.tBodies[0].rows).forEach((row, n) => { row.dataset.line = n; });
    return Array.from(table.tHead.rows[0].cells, (head, place) => {
      const before = lines(table, place);
      return { before, presses: [0, 1, 2].map(() => {
        const button = head.querySelector("button");
        button.focus();
        const focused = wide.document.activeElement === button;
        button.click();
        const marked = Array.from(table.tHead.rows[0].cells, (h) => h.getAttribute("aria-sort"));
        return { focused, marked, place, lines: lines(table, place) };
      })};
    });
  });
  const box = (element) => element.getBoundingClientRect();
  const root = phone.document.documentElement;
  return {
    tables,
    drawings: Array.from(wide.document.querySelectorAll("figure > svg"),
      (svg) => [box(svg).width, box(svg).height, svg.getAttribute("aria-label").length]),
    overflow: [root.scrollWidth, phone.innerWidth, box(phone.document.body).width],
    outside: Array.from(phone.document.querySelectorAll("body *"))
      .filter((e) => !e.closest(".scroll > *") && box(e).right > phone.innerWidth + 1)
      .map((e) => e.outerHTML.slice(0, 120)),
    scrolling: Array.from(phone.document.querySelectorAll(".scroll"),
      (e) => e.scrollWidth > e.clientWidth).filter(Boolean).length,
    hacked: wide.hacked === 1,
    colours: [
      wide.getComputedStyle(wide.document.body).backgroundColor,
      wide.getComputedStyle(wide.document.body).color,
      ...Array.from(wide.document.querySelectorAll("svg text"),
        (text) => wide.getComputedStyle(text).fill),
    ],
  };
}
"""


@pytest.fixture(scope="module")
def arguments(make_record):
    arguments = sample(make_record, n_tables=2, n_figures=2)
    long = "Unbreakable" * 12
    ties = table(50, title=f"Table 50: {long}", about=long, notes=(long,))
    return {**arguments, "results": [*arguments["results"], ties], "failures": [long]}


@pytest.fixture(scope="module")
def seen(arguments, tmp_path_factory):
    folder = tmp_path_factory.mktemp("light")
    return ask(folder, render_report(Reproduction(**arguments)), LOOK, (1100, 360))


def test_nothing_is_said_on_the_console(seen):
    answer, console = seen
    assert console == []
    assert "error" not in answer


def test_every_drawing_is_seen(seen):
    assert len(seen[0]["drawings"]) == 6
    for width, height, words in seen[0]["drawings"]:
        assert width > 200 and height > 80
        assert words > 40


def test_every_heading_of_every_table_sorts(arguments, seen):
    tables = seen[0]["tables"]
    assert len(tables) == 7
    for headings in tables:
        assert len(headings) >= 2
        for place, heading in enumerate(headings):
            up, down, again = heading["presses"]
            assert_ordered(heading["before"], up["lines"], descending=False)
            assert_ordered(up["lines"], down["lines"], descending=True)
            assert_ordered(down["lines"], again["lines"], descending=False)
            for press, mark in ((up, "ascending"), (down, "descending"), (again, "ascending")):
                assert press["focused"]
                expected = [mark if n == place else None for n in range(len(headings))]
                assert press["marked"] == expected


def key(line):
    """Its number where it begins with one, else its text; None where there is nothing."""
    text = line["text"]
    if text in ("", "–"):
        return None
    number = re.match(r"[+−-]?[\d,]*\.?\d+", text)
    return float(number[0].replace("−", "-").replace(",", "")) if number else text.casefold()


def assert_ordered(before, after, *, descending):
    """The sorted order of Python, stable, with what is missing at the end either way."""
    there = [line for line in before if key(line) is not None]
    missing = [line for line in before if key(line) is None]
    there.sort(key=key, reverse=descending)
    assert after == there + missing


def test_there_are_missing_values_and_ties_to_sort(seen):
    columns = [h["before"] for t in seen[0]["tables"] for h in t]
    assert any(key(line) is None for lines in columns for line in lines)
    assert any(len({line["text"] for line in lines}) < len(lines) for lines in columns)


def test_page_fits_a_phone(seen):
    answer = seen[0]
    content, window, body = answer["overflow"]
    assert window == 360
    assert content <= window and body <= window
    assert answer["outside"] == []
    assert answer["scrolling"] > 0


def test_page_suits_light_and_dark(arguments, seen, tmp_path):
    option = "--blink-settings=preferredColorScheme=0"
    answer, console = ask(
        tmp_path, render_report(Reproduction(**arguments)), LOOK, (1100, 360), option
    )
    assert console == []
    paper, *ink = map(brightness, seen[0]["colours"])
    assert paper > 200 and max(ink) < 120
    paper, *ink = map(brightness, answer["colours"])
    assert paper < 60 and min(ink) > 150


def brightness(colour: str) -> float:
    return sum(map(float, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3


def test_a_script_in_a_drawing_does_not_run(make_record, tmp_path):
    arguments = sample(make_record, n_tables=1, n_figures=0)
    nasty = panels(make_record, "x")[0]
    svg = nasty.svg.replace("</svg>", "<script>parent.hacked = window.hacked = 1</script></svg>")
    drawn = replace(arguments["results"][-1], panels=(replace(nasty, svg=svg),))
    arguments["results"] = [arguments["results"][0], drawn]
    answer, console = ask(tmp_path, render_report(Reproduction(**arguments)), LOOK, (1100, 360))
    assert not answer["hacked"]
    assert any("Content Security Policy" in line for line in console)
    assert answer["tables"][0][0]["presses"][0]["marked"][0] == "ascending"
