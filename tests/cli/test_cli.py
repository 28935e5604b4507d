from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bblr import __version__
from bblr.cli import app
from bblr.comparison.methods import Method
from bblr.comparison.records import read_records


def fast_method(name: str) -> Method:
    def build(random_state: int, *, sparse: bool = False) -> Any:
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="stratified", random_state=random_state)

    return Method(name, name, f"Stand-in for {name}.", build)


@pytest.fixture(autouse=True)
def fast_methods(monkeypatch):
    registry = {name: fast_method(name) for name in ("LR", "SVM", "BBLR")}
    monkeypatch.setattr("bblr.comparison.methods.METHODS", registry)
    return registry


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a small table in it."""
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{'yes' if a > 0 else 'no'}" for a, b in rng.normal(size=(30, 2))]
    (tmp_path / "data.csv").write_text("a,b,label\n" + "\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ALL = ["--methods", "LR,SVM,BBLR"]
NOISY = [*ALL, "--noise", 0.1]


def bblr(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def compare(*arguments):
    return bblr("compare", *arguments, "--jobs", 1)


def test_version():
    result = bblr("--version")
    assert result.exit_code == 0
    assert result.stdout == f"bblr {__version__}\n"


def test_help_names_every_option():
    text = re.sub(r"\x1b\[[\d;]*m", "", bblr("compare", "--help").stdout)
    for option in ("target", "methods", "noise", "protocol", "noise-in", "repeats", "folds"):
        assert f"--{option}" in text
    for option in ("metric", "cost", "tune-threshold", "json"):
        assert f"--{option}" in text
    for option in ("jobs", "seed", "out", "records"):
        assert f"--{option}" in text


@pytest.mark.parametrize("command", [(), ("predict",), ("fit",)])
def test_help_shows_no_value_for_options_without_one(command):
    assert "bool" not in bblr(*command, "--help").stdout


def test_a_file_gives_tables_and_a_report(folder):
    result = compare("data.csv", "--target", "label", "--repeats", 2, "--out", "my.html")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("No detectable difference; keep LR.\n")
    assert "noise" not in result.stdout
    assert result.stdout.splitlines()[-1] == "Report: my.html"
    assert (folder / "my.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    # LR and BBLR, and the one to use on all rows.
    assert len(read_records(folder / "my.jsonl")) == 2 * 5 * 2 + 1


def test_noise_is_added_on_request(folder):
    result = compare("data.csv", *ALL, "--noise", 0.1, "--json", "my.json")
    assert result.exit_code == 0, result.stderr
    assert "With 10 % uniform-one-class noise in training: " in result.stdout
    assert len(read_records(folder / "report.jsonl")) == 5 * 2 * 3 + 1
    found = json.loads((folder / "my.json").read_text())
    labels = [result["condition"] for result in found["results"]]
    assert labels == ["clean", "10 % uniform-one-class noise in training"]


def test_json_has_the_verdict_and_every_figure(folder):
    options = ["--metric", "cost", "--cost", "yes:no=5", "--seed", 3]
    result = compare("data.csv", *ALL, *options, "--json", "my.json")
    assert result.exit_code == 0, result.stderr
    found = json.loads((folder / "my.json").read_text())
    assert list(found)[:3] == ["bblr", "command", "schema"]
    assert (found["bblr"], found["command"], found["schema"]) == (__version__, "compare", 1)
    assert (found["metric"], found["higher_is_better"], found["seed"]) == ("cost", False, 3)
    (one,) = found["results"]
    assert (one["data"], one["rows"], one["folds"], one["repeats"]) == ("data", 30, 5, 1)
    assert one["verdict"]["sentence"] == result.stdout.splitlines()[0]
    assert one["verdict"]["decision"] in ("use", "keep", "majority", "open")
    assert {each["method"] for each in one["methods"]} == {"LR", "SVM", "BBLR"}
    for each in one["methods"]:
        value = each["value"]
        assert value["low"] <= value["value"] <= value["high"]
        assert value["value"] == pytest.approx(each["metrics"]["cost"])
        assert (each["difference"] is None) == (each["method"] == "LR")
        assert {"error", "balanced", "auc", "log-loss", "f1"} <= set(each["metrics"])
        assert (each["folds_done"], each["folds_planned"]) == (5, 5)
    values = [each["value"]["value"] for each in one["methods"]]
    assert values == sorted(values)
    piped = compare("data.csv", *ALL, *options, "--json", "-")
    assert json.loads(piped.stdout) == found
    assert "Report: report.html" in piped.stderr


def test_thresholds_are_tuned_on_request(folder):
    result = compare("data.csv", "--tune-threshold", "--metric", "balanced")
    assert result.exit_code == 0, result.stderr
    page = (folder / "report.html").read_text("utf-8")
    assert "chosen for this metric" in page and "are chosen by AUC" in page


def test_settings_are_chosen_by_the_metric_and_what_has_none_is_not_fitted_again(
    folder, fast_methods
):
    fast_methods["SVM"] = replace(fast_methods["SVM"], tunes=False)
    first = compare("data.csv", *ALL)
    assert first.exit_code == 0, first.stderr
    assert "are chosen by accuracy" in (folder / "report.html").read_text("utf-8")
    again = compare("data.csv", *ALL, "--metric", "auc")
    assert again.exit_code == 0, again.stderr
    assert "are chosen by AUC" in (folder / "report.html").read_text("utf-8")
    assert "5 of 15 results were in report.jsonl already" in again.stderr
    found = {
        (record["method"], record["scoring"])
        for record in read_records(folder / "report.jsonl").values()
        if record["folds"] == 5
    }
    assert found == {("SVM", "accuracy"), *product(("LR", "BBLR"), ("accuracy", "roc_auc"))}


def test_without_data_all_embedded_sets_are_compared(folder):
    result = compare("--repeats", 1, "--methods", "LR,BBLR")
    assert result.exit_code == 0, result.stderr
    for name in ("breast", "heart", "liver", "pima"):
        assert f"{name}, clean" in result.stdout
    assert "All 4 data sets, clean (2,066 rows)" in result.stdout
    assert (folder / "report.html").is_file() and (folder / "report.jsonl").is_file()


def test_running_again_resumes(folder):
    first = compare("data.csv", "--repeats", 1)
    before = (folder / "report.jsonl").read_bytes()
    again = compare("data.csv", "--repeats", 1)
    assert (folder / "report.jsonl").read_bytes() == before
    assert again.stdout == first.stdout
    assert "10 of 10 results were in report.jsonl already" in " ".join(again.stderr.split())


def test_no_noise_means_clean_data_only(folder):
    result = compare("data.csv", "--repeats", 1, "--noise", 0, "--records", "other.jsonl")
    assert result.exit_code == 0
    assert "noise" not in result.stdout
    assert len(read_records(folder / "other.jsonl")) == 11
    assert not (folder / "report.jsonl").exists()


def test_interruption_leaves_a_valid_file_and_a_hint(folder, monkeypatch):
    from bblr.comparison.session import LiveProgress

    show = LiveProgress.count

    def interrupt(self, record):
        show(self, record)
        if record["fold"] == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LiveProgress, "count", interrupt)
        result = compare("data.csv", *NOISY)
    assert result.exit_code == 130
    hint = " ".join(result.stderr.split())
    assert "Stopped: 13 of 30 results are in report.jsonl; run the same command to go on" in hint
    assert len(read_records(folder / "report.jsonl")) == 13
    assert not (folder / "report.html").exists()
    assert compare("data.csv", *NOISY).exit_code == 0
    assert len(read_records(folder / "report.jsonl")) == 31


def test_a_dead_worker_is_one_line(folder, monkeypatch):
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    def die(*arguments):
        raise TerminatedWorkerError("killed")

    monkeypatch.setattr("bblr.comparison.cells.Cell.run", die)
    result = compare("data.csv", "--repeats", 1)
    assert result.exit_code == 1
    last = result.stderr.splitlines()[-1]
    assert "0 of 10 results are in report.jsonl" in last and "fewer --jobs" in last


def test_a_failing_method_is_reported_beside_the_others(folder, fast_methods):
    def build(random_state, *, sparse=False):
        raise ValueError("no luck [today]")

    fast_methods["SVM"] = Method("SVM", "SVM", "Fails.", build)
    result = compare("data.csv", *NOISY)
    assert result.exit_code == 1
    assert "10 of 31 fits failed" in result.stderr
    assert "SVM on data: ValueError: no luck [today]" in result.stderr
    assert (folder / "report.html").is_file()


MISUSE = {
    "unknown method": (["--methods", "LR,RF"], "--methods", "choose from LR, SVM, BBLR"),
    "no method": (["--methods", ""], "--methods", "choose from"),
    "unknown protocol": (["--protocol", "salt"], "--protocol", "choose from uniform-one-class"),
    "unknown place": (["--noise-in", "test"], "--noise-in", "choose from training, everywhere"),
    "noise too large": (["--noise", "1"], "--noise", "at least 0 and below 1, got 1"),
    "noise below 0": (["--noise", "-0.1"], "--noise", "at least 0 and below 1"),
    "noise is nan": (["--noise", "nan"], "--noise", "at least 0 and below 1"),
    "unknown metric": (["--metric", "mcc"], "--metric", "choose from error, balanced, auc"),
    "cost without costs": (["--metric", "cost"], "--metric", "--cost 'yes:no=5'"),
    "costs without cost": (["--metric", "auc", "--cost", "yes:no=5"], "--cost", "leave one out"),
    "costs of no class": (["--cost", "yes:maybe=5"], "--cost", "choose from no, yes"),
    "costs that are none": (["--cost", "5"], "--cost", "write 'true:predicted=5'"),
    "costs below 0": (["--cost", "yes:no=-1"], "--cost", "at least 0"),
    "thresholds of scores": (
        ["--metric", "auc", "--tune-threshold"],
        "--tune-threshold",
        "changes nothing",
    ),
    "json is not json": (["--json", "data.csv"], "--json", "must name a .json file"),
    "no repeats": (["--repeats", "0"], "--repeats", "at least 1, got 0"),
    "one fold": (["--folds", "1"], "--folds", "at least 2, got 1"),
    "too many folds": (["--folds", "25"], "--folds", "at most 13 for 'data': its class 'yes'"),
    "no jobs": (["--jobs", "0"], "--jobs", "at least 1, got 0"),
    "negative seed": (["--seed", "-1"], "--seed", "at least 0"),
    "missing target": (["--target", "lable"], "--target", "did you mean 'label'"),
    "target with too many classes": (["--target", "a"], "DATA", "numbers that are not whole"),
    "column to drop": (["--drop", "c"], "--drop", "'c' is not a column"),
    "missing folder": (["--out", "no/such/report.html"], "--out", "create 'no/such' first"),
    "folder is a file": (["--out", "data.csv/report.html"], "--out", "folder that exists"),
    "out is a folder": (["--out", "taken.html"], "--out", "choose another place"),
    "out is not html": (["--out", "data.csv"], "--out", "must name a .html or .htm file"),
    "records is not jsonl": (["--records", "data.csv"], "--records", "must name a .jsonl file"),
    "records are something else": (["--records", "notes.jsonl"], "--records", "choose another"),
}


def check_refusal(result, folder: Path, before: dict[str, bytes], option: str, remedy: str):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {option} ")
    assert remedy in result.stderr
    assert result.stderr.count("\n") == 1
    assert contents(folder) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.parametrize(("arguments", "option", "remedy"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_one_line_and_writes_nothing(folder, arguments, option, remedy):
    (folder / "taken.html").mkdir()
    (folder / "notes.jsonl").write_text("my notes\n")
    before = contents(folder)
    result = bblr("compare", "data.csv", *arguments)
    check_refusal(result, folder, before, option, remedy)


BAD_DATA = {
    "not there": ("nothing.csv", None, "neither an embedded data set (breast, heart"),
    "a folder": (".", None, "nor a file"),
    "empty": ("bad.csv", "", "empty"),
    "no rows": ("bad.csv", "a,b,label\n", "no rows"),
    "ragged": ("bad.csv", "a,b\n1,2\n1,2,3\n", "line 3"),
    "missing label": ("bad.csv", "a,b\n1,x\n2,\n3,y\n", "missing value"),
    "infinite": ("bad.csv", "a,b\n1,x\ninf,y\n2,x\n", "infinite"),
    "one class": ("bad.csv", "a,b\n1,x\n2,x\n", "one class"),
    "one row": ("bad.csv", "a,b\n" + "1,x\n2,y\n" * 9 + "3,z\n", "'z' of 'bad' has a single row"),
    "a quantity": ("bad.csv", "a,b\n" + "1,0.5\n2,1\n" * 9, "not whole (0.5)"),
    "malformed svmlight": ("bad.svm", "1 1:0.5\n0 x:y\n", "line 2"),
    "malformed parquet": ("bad.parquet", "PAR1 nonsense", "not a sound Parquet file"),
}


@pytest.mark.parametrize(("name", "content", "remedy"), BAD_DATA.values(), ids=BAD_DATA)
def test_bad_data_is_one_line_and_writes_nothing(folder, name, content, remedy):
    if content is not None:
        (folder / name).write_text(content)
    before = contents(folder)
    check_refusal(compare(name), folder, before, "DATA", remedy)


@pytest.mark.parametrize("arguments", [["heart"], []])
def test_target_goes_with_files_only(folder, arguments):
    result = compare(*arguments, "--target", "label")
    check_refusal(result, folder, contents(folder), "--target", "leave it out")


def test_uniform_noise_is_refused_for_sparse_data(folder):
    rows = [f"{i % 2} {1 + i % 20}:1" for i in range(40)]
    (folder / "sparse.svm").write_text("\n".join(rows) + "\n")
    before = contents(folder)
    noise = ["--noise", 0.1]
    check_refusal(compare("sparse.svm", *noise), folder, before, "--protocol", "label-flip")
    assert compare("sparse.svm", *noise, "--protocol", "label-flip").exit_code == 0


def test_a_folder_without_permission_is_refused(folder, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    result = compare("data.csv")
    check_refusal(result, folder, contents(folder), "--out", "cannot be written")


def test_a_wrong_type_is_refused_by_name(folder):
    result = compare("data.csv", "--repeats", "many")
    assert result.exit_code == 2
    assert "--repeats" in result.stderr and "Traceback" not in result.stderr


def test_a_table_as_people_have_them(folder):
    """Three classes, gaps, a column of names; SLA, which takes two classes, stands back."""
    rng = np.random.default_rng(0)
    kinds = ["cat", "cow", "dog"] * 20
    lines = [f"n{i},{'' if i % 7 == 0 else rng.normal()},{k}" for i, k in enumerate(kinds)]
    (folder / "own.csv").write_text("name,size,kind\n" + "\n".join(lines) + "\n")
    result = compare("own.csv", "--repeats", 1)
    assert result.exit_code == 0, result.stderr
    assert "'name' has a different text in every row and is left out" in result.stderr
    assert {record["label"] for record in read_records("report.jsonl").values()} >= {"LR", "BBLR"}


def test_columns_to_drop_are_ready_to_paste(folder):
    lines = [f"{i % 2 / 0.3},inf,inf,{i},{'yes' if i % 2 else 'no'}" for i in range(60)]
    header = 'size,Patient fee,it\'s "one",id,kind\n'
    (folder / "own.csv").write_text(header + "\n".join([*lines, "2,1,1,60,no"]) + "\n")
    result = compare("own.csv")
    options = [word for name in ("Patient fee", 'it\'s "one"') for word in ("--drop", name)]
    check_refusal(result, folder, contents(folder), "DATA", shlex.join(options))
    assert compare("own.csv", *options, "--repeats", 1).exit_code == 0


PRESS = """
import signal, sys
del sys.modules["signal"]  # as where nothing has loaded it yet
class Press:
    def find_spec(name, path=None, target=None):
        if name == sys.argv[-1]:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Press)
from _bblr_command import main
main()
"""


@pytest.mark.parametrize(
    "module",
    [
        "signal",
        "bblr",
        "numpy",
        "scipy.sparse",
        "sklearn.base",
        "numba",
        "typer",
        "bblr.cli.file_commands",
    ],
)
def test_ctrl_c_while_modules_load_is_one_line(module):
    run = subprocess.run(
        [sys.executable, "-c", PRESS, "compare", module], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "Stopped.\n")


def test_the_command_runs_and_hears_ctrl_c_as_before():
    code = "import signal, sys; from _bblr_command import main\ntry: main()\n"
    code += "finally: print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    run = subprocess.run(
        [sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["bblr", __version__, "True"]
