"""Reading a file ends: at its limit, and where a pipe has no writer."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from governance.errors import NotFound
from governance.importers import import_paths, opening
from governance.importers.opening import read_bytes

LIST = b'{"tools": [{"name": "find", "inputSchema": {"type": "object"}}]}'


def test_a_pipe_that_nobody_writes_into_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_WRITER_WITHIN_SEC", 0.05)
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(NotFound, match=r"pipe\.json: it is a pipe, and nobody writes into it"):
        import_paths([tmp_path / "pipe.json"])


def test_a_pipe_is_read_to_its_end_however_late_its_writer_comes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("wb") as file:
            file.write(LIST[:10])
            file.flush()
            time.sleep(0.1)
            file.write(LIST[10:])

    writer = threading.Thread(target=write)
    writer.start()
    assert [one.name for one in import_paths([pipe]).accepted] == ["find"]
    writer.join()


@pytest.mark.parametrize("limit", [1, 10, len(LIST), 10_000])
def test_no_more_is_read_than_the_limit(tmp_path: Path, limit: int) -> None:
    (tmp_path / "file").write_bytes(LIST)
    assert read_bytes(tmp_path / "file", limit) == LIST[:limit]
    assert len(read_bytes(Path("/dev/zero"), limit)) == limit


def test_what_cannot_be_opened_is_an_error_of_the_system(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(OSError, match=r"No such file|directory"):
            read_bytes(path, 10)
