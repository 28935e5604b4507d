import re

import pytest

from bblr.comparison.verdict.metrics import Metric
from bblr.comparison.verdict.verdict_page import Compared, document, write_report
from tests.comparison.page import Page

NOISE = {"noise": 0.1, "protocol": "label-flip", "place": "training"}
CONDITIONS = ({"noise": 0.0, "protocol": None, "place": None}, NOISE)


@pytest.fixture(scope="module")
def records(make_record):
    return [
        make_record(method, tuple(range(n_wrong + fold)), condition=condition, fold=fold)
        for fold in range(3)
        for condition in CONDITIONS
        for method, n_wrong in (("LR", 3), ("SVM", 2), ("BBLR", 1))
    ]


def page_of(records):
    return document(Compared(records, Metric())).html()


@pytest.fixture(scope="module")
def html(records):
    return page_of(records)


def test_page_is_well_formed_and_stands_alone(html):
    page = Page(html)
    assert html.startswith("<!doctype html>")
    assert page.all("html") == [{"lang": "en"}]
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _, _ in page.elements}
    for _, attributes, _ in page.elements:
        for name in ("src", "href", "xlink:href", "style"):
            assert not re.search(r"https?:|url\((?!#)", attributes.get(name) or "")
    assert "http:" not in html and "https:" not in html
    assert "@import" not in html
    assert len(html.encode()) < 3e6


def test_ids_are_unique_and_references_resolve(html):
    page = Page(html)
    ids = [a["id"] for _, a, _ in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    used = re.findall(r"url\(#([^)]+)\)", html)
    used += [
        a[name][1:] for _, a, _ in page.elements for name in ("href", "xlink:href") if name in a
    ]
    assert set(used) <= set(ids)


def test_every_figure_has_a_caption_and_words(html):
    page = Page(html)
    drawings = page.all("svg")
    assert len(drawings) == len(page.all("figure")) == len(page.all("figcaption")) == 5
    for drawing in drawings:
        assert drawing["role"] == "img"
        assert len(drawing["aria-label"]) > 40
        assert "viewbox" in drawing and "width" not in drawing


def test_page_suits_phones_and_both_colour_schemes(html):
    page = Page(html)
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all(
        "meta"
    )
    assert "prefers-color-scheme: dark" in html
    drawn = "".join(re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL))
    assert set(re.findall(r"(?:fill|stroke): (#\w+)", drawn)) == set()
    assert "var(--ink)" in drawn


def test_numbers_on_the_page_are_those_of_the_records(records, html):
    texts = Page(html).texts
    for standing in Compared(records, Metric()).standings:
        for line in standing.lines:
            there = (line.method, standing.condition.noise)
            mine = [r for r in records if (r["method"], r["condition"]["noise"]) == there]
            rate = sum(r["errors"] for r in mine) / sum(r["n_test"] for r in mine)
            assert line.value.value == pytest.approx(rate)
            assert f"{100 * rate:.2f}" in texts


def test_equal_records_give_equal_pages(records, html):
    assert page_of(records) == html
    worse = [{**r, "predictions": [0] * 10} if r["method"] == "BBLR" else r for r in records]
    assert page_of(worse) != html


def test_names_are_escaped(make_record):
    nasty = "<script>alert(1)</script>"
    records = [make_record(m, data=nasty, label=f"<i>{m}</i>") for m in ("LR", "BBLR")]
    html = page_of(records)
    Page(html)
    assert nasty not in html and "<i>" not in html
    assert "&lt;script&gt;" in html


def test_failures_and_warnings_are_shown(make_record):
    records = [
        make_record("LR", warnings=["ConvergenceWarning: more steps"]),
        make_record("BBLR"),
        make_record("BBLR", fold=1, failure="ValueError: boom"),
    ]
    text = " ".join(Page(page_of(records)).texts)
    assert "1 of 3 fits failed" in text
    assert "BBLR on tiny, repeat 0, fold 1: ValueError: boom" in text
    assert "BBLR (1/2)" in text
    assert "LR: ConvergenceWarning: more steps" in text


def test_everything_may_fail(make_record):
    text = " ".join(Page(page_of([make_record("LR", failure="ValueError: boom")])).texts)
    assert "1 of 1 fits failed" in text


def test_several_data_sets_have_totals_and_tables_of_their_own(make_record):
    records = [make_record(m, data=d) for d in ("a", "b") for m in ("LR", "SVM", "BBLR")]
    page = Page(page_of(records))
    assert len(page.all("table")) == 3
    assert "All data sets, clean" in page.texts


def test_report_is_written_as_utf8(tmp_path, records, html):
    path = write_report(Compared(records, Metric()), tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == html
