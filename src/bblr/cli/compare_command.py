"""The command that compares classifiers; the work is done in :mod:`bblr.comparison`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bblr.cli.app import Drop, Jobs, Seed, Target, app
from bblr.comparison.methods import FOLDS, METHODS, NOISE, OUT, PROTOCOL, REPEATS


def _methods() -> str:
    return ", ".join(f"{method.name} ({method.estimator})" for method in METHODS.values())


@app.command()
def compare(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="breast, heart, liver, pima, or a CSV, Parquet or svmlight file; "
            "all four embedded sets when left out.",
            show_default=False,
        ),
    ] = None,
    target: Target = None,
    drop: Drop = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {_methods()}, with commas between.",
            show_default="all up to BBLR0",
        ),
    ] = None,
    noise: Annotated[
        float, typer.Option(help="Noisy rows as a fraction of the rows; 0 for clean data only.")
    ] = NOISE,
    protocol: Annotated[
        str, typer.Option(help="uniform-one-class, uniform-random or label-flip.")
    ] = PROTOCOL,
    noise_in: Annotated[
        str,
        typer.Option(help="training: in training folds only; everywhere: in all data."),
    ] = "training",
    repeats: Annotated[int, typer.Option(help="Repeats of the cross-validation.")] = REPEATS,
    folds: Annotated[int, typer.Option(help="Folds of each cross-validation.")] = FOLDS,
    jobs: Jobs = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="The report.")] = OUT,
    records: Annotated[
        Path | None,
        typer.Option(
            help="Results as they come, one JSON object a line; run the same command again to "
            "resume from it.",
            show_default="beside the report",
        ),
    ] = None,
) -> None:
    """Compare BBLR with logistic regression, a linear SVM and SLA, on clean and noisy data.

    Prints tables of errors, log-loss, training loss and McNemar tests, and writes a report to
    open in a browser.
    """
    settings = {**locals(), "drop": tuple(drop or ())}
    from bblr.comparison.compare import run_compare
    from bblr.comparison.session import guarded

    raise typer.Exit(guarded(partial(run_compare, **settings), data="DATA"))
