"""`bblr audit`: the table, the report, and what is refused."""

from __future__ import annotations

import csv
import errno
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bblr import BBLRClassifier, find_label_errors
from bblr.audit import LabelErrors
from bblr.cli.auditing import audit_job
from bblr.cli.auditing.audit_report import estimate, evidence, flip_rates
from bblr.cli.auditing.audited import Audited
from bblr.datasets import load_uci
from bblr.io.tables.table_layout import SvmlightLayout
from docs.check import CHROMIUM, wrong_pages
from tests.cli.conftest import bblr

OURS = ["row", "label", "suggested", "probability", "against"]


def audited(*arguments):
    result = bblr("audit", *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def table(path="audit.csv"):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def pets(tmp_path, monkeypatch):
    """Sixty cats and dogs, two of them with the wrong name, and awkward cells."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = np.repeat(["cat", "dog"], 30)
    weight = rng.normal(0, 1, 60) + 8.0 * (kind == "dog")
    kind[[4, 41]] = ["dog", "cat"]
    frame = pd.DataFrame(
        {
            "weight": weight.round(3),
            "row": np.arange(60),
            "note": ["<b>no & \"none\"</b>", "a,b"] * 30,
            "kind": kind,
        }
    )  # fmt: skip
    frame.to_csv("pets.csv", index=False)
    return frame


def test_the_table_has_every_row_by_falling_evidence(pets):
    printed = audited("pets.csv", "--target", "kind")
    assert "60 rows, 2 features, target 'kind'" in printed
    assert (
        "An estimated 2 of 60 labels are wrong (3.3 %); 2 rows are more likely wrong than right"
        in printed.replace("\n", " ")
    )
    rows = table()
    assert list(rows[0]) == OURS
    assert {row["row"] for row in rows[:2]} == {"5", "42"}
    assert [float(row["probability"]) > 0.5 for row in rows[:3]] == [True, True, False]
    assert sorted(int(row["row"]) for row in rows) == list(range(1, 61))
    assert (np.diff([float(row["probability"]) for row in rows]) <= 0).all()
    for row in rows:
        assert row["label"] == pets["kind"][int(row["row"]) - 1]
        assert row["suggested"] in {"cat", "dog"} - {row["label"]}
    # Only the weight tells them apart.
    for row in rows[:2]:
        weight = pets["weight"][int(row["row"]) - 1]
        assert row["against"].split("; ")[0] == f"weight={weight:g}"
    assert rows[-1]["against"] == ""


def test_columns_of_the_file_only_if_asked(pets):
    audited("pets.csv", "--target", "kind", "--with-columns")
    rows = table()
    assert list(rows[0]) == [*OURS, "weight", "data_row", "note"]
    for row in rows:
        own = pets.iloc[int(row["row"]) - 1]
        assert (row["label"], row["note"]) == (own["kind"], own["note"])
        assert float(row["weight"]) == own["weight"] and int(row["data_row"]) == own["row"]


def test_a_column_that_hardly_changes_the_odds_is_no_reason(pets):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 2000))  # z has nothing to do with y
    y = np.where((x > 0) ^ (rng.random(2000) < 0.1), "yes", "no")
    pd.DataFrame({"x": x, "z": z, "y": y}).to_csv("odds.csv", index=False)
    audited("odds.csv", "--json", "odds.json")
    suspects = json.loads(Path("odds.json").read_text())["suspects"]
    found = [reason for suspect in suspects for reason in suspect["against"]]
    assert len(found) >= 10 and min(reason["against"] for reason in found) >= 0.05


@pytest.mark.parametrize("classifier", ["BBLRClassifier", "KernelBBLRClassifier"])
def test_reasons_turn_round_with_the_sign_of_a_column(pets, classifier):
    ours = ("--target", "kind", "--drop", "row,note", "--classifier", classifier)
    audited("pets.csv", *ours, "--json", "one.json")
    pets.assign(weight=-pets["weight"]).to_csv("other.csv", index=False)
    audited("other.csv", *ours, "--json", "two.json")
    one, two = (json.loads(Path(f"{n}.json").read_text())["suspects"] for n in ("one", "two"))
    for first, second in zip(one, two, strict=True):
        (a,), (b,) = first["against"], second["against"]
        assert a["against"] == pytest.approx(b["against"], rel=1e-3) and a["against"] > 0
        assert float(a["value"]) == -float(b["value"])


def test_rates_between_classes_are_told(pets):
    printed = audited("pets.csv", "--target", "kind").replace("\n", " ")
    told = re.search(r"labelled wrongly: ([\d.]+) % of (\w+) as (\w+), [\d.]+ % of (\w+)", printed)
    assert told is not None and {told[2], told[3]} == {"cat", "dog"} and told[4] == told[3]
    assert 1.0 < float(told[1]) < 8.0
    text = Path("audit.html").read_text(encoding="utf-8")
    cells = Page(text).cells
    place = cells.index("True class")
    assert cells[place + 1 : place + 4] == ["cat", "dog", "cat"]
    shares = np.array([cells[place + 4 : place + 6], cells[place + 7 : place + 9]], dtype=float)
    np.testing.assert_allclose(shares.sum(axis=1), 100.0, atol=0.11)
    assert told[1] in f"{shares[0, 1]} {shares[1, 0]}"


def test_only_rates_worth_a_line_are_told():
    classes, rates = np.array(["a", "b"]), np.array([[0.9, 0.1], [0.0005, 0.9995]])
    scores = np.array([3.0, -3.0])
    found = LabelErrors(scores, classes[::-1], rates, classes, classes)
    assert flip_rates(found) == [("a", "b", 0.1)]
    assert flip_rates(LabelErrors(scores, classes[::-1])) == []
    assert flip_rates(LabelErrors(-np.abs(scores), classes[::-1], rates, classes, classes)) == []


def test_figures_are_those_of_the_function(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    audited("heart", "--out", "heart.csv", "--seed", "3")
    X, y = load_uci("heart", return_X_y=True)
    found = find_label_errors(BBLRClassifier(), X, y, random_state=3)
    rows = table("heart.csv")
    assert [int(row["row"]) - 1 for row in rows] == found.ranking.tolist()
    np.testing.assert_allclose(
        [float(row["probability"]) for row in rows], found.probability[found.ranking], rtol=1e-3
    )
    assert found.to_frame().index.tolist() == found.ranking.tolist()
    assert (found.to_frame()["label"].to_numpy() == y[found.ranking]).all()


@pytest.mark.parametrize("ending", ["csv", "parquet", "svm"])
def test_every_format_and_many_classes(folder, ending):
    printed = audited(
        f"train.{ending}", "--classifier", "BBLRClassifier", "--param", "gamma_max=1"
    )
    assert "3 classes" in printed
    rows = table()
    assert len(rows) == 90
    assert list(rows[0]) == OURS
    # Weight tells the kinds of these animals apart.
    weight = "x1=" if ending == "svm" else "weight="
    assert sum(row["against"].startswith(weight) for row in rows[:10]) >= 5


class Page(HTMLParser):
    """The cells of the tables of a page, and whatever it would load or run."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.loads, self.bars, self._open = [], [], 0, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self._open = tag in ("td", "th")
        if self._open:
            self.cells.append("")
        self.bars += tag == "div" and "bar" in (dict(attrs).get("class") or "").split()
        if tag in ("script", "link", "img", "b") or {"src", "href"} & {k for k, _ in attrs}:
            self.loads.append(tag)

    def handle_endtag(self, tag):
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data):
        if self._open:
            self.cells[-1] += data


