"""The command line itself, and the options that several commands share."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
    import typer.core
except ModuleNotFoundError:
    raise SystemExit("The command line needs more packages: pip install 'bblr[cli]'") from None

from _bblr_command import Loading
from bblr._settings import SettingError
from bblr._version import __version__

_ORDER = ("fit", "predict", "evaluate", "explain", "audit", "compare", "warm-up")


# Options that would otherwise be typed each time, in the folder where commands are run.
CONFIG = Path("bblr.toml")


def _configured(command: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the options that the file sets for a command, by the names of its parameters.

    `names` are all commands, each of which may have a table in the file.
    """
    try:
        tables = tomllib.loads(CONFIG.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingError(str(CONFIG), f"cannot be read: {error}") from error
    for name, table in tables.items():
        if name not in names or not isinstance(table, dict):
            raise SettingError(
                str(CONFIG), f"has {name!r}, which is not a command; use [{'], ['.join(names)}]"
            )
    known = {option: each for each in command.params for option in each.opts}
    found: dict[str, Any] = {}
    for name, value in tables.get(command.name, {}).items():
        option = f"--{name}"
        if option in known:
            _check_value(known[option], name, value, command.name)
            several = known[option].multiple and not isinstance(value, list)
            found[known[option].name] = [value] if several else value
        else:
            raise SettingError(
                str(CONFIG),
                f"has {name!r} in [{command.name}], which is not an option of it; see bblr "
                f"{command.name} --help",
            )
    return found


def _check_value(option: Any, name: str, value: Any, command: str) -> None:
    """Raise a SettingError for a value of a kind that the option does not take."""
    if option.is_flag:
        wrong, wanted = not isinstance(value, bool), "true or false"
    elif option.multiple:
        wrong, wanted = isinstance(value, bool | dict), "a text or a list of texts"
    else:
        wrong = isinstance(value, bool | dict | list)
        wanted = "one number or text; several go into one text, separated by commas"
    if wrong:
        raise SettingError(
            str(CONFIG), f"has {name} = {value!r} in [{command}], which must be {wanted}"
        )


def _without_kinds(options: list[Any]) -> list[Any]:
    """Keep help from showing a value, ``<bool>``, for options that take none."""
    for option in options:
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""
    return options


class _Commands(typer.core.TyperGroup):
    """The commands; Ctrl-C while one is still loading ends it as it does later."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; load what every command needs, unless only its help is asked for."""
        if "--help" in args or ctx.resilient_parsing:  # as a shell completes words
            return super().resolve_command(ctx, args)
        with Loading():
            import bblr.linear  # noqa: F401
        name, command, rest = super().resolve_command(ctx, args)
        try:
            ctx.default_map = {name: _configured(command, self.list_commands(ctx))}
        except SettingError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(2) from None
        return name, command, rest

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands in the order of their use; those of other packages come last."""
        names = super().list_commands(ctx)
        return sorted(
            names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER)
        )

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of ``bblr`` itself."""
        return _without_kinds(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command whose help is wrapped by the terminal, not as in the source."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _without_kinds(command.get_params(ctx))
        if command is not None and command.help:
            parts = command.help.split("\n\n")
            command.help = "\n\n".join(" ".join(part.split()) for part in parts)
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("Stopped; nothing was written.", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    name="bblr",
    cls=_Commands,
    help="Classification by nearly zero-one loss.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

# Options that several commands share.
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="An embedded data set, such as heart, or any file that bblr fit accepts.",
    ),
]
Target = Annotated[
    str | None, typer.Option(metavar="COL", help="Column of the file that holds the class.")
]


def _columns(help: str) -> Any:
    """Return an option that names columns."""
    return typer.Option(metavar="COLS", help=help, show_default=False)


Columns = list[str] | None
Drop = Annotated[Columns, _columns("Columns to leave out, separated by commas.")]
Number = Annotated[Columns, _columns("Columns to treat as numbers, row numbers included.")]
Category = Annotated[Columns, _columns("Columns to treat as categories.")]
Date = Annotated[Columns, _columns("Columns to treat as dates.")]
Text = Annotated[Columns, _columns("Columns to treat as free text.")]
Jobs = Annotated[int | None, typer.Option(help="Fits to run at once.", show_default="all cores")]
Json = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the results to FILE for scripts, as one JSON object; - is standard output.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of folds, noise and random starts.")]


def settings_of(local: dict[str, Any], *several: str) -> dict[str, Any]:
    """Return the options of a command, those that may be given several times as tuples."""
    return {**local, **{name: tuple(local[name] or ()) for name in several}}


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


@app.command("warm-up")
def warm_up(json: Json = None) -> None:
    """Compile ahead of time what fits need, for instance when a container image is built."""
    from bblr.cli.running import guarded

    raise typer.Exit(guarded(lambda _: _warm_up(json), "Stopped."))


def _warm_up(json: Path | None) -> None:
    from time import perf_counter

    import numpy as np
    from scipy.sparse import csr_array

    from bblr import BBLRClassifier, BBLRClassifierCV, KernelBBLRClassifier, ZeroOneClassifier
    from bblr.io.results import Results

    results, seconds = Results("warm-up", json), {}
    rng = np.random.default_rng(0)
    X, many = rng.normal(size=(60, 3)), rng.normal(size=(20_000, 60))
    y = X[:, 0] + rng.normal(size=60) > 0
    for what, model, rows, labels in (
        ("two classes", BBLRClassifier(), X, y),
        ("three classes", BBLRClassifier(), X, np.arange(60) % 3),
        ("cross-validation", BBLRClassifierCV(random_state=0), X, y),
        ("many rows", BBLRClassifier(), many, many[:, 0] > 0),
        ("sparse rows", BBLRClassifier(), csr_array(X), y),
        ("kernels", KernelBBLRClassifier(), X, y),
        ("zero-one loss", ZeroOneClassifier(random_state=0), X, y),
    ):
        start = perf_counter()
        model.fit(rows, labels).predict(rows)
        seconds[what] = perf_counter() - start
        results.say([f"{what}: {seconds[what]:.1f} s"])
    results.save({"seconds": seconds})
