"""Consumers by versions: which version serves whom, and which would keep whose calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from governance.core.compat.model import Verdict
from governance.core.consumers.impacts import Change, by_consent
from governance.core.consumers.moves import Moves
from governance.core.consumers.needs import Need
from governance.core.lines import Compare, HistoryItem
from governance.core.versioning import Version
from governance.errors import InvalidRange


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One version for one need."""

    version: Version
    serves: bool
    """It is what serves the need now."""
    admitted: bool
    """The range admits it."""
    verdict: Verdict | None
    """Of a move to it from what serves now; None: nothing serves now, so nothing is known."""


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    """One need, and its cells in the order of the versions that were asked for."""

    need: Need
    now: Version | None
    why: str
    """Why nothing serves it; empty where something does."""
    cells: tuple[Cell, ...]

    def to_document(self) -> dict[str, Any]:
        return {
            **self.need.to_document(),
            "now": None if self.now is None else str(self.now),
            "why": self.why,
            "cells": [
                {
                    "version": str(cell.version),
                    "serves": cell.serves,
                    "admitted": cell.admitted,
                    "verdict": None if cell.verdict is None else cell.verdict.value,
                }
                for cell in self.cells
            ],
        }


def matrix(
    skill: str,
    needs: Iterable[Need],
    history: Sequence[HistoryItem],
    versions: Iterable[Version],
    *,
    compare: Compare,
) -> tuple[MatrixRow, ...]:
    """A row for each need, with a cell for each of ``versions``, all of which are in ``history``."""
    moves = Moves(compare=compare)
    now = Change(skill=skill, before=history, after=(), serve=by_consent)
    items = {one.version: one for one in history}
    columns = [items[version] for version in versions]
    return tuple(_row(now, need, items, columns, moves) for need in needs)


def _row(
    change: Change,
    need: Need,
    items: dict[Version, HistoryItem],
    columns: Sequence[HistoryItem],
    moves: Moves,
) -> MatrixRow:
    try:
        range_ = need.admitting()
    except InvalidRange as error:
        cells = tuple(Cell(version=one.version, serves=False, admitted=False, verdict=None) for one in columns)
        return MatrixRow(need=need, now=None, why=error.message, cells=cells)
    now, why = change.serving(need, change.before)
    return MatrixRow(
        need=need,
        now=now,
        why=why,
        cells=tuple(
            Cell(
                version=one.version,
                serves=one.version == now,
                admitted=range_.admits(one.version),
                verdict=None if now is None else moves(need, items[now].manifest, one.manifest)[0].verdict,
            )
            for one in columns
        ),
    )
