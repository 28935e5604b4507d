"""Figures in the tables of a report: how they are written, and what is missing."""

import dataclasses
import math
import re

import pytest

from bblr.comparison.summary import Versus
from research.paper.exhibit import Entry
from research.paper.report import Reproduction
from tests.research.paper.report_sample import (
    bare,
    cells,
    render_markdown,
    render_report,
    table,
    with_text,
)


def only(result):
    """A report of one result, as HTML and as Markdown."""
    changed = {**with_text("x"), "results": [result], "findings": [], "failures": []}
    return render_report(Reproduction(**changed)), render_markdown(Reproduction(**changed))


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_what_is_not_a_number_is_a_dash(wrong):
    tests = (Versus("LR", 0.0, 0.0, wrong, 0.5), Versus("SVM", 0.0, 0.0, 1.0, wrong))
    entries = (Entry("a", "b", wrong, 2.0, tests), Entry("a", "c", 1.0, wrong))
    html, markdown = only(table(1, rows=("a",), columns=("b", "c", "d"), entries=entries))
    assert cells(html) == [[["a", "b", "–", "2.0", "–", "–"], ["a", "c", "1", "–", "–", "–"]]]
    assert "| a | 2.0 | – (1) | – |" in markdown
    assert not re.search(r"\b(nan|inf)\b", html + markdown, flags=re.IGNORECASE)


@pytest.mark.parametrize(
    ("better", "ours", "bold"),
    [
        ("lower", (3.04, 3.0, 5.0), ["3.0", "3.0"]),
        ("higher", (3.04, 3.0, 5.0), ["5.0"]),
        ("lower", (0.0, -0.04, 5.0), ["0.0", "0.0"]),
        ("lower", (-2.0, None, 5.0), ["−2.0"]),
        ("lower", (3.0, None, None), []),
        ("lower", (3.0, 3.0, 3.04), []),
        (None, (3.0, 4.0, 5.0), []),
    ],
)
def test_best_of_ours_is_bold(better, ours, bold):
    entries = tuple(Entry("a", c, 1.0, v) for c, v in zip("bcd", ours, strict=True))
    result = table(
        1, rows=("a",), columns=("b", "c", "d"), entries=entries, better=better, notes=()
    )
    html, markdown = only(result)
    assert re.findall(r'<td class="best">(.*?) \(1\)<', html) == bold
    row = next(line for line in markdown.split("\n") if line.startswith("| a |"))
    assert re.findall(r"\*\*(.*?) \(1\)\*\*", row) == bold


def test_printed_figures_have_the_decimals_of_the_paper():
    figures = ((19.0, 19.5), (18.0, 1234.56))
    entries = tuple(Entry("a", c, p, o) for c, (p, o) in zip("bc", figures, strict=True))
    whole = table(1, rows=("a",), columns=("b", "c"), entries=entries, digits=2)
    assert "| a | **19.50 (19)** | 1,234.56 (18) |" in only(whole)[1]
    one = dataclasses.replace(whole, entries=(Entry("a", "b", 3.1, 3.0), *entries[1:]))
    assert "| a | **3.00 (3.1)** | 1,234.56 (18.0) |" in only(one)[1]


@pytest.mark.parametrize(
    ("printed", "ours", "headings", "words"),
    [
        (True, False, ["Row", "Column", "Printed"], "none of ours (printed)"),
        (False, True, ["Row", "Column", "Ours"], "the paper has no such figures"),
        (False, False, [], "no figures"),
        (True, True, ["Row", "Column", "Printed", "Ours", "Difference"], "ours (printed)"),
    ],
)
def test_columns_without_figures_are_left_out(printed, ours, headings, words):
    html, _ = only(bare("t", printed=printed, ours=ours))
    assert re.findall(r'<button type="button">(.*?)</button>', html) == headings
    assert words in html


def test_readings_of_one_table_share_a_heading():
    notes = ("Of all.", "Of one.")
    parts = [
        table(1, part=part, reading=f"Noise {part}.", notes=notes[: 3 - n])
        for n, part in ((1, "before"), (2, "after"))
    ]
    changed = {**with_text("x"), "results": [parts[0], table(2), parts[1]]}
    html, markdown = (
        render_report(Reproduction(**changed)),
        render_markdown(Reproduction(**changed)),
    )
    assert re.findall(r'<h2 id="table-\d">(.*?)</h2>|<h3>(Before|After)</h3>', html) == [
        (parts[0].title, ""),
        ("", "Before"),
        ("", "After"),
        (table(2).title, ""),
    ]
    for text in (html, markdown):
        assert text.count("Of all.") == text.count("Of one.") == 1
        assert text.count("Noise before.") == text.count("Noise after.") == 1
        assert text.index("Of one.") < text.index("Noise after.") < text.index("Of all.")
