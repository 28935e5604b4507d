"""Commands for files of one's own; the work is done in :mod:`bblr.io`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bblr.cli.app import Data, Drop, Jobs, Target, app, settings_of

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that bblr fit wrote.")]
Unseen = Annotated[
    str,
    typer.Option(
        help="A text that the training file did not have in that column: error, or zero to take "
        "it for none of the known ones."
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=VALUE",
        help="A parameter of the classifier; give one --param for each.",
        show_default=False,
    ),
]
IgnoreExtra = Annotated[
    bool, typer.Option("--ignore-extra", help="Skip columns that the model does not know.")
]


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A CSV, Parquet or svmlight file.")],
    model: Annotated[Path, typer.Option(help="Where to save the model, a .bblr file.")],
    target: Target = None,
    drop: Drop = None,
    classifier: Annotated[
        str, typer.Option(metavar="NAME", help="Any classifier of bblr.")
    ] = "BBLRClassifierCV",
    params: Params = None,
    seed: Annotated[int, typer.Option(help="Decides folds and random starts.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
) -> None:
    """Fit a classifier to a file and save it.

    Without --target the last column holds the class; any number of classes will do. The model
    remembers columns, categories and their encoding.
    """
    settings = settings_of(locals(), "drop", "params")
    from bblr.cli.fit_job import FitJob, run_fit

    raise typer.Exit(run_fit(FitJob(**settings)))


@app.command()
def predict(
    saved: Model,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="A file with the columns of the training file, in any order."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="A .csv file for the predictions.", show_default="standard output"),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Write the probability of each class too.")
    ] = False,
    unseen: Unseen = "error",
    ignore_extra: IgnoreExtra = False,
) -> None:
    """Predict the class of each row of a file, read block by block.

    The target column may be there or not.
    """
    settings = locals()
    from bblr.cli.predict_job import PredictJob, run_predict

    raise typer.Exit(run_predict(PredictJob(**settings)))


@app.command()
def evaluate(
    saved: Model,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="A file with the columns of the training file and the class."
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column of the file that holds the class.",
            show_default="as in the training file",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--json", help="Write the scores and versions here.", show_default=False),
    ] = None,
    unseen: Unseen = "error",
    ignore_extra: IgnoreExtra = False,
) -> None:
    """Score the predictions for a file whose classes are known, read block by block.

    Prints errors, accuracy, log-loss, expected calibration error, the confusion matrix and the
    recall of each class.
    """
    settings = locals()
    from bblr.cli.evaluate_job import EvaluateJob, run_evaluate

    raise typer.Exit(run_evaluate(EvaluateJob(**settings)))


@app.command()
def audit(
    data: Data,
    target: Target = None,
    drop: Drop = None,
    out: Annotated[
        Path, typer.Option(help="A .csv file for the rows; the report goes beside it, as .html.")
    ] = Path("audit.csv"),
    classifier: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Any classifier of bblr.",
            show_default="BBLRClassifier",
        ),
    ] = None,
    params: Params = None,
    in_sample: Annotated[
        bool,
        typer.Option(
            "--in-sample", help="Score rows by a model that was trained on them: fast and biased."
        ),
    ] = False,
    jobs: Jobs = 1,
    seed: Annotated[int, typer.Option(help="Decides folds and random starts.")] = 0,
) -> None:
    """Rank the rows of a file by the evidence that their label is wrong.

    Every row is scored by models that were trained without it. Prints how many labels are wrong by
    estimate, and writes all rows, the most evident errors first, and a report to open in a
    browser.
    """
    settings = settings_of(locals(), "drop", "params")
    from bblr.cli.audit_job import AuditJob, run_audit

    raise typer.Exit(run_audit(AuditJob(**settings)))
