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
    Json,
    Number,
    Seed,
    Target,
    Text,
    app,
    settings_of,
)
from bblr.comparison.methods import FILE_METHODS, FOLDS, METHODS, OUT, PROTOCOL, REPEATS

_KINDS = ("number", "category", "date", "text")

AnyData = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="An embedded data set, such as heart, or any file that bblr fit accepts; all "
        "embedded sets when left out.",
        show_default=False,
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help=f"Some of {', '.join(METHODS)}, separated by commas; the report says what each is. "
        "robust:NAME puts one inside RobustClassifier. On DATA, majority and LR always take part.",
        show_default=f"{', '.join(FILE_METHODS)}; without DATA all from LR to BBLR0",
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        help="What to compare by: error, balanced, auc, log-loss, f1 or cost.",
        show_default="error",
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        metavar="COSTS",
        help="yes:no=5 means that predicting no where yes is true costs 5; other errors cost 1. "
        "Separate several by commas; sets --metric cost.",
        show_default=False,
    ),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune-threshold",
        help="Tune decision thresholds for the metric, on training folds only; for rare classes.",
    ),
]
Noise = Annotated[
    float | None,
    typer.Option(
        help="Also compare with this fraction of noisy rows.",
        show_default="0; 0.1 without DATA",
    ),
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
    metric: Metric = None,
    cost: Cost = None,
    tune_threshold: Tune = False,
    noise: Noise = None,
    protocol: Protocol = PROTOCOL,
    noise_in: NoiseIn = "training",
    repeats: Repeats = REPEATS,
    folds: Folds = FOLDS,
    jobs: Jobs = None,
    seed: Seed = 0,
    out: Out = OUT,
    json: Json = None,
    records: Records = None,
) -> None:
    """Say whether BBLR or gradient boosting beats logistic regression on DATA.

    Prints a verdict and a table of cross-validated figures with 95 % intervals, and writes a
    report to open in a browser. Without DATA, compares the methods of the paper on the embedded
    data sets, clean and with noise.
    """
    settings = settings_of(locals(), "drop", *_KINDS)
    settings["kinds"] = {kind: settings.pop(kind) for kind in _KINDS}
    from bblr.comparison.compare import run_compare
    from bblr.comparison.session import guarded

    raise typer.Exit(guarded(partial(run_compare, **settings), data="DATA"))
