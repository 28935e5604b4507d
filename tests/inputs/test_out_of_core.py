"""A fit of rows that are several times the memory it may take, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

STATUS = Path("/proc/self/status")

pytestmark = pytest.mark.skipif(
    not (STATUS.exists() and os.access("/proc/self/clear_refs", os.W_OK)),
    reason="the peak of the resident memory is told by /proc alone",
)

ROWS, COLUMNS, FILES = 160_000, 240, 4
SIZE = 8 * ROWS * COLUMNS
# The rows are three times what a fit may add to what the process has before.
ALLOWED = SIZE // 3

SCRIPT = """
import json, sys
import numpy as np
from bblr import BBLRClassifier
from bblr.inputs import disk

def status(field):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))

folder, kind = sys.argv[1:]
small = np.random.default_rng(0).normal(size=(3000, 5))
BBLRClassifier().fit(small, small[:, 0] > 0)
y = np.load(folder + "/y.npy")
X = folder + "/X" if kind == "shards" else np.load(folder + "/X.npy", mmap_mode="r")
if kind == "in memory":
    disk.LEAST_BYTES = np.inf
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
model = BBLRClassifier(gamma_max=2).fit(X, y)
share = float(np.mean(model.predict(X) == y))
print(json.dumps([status("VmHWM") - before, model.path_[-1].value, share]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    (folder / "X").mkdir()
    rng = np.random.default_rng(0)
    plane, labels = rng.normal(size=COLUMNS), []
    whole = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (ROWS, COLUMNS))
    for k in range(FILES):
        rows = slice(k * ROWS // FILES, (k + 1) * ROWS // FILES)
        part = rng.standard_normal((ROWS // FILES, COLUMNS))
        labels.append(part @ plane + 5 * rng.standard_normal(len(part)) > 0)
        whole[rows] = part
        np.save(folder / "X" / f"{k}.npy", part)
    del whole
    np.save(folder / "y.npy", np.concatenate(labels))
    yield folder
    for file in (folder / "X.npy", *(folder / "X").iterdir()):
        file.unlink()


def fitted(folder, kind):
    places = os.pathsep.join(path or os.getcwd() for path in sys.path)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), kind],
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def in_memory(folder):
    return fitted(folder, "in memory")


def test_the_limit_is_one_that_a_fit_in_memory_breaks(in_memory):
    assert in_memory[0] > 2 * ALLOWED


@pytest.mark.parametrize("kind", ["map", "shards"])
def test_the_resident_memory_of_a_fit_is_bounded(folder, in_memory, kind):
    peak, value, share = fitted(folder, kind)
    assert peak < ALLOWED
    assert value == pytest.approx(in_memory[1], rel=1e-8)
    assert share == in_memory[2]
