"""The house keeps its order: names, sizes, private parts, kinds asked for in one place."""

import ast
import re
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tools import measure

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "bblr"
FILES = sorted(SOURCE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
MOST_LINES, MOST_FILES = 400, 12
# What `python tools/measure.py` prints: branches, and what a default fit enters.
MOST_BRANCHES, MOST_ENTERED = 49, (38, 215, 270)
# Where values of a kind come in, and where they are shown: here types may be asked for.
MAY_ASK = {"inputs", "designs", "io", "plotting", "cli", "comparison", "_numeric"}
KINDS = {
    "BetaBernoulli", "DenseDesign", "GaussLaplace", "Gaussian", "Link", "Loss", "Objective",
    "Plateaus", "RowSource", "Shards", "SparseDesign", "Step", "Tensor", "ndarray",
}  # fmt: skip
# A parameter that is a name or an object is told apart once.
AT_THE_DOOR = {
    "linear/generalized.py": {"Loss"},
    "training/start.py": {"Gaussian", "Plateaus"},
}


def inside(path):
    return path.relative_to(SOURCE).as_posix()


def room(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=inside)
def test_no_file_is_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_no_folder_is_full():
    counts = Counter(path.parent for path in FILES)
    assert {inside(folder): n for folder, n in counts.items() if n > MOST_FILES} == {}


def test_names_of_modules_are_unique():
    places = defaultdict(list)
    for path in FILES:
        if path.name != "__init__.py":
            places[path.stem].append(inside(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_names_of_classes_are_unique():
    places = defaultdict(list)
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(inside(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def private_imports(path, tree):
    for node in ast.walk(tree):
        if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bblr.")):
            continue
        _, other, *rest = node.module.split(".")
        if other != room(path):
            names = [*rest, *(alias.name for alias in node.names)]
            yield from (n for n in names if n.startswith("_") and not n.startswith("__"))


@pytest.mark.parametrize("path", FILES, ids=inside)
def test_no_private_name_crosses_a_wall(path):
    assert list(private_imports(path, TREES[path])) == []


def test_private_imports_are_noticed():
    tree = ast.parse("from bblr.losses._secret import a\nfrom bblr.losses.loss import _b")
    assert list(private_imports(SOURCE / "designs" / "x.py", tree)) == ["_secret", "_b"]


def asked_kinds(tree):
    """The kinds of ours that `isinstance` asks for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            for part in ast.walk(node.args[1]):
                name = getattr(part, "id", getattr(part, "attr", ""))
                if name in KINDS:
                    yield name


@pytest.mark.parametrize("path", [p for p in FILES if room(p) not in MAY_ASK], ids=inside)
def test_nobody_asks_what_kind_a_loss_or_an_input_is(path):
    assert set(asked_kinds(TREES[path])) <= AT_THE_DOOR.get(inside(path), set())


def test_asking_is_noticed():
    code = "isinstance(a, Loss)\nisinstance(b, int | np.ndarray)\nisinstance(c, (Link, str))"
    assert sorted(asked_kinds(ast.parse(code))) == ["Link", "Loss", "ndarray"]


def imports_of(path):
    """The modules of bblr that a file imports when it is loaded itself."""
    known = {".".join(("bblr", *p.relative_to(SOURCE).with_suffix("").parts)): p for p in FILES}
    for node in TREES[path].body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                for name in (f"{node.module}.{alias.name}", node.module):
                    if name in known:
                        yield known[name]
                        break


def test_no_modules_import_each_other():
    graph = {path: set(imports_of(path)) for path in FILES}
    done, way = set(), []

    def visit(path):
        if path in way:
            cycle = way[way.index(path) :]
            pytest.fail(" -> ".join(map(inside, [*cycle, path])))
        if path in done:
            return
        way.append(path)
        for other in sorted(graph[path]):
            visit(other)
        done.add(way.pop())

    for path in FILES:
        visit(path)


def test_research_stays_outside_the_wheel():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["only-include"] == ["src/bblr", "src/_bblr_command.py"]
    for path in FILES:
        found = re.findall(r"^\s*(?:from|import) research\b", path.read_text("utf-8"), re.M)
        assert found == [], path


def test_branches_on_the_number_of_classes_do_not_grow():
    """`python tools/measure.py` lists them."""
    assert sum(map(len, measure.all_branches().values())) <= MOST_BRANCHES


def test_branches_are_noticed():
    code = (
        "one = loss.n_scores == 1\nx = 1 if one else 2\nif len(classes_) > 2:\n    go()\n"
        "if raw.ndim == 1:\n    raise ValueError\ny = raw.shape[1] > 1 and other\n"
    )
    assert measure.branches(ast.parse(code)) == [1, 2, 3, 7]


def test_lines_of_code_are_counted_without_words():
    code = (
        '"""Words\nand more."""\n\n# Why.\nx = (\n    1\n)  # one\n\n\ndef f():\n    """Say."""\n'
    )
    assert measure.code_lines(code) == 4


def test_a_default_fit_takes_no_longer_way():
    found = measure.measured_fit()
    assert all(a <= most for a, most in zip(found, MOST_ENTERED, strict=True)), found


def untyped_objectives(tree):
    """The functions that take an objective of any kind, protocols aside."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for given in node.args.args:
                if given.arg == "objective" and ast.unparse(given.annotation or node) == "Any":
                    yield node.name


def test_solvers_state_what_they_need_of_an_objective():
    found = {
        (inside(path), name)
        for path in FILES
        if room(path) == "solvers" and path.name != "protocols.py"
        for name in untyped_objectives(TREES[path])
    }
    # The descent and the search of a stage state their own.
    assert found <= {("solvers/annealing.py", "_stage"), ("solvers/zero_one/lines.py", "minimise")}