def test_the_report_shows_the_rows_and_loads_nothing(pets):
    audited("pets.csv", "--target", "kind")
    text = Path("audit.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.loads == []
    assert page.bars == 7
    assert any('note = <b>no & "none"</b>' in cell for cell in page.cells)
    assert "<h1>An estimated 2 of 60 labels of pets.csv are wrong.</h1>" in text
    assert "2 rows are more likely wrong than right.</p>" in text and "plateau" not in text
    place = page.cells.index("Label", page.cells.index("Label") + 1)
    assert sorted(page.cells[place + 3 : place + 9]) == ["1", "1", "cat", "cat", "dog", "dog"]
    counted = re.findall(r"</div>([\d,]+)</div>", text)
    assert sum(int(count.replace(",", "")) for count in counted) == 60


def test_the_code_of_the_report_runs(pets):
    audited("pets.csv", "--target", "kind")
    (code,) = re.findall(r"<pre><code>(.*?)</code></pre>", Path("audit.html").read_text(), re.S)
    found: dict = {}
    exec(unescape(code), found)
    assert sorted(found["look"].index) == [5, 42]
    assert set(found["look"].columns) == {*pets.columns, "suggested", "against"}
    assert len(found["kept"]) == 58 and not {5, 42} & set(found["kept"].index)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_report_is_sound_in_a_browser_light_and_dark_wide_and_narrow(pets):
    long = pets.assign(kind=pets["kind"] + " with a name that is rather long")
    long.rename(columns={"weight": "a column whose name is longer still, in grams"}).to_csv(
        "long.csv", index=False
    )
    Path("site").mkdir()
    audited("long.csv", "--target", "kind", "--out", "site/audit.csv")
    assert list(wrong_pages(Path("site").resolve())) == []


def test_the_same_command_writes_the_same_files(pets):
    audited("pets.csv", "--target", "kind", "--out", "one.csv", "--jobs", "1")
    audited("pets.csv", "--target", "kind", "--out", "two.csv", "--jobs", "2")
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    assert Path("one.html").read_text() == Path("two.html").read_text().replace("two.", "one.")


def test_a_kernel_is_given_scaled_features(pets):
    frame = pets.assign(weight=1e6 * pets["weight"])
    frame.to_csv("large.csv", index=False)
    ours = ("--target", "kind", "--drop", "row", "--classifier", "KernelBBLRClassifier")
    for name in ("pets", "large"):
        audited(f"{name}.csv", *ours, "--out", f"{name}-out.csv")
    one, two = ([row["row"] for row in table(f"{n}-out.csv")[:5]] for n in ("pets", "large"))
    assert one == two


def test_in_sample(pets):
    assert "in sample" in audited("pets.csv", "--target", "kind", "--in-sample")
    assert {row["row"] for row in table()[:2]} == {"5", "42"}


def test_the_rows_told_are_the_first_of_the_table():
    """Also where the estimate by class counts none of the class of the most suspicious row."""
    chances = np.array([0.25, *[0.2] * 6, 0.1])
    given = np.array(["a", *["b"] * 7])
    suggested = np.where(given == "a", "b", "a")
    classes = np.array(["a", "b"])
    found = LabelErrors(np.log(chances / (1 - chances)), suggested, np.eye(2), classes, given)
    assert found.n_errors == 2 and 0 not in found.indices
    data = Audited("d", np.zeros((8, 1)), given, None, SvmlightLayout(1, False))
    *_, told, caution = audit_job._lines(data, found, "how")
    assert caution.startswith("check before you change any")
    assert told == "look first at data rows 1 (a, not b?), 2 (b, not a?)"


def test_labels_without_doubt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{10 * (i % 2) + i / 100},{'ab'[i % 2]}" for i in range(80)]
    Path("clear.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    printed = audited("clear.csv")
    assert "No label looks wrong" in printed
    assert "look first" not in printed and "estimated" not in printed
    page = Path("audit.html").read_text(encoding="utf-8")
    assert "<h1>No label of clear.csv looks wrong.</h1>" in page
    assert "plateau" not in page + printed and "no single row" not in page


@pytest.mark.parametrize(
    ("scores", "first", "second"),
    [
        ([-9.0] * 4, "No label looks wrong", ""),
        ([-9.0] * 3 + [5.0], "An estimated 1 of 4 labels is wrong",
         "1 row is more likely wrong than right"),
        ([-1.0] * 4, "An estimated 1 of 4 labels is wrong",
         "no single row is more likely wrong than right"),
        ([-1.0] * 8, "An estimated 2 of 8 labels are wrong",
         "no single row is more likely wrong than right"),
        ([5.0, 5.0, -9.0], "An estimated 2 of 3 labels are wrong",
         "2 rows are more likely wrong than right"),
    ],
)  # fmt: skip
def test_words_do_not_contradict_each_other(scores, first, second):
    found = LabelErrors(np.array(scores), np.zeros(len(scores)))
    assert (estimate(found), evidence(found)) == (first, second)


def test_columns_named_like_ours_are_told_apart(pets):
    pets.assign(data_row=7, label=8).to_csv("twice.csv", index=False)
    audited("twice.csv", "--target", "kind", "--with-columns")
    rows = table()
    own = ["weight", "data_data_row", "note", "data_row", "data_label"]
    assert list(rows[0]) == [*OURS, *own]
    assert {row["data_row"] for row in rows} == {"7"}
    assert all(int(row["data_data_row"]) == int(row["row"]) - 1 for row in rows)


def test_missing_values_are_told(pets):
    assert "missing values" not in audited("pets.csv", "--target", "kind")
    pets.loc[[3, 9], "weight"] = np.nan
    pets.to_csv("gaps.csv", index=False)
    printed = audited("gaps.csv", "--target", "kind")
    assert (
        "missing values get an indicator, and numbers their median: 'weight' (median " in printed
    )


@pytest.mark.parametrize(
    ("arguments", "needles"),
    [
        (("nothing.csv",), ("DATA 'nothing.csv' is neither an embedded data set",)),
        (("pets.csv", "--target", "size"), ("--target", "'size'")),
        (("heart", "--target", "kind"), ("--target", "only goes with a file")),
        (("heart", "--drop", "kind"), ("--drop", "only goes with a file")),
        (("pets.csv", "--out", "audit.txt"), ("--out", ".csv")),
        (("pets.csv", "--out", "no/audit.csv"), ("--out", "create 'no' first")),
        (("pets.csv", "--out", "pets.csv"), ("--out", "is read from")),
        (("pets.csv", "--classifier", "SVC"), ("--classifier", "'SVC' is unknown")),
        (("pets.csv", "--param", "lever=1"), ("--param", "did you mean 'leverage'?")),
        (("pets.csv", "--param", "l2=-1"), ("--param", "l2 must be")),
        (("pets.csv", "--seed", "-1"), ("--seed", "at least 0")),
        (("pets.csv", "--jobs", "0"), ("--jobs", "at least 1")),
        (("typo.csv",), ("DATA cannot be used", "'dgo'", "correct that label", "--in-sample")),
        (("gap.csv",), ("DATA cannot be used", "missing")),
    ],
)
def test_what_is_refused(pets, arguments, needles):
    typo = pets.copy()
    typo.loc[7, "kind"] = "dgo"
    typo.to_csv("typo.csv", index=False)
    typo.loc[7, "kind"] = None
    typo.to_csv("gap.csv", index=False)
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    result = bblr("audit", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("Note: ")]
    assert len(lines) == 1 and lines[0].startswith("Error: ")
    for needle in needles:
        assert needle in result.stderr
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_a_full_disk_leaves_no_half_file(pets, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("bblr._atomic.os.fsync", full)
    result = bblr("audit", "pets.csv", "--target", "kind")
    assert result.exit_code == 2
    assert "--out cannot be written: No space left on device" in result.stderr
    assert [path.name for path in Path().iterdir()] == ["pets.csv"]


def test_ctrl_c_leaves_nothing(pets, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(audit_job, "find_label_errors", stop)
    result = bblr("audit", "pets.csv", "--target", "kind")
    assert result.exit_code == 130 and "nothing was written" in result.stderr
    assert [path.name for path in Path().iterdir()] == ["pets.csv"]
