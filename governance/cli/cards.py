"""How skills and versions of the registry show in a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from governance.cli.report import Block, Paragraph, Report, Table, Verdict
from governance.errors import Fault, InvalidRequest

if TYPE_CHECKING:
    from pydantic import BaseModel

    from governance.wire import SkillCard, VersionSummary


STATES = ("draft", "active", "deprecated", "sunset", "retired")


def document(message: BaseModel) -> dict[str, Any]:
    """A message as plain JSON values, with every number of the contracts in it as it came."""
    plain = message.model_dump(mode="python")
    return {key: _plain(value) for key, value in plain.items()}


@contextmanager
def well_formed() -> Iterator[None]:
    """What a message does not take becomes InvalidRequest, each field located."""
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        faults = [
            Fault(pointer="".join(f"/{part}" for part in flaw["loc"]), message=_said(flaw))
            for flaw in error.errors(include_url=False)
        ]
        raise InvalidRequest(
            "The service does not take that.",
            fix="Correct what stands at each place; `govctl COMMAND --help` says what it takes.",
            faults=faults,
        ) from None


def _said(flaw: Mapping[str, Any]) -> str:
    """What is wrong, without the words of a library for it where people have some."""
    given = flaw.get("input")
    if flaw["type"] == "string_pattern_mismatch" and isinstance(given, str):
        return "is blank" if not given.strip() else "does not have the form that is asked for"
    return str(flaw["msg"])


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(child) for child in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return getattr(value, "value", value)


def skills_report(cards: Sequence[SkillCard], *, truncated: bool = False) -> Report:
    """A list of skills; ``truncated`` when there are more than were asked for."""
    documents = [document(card) for card in cards]
    count = f"{len(cards)} skill{'' if len(cards) == 1 else 's'}"
    blocks: list[Block] = [Verdict(word="skills", sentence=f"{count}{', and more' if truncated else ''}.")]
    if cards:
        rows = tuple(
            (card.name, card.latest or "-", card.state.value, card.owner or "-", card.description) for card in cards
        )
        blocks.append(Table(columns=("name", "latest", "state", "owner", "description"), rows=rows))
    if truncated:
        blocks.append(Paragraph(text="Raise --limit to see more."))
    return Report(document={"skills": documents, "truncated": truncated}, blocks=tuple(blocks), records=documents)


def versions_table(versions: Iterable[VersionSummary]) -> Table:
    """Versions in the order given, with what each promised and where it stands."""
    rows = tuple(
        (
            version.version,
            "yanked" if version.yanked is not None else version.state.value,
            version.level.value if version.level else "-",
            version.baseline or "-",
            "opens a line" if version.opens_line else "",
            version.published_at.strftime("%Y-%m-%d"),
        )
        for version in versions
    )
    return Table(columns=("version", "state", "level", "against", "line", "published"), rows=rows)
