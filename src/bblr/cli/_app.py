"""The command line itself, and the options that several commands share."""

from __future__ import annotations

from typing import Annotated

try:
    import typer
except ModuleNotFoundError:
    raise SystemExit("The command line needs more packages: pip install 'bblr[cli]'") from None

from bblr._version import __version__

app = typer.Typer(
    name="bblr",
    help="Classification by nearly zero-one loss.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# Options that several commands share.
Target = Annotated[
    str | None, typer.Option(metavar="COL", help="Column of the file that holds the class.")
]
Jobs = Annotated[
    int | None, typer.Option(help="Fits to run at a time.", show_default="all cores")
]
Seed = Annotated[int, typer.Option(help="Decides folds, noise and random starts.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bblr {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass
