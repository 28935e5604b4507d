"""Options from a file in the working folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import bblr, make_frame


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = make_frame(80, 2)
    frame[frame["kind"] != "dog"].to_csv("two.csv", index=False)
    return tmp_path


def fitted(*typed: str) -> str:
    result = bblr("fit", "two.csv", "--model", "m.bblr", "--force", *typed)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_what_the_file_says_is_as_if_typed_and_what_is_typed_wins(here):
    typed = fitted(
        "--classifier", "SLAClassifier", "--drop", "fur,home", "--drop", "tame", "--no-check"
    )
    Path("bblr.toml").write_text(
        '[fit]\nclassifier = "SLAClassifier"\ndrop = ["fur,home", "tame"]\nno-check = true\n'
        "[audit]\nseed = 3\n"
    )
    same = fitted()
    assert [line for line in same.splitlines() if " s" not in line] == [
        line for line in typed.splitlines() if " s" not in line
    ]
    assert "SLAClassifier" in same
    assert "BBLRClassifier" in fitted("--classifier", "BBLRClassifier")
    assert bblr("fit", "--help").exit_code == 0


def test_one_value_serves_where_several_may_be_given(here):
    Path("bblr.toml").write_text('[fit]\ndrop = "fur"\n')
    assert "fur" not in fitted("--no-check")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[fit\n", "cannot be read"),
        ("[fitt]\n", "'fitt', which is not a command; use [fit]"),
        ('target = "kind"\n', "'target', which is not a command"),
        ("[fit]\nmetric = 1\n", "'metric' in [fit], which is not an option of it"),
        ('[fit]\nseed = "many"\n', "'--seed'"),
        ("[fit]\nseed = -1\n", "seed must be at least 0"),
        ("[fit]\nseed = true\n", "seed = True in [fit], which must be one number or text"),
        ('[fit]\ntarget = ["a", "b"]\n', "which must be one number or text"),
        ("[fit]\ndrop = {a = 1}\n", "which must be a text or a list of texts"),
        ('[fit]\nforce = "no"\n', "force = 'no' in [fit], which must be true or false"),
    ],
)
def test_what_cannot_be_used_is_named(here, text, message):
    Path("bblr.toml").write_text(text)
    result = bblr("fit", "two.csv", "--model", "m.bblr")
    assert result.exit_code == 2 and message in result.output
    assert not Path("m.bblr").exists()
