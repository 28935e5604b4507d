"""The comparison with an earlier tree: here this tree with itself."""

import json
from pathlib import Path

import pytest

from research.benchmarks import earlier

HERE = Path(__file__).parents[3]


def test_a_tree_agrees_with_itself(tmp_path, capsys):
    record = tmp_path / "figures.json"
    arguments = [str(HERE), "linear 300", "--rounds", "1", "--json", str(record)]
    assert earlier.main(arguments) == 0
    (row,) = json.loads(record.read_text())
    assert row["objective"] == row["decisions"] == 0.0
    assert row["errors"][0] == row["errors"][1] < 0.2
    assert "linear 300 x 13" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"), [(["."], "no checkout"), ([str(HERE), "abacus"], "no case has")]
)
def test_what_cannot_be_compared_is_named(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        earlier.main(arguments)
    assert message in capsys.readouterr().err
