"""Commands for files of one's own; the work is done in :mod:`bblr.io`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bblr.cli.app import Drop, Jobs, Target, app

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that bblr fit wrote.")]
Unseen = Annotated[
    str,
    typer.Option(
        help="A text that the training file did not have in that column: error, or zero to take "
        "it for none of the known ones."
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
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of the classifier; give one --param for each.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides folds and random starts.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
) -> None:
    """Fit a classifier to a file and save it.

    Without --target the last column holds the class; any number of classes will do. The model
    remembers columns, categories and their encoding. It holds a pickle: only classes of bblr and
    arrays are let in when it is loaded, but use models from people you trust all the same.
    """
    from bblr.cli.fit_job import FitJob, run_fit

    job = FitJob(
        data=data,
        target=target,
        drop=tuple(drop or ()),
        model=model,
        classifier=classifier,
        params=tuple(param or ()),
        seed=seed,
        force=force,
    )
    raise typer.Exit(run_fit(job))


@app.command()
def predict(
    model: Model,
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

    The target column may be there or not. The model holds a pickle: use models from people you
    trust.
    """
    from bblr.cli.predict_job import PredictJob, run_predict

    job = PredictJob(
        saved=model, data=data, out=out, proba=proba, unseen=unseen, ignore_extra=ignore_extra
    )
    raise typer.Exit(run_predict(job))


@app.command()
def evaluate(
    model: Model,
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
    from bblr.cli.evaluate_job import EvaluateJob, run_evaluate

    job = EvaluateJob(
        saved=model,
        data=data,
        target=target,
        out=out,
        unseen=unseen,
        ignore_extra=ignore_extra,
    )
    raise typer.Exit(run_evaluate(job))


@app.command()
def audit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="breast, heart, liver, pima, or a CSV, Parquet or svmlight file.",
        ),
    ],
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
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of the classifier; give one --param for each.",
            show_default=False,
        ),
    ] = None,
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
    from bblr.cli.audit_job import AuditJob, run_audit

    job = AuditJob(
        data=data,
        target=target,
        drop=tuple(drop or ()),
        classifier=classifier,
        params=tuple(param or ()),
        in_sample=in_sample,
        jobs=jobs,
        seed=seed,
        out=out,
    )
    raise typer.Exit(run_audit(job))
