"""Files that are sound or damaged, for the command line and the loaders."""

from __future__ import annotations

import gzip
import io
import tempfile
import warnings
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from typer.testing import CliRunner

from bblr import BBLRClassifier
from bblr.cli import app
from bblr.io import read_table
from tests.fuzz.refusals import FITTED, REFUSED, Wrong, no_warnings, refusal

COMMANDS = ("fit", "predict", "evaluate", "compare", "read_table", "shards")
KINDS = ("csv", "tsv", "csv.gz", "parquet", "feather", "svm")
_BINARY = ("csv.gz", "parquet", "feather")
TABLE = (
    "none", "missing", "infinite", "huge", "tiny", "text", "one_class", "many_levels",
    "same_everywhere", "extra_column", "no_column", "dates", "other_names", "no_rows", "one_row",
    "flags", "long_name", "unseen", "three_classes", "no_class", "objects",
)  # fmt: skip
BYTES = (
    "none", "truncate", "flip", "nul", "garbage", "empty", "bom", "utf16", "latin1", "crlf", "cr",
    "blank_lines", "long_line", "quote", "short_row", "long_row", "twice", "no_header",
    "header_only", "packed", "trailing", "huge_index", "negative_index", "unsorted_index",
    "spaces", "comment", "html", "control", "repeat_header",
)  # fmt: skip
FAST = ("--classifier", "BBLRClassifier", "--param", "gamma_max=1")


@dataclass(frozen=True)
class FileCase:
    """One file, what was done to it, and the command it is given to."""

    command: str
    kind: str = "csv"
    table: str = "none"
    damage: str = "none"
    place: float = 0.5
    seed: int = 0

    @property
    def estimator(self) -> str:
        """The name under which outcomes are counted."""
        return f"command line {self.command}"


@st.composite
def file_cases(draw: Any) -> FileCase:
    """Draw a file: sound, or with one thing or two wrong in it."""
    odd = draw(st.integers(0, 5))
    return FileCase(
        command=draw(st.sampled_from(("fit", "predict", "evaluate") * 4 + COMMANDS)),
        kind=draw(st.sampled_from(KINDS)),
        table=draw(st.sampled_from(TABLE)) if odd in (0, 1, 2) else "none",
        damage=draw(st.sampled_from(BYTES)) if odd in (2, 3, 4) else "none",
        place=draw(st.integers(0, 100)) / 100,
        seed=draw(st.integers(0, 2**20)),
    )


