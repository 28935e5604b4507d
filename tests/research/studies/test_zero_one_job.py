from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from bblr import ZeroOneClassifier, __version__
from bblr.cli import app
from bblr.comparison.records import read_records
from research.studies.zero_one import _curve, draw

SOLVERS = ("search", "sla", "csa", "pcs", "bnb", "mip", "exact")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a small table of two features in it."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(24, 2)).round(2)
    labels = points[:, 0] + 0.7 * rng.normal(size=24) > 0
    rows = [f"{a},{b},{'yes' if y else 'no'}" for (a, b), y in zip(points, labels, strict=True)]
    (tmp_path / "data.csv").write_text("a,b,label\n" + "\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bblr(*arguments):
    return CliRunner().invoke(app, ["zero-one", *map(str, arguments)])


def quick(*arguments):
    return bblr("data.csv", "--time-limit", 1, *arguments)


def rows_of(text: str) -> dict[str, list[str]]:
    """The rows of the printed table, by solver."""
    rows = [line.split(maxsplit=6) for line in text.splitlines()]
    return {
        row[0]: [cell.strip() for cell in row[1:]] for row in rows if row and row[0] in SOLVERS
    }


def test_help_names_every_option():
    text = re.sub(r"\x1b\[[\d;]*m", "", bblr("--help").stdout)
    for option in ("target", "solvers", "time-limit", "seed", "no-intercept", "plot", "records"):
        assert f"--{option}" in text
    assert "--verbose" in text and "DATA" in text


def recorded(folder: Path, name: str = "zero-one.jsonl") -> dict[str, dict[str, Any]]:
    """The records of a run, by solver."""
    return {record["method"]: record for record in read_records(folder / name).values()}


def test_table_plot_and_records_of_every_solver(folder):
    result = quick("--seed", 3)
    assert result.exit_code == 0, result.stderr
    assert "data (24 rows, 2 features)" in result.stdout
    for head in ("Loss", "Lower", "Gap", "Optimal", "Seconds", "Why it stopped"):
        assert head in result.stdout
    runs = recorded(folder)
    assert tuple(runs) == tuple(rows_of(result.stdout)) == SOLVERS
    for solver, cells in rows_of(result.stdout).items():
        run = runs[solver]
        assert cells[0] == f"{run['loss']:.0f}" and cells[1] == f"{run['lower_bound']:.0f}"
        assert cells[2] == f"{100 * run['gap']:.1f}"
        assert cells[3] == ("yes" if run["optimal"] else "no")
        assert cells[5] == run["reason"]
    least = runs["exact"]["loss"]
    assert runs["exact"]["optimal"] and runs["mip"]["optimal"]
    assert all(run["lower_bound"] <= least <= run["loss"] for run in runs.values())
    assert f"Least loss: {least:.0f} (" in result.stdout
    assert "proved optimal (" in result.stdout
    assert result.stdout.splitlines()[-1] == "Plot: zero-one.png"


def test_records_say_what_they_depend_on_and_are_made_once(folder):
    arguments = ("--records", "r.jsonl", "--seed", 3, "--solvers", "csa", "--no-intercept")
    result = quick(*arguments)
    assert result.exit_code == 0, result.stderr
    run = recorded(folder, "r.jsonl")["csa"]
    assert (run["seed"], run["time_limit"], run["fit_intercept"]) == (3, 1.0, False)
    assert run["versions"]["bblr"] == __version__ and run["data"] == "data"
    trace = run["trace"]
    assert trace[-1][1] == run["loss"]
    assert 0 <= trace[0][0] <= trace[-1][0] <= run["seconds"]
    kept = Path(folder, "r.jsonl").read_bytes()
    assert quick(*arguments).stdout == result.stdout
    assert Path(folder, "r.jsonl").read_bytes() == kept


def test_loss_is_that_of_the_classifier(folder):
    from bblr.io import read_table

    quick("--solvers", "exact", "--no-intercept")
    X, y, _ = read_table("data.csv")
    model = ZeroOneClassifier("exact", fit_intercept=False).fit(X, y)
    loss = recorded(folder)["exact"]["loss"]
    assert loss == model.zero_one_loss_ == np.sum(model.predict(X) != y)


def test_solvers_run_once_each_in_the_order_they_are_named(folder):
    result = quick("--solvers", " csa,SLA,csa,", "--plot", "two.svg")
    assert result.exit_code == 0, result.stderr
    assert list(rows_of(result.stdout)) == ["csa", "sla"]
    assert "no lower bound was proved" in result.stdout
    assert ElementTree.parse(folder / "two.svg").getroot().tag.endswith("svg")
    assert not (folder / "zero-one.png").exists()


def test_verbose_prints_improvements(folder):
    assert "[ZeroOneClassifier]" not in quick("--solvers", "exact").stdout
    result = quick("--solvers", "exact", "--verbose", "--seed", 1)
    line = r"\[ZeroOneClassifier\] \d+\.\d\d s: loss \d+, bound \d+, gap \d+ %"
    assert re.search(line, result.stdout)


@pytest.mark.parametrize(("options", "features"), [([], 3), (["--no-intercept"], 4)])
def test_exact_is_left_out_where_it_cannot_go(folder, options, features):
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(features)]
    rows = [
        f"{','.join(map(str, x))},{i % 2}" for i, x in enumerate(rng.normal(size=(9, features)))
    ]
    (folder / "wide.csv").write_text("\n".join([",".join([*names, "y"]), *rows]) + "\n")
    result = bblr("wide.csv", "--time-limit", 1, *options)
    assert result.exit_code == 0, result.stderr
    assert tuple(rows_of(result.stdout)) == SOLVERS[:-1]
    before = contents(folder)
    result = bblr("wide.csv", "--solvers", "exact", *options)
    check_refusal(result, folder, before, "--solvers", f"at most {features - 1} features")
    assert "name mip" in result.stderr


