"""Measure the house: `python tools/measure.py` prints lines, branches and the way of a fit.

Lines are code without blanks, comments and docstrings. A branch is a line that asks whether there
are two classes or more, by a number of classes or scores or by the shape of an array of them; what
only raises an error is a check, not a branch. The way of a fit is what a default fit of 300 dense
rows enters: files, functions, and how often it goes from one file to another.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WHEEL = [ROOT / "src" / "bblr", ROOT / "src" / "_bblr_command.py"]
RESEARCH = [ROOT / "research"]
# Here kinds of input are told apart, scores are laid out, and results are shown.
MAY_BRANCH = {"inputs", "io", "plotting", "cli", "comparison", "layouts.py"}

_COUNTS = {"n_scores", "n_classes", "ndim", "K"}
_PER_CLASS = {"classes", "coef", "columns", "intercepts", "labels", "low", "scores", "shift"}
_SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER, tokenize.ENCODING,
}  # fmt: skip


def files(places: list[Path]) -> Iterator[Path]:
    """Yield the Python files of folders and files."""
    for place in places:
        yield from sorted(place.rglob("*.py")) if place.is_dir() else [place]


def code_lines(text: str) -> int:
    """Return the number of lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _is_count(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len":
        named = node.args[0]
        return getattr(named, "id", getattr(named, "attr", "")).strip("_") in _PER_CLASS
    # Of rows of features it says nothing of classes.
    if ast.unparse(node).startswith(("X.", "features.")):
        return False
    if isinstance(node, ast.Subscript):
        shape = getattr(node.value, "attr", "") == "shape"
        return shape and ast.unparse(node.slice) in ("1", "-1")
    return getattr(node, "id", getattr(node, "attr", "")) in _COUNTS


def _asks(node: ast.AST) -> bool:
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    return any(map(_is_count, sides)) and any(
        isinstance(side, ast.Constant) and side.value in (0, 1, 2, 3) for side in sides
    )


def branches(tree: ast.AST) -> list[int]:
    """Return the lines that ask for the number of classes, or for an answer given before."""
    checks: set[ast.AST] = set()
    answers: set[str] = set()
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            checks.update(ast.walk(node.test))
        if isinstance(node, ast.Assign) and any(map(_asks, ast.walk(node.value))):
            kept = isinstance(node.value, ast.Compare | ast.BoolOp)
            answers.update(map(ast.unparse, node.targets if kept else []))
    for node in ast.walk(tree):
        if _asks(node) and node not in checks:
            lines.add(node.lineno)  # type: ignore[attr-defined]
        if isinstance(node, ast.If | ast.IfExp | ast.While) and any(
            ast.unparse(part) in answers for part in ast.walk(node.test)
        ):
            lines.add(node.test.lineno)
    return sorted(lines)


def all_branches() -> dict[str, list[int]]:
    """Return the branching lines of each file outside the places where they may stand."""
    base, found = WHEEL[0], {}
    for path in files(WHEEL[:1]):
        inside = path.relative_to(base)
        if not MAY_BRANCH & {*inside.parts}:
            lines = branches(ast.parse(path.read_text("utf-8")))
            if lines:
                found[inside.as_posix()] = lines
    return found


def way_of_a_fit() -> list[tuple[str, str]]:
    """Return the functions that a default fit enters, in turn, each with its file."""
    sys.path.insert(0, str(WHEEL[0].parent))
    import numpy as np

    from bblr import BBLRClassifier

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = (X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(300) > 0).astype(int)
    # What is made once is made: compiled code, caches.
    BBLRClassifier().fit(X, y)
    model, calls, base = BBLRClassifier(), [], str(WHEEL[0])

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(base):
            calls.append((code.co_filename[len(base) + 1 :], code.co_qualname))

    sys.setprofile(note)
    try:
        model.fit(X, y)
    finally:
        sys.setprofile(None)
    return calls


def measured_fit() -> tuple[int, int, int]:
    """Return how many files and functions a default fit enters, and its changes of file."""
    calls = way_of_a_fit()
    places = [path for path, _ in calls]
    changes = sum(a != b for a, b in zip([None, *places], places, strict=False))
    return len(set(places)), len(set(calls)), changes


def main() -> None:
    """Print all figures."""
    wheel, research = (
        sum(code_lines(path.read_text("utf-8")) for path in files(places))
        for places in (WHEEL, RESEARCH)
    )
    print(f"code lines: {wheel:,} in the wheel, {wheel + research:,} with research")
    found = all_branches()
    print(f"branches on the number of classes: {sum(map(len, found.values()))}")
    for path, lines in found.items():
        print(f"  {path}: {', '.join(map(str, lines))}")
    print("a default fit: {} files, {} functions, {} changes".format(*measured_fit()))


if __name__ == "__main__":
    main()