def make_frame(case: FileCase) -> pd.DataFrame:
    rng = np.random.default_rng(case.seed)
    n = 24
    kind = np.array(["cat", "dog"])[rng.permutation(np.arange(n) % 2)]
    frame = pd.DataFrame({
        "weight": rng.normal(size=n) + 2.0 * (kind == "dog"),
        "legs": rng.integers(2, 5, size=n),
        "fur": np.array(["long", "short"])[np.arange(n) % 2],
        "kind": kind,
    })  # fmt: skip
    row = int(case.place * (n - 1))
    changes: dict[str, Callable[[pd.DataFrame], Any]] = {
        "none": lambda f: f,
        "missing": lambda f: f.assign(weight=np.where(np.arange(n) == row, np.nan, f["weight"])),
        "infinite": lambda f: f.assign(weight=np.where(np.arange(n) == row, np.inf, f["weight"])),
        "huge": lambda f: f.assign(weight=1e300 * f["weight"]),
        "tiny": lambda f: f.assign(weight=1e-320 * f["weight"]),
        "text": lambda f: f.assign(legs=["four"] * n),
        "one_class": lambda f: f.assign(kind="cat"),
        "many_levels": lambda f: f.assign(fur=[f"level {k}" for k in range(n)]),
        "same_everywhere": lambda f: f.assign(weight=1.0, legs=1, fur="long"),
        "extra_column": lambda f: f.assign(extra=1.5)[["extra", *f.columns]],
        "no_column": lambda f: f.drop(columns="legs"),
        "dates": lambda f: f.assign(legs=pd.Timestamp("2020-01-01")),
        "other_names": lambda f: f.rename(columns={"weight": "Weight", "legs": 'é,;\t"x'}),
        "no_rows": lambda f: f.iloc[:0],
        "one_row": lambda f: f.iloc[:1],
        "flags": lambda f: f.assign(legs=f["legs"] > 3),
        "long_name": lambda f: f.rename(columns={"legs": "legs" * 5000}),
        "unseen": lambda f: f.assign(fur="none at all"),
        "three_classes": lambda f: f.assign(kind=["cat", "dog", "owl"] * (n // 3)),
        "no_class": lambda f: f.drop(columns="kind"),
        "objects": lambda f: f.assign(fur=[[1, 2]] * n),
    }
    return changes[case.table](frame)


def file_bytes(case: FileCase) -> bytes:
    """Return the content of the file, before it is damaged."""
    frame = make_frame(case)
    out = io.BytesIO()
    if case.kind == "parquet":
        frame.to_parquet(out, row_group_size=10)
    elif case.kind == "feather":
        frame.reset_index(drop=True).to_feather(out)
    elif case.kind == "svm":
        numbers = frame.select_dtypes(["number", "bool"]).to_numpy(dtype=np.float64)
        labels = (frame["kind"] == "dog") * 2 - 1 if "kind" in frame else np.zeros(len(frame))
        if len(frame) == 0:
            return b""
        for label, row in zip(labels, numbers.tolist(), strict=True):
            cells = " ".join(f"{j}:{value!r}" for j, value in enumerate(row, start=1))
            out.write(f"{label} {cells}\n".encode())
    else:
        frame.to_csv(out, index=False, sep="\t" if case.kind == "tsv" else ",")
    return gzip.compress(out.getvalue()) if case.kind == "csv.gz" else out.getvalue()


def damaged(case: FileCase, content: bytes) -> bytes:
    """Return the content with the damage done."""
    rng = np.random.default_rng(case.seed + 1)
    at = int(case.place * len(content))
    lines = content.splitlines(keepends=True)
    line = min(int(case.place * len(lines)), max(0, len(lines) - 1))
    mark = b"\t" if case.kind == "tsv" else b" 1:1" if case.kind == "svm" else b","
    index = {"huge_index": b" 99999999999999999999:1", "negative_index": b" -3:1",
             "unsorted_index": b" 7:1 5:1"}  # fmt: skip

    def at_line(change: Callable[[bytes], bytes]) -> bytes:
        changed = [change(own) if k == line else own for k, own in enumerate(lines)]
        return b"".join(changed)

    changes: dict[str, Callable[[], bytes]] = {
        "none": lambda: content,
        "truncate": lambda: content[:at],
        "flip": lambda: _flipped(content, rng),
        "nul": lambda: content[:at] + b"\0\0" + content[at:],
        "garbage": lambda: rng.bytes(200),
        "empty": lambda: b"",
        "bom": lambda: b"\xef\xbb\xbf" + content,
        "utf16": lambda: content.decode("latin1").encode("utf-16"),
        "latin1": lambda: content[:at] + "é".encode("latin1") + content[at:],
        "crlf": lambda: content.replace(b"\n", b"\r\n"),
        "cr": lambda: content.replace(b"\n", b"\r"),
        "blank_lines": lambda: at_line(lambda own: b"\n\n" + own + b"\n\n"),
        "long_line": lambda: at_line(lambda own: own.rstrip(b"\n") + b"9" * 300_000 + b"\n"),
        "quote": lambda: content[:at] + b'"' + content[at:],
        "short_row": lambda: at_line(lambda own: own.split(mark.strip() or b" ")[0] + b"\n"),
        "long_row": lambda: at_line(lambda own: own.rstrip(b"\r\n") + mark + b"7\n"),
        "twice": lambda: content + content,
        "no_header": lambda: b"".join(lines[1:]),
        "header_only": lambda: b"".join(lines[:1]),
        "packed": lambda: b"\x1f\x8b" + content,
        "trailing": lambda: content + b"\x1a",
        **{name: (lambda text=text: at_line(lambda own: own.rstrip(b"\n") + text + b"\n"))
           for name, text in index.items()},
        "spaces": lambda: content.replace(b"\n", b"  \n"),
        "comment": lambda: b"# a comment\n" + content,
        "html": lambda: b"<html><body>404</body></html>\n",
        "control": lambda: content[:at] + b"\x07\x1b[31m" + content[at:],
        "repeat_header": lambda: b"".join([lines[0] if lines else b"", *lines]),
    }  # fmt: skip
    return changes[case.damage]()


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    array = np.frombuffer(content, dtype=np.uint8).copy()
    if len(array):
        places = rng.integers(len(array), size=3)
        array[places] ^= rng.integers(1, 256, size=3).astype(np.uint8)
    return array.tobytes()


def run_file(case: FileCase) -> str:
    """Give the file to the command; return "fitted" or "refused", or raise Wrong."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder), no_warnings():
        content = damaged(case, file_bytes(case))
        path = Path(f"data.{case.kind}")
        path.write_bytes(content)
        outcome = _RUNS.get(case.command, _run_command)(case, path)
    sound = case.damage in ("none", "bom", "crlf") and case.table == "none"
    sound = sound and not (case.kind in (*_BINARY, "svm") and case.damage != "none")
    if case.command == "shards":  # its Parquet file has a column of text
        sound = sound and case.kind != "parquet" and case.damage == "none"
    if sound and outcome != FITTED:
        raise Wrong("a sound file was refused")
    return outcome


def _invoke(*arguments: str) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        error = result.exception
        raise Wrong(f"{type(error).__name__} reached the user: {error}") from error
    if result.exit_code == 1 and "fits failed" in result.stderr:
        return result  # a comparison goes on where a baseline cannot be fitted, and says so
    if result.exit_code not in (0, 2):
        raise Wrong(f"exit status {result.exit_code}: {result.stderr}")
    lines = result.stderr.strip().splitlines()
    if result.exit_code == 2 and not (lines and lines[-1].startswith("Error: ")):
        raise Wrong(f"a refusal without a word: {result.stderr!r}")
    return result


@lru_cache(maxsize=8)
def _model(kind: str) -> bytes:
    """Return a model fitted to a sound file."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path(f"train.{kind}").write_bytes(file_bytes(FileCase("fit", kind)))
        result = _invoke("fit", f"train.{kind}", "--model", "model.bblr", *FAST)
        if result.exit_code:
            raise Wrong(f"a sound file was refused: {result.stderr}")
        return Path("model.bblr").read_bytes()


def _run_command(case: FileCase, path: Path) -> str:
    if case.command == "compare":
        names = ("--methods", "LR,BBLR0", "--repeats", "1", "--folds", "2", "--jobs", "1")
        result = _invoke("compare", str(path), *names, "--noise", "0", "--out", "page.html")
        written = Path("page.html")
    elif case.command == "fit":
        result = _invoke("fit", str(path), "--model", "new.bblr", *FAST)
        written = Path("new.bblr")
        if result.exit_code == 0:
            again = _invoke("predict", "new.bblr", str(path), "--out", "own.csv")
            if again.exit_code and case.damage == "none":
                raise Wrong(f"a model refuses the file it was fitted to: {again.stderr}")
            if again.exit_code == 0:
                _check_rows(Path("own.csv"), False)
    else:
        Path("model.bblr").write_bytes(_model(case.kind))
        if case.command == "predict":
            result = _invoke("predict", "model.bblr", str(path), "--proba", "--out", "out.csv")
            written = Path("out.csv")
        else:
            result = _invoke("evaluate", "model.bblr", str(path), "--json", "out.json")
            written = Path("out.json")
    if written.exists() == (result.exit_code == 2):
        raise Wrong(f"exit status {result.exit_code}, and {written} is there: {written.exists()}")
    if case.command == "predict" and result.exit_code == 0:
        _check_rows(written, True)
    return REFUSED if result.exit_code else FITTED


def _check_rows(path: Path, proba: bool) -> None:
    frame = pd.read_csv(path, keep_default_na=False)
    if not len(frame) or (frame.iloc[:, 0].astype(str) == "").any():
        raise Wrong(f"predictions are missing: {frame.head()}")
    if proba:
        p = frame.iloc[:, 1:].to_numpy(dtype=np.float64)
        if not np.isfinite(p).all() or (np.abs(p.sum(axis=1) - 1) > 1e-9).any():
            raise Wrong(f"probabilities are none: {p[:3]}")


def _run_read_table(_: FileCase, path: Path) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # its notes
            X, y, names = read_table(path)
    except (ValueError, OSError) as error:
        if str(path) not in str(error) and "target" not in str(error):
            raise Wrong(f"a refusal that does not name the file: {error}") from error
        return REFUSED
    values = X.data if hasattr(X, "indptr") else X
    if not np.isfinite(values).all() or X.shape != (len(y), len(names)) or len(set(y)) < 2:
        raise Wrong("a table that is none was read")
    return FITTED


def _run_shards(case: FileCase, path: Path) -> str:
    folder = Path("shards")
    folder.mkdir()
    rows = make_frame(FileCase("shards", seed=case.seed))
    numbers, y = rows[["weight", "legs"]], (rows["kind"] == "dog").to_numpy()
    label: Any = y
    if case.kind == "parquet":
        if "kind" in make_frame(case):
            label = "kind"
        path.rename(folder / path.name)
    else:
        np.save(folder / "rows.npy", numbers.to_numpy(dtype=np.float64))
        whole = (folder / "rows.npy").read_bytes()
        (folder / "rows.npy").write_bytes(damaged(case, whole))
    try:
        model = BBLRClassifier(gamma_max=1.0).fit(folder, label)
        p = model.predict_proba(folder)
    except (ValueError, TypeError, OSError) as error:
        if isinstance(error, OSError):
            raise Wrong(f"an error from the depth: {error}") from error
        return refusal(error, ("label", "column", "shards", ".npy", "rows"))
    if not np.isfinite(p).all():
        raise Wrong("probabilities are not finite")
    return FITTED


_RUNS: dict[str, Callable[[FileCase, Path], str]] = {
    "read_table": _run_read_table,
    "shards": _run_shards,
}