def test_large_data_are_for_some_solvers_only(folder, monkeypatch):
    monkeypatch.setattr("research.studies.zero_one.MAX_TABLE", 24)
    assert tuple(rows_of(quick().stdout)) == ("search", "sla")
    before = contents(folder)
    result = quick("--solvers", "sla,mip")
    check_refusal(result, folder, before, "--solvers", "choose from search, sla")


def broken(error: BaseException) -> Any:
    """A classifier whose solver "sla" raises."""

    class Broken(ZeroOneClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            if self.solver == "sla":
                raise error
            return super().fit(X, y, sample_weight)

    return Broken


def test_a_failing_solver_does_not_lose_the_others(folder, monkeypatch):
    failure = ValueError("no luck\n[today]")
    monkeypatch.setattr("research.studies.zero_one.ZeroOneClassifier", broken(failure))
    result = quick("--solvers", "csa,sla,exact")
    assert result.exit_code == 1
    assert "sla on data failed: ValueError: no luck [today]" in result.stderr
    assert list(rows_of(result.stdout)) == ["csa", "exact"]
    assert (folder / "zero-one.png").is_file()
    assert recorded(folder)["sla"]["failure"] == "ValueError: no luck [today]"


def test_a_lone_failure_draws_nothing(folder, monkeypatch):
    monkeypatch.setattr("research.studies.zero_one.ZeroOneClassifier", broken(ValueError("no")))
    result = quick("--solvers", "sla")
    assert result.exit_code == 1 and "sla on data failed" in result.stderr
    assert not (folder / "zero-one.png").exists()


def test_interruption_keeps_what_was_found(folder, monkeypatch):
    with monkeypatch.context() as patch:
        stop = broken(KeyboardInterrupt())
        patch.setattr("research.studies.zero_one.ZeroOneClassifier", stop)
        result = quick("--solvers", "csa,sla,exact")
    assert result.exit_code == 130
    assert "Stopped: 1 of 3 results are in zero-one.jsonl" in result.stderr
    assert list(recorded(folder)) == ["csa"]
    again = quick("--solvers", "csa,sla,exact")
    assert again.exit_code == 0 and list(rows_of(again.stdout)) == ["csa", "sla", "exact"]


def test_a_file_that_cannot_be_written_does_not_lose_the_table(folder, monkeypatch):
    def full(*arguments):
        raise OSError("No space left on device")

    monkeypatch.setattr("research.studies.zero_one.draw", full)
    result = quick("--solvers", "sla,exact")
    assert result.exit_code == 1
    assert "--plot 'zero-one.png' was not written: No space left on device" in result.stderr
    assert list(rows_of(result.stdout)) == ["sla", "exact"]


MISUSE = {
    "unknown solver": (["--solvers", "sla,simplex"], "--solvers", "choose from search, sla, pcs"),
    "no solver": (["--solvers", ""], "--solvers", "choose from search, sla, pcs"),
    "no time": (["--time-limit", "0"], "--time-limit", "seconds above 0, got 0"),
    "endless time": (["--time-limit", "inf"], "--time-limit", "seconds above 0, got inf"),
    "time is nan": (["--time-limit", "nan"], "--time-limit", "seconds above 0, got nan"),
    "negative seed": (["--seed", "-1"], "--seed", "at least 0, got -1"),
    "large seed": (["--seed", str(2**32)], "--seed", "at most 4294967295, got 4294967296"),
    "missing target": (["--target", "lable"], "--target", "did you mean 'label'"),
    "target with too many classes": (["--target", "a"], "DATA", "numbers that are not whole"),
    "missing folder": (["--plot", "no/such/plot.png"], "--plot", "create 'no/such' first"),
    "plot is a folder": (["--plot", "taken.png"], "--plot", "choose another place"),
    "plot is no picture": (["--plot", "data.csv"], "--plot", "must name a .png or .svg file"),
    "records are data": (["--records", "data.csv"], "--records", "must name a .jsonl file"),
    "records in no folder": (["--records", "no/r.jsonl"], "--records", "create 'no' first"),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def check_refusal(result, folder: Path, before: dict[str, bytes], option: str, remedy: str):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {option} ")
    assert remedy in result.stderr
    assert result.stderr.count("\n") == 1
    assert contents(folder) == before


@pytest.mark.parametrize(("arguments", "option", "remedy"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_one_line_and_writes_nothing(folder, arguments, option, remedy):
    (folder / "taken.png").mkdir()
    before = contents(folder)
    check_refusal(quick(*arguments), folder, before, option, remedy)


def test_bad_data_are_one_line_and_nothing_is_written(folder):
    before = contents(folder)
    check_refusal(bblr("nothing.csv"), folder, before, "DATA", "check the name or the path")
    check_refusal(bblr("heart", "--target", "a"), folder, before, "--target", "leave it out")


def test_a_folder_without_permission_is_refused(folder, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    check_refusal(quick(), folder, contents(folder), "--plot", "cannot be written")


def test_data_are_needed():
    result = bblr()
    assert result.exit_code == 2
    assert "DATA" in result.stderr


PROOF = {
    "method": "mip", "seconds": 2.5, "loss": 12.0, "lower_bound": 12.0, "optimal": True,
    "trace": [[0.01, 20.0, 0.0], [0.3, 12.0, 4.0], [0.8, 12.0, 12.0]],
}  # fmt: skip
SEARCH = {
    "method": "search", "seconds": 1.0, "loss": 14.0, "lower_bound": 0.0, "optimal": False,
    "trace": [[0.02, 14.0, 0.0]],
}  # fmt: skip


def test_curves_last_until_the_solver_ended():
    (run,) = pd.DataFrame([PROOF]).itertuples()
    curve = _curve(run).tolist()
    assert curve[0] == [0.01, 20.0, 0.0]
    assert curve[-1] == [2.5, 12.0, 12.0]


def test_plot_is_a_picture_with_the_colours_of_its_solvers(tmp_path):
    path = tmp_path / "plot.png"
    # A name may hold what Matplotlib would take for a formula.
    draw(pd.DataFrame([SEARCH, PROOF]), "odd $name$_ (3 rows, 1 feature)", path)
    picture = matplotlib.image.imread(path)
    assert picture.shape[0] > 500 and picture.shape[1] > 900
    colours = {tuple(pixel) for pixel in (255 * picture[::2, ::2, :3]).round().reshape(-1, 3)}
    assert {(0, 0x72, 0xB2), (0, 0x9E, 0x73)} <= colours


def test_plot_of_runs_that_took_no_time(tmp_path):
    run = {**SEARCH, "method": "exact", "seconds": 0.0, "loss": 0.0, "optimal": True}
    draw(pd.DataFrame([{**run, "trace": [[0.0, 0.0, 0.0]]}]), "separable", tmp_path / "plot.SVG")
    text = (tmp_path / "plot.SVG").read_text(encoding="utf-8")
    assert "seconds (log scale)" in text and "exact: loss 0" in text
