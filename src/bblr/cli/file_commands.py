"""Commands for files of one's own; the work is done in :mod:`bblr.io`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bblr.cli.app import (
    Category,
    Data,
    Date,
    Drop,
    Json,
    Number,
    Target,
    Text,
    app,
    settings_of,
)

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that bblr fit wrote.")]
Unseen = Annotated[
    str,
    typer.Option(
        help="What to do with a category not seen in training: zero treats it as none of the "
        "known ones and counts it in a note, error stops."
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
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            help="A CSV, Parquet, Arrow, Excel or svmlight file, or several with the same "
            "columns; - for standard input.",
        ),
    ],
    model: Annotated[Path, typer.Option(help="Where to save the model, a .bblr file.")],
    target: Target = None,
    drop: Drop = None,
    number: Number = None,
    category: Category = None,
    date: Date = None,
    text: Text = None,
    classifier: Annotated[
        str, typer.Option(metavar="NAME", help="Any classifier in bblr.")
    ] = "BBLRClassifierCV",
    params: Params = None,
    seed: Annotated[int, typer.Option(help="Seed of folds and random starts.")] = 0,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Save time: report no held-out figures.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model.")] = False,
    json: Json = None,
) -> None:
    """Fit a classifier to a file and save it.

    Without --target, the last column holds the class; there may be more than two. The model
    includes the encoding of columns. Notes say which are treated as dates or free text and which
    are left out; --drop, --number, --category, --date and --text override that.
    """
    settings = settings_of(locals(), "data", "params")
    settings["check"] = not settings.pop("no_check")
    from bblr.cli.fit_job import FitJob, run_fit
    from bblr.cli.running import joined_columns

    raise typer.Exit(run_fit(FitJob(**joined_columns(settings))))


@app.command()
def predict(
    saved: Model,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A file with the columns of the training file, in any order; - for standard "
            "input.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="A .csv file for the predictions.", show_default="standard output"),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also write the probability of each class.")
    ] = False,
    unseen: Unseen = "zero",
    ignore_extra: IgnoreExtra = False,
    json: Json = None,
) -> None:
    """Predict the class of each row of a file, read block by block.

    The file may have the target column or not.
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
    unseen: Unseen = "zero",
    ignore_extra: IgnoreExtra = False,
    json: Json = None,
) -> None:
    """Score predictions for a file whose classes are known, read block by block.

    Prints the error rate with its 95 % interval, AUC, log-loss and calibration; precision, recall,
    F1, AUC and average precision of each class; and the confusion matrix.
    """
    settings = locals()
    from bblr.cli.evaluate_job import EvaluateJob, run_evaluate

    raise typer.Exit(run_evaluate(EvaluateJob(**settings)))


@app.command()
def explain(
    saved: Model,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="A file with the columns of the training file; without one, the model itself is "
            "explained.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        list[int] | None,
        typer.Option(
            "--row",
            metavar="N",
            help="A row of the file, counted from 1 after the header; may be given several times.",
            show_default="1",
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="How many columns to show.")] = 10,
    unseen: Unseen = "zero",
    ignore_extra: IgnoreExtra = False,
    json: Json = None,
) -> None:
    """Explain a model, or its prediction for a row.

    For a row: what each column contributes, compared with the average training row; how far the
    row is from the decision boundary; and, if it has a label, how much it would count in training.
    """
    settings = settings_of(locals(), "rows")
    from bblr.cli.explain_job import ExplainJob, run_explain

    raise typer.Exit(run_explain(ExplainJob(**settings)))


@app.command()
def audit(
    data: Data,
    target: Target = None,
    drop: Drop = None,
    number: Number = None,
    category: Category = None,
    date: Date = None,
    text: Text = None,
    out: Annotated[
        Path, typer.Option(help="A .csv file for the rows; the report goes beside it, as .html.")
    ] = Path("audit.csv"),
    classifier: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Any classifier in bblr.",
            show_default="BBLRClassifier",
        ),
    ] = None,
    params: Params = None,
    in_sample: Annotated[
        bool,
        typer.Option(
            "--in-sample", help="Score rows by a model trained on them: fast, but biased."
        ),
    ] = False,
    with_columns: Annotated[
        bool,
        typer.Option("--with-columns", help="Copy the columns of the file into the .csv file."),
    ] = False,
    jobs: Annotated[int | None, typer.Option(help="Fits to run at once.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of folds and random starts.")] = 0,
    json: Json = None,
) -> None:
    """Rank the rows of a file by the evidence that their label is wrong.

    Every row is scored by models trained without it. Prints an estimate of how many labels are
    wrong, and writes a report to open in a browser and a table: for each row its label, a
    suggested one, the probability of an error and the columns that contradict the label most, the
    clearest errors first.
    """
    settings = settings_of(locals(), "params")
    from bblr.cli.auditing.audit_job import AuditJob, run_audit
    from bblr.cli.running import joined_columns

    raise typer.Exit(run_audit(AuditJob(**joined_columns(settings))))
