"""Bars and lines of commands: seldom enough, never in a model, never in the way of Ctrl-C."""

import io
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from bblr import BBLRClassifierCV, KernelBBLRClassifier, ZeroOneClassifier, _bars
from bblr._bars import Bar, FitBar, Lines


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_bars.time, "monotonic", lambda: now[0])
    return now


def _lines(console):
    return console.file.getvalue().splitlines()


def test_lines_come_every_tenth_or_every_thirty_seconds(clock):
    console = Console(file=io.StringIO())
    lines = Lines(console, "Working")
    told = []
    for second in range(0, 400):
        clock[0] = float(second)
        before = len(_lines(console))
        lines.tell(min(1.0, second / 100), f"step {second}")
        if len(_lines(console)) > before:
            told.append(second)
    assert told == [*range(10, 101, 10), *range(130, 400, 30)]
    assert _lines(console)[0] == "Working: 10 %, step 10, after 10 s"


def test_the_last_line_says_done(clock):
    console = Console(file=io.StringIO())
    lines = Lines(console, "Working")
    for second, share in ((20.0, 0.5), (31.0, 1.0)):
        clock[0] = second
        lines.tell(share, "the time left is not known yet")
    assert _lines(console)[0].startswith("Working: 50 %, the time left")
    assert _lines(console)[1:] == ["Working: 100 %, done, after 31 s"]


def test_short_work_prints_nothing(clock):
    console = Console(file=io.StringIO())
    with Bar(console, "Working") as bar:
        for share in np.linspace(0, 1, 50):
            clock[0] = 9.9 * share
            bar.tell(share, "step")
    assert console.file.getvalue() == ""


def test_a_terminal_gets_a_bar_and_no_lines(clock):
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with Bar(console, "Working") as bar:
        clock[0] = 100.0
        bar.tell(0.5, "step one")
    assert "50%" in console.file.getvalue()
    assert "after 100 s" not in console.file.getvalue()


def test_a_guess_is_not_printed(clock):
    console = Console(file=io.StringIO())
    with Bar(console, "Searching") as bar:
        clock[0] = 31.0
        bar.tell(0.67, "step 1,234", guessed=True)
    assert _lines(console) == ["Searching: step 1,234, after 31 s"]


def test_work_of_unknown_length_tells_what_it_has_done(clock):
    console = Console(file=io.StringIO())
    with Bar(console, "Reading") as bar:
        clock[0] = 31.0
        bar.tell(None, "7 rows read")
    assert _lines(console) == ["Reading: 7 rows read, after 31 s"]


def test_time_left_is_that_of_work_done(clock):
    console = Console(file=io.StringIO())
    with Bar(console, "Auditing", estimate=True) as bar:
        clock[0] = 20.0
        bar.tell(0.25, "fit 2")
        clock[0] = 60.0
        bar.tell(0.9, "guess", guessed=True)
    assert _lines(console)[0] == "Auditing: 25 %, fit 2, about 60 s left, after 20 s"
    assert "left" not in _lines(console)[1]


class Shares:
    def __init__(self):
        self.told = []
        self.texts = []

    def tell(self, share, text, *, guessed):
        self.told.append(share)
        self.texts.append(text)


@pytest.mark.parametrize(
    "model",
    [
        BBLRClassifierCV(cv=2, l2s=(1.0, 3.0), random_state=0),
        BBLRClassifierCV(cv=2, l2s=(1.0,), n_jobs=2, random_state=0),
        KernelBBLRClassifier(sparsity="backward", max_vectors=5, random_state=0),
        ZeroOneClassifier("bnb", max_steps=100, random_state=0),
    ],
    ids=["cv", "jobs", "kernel", "bnb"],
)
def test_a_bar_goes_forward_only(model):
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    y = (X[:, 0] + rng.standard_normal(80) > 0).astype(int)
    model.set_callbacks(FitBar(bar := Shares())).fit(X, y)
    assert len(bar.told) > 5
    assert bar.told == sorted(bar.told)
    assert bar.told[0] == 0.0 and 0.5 < bar.told[-1] <= 1.0
    assert ("step 1" in bar.texts) == isinstance(model, ZeroOneClassifier)


def test_folds_are_numbered_and_steps_are_not():
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = BBLRClassifierCV(cv=3, l2s=(1.0, 3.0), random_state=0)
    model.set_callbacks(FitBar(bar := Shares())).fit(X, (X[:, 0] > 0).astype(int))
    # Where rows are few there are more divisions into folds, one after the other.
    numbers = [f"fold {k} of 3" for k in range(1, 4)]
    told = {text for text in bar.texts if text.startswith("choose penalty, ")}
    assert told == {f"choose penalty, {number}" for number in numbers}
    assert {"search", "fit on all rows", "gamma 1"} <= set(bar.texts)


def test_a_copy_in_another_process_has_no_bar():
    copy = pickle.loads(pickle.dumps(FitBar(Bar(Console(file=io.StringIO()), "Fitting"))))
    assert copy._bar is None


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = (X[:, 0] + rng.standard_normal(300) > 0).astype(int)
    text = "\n".join(",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True))
    (tmp_path / "data.csv").write_text("a,b,c,d,e,kind\n" + text + "\n")
    return tmp_path


def test_a_model_holds_no_bar(table):
    from bblr.io import load_model
    from tests.cli.conftest import bblr

    saved = table / "model.bblr"
    options = ("--classifier", "BBLRClassifier")
    result = bblr("fit", str(table / "data.csv"), "--model", str(saved), *options)
    assert result.exit_code == 0, result.output
    assert "_skl_callbacks" not in vars(load_model(saved).classifier)


def test_ctrl_c_ends_a_fit_with_one_line_and_no_file(table):
    command = [
        sys.executable, "-c", "from bblr.cli import main; main()", "fit", "data.csv",
        "--model", "model.bblr", "--classifier", "ZeroOneClassifier", "--param", "solver=mip",
        "--param", "time_limit=none", "--param", "verbose=1",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=table, stdout=-1, stderr=-1, text=True) as run:
        assert "[ZeroOneClassifier]" in run.stdout.readline()
        run.send_signal(signal.SIGINT)
        _, error = run.communicate(timeout=120)
    assert run.returncode == 130
    assert error.splitlines() == ["Stopped; nothing was written."]
    assert [path.name for path in table.iterdir()] == ["data.csv"]


def test_ctrl_c_while_a_command_loads(monkeypatch):
    from tests.cli.conftest import bblr

    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bblr.cli.fit_job.run_fit", press)
    result = bblr("fit", "data.csv", "--model", "model.bblr")
    assert result.exit_code == 130
    assert result.stderr == "Stopped; nothing was written.\n"
