"""The time of ``bblr compare`` on a user's file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from research.benchmarks import benchmark
from research.benchmarks.data import correlated
from research.benchmarks.timing import run_python
from research.core.cases import Measured, Run
from research.core.thresholds import Threshold

SHAPE = (3_000, 12)
_PROCESSOR = "processor seconds, one job"
# Everything from the start of Python on, in one process, so that nothing is left uncounted.
SCRIPT = """
import json, sys, time
from _bblr_command import main
file, out = sys.argv[1:]
sys.argv = ["bblr", "compare", file, "--out", out, "--jobs", "1"]
try:
    main()
except SystemExit as ended:
    print(json.dumps([ended.code or 0, time.process_time()]))
"""


@benchmark(
    "compare-file",
    "bblr compare on a file of 3,000 x 12 with the default methods, from start to report",
    Threshold(_PROCESSOR, "<=", 60.0),
)
def compare_file(run: Run) -> Measured:
    rows = run.rows(SHAPE[0])
    X, y = correlated(rows, SHAPE[1], run.seed)
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(SHAPE[1])])
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "data.csv"), Path(folder, "report.html")
        frame.assign(label=np.where(y > 0, "yes", "no")).to_csv(file, index=False)
        lines = run_python(SCRIPT, file, out).splitlines()
        status, processor = json.loads(lines[-1])
        size = out.stat().st_size
    if status:
        raise RuntimeError(f"the command ended with {status}")
    notes = [lines[0], f"{rows:,} x {SHAPE[1]}, a report of {size / 1e3:.0f} kB"]
    return Measured({_PROCESSOR: float(processor)}, notes)
