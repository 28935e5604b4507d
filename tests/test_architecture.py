"""Which part of bblr may import which, and what `import bblr` may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bblr

SOURCE = Path(__file__).resolve().parents[1] / "src" / "bblr"

ROOMS = {"losses", "penalties", "designs", "solvers"}
ROOT = "__init__"
# A part may import itself, the foundation (every top-level name with a leading underscore, such
# as _numeric and _version) and the parts named here; `ROOT` stands for the package bblr itself.
MAY_IMPORT: dict[str, set[str]] = {
    **{room: set() for room in ROOMS},
    # A pass over the rows has the compiled form of the loss inside it.
    "designs": {"losses"},
    "curvature": {"losses", "penalties", "designs"},
    "objective": {"losses", "penalties", "designs", "curvature"},
    # What users may catch or filter.
    "exceptions": set(),
    "inputs": {"designs"},
    "training": {*ROOMS, "objective", "curvature", "inputs", "exceptions"},
}
MAY_IMPORT["linear"] = {*MAY_IMPORT["training"], "training"}
# Kernel classifiers share what a fitted linear one has; the zero-one solvers start from SLA.
MAY_IMPORT["kernel"] = MAY_IMPORT["zero_one"] = {*MAY_IMPORT["linear"], "linear"}
MAY_IMPORT |= {
    # Structured models take any classifier, by its predict_proba.
    "structured": set(),
    # Any classifier is audited, by its scores; those that tune themselves are told apart.
    "audit": {"designs", "inputs", "linear", "kernel", "training"},
    "evaluation": set(),
    # Some data are groups.
    "datasets": {"structured"},
    # The public name of the classifiers that need Dask.
    "dask": {"linear"},
    # Displays read fitted estimators, losses and bins; they fit nothing.
    "plotting": {"losses", "linear", "kernel", "zero_one", "training", "evaluation"},
    # Saved models carry the version.
    "_saved": {"_version"},
    # Texts of strangers are escaped where they are shown.
    "_bars": {"_settings"},
    "_pages": {"_settings"},
    # Losses for other libraries, which fit by themselves.
    "torch": {"losses"},
    "boosting": {"losses", "inputs"},
    "lightgbm": {"boosting"},
    "xgboost": {"boosting"},
    # The public name of the classes in saved models.
    "skops": {"io"},
}
_LIBRARY = set(MAY_IMPORT)
MAY_IMPORT[ROOT] = _LIBRARY
# Tables in, models out.
MAY_IMPORT["io"] = {*_LIBRARY, ROOT}
MAY_IMPORT["comparison"] = {*_LIBRARY, ROOT, "io"}
MAY_IMPORT["cli"] = {*_LIBRARY, ROOT, "comparison", "io"}
MAY_IMPORT["__main__"] = {"cli"}

HEAVY = {
    "matplotlib", "typer", "rich", "torch", "dask", "distributed", "pandas", "polars", "jinja2",
    "plotly", "onnx", "skl2onnx", "onnxruntime", "skops", "lightgbm", "xgboost",
}  # fmt: skip


def imported_parts(path: Path, source: Path) -> set[str]:
    """The parts of bblr a file imports, at the top or inside functions, for types or at run."""
    folder = ["bblr", *path.relative_to(source).parent.parts]
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return {_part(name.split("."), source) for name in names if name.split(".")[0] == "bblr"}


def _part(dotted: list[str], source: Path) -> str:
    """`bblr.losses.base` lies in losses; `bblr.BBLRClassifier` is a name of the package itself."""
    if len(dotted) > 1:
        name = dotted[1]
        if (source / name).is_dir() or (source / f"{name}.py").is_file():
            return name
    return ROOT


def violations(source: Path) -> list[str]:
    found = []
    for path in sorted(source.rglob("*.py")):
        inside = path.relative_to(source)
        part = inside.parts[0].removesuffix(".py")
        is_foundation = part.startswith("_") and part not in MAY_IMPORT
        if not is_foundation and part not in MAY_IMPORT:
            found.append(f"{inside}: {part!r} has no place in MAY_IMPORT; say what it may import")
            continue
        allowed = {part} if is_foundation else {part, *MAY_IMPORT[part]}
        for other in sorted(imported_parts(path, source) - allowed):
            if is_foundation or other == ROOT or not other.startswith("_"):
                found.append(f"{inside}: {part} must not import {other}")
    return found


# Run before a statement: whoever tries to import a heavy module is noted and finds it missing.
WATCH = f"""
import sys

