"""Where figures were measured: a time without its machine says little."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bblr._numeric.threads import num_threads
from bblr.comparison.tasks import versions

__all__ = ["machine", "stolen"]

# Packages of baselines and engines, stated where they are installed.
OPTIONAL = ("joblib", "liblinear-official", "skglm", "torch", "dask", "distributed")


def machine() -> dict[str, Any]:
    """Return processor, cores, threads, memory and versions, for the record."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": os.cpu_count(),
        "threads": num_threads(),
        "memory": _memory(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "versions": {**versions(), **_optional()},
    }


def stolen() -> tuple[int, int]:
    """Return the processor time other guests of the host took, and all of it, since the start."""
    try:
        times = [int(part) for part in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    except (OSError, ValueError):
        return 0, 0
    return (times[7] if len(times) > 7 else 0), sum(times)


def _memory() -> str:
    total = _field("/proc/meminfo", "MemTotal").removesuffix(" kB")
    return f"{int(total) / 2**20:.1f} GiB" if total.isdigit() else "unknown"


def _optional() -> dict[str, str]:
    found = {}
    for package in OPTIONAL:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _field(path: str, name: str) -> str:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "")
