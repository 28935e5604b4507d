"""Save a model of every kind by this version, for later versions to load.

    python -m tests.interchange.make_saved

A folder that is there is left alone: what an older version wrote is not written again.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from zipfile import ZIP_DEFLATED

import numpy as np

from bblr import BBLRClassifier, __version__
from bblr.structured import JointModel
from tests.interchange.models import fitted, outputs, rows
from tests.interchange.test_skops import groups

HOME = Path(__file__).parent / "saved"
NAMES = (
    "linear", "linear, cv", "kernel, backward", "kernel, cv", "zero-one", "sla", "many",
    "many, cv", "many, kernel, rbf",
)  # fmt: skip
TABLE = """height,colour,tame,kind
1.5,red,true,cat
2.5,green,false,dog
3.5,green,false,dog
0.5,red,true,cat
1.25,green,true,cat
3.0,blue,false,dog
2.75,red,false,cat
3.25,blue,true,dog
"""
# New rows, the target left out.
NEW = "height,colour,tame\n1.0,red,true\n3.75,green,false\n2.6,blue,true\n"
FILES = {"linear": "BBLRClassifier", "kernel": "KernelBBLRClassifier"}


def main() -> None:
    import skops.io
    from typer.testing import CliRunner

    from bblr.cli import app

    home = HOME / __version__
    home.mkdir(parents=True)
    models = {name: fitted(name, text=True) for name in NAMES}
    made = groups()
    models["joint"] = JointModel(BBLRClassifier(), random_state=0).fit(made)
    (home / "models.pickle").write_bytes(pickle.dumps(models, protocol=4))
    skops.io.dump(models, home / "models.skops", compression=ZIP_DEFLATED, compresslevel=9)
    expected = {"joint": np.concatenate(models["joint"].predict_proba(made))}
    for name in NAMES:
        X = rows(name)[:25]
        labels, values = outputs(models[name], X)
        expected[f"{name}: rows"] = X
        expected[f"{name}: labels"], expected[f"{name}: values"] = labels, values
    np.savez_compressed(home / "expected.npz", **expected)
    (home / "table.csv").write_text(TABLE, encoding="utf-8")
    (home / "new.csv").write_text(NEW, encoding="utf-8")
    for name, kind in FILES.items():
        model = str(home / f"{name}.bblr")
        fit = ["fit", str(home / "table.csv"), "--target", "kind", "--model", model]
        predict = ["predict", model, str(home / "new.csv"), "--proba", "--out"]
        for command in (
            [*fit, "--classifier", kind, "--seed", "0"],
            [*predict, str(home / f"{name}.csv")],
        ):
            result = CliRunner().invoke(app, command)
            assert result.exit_code == 0, result.stderr


if __name__ == "__main__":
    main()