class Watch:
    heavy = {HEAVY!r}
    seen = set()

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.heavy:
            frame = sys._getframe(1)
            while "importlib" in frame.f_code.co_filename:
                frame = frame.f_back
            self.seen.add(frame.f_globals["__name__"].split(".")[0] + ":" + name.split(".")[0])
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Watch())
"""


def heavy_imports(statement: str) -> set[tuple[str, str]]:
    """(importer, module) for each heavy import tried while `statement` runs without any."""
    code = f"{WATCH}\n{statement}\nprint(*Watch.seen)"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=SOURCE.parent, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return {(pair.split(":")[0], pair.split(":")[1]) for pair in run.stdout.split()}


def test_imports_go_one_way():
    assert violations(SOURCE) == []


@pytest.fixture
def house(tmp_path):
    """A bblr in little, where every import is allowed."""

    def write(name, text=""):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write("__init__.py", "from bblr.linear.classifier import BBLRClassifier\n")
    write("_numeric/__init__.py", "import numpy\n")
    write("losses/__init__.py", "from .loss import Loss\n")
    write("losses/loss.py", "from bblr._numeric import exp\nfrom .._numeric import log\n")
    write("solvers/descent.py", "import numpy as np\n")
    write("objective.py", "from bblr import losses\nfrom .losses.loss import Loss\n")
    write("linear/classifier.py", "import bblr.objective\nfrom ..solvers import descent\n")
    write("datasets/uci.py")
    write("plotting/path.py", "from bblr.linear import classifier\n")
    write("comparison/table.py", "from bblr import BBLRClassifier, datasets\n")
    write("cli.py", "from bblr.comparison import table\n")
    return tmp_path, write


def test_sound_house_passes(house):
    source, _ = house
    assert violations(source) == []


@pytest.mark.parametrize(
    ("name", "text", "culprit"),
    [
        ("losses/new.py", "from bblr.solvers import descent", "losses must not import solvers"),
        ("losses/new.py", "from ..solvers.descent import X", "losses must not import solvers"),
        ("losses/new.py", "from .. import solvers", "losses must not import solvers"),
        ("losses/deep/new.py", "from ...solvers import a", "losses must not import solvers"),
        ("solvers/new.py", "import bblr.objective as o", "solvers must not import objective"),
        ("solvers/new.py", "def f():\n    import bblr.losses", "solvers must not import losses"),
        (
            "solvers/new.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from bblr import losses",
            "solvers must not import losses",
        ),
        ("objective.py", "from bblr.solvers import descent", "objective must not import solvers"),
        ("datasets/uci.py", "import bblr", "datasets must not import __init__"),
        (
            "datasets/uci.py",
            "from bblr import BBLRClassifier",
            "datasets must not import __init__",
        ),
        ("linear/new.py", "from bblr.comparison import t", "must not import comparison"),
        ("structured/new.py", "from bblr.linear import e", "must not import linear"),
        ("comparison/new.py", "from bblr import cli", "comparison must not import cli"),
        ("plotting/new.py", "from bblr.comparison import t", "must not import comparison"),
        ("plotting/new.py", "from bblr.solvers import s", "plotting must not import solvers"),
        ("linear/new.py", "from bblr.plotting import p", "linear must not import plotting"),
        ("__init__.py", "from bblr.comparison import table", "must not import comparison"),
        ("_numeric/new.py", "from bblr.losses import base", "_numeric must not import losses"),
        ("attic.py", "", "'attic' has no place"),
    ],
)
def test_wrong_import_is_caught(house, name, text, culprit):
    source, write = house
    write(name, text + "\n")
    found = violations(source)
    assert len(found) == 1
    assert name.replace("/", str(Path("/"))) in found[0]
    assert culprit in found[0]


@pytest.mark.parametrize(
    "statement",
    [
        "import bblr",
        "from bblr import BBLRClassifier",
        "import bblr.datasets, bblr.evaluation, bblr.io, bblr.plotting",
    ],
)
def test_import_is_light(statement):
    # scikit-learn itself looks for pandas and rich, and does without; nobody else may.
    assert {pair for pair in heavy_imports(statement) if pair[0] != "sklearn"} == set()


def loaded_modules(statement: str) -> set[str]:
    """The modules that are loaded once `statement` has run."""
    code = f"{statement}\nimport sys; print(*sys.modules, file=sys.stderr)"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=SOURCE.parent, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return set(run.stderr.split())


# What takes long to load: fits need it, and nothing before them does.
SLOW_TO_LOAD = {"numba", "numpy", "pandas", "scipy", "sklearn"}
RUN = "import sys\nfrom _bblr_command import main\nsys.argv = ['bblr', *{arguments}]\n"
RUN += "try: main()\nexcept SystemExit: pass"


@pytest.mark.parametrize(
    ("statement", "most"),
    [
        ("import bblr", 100),
        ("import bblr; dir(bblr), bblr.__version__", 100),
        (RUN.format(arguments=["--version"]), 400),
        (RUN.format(arguments=["--help"]), 500),
        (RUN.format(arguments=["compare", "--help"]), 500),
    ],
)
def test_what_fits_nothing_starts_at_once(statement, most):
    loaded = loaded_modules(statement)
    assert SLOW_TO_LOAD & loaded == set()
    assert "bblr" in loaded and len(loaded) <= most


def test_what_reads_a_model_loads_only_what_is_in_it():
    loaded = loaded_modules("import bblr.io, bblr.linear")
    others = {"audit", "kernel", "structured", "zero_one"}
    assert {f"bblr.{room}" for room in others} & loaded == set()
    slow = {"datasets", "linear_model", "metrics", "model_selection", "preprocessing"}
    assert {f"sklearn.{room}" for room in slow} & loaded == set()


def test_names_of_the_package_are_loaded_when_used():
    assert set(bblr.__all__) <= set(dir(bblr))
    for name in bblr.__all__:
        assert getattr(bblr, name) is not None
    assert set(bblr._HOMES) | {"__version__"} == set(bblr.__all__)
    used = "import bblr; assert bblr.losses.Plateaus is bblr.Plateaus"
    assert "bblr.losses" in loaded_modules(used)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = bblr.Nonsense


@pytest.mark.parametrize("module", sorted(HEAVY))
def test_heavy_import_is_noticed(module):
    tried = heavy_imports(f"try:\n    import {module}.part\nexcept ImportError: pass")
    assert ("__main__", module) in tried
