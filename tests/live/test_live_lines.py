"""Lines come out the same however the bytes were cut, and never hold more than the bound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.live.lines import Lines, LineTooLong

CHUNKS = st.lists(
    st.binary(max_size=8) | st.sampled_from([b"\n", b"\r\n", b"{", b"\xff", b"", b"abc\ndef\n"]), max_size=20
)


def lines_of(chunks: list[bytes], limit: int) -> list[bytes]:
    lines = Lines(limit, message=b"{")
    return [line for chunk in chunks for line in lines.feed(chunk)] + [lines.end()]


@given(CHUNKS)
def test_the_cut_of_the_bytes_does_not_matter(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    assert lines_of(chunks, 1000) == [line.removesuffix(b"\r") for line in whole.split(b"\n")]


@given(CHUNKS, st.integers(0, 5))
def test_a_line_past_the_bound_is_cut_if_it_is_noise_and_refused_if_it_is_a_message(
    chunks: list[bytes], limit: int
) -> None:
    whole = [line.removesuffix(b"\r") for line in b"".join(chunks).split(b"\n")]
    try:
        found = lines_of(chunks, limit)
    except LineTooLong:
        assert any(line.startswith(b"{") for line in whole)
        return
    assert len(found) == len(whole)
    for line, full in zip(found, whole, strict=True):
        assert full.startswith(line.removesuffix(b"\r"))
        assert line == full or not line.startswith(b"{")


def test_an_endless_line_is_not_kept() -> None:
    lines = Lines(1000, message=b"{")
    for _ in range(1000):
        assert list(lines.feed(b"x" * 1000)) == []
    assert len(lines.end()) <= 1000
    with pytest.raises(LineTooLong):
        list(lines.feed(b"{" + b"x" * 1000))
