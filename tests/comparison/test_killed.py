"""Whatever ends a parallel run, its worker processes end with it."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

TASKS = """
    import os, sys, time
    from pathlib import Path
    from rich.console import Console
    from bblr.comparison.session import Stopped, run_session
    from bblr.comparison.tasks import Task

    class Sleep(Task):
        def work(self):
            Path(sys.argv[1], f"{os.getpid()}.pid").touch()
            time.sleep(30)
            return {}

    tasks = [Sleep(data="none", method=f"sleep {k}") for k in range(4)]
    records = Path(sys.argv[1], "records.jsonl")
    messages = Console(stderr=True)
    try:
        run_session(tasks, records, jobs=2, messages=messages, verb="Sleeping")
    except Stopped as stopped:
        sys.exit(stopped.status)
"""

FOLDS = """
    import os, sys, time
    from pathlib import Path
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from bblr import find_label_errors

    class Sleepy(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            Path(sys.argv[1], f"{os.getpid()}.pid").touch()
            time.sleep(30)

    X = np.random.default_rng(0).standard_normal((100, 2))
    find_label_errors(Sleepy(), X, (X[:, 0] > 0).astype(int), cv=2, n_jobs=2)
"""

# Workers that are still loading what they are to do.
LOADING = FOLDS.replace(
    "def fit(self, X, y, sample_weight=None):", "def __setstate__(self, state):"
)
LOADING = LOADING.replace("time.sleep(30)", "time.sleep(3)\n            self.__dict__ |= state")


def working(folder):
    """Return the processes that have begun some work."""
    return [psutil.Process(int(path.stem)) for path in folder.glob("*.pid")]


def alive(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def within(seconds, condition):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


@pytest.mark.skipif(os.name == "nt", reason="needs Unix signals")
@pytest.mark.parametrize(
    ("code", "sent", "status"),
    [
        (TASKS, signal.SIGKILL, -signal.SIGKILL),
        (TASKS, signal.SIGTERM, 128 + signal.SIGTERM),
        (FOLDS, signal.SIGKILL, -signal.SIGKILL),
        (LOADING, signal.SIGKILL, -signal.SIGKILL),
    ],
    ids=["tasks killed", "tasks terminated", "folds killed", "folds killed early"],
)
def test_no_worker_outlives_its_parent(code, sent, status, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    command = [sys.executable, str(script), str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
        assert within(60, lambda: len(working(tmp_path)) == 2)
        found = working(tmp_path)
        try:
            run.send_signal(sent)
            assert within(10, lambda: not any(map(alive, found)))
            _, error = run.communicate(timeout=10)
        finally:
            for process in (run, *filter(alive, found)):
                process.kill()
    assert run.returncode == status
    assert "Traceback" not in error
    if sent == signal.SIGTERM:
        assert "Stopped: 0 of 4 results are in" in error
