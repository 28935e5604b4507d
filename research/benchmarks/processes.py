"""Fresh Python processes that find the same packages as this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

__all__ = ["run_python"]


def run_python(code: str, *arguments: object, environment: Mapping[str, str] | None = None) -> str:
    """Run code in a fresh process, with variables of its own, and return what it printed."""
    places = os.pathsep.join(path or os.getcwd() for path in sys.path)
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, **(environment or {}), "PYTHONPATH": places},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        raise RuntimeError(f"a fresh process failed: {run.stderr.strip()[-500:]}")
    return run.stdout
