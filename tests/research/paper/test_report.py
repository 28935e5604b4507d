import re
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bblr.comparison.figures import Panel
from bblr.comparison.summary import format_p
from research.paper.exhibit import Result
from research.paper.report import Reproduction
from tests.comparison.page import Page
from tests.research.paper.report_sample import (
    cells,
    render_markdown,
    render_report,
    sample,
    table,
    with_text,
)

HOSTILE = (
    "</td></script><script>alert('x')</script>\" onload=\"y|`*_[a](b)${1}&lt;{{ 7 * 6 }}\n# z"
)


@pytest.fixture(scope="module")
def arguments(make_record):
    return sample(make_record, n_tables=20, n_figures=10)


@pytest.fixture(scope="module")
def html(arguments):
    return render_report(Reproduction(**arguments))


@pytest.fixture(scope="module")
def markdown(arguments):
    return render_markdown(Reproduction(**arguments))


def shape(html):
    """All elements with the names of their attributes, and what the page refers to."""
    return [(tag, tuple(attributes), stack) for tag, attributes, stack in Page(html).elements]


def line_shape(markdown):
    """How each line begins, and how many cells it has."""
    opening = r"(#+ |- (?:\*\*)?|\*\*|\| )?"
    return [
        (re.match(opening, line)[0], len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)))
        for line in markdown.split("\n")
    ]


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.split)


@settings(max_examples=30)
@given(words | st.text(st.sampled_from("<>&\"'|\\`*_#-+=:.1) \n{}%[]!$~"), min_size=1))
def test_no_text_changes_the_shape_of_the_page(text):
    text = f"x{text}"
    assert shape(render_report(Reproduction(**with_text(text)))) == shape(
        render_report(Reproduction(**with_text("x")))
    )
    mine, plain = (
        render_markdown(Reproduction(**with_text(text))),
        render_markdown(Reproduction(**with_text("x"))),
    )
    assert line_shape(mine) == line_shape(plain)


def test_hostile_text_is_shown_as_it_is():
    html = render_report(Reproduction(**with_text(HOSTILE)))
    assert len(Page(html).all("script")) == 1
    assert "<script>alert" not in html and 'onload="y' not in html
    texts = Page(html).texts
    assert sum(HOSTILE in text for text in texts) > 80
    # Every field is there once it is escaped, with none evaluated.
    assert "42" not in "".join(texts)


@pytest.mark.parametrize("text", ["# a", "- a", "1. a", "+ a", "1) a", "=== a", "a | b", "a\n\nb"])
def test_text_is_not_taken_for_markdown(text):
    mine = line_shape(render_markdown(Reproduction(**with_text(text))))
    assert mine == line_shape(render_markdown(Reproduction(**with_text("x"))))


def test_equal_arguments_give_equal_bytes(arguments, html, markdown):
    again = deepcopy(arguments)
    assert render_report(Reproduction(**again)) == html
    assert render_markdown(Reproduction(**again)) == markdown


def test_page_is_well_formed_small_and_stands_alone(html):
    page = Page(html)
    assert html.startswith("<!doctype html>")
    assert len(html.encode()) < 3e6
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _, _ in page.elements}
    assert "http:" not in html and "https:" not in html and "@import" not in html
    assert not any(name.startswith("on") for _, a, _ in page.elements for name in a)
    assert not re.search(r"\b20\d\d-\d\d|\d\d:\d\d", html)


