"""The command that compares classifiers; the work is done in :mod:`bblr.comparison`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bblr.cli.app import (
    Category,
    Date,
    Drop,
    Jobs,
    Number,
    Seed,
    Target,
    Text,
    app,
    settings_of,
)
from bblr.comparison.methods import FOLDS, METHODS, NOISE, OUT, PROTOCOL, REPEATS

_KINDS = ("number", "category", "date", "text")
_METHODS = ", ".join(f"{method.name} ({method.estimator})" for method in METHODS.values())

AnyData = Annotated[
    str | None,
    typer.Argument(
        metavar="[DATA]",
        help="An embedded data set, such as heart, or a file as bblr fit takes it; all embedded "
        "sets when left out.",
        show_default=False,
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help=f"Some of {_METHODS}, with commas between.",
        show_default="all up to BBLR0",
    ),
]
Noise = Annotated[
    float, typer.Option(help="Noisy rows as a fraction of the rows; 0 for clean data only.")
]
Protocol = Annotated[str, typer.Option(help="uniform-one-class, uniform-random or label-flip.")]
NoiseIn = Annotated[
    str, typer.Option(help="training: in training folds only; everywhere: in all data.")
]
Repeats = Annotated[int, typer.Option(help="Repeats of the cross-validation.")]
Folds = Annotated[int, typer.Option(help="Folds of each cross-validation.")]
Out = Annotated[Path, typer.Option(help="The report.")]
Records = Annotated[
    Path | None,
    typer.Option(
        help="Results as they come, one JSON object a line; run the same command again to resume "
        "from it.",
        show_default="beside the report",
    ),
]


@app.command()
def compare(
    data: AnyData = None,
    target: Target = None,
    drop: Drop = None,
    number: Number = None,
    category: Category = None,
    date: Date = None,
    text: Text = None,
    methods: Methods = None,
    noise: Noise = NOISE,
    protocol: Protocol = PROTOCOL,
    noise_in: NoiseIn = "training",
    repeats: Repeats = REPEATS,
    folds: Folds = FOLDS,
    jobs: Jobs = None,
    seed: Seed = 0,
    out: Out = OUT,
    records: Records = None,
) -> None:
    """Compare BBLR with logistic regression, a linear SVM and SLA, on clean and noisy data.

    Prints tables of errors, log-loss, training loss and McNemar tests, and writes a report to
    open in a browser.
    """
    settings = settings_of(locals(), "drop", *_KINDS)
    settings["kinds"] = {kind: settings.pop(kind) for kind in _KINDS}
    from bblr.comparison.compare import run_compare
    from bblr.comparison.session import guarded

    raise typer.Exit(guarded(partial(run_compare, **settings), data="DATA"))
