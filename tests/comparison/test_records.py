import json

import pytest

from bblr.comparison.records import RecordsError, RecordsFile, read_records

RECORDS = [{"key": f"k{i}", "text": "± é", "values": [i, 0.5, None]} for i in range(3)]


def write(path, records):
    with RecordsFile(path) as file:
        for record in records:
            file.append(record)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "r.jsonl"
    write(path, RECORDS[:1])
    write(path, RECORDS[1:])
    assert list(read_records(path).values()) == RECORDS


def test_a_file_that_is_not_there_holds_nothing(tmp_path):
    assert read_records(tmp_path / "r.jsonl") == {}


def test_the_last_record_of_a_key_counts(tmp_path):
    path = tmp_path / "r.jsonl"
    write(path, [{"key": "a", "n": 1}, {"key": "b"}, {"key": "a", "n": 2}])
    assert read_records(path)["a"]["n"] == 2


def test_each_record_is_on_disk_at_once(tmp_path):
    path = tmp_path / "r.jsonl"
    with RecordsFile(path) as file:
        for count, record in enumerate(RECORDS, 1):
            file.append(record)
            assert len(read_records(path)) == count


def test_a_cut_at_any_byte_costs_only_the_unfinished_record(tmp_path):
    path = tmp_path / "r.jsonl"
    write(path, RECORDS)
    whole = path.read_bytes()
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        finished = whole[:end].count(b"\n")
        assert list(read_records(path).values()) == RECORDS[:finished]
        write(path, [{"key": "new"}])
        assert [*read_records(path)] == [r["key"] for r in RECORDS[:finished]] + ["new"]


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "precious", '{"other": 1}\n', "[]\n", '{"key":"a"}\n{"key":\n', "7\n"]
)
def test_another_file_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    with pytest.raises(RecordsError, match="choose another place"):
        read_records(path)
    assert path.read_text() == text


def test_append_needs_an_open_file(tmp_path):
    with pytest.raises(RuntimeError, match="with statement"):
        RecordsFile(tmp_path / "r.jsonl").append({"key": "a"})


def test_a_record_is_one_line_of_plain_json(tmp_path):
    path = tmp_path / "r.jsonl"
    write(path, [{"text": "two\nlines", "key": "a"}])
    (line,) = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"key": "a", "text": "two\nlines"}