def test_ids_are_unique_and_references_resolve(html, arguments):
    page = Page(html)
    ids = [a["id"] for _, a, _ in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    links = [a["href"][1:] for a in page.all("a")]
    labels = [a["aria-labelledby"] for _, a, _ in page.elements if "aria-labelledby" in a]
    used = re.findall(r"url\(#([^)]+)\)", html)
    assert set(links + labels + used) <= set(ids)
    names = {result.name for result in arguments["results"]}
    assert {name.lower().replace(" ", "-") for name in names} <= set(links)


def test_names_of_the_page_itself_are_not_given_away():
    names = ("contents", "Contents", "failures", "!!", "??")
    results = [table(1, name=name, title=name) for name in names]
    page = Page(render_report(Reproduction(**{**with_text("x"), "results": results})))
    ids = [a["id"] for _, a, _ in page.elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_tables_and_drawings_can_be_read_aloud(html):
    page = Page(html)
    assert len(page.all("caption")) == len(page.all("table")) > 40
    assert all(a.get("scope") in ("row", "col") for a in page.all("th"))
    drawings = [(a, stack) for tag, a, stack in page.elements if tag == "svg"]
    assert len(drawings) == len(page.all("figcaption")) == 30
    for attributes, stack in drawings:
        assert stack[-1] == "figure"
        assert attributes["role"] == "img" and len(attributes["aria-label"]) > 40


def test_a_drawing_without_words_gets_them():
    (drawing,) = Page(render_report(Reproduction(**with_text('a "b" <c>')))).all("svg")
    assert drawing == {"viewbox": "0 0 1 1", "role": "img", "aria-label": 'a "b" <c>'}
    broken = Result("f", "f", "", "", panels=(Panel("Loss", "nothing", ""),))
    with pytest.raises(ValueError, match=r"svg of panel 'Loss' has no <svg>"):
        render_report(Reproduction(**{**with_text("x"), "results": [broken]}))


def signed(value, digits):
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text if float(text[1:]) else text[1:]


def test_every_entry_has_a_line(arguments, html):
    tables = [r for r in arguments["results"] if r.is_table]
    tables = [result for result in tables if result.name != "Neither"]
    for result, lines in zip(tables, cells(html), strict=True):
        assert len(lines) == len(result.entries)
        for entry, line in zip(result.entries, lines, strict=True):
            assert line[:2] == [entry.row, entry.column]
            assert entry.ours is None or f"{entry.ours:.1f}" in line
            if entry.difference is not None:
                assert signed(round(entry.ours, 1) - entry.printed, 1) in line
            for test in entry.tests:
                assert f"{signed(test.z, 2)} ({format_p(test.p)})" in line


def test_markdown_has_every_figure(arguments, markdown):
    for result in arguments["results"]:
        assert f" {result.title}\n" in markdown
        if not result.is_table:
            assert all(panel.text in markdown.replace("\\", "") for panel in result.panels)
            continue
        for entry in result.entries:
            printed = "" if entry.printed is None else f"({entry.printed:.1f})"
            ours = "–" if entry.ours is None else f"{entry.ours:.1f}"
            if not result.name.startswith("table"):
                printed = printed.replace(".0", "")
            cell = rf"\| (\*\*)?{ours}( {re.escape(printed)})?(\*\*)? \|"
            assert any(
                re.search(cell, line)
                for line in markdown.split("\n")
                if line.startswith(f"| {entry.row} |")
            )
        assert all(entry.remark in markdown for entry in result.entries)
    assert "<svg" not in markdown


def test_findings_are_told_by_words_and_signs(html, markdown):
    for text in ("✓ Met", "✗ Not met", "○ Not judged", "Table 3, Heart; Table 3, Liver."):
        assert text in html and text in markdown
    assert "1 met, 1 missed, 1 not judged." in html


@pytest.mark.parametrize(
    ("level", "words"), [("quick", "a part of each protocol"), ("full", "the paper’s protocol")]
)
def test_level_stands_in_the_heading(level, words):
    changed = {**with_text("x"), "level": level}
    heading = re.search(r"<h1>(.*?)</h1>", render_report(Reproduction(**changed)))[1]
    assert heading.endswith(f"{level} level, {words}")
    assert (
        render_markdown(Reproduction(**changed)).split("\n")[0].endswith(f"{level} level, {words}")
    )


def test_a_wrong_level_is_refused():
    with pytest.raises(ValueError, match="level must be 'quick' or 'full', got 'slow'"):
        render_report(Reproduction([], level="slow"))


def test_failures_are_counted_and_the_first_are_told():
    changed = {**with_text("x"), "failures": [f"Fit {n} failed" for n in range(60)]}
    for text in (render_report(Reproduction(**changed)), render_markdown(Reproduction(**changed))):
        assert "Fit 49 failed" in text and "Fit 50 failed" not in text
        assert "And 10 more" in text


def test_nothing_at_all_is_a_report():
    nothing = {"findings": [], "level": "full", "seed": 0, "versions": []}
    html = render_report(Reproduction([], **nothing, unavailable={}, failures=[]))
    Page(html)
    assert "0 tables and 0 figures" in html
    assert "Seed 0." in render_markdown(Reproduction([], **nothing, unavailable={}, failures=[]))
