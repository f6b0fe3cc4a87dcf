"""What keeps a version from serving, and what a caller is told beside the version that serves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from governance.core.lines import Published
from governance.core.skill import NO_REPLACEMENT, Status


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A warning that comes with an answer: a permanent code and a sentence."""

    code: str
    message: str

    def to_document(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message}


def obstacle(one: Published, *, on_record: bool, pinned: bool = False) -> str | None:
    """Why ``one`` cannot serve: ``retired``, ``disabled``, ``past-sunset``, ``draft``, ``yanked``; or None.

    ``pinned``: it was asked for by its exact number, which reaches drafts and yanked versions. ``on_record``:
    the caller has been served this skill before, so its sunset does not shut it out.
    """
    if one.state is Status.RETIRED:
        return "retired"
    if one.disabled is not None:
        return "disabled"
    if one.state is Status.SUNSET and not on_record:
        return "past-sunset"
    if not pinned and one.state is Status.DRAFT:
        return "draft"
    return "yanked" if not pinned and one.yanked is not None else None


def successor(one: Published) -> str:
    """A sentence that names what to use instead, empty when nothing is declared."""
    guide = f" (guide: {one.migration_guide})" if one.migration_guide else ""
    if one.replacement == NO_REPLACEMENT:
        return f"There is no replacement{guide}."
    return f"Use {one.replacement} instead{guide}." if one.replacement else guide.strip(" ()")


def notices_for(
    skill: str, chosen: Published, admitted: Iterable[Published], *, flag_refused: bool = False
) -> tuple[Notice, ...]:
    """Warnings about ``chosen``, and about higher versions of its line that a range passed over."""
    found: list[Notice] = []

    def add(code: str, *sentences: str) -> None:
        found.append(Notice(code=code, message=" ".join(one for one in sentences if one)))

    named = f"{skill} {chosen.version}"
    match chosen.state:
        case Status.DEPRECATED:
            since = f" since {chosen.deprecated_on}" if chosen.deprecated_on else ""
            until = f" and serves new callers until {chosen.sunset}" if chosen.sunset else ""
            add("deprecated", f"{named} is deprecated{since}{until}.", successor(chosen))
        case Status.SUNSET:
            since = f" of {chosen.sunset}" if chosen.sunset else ""
            add("sunset", f"{named} is past its sunset{since} and may be retired.", successor(chosen))
        case Status.DRAFT:
            add(
                "draft", f"{named} is a draft: only this pin reaches it. Ranges follow a higher version that is active."
            )
        case Status.ACTIVE | Status.RETIRED:
            pass
    if chosen.yanked is not None:
        add(
            "yanked",
            f"{named} is yanked: {chosen.yanked or 'no reason given'}. Only exact pins still reach it.",
        )
    for one in admitted:
        if one.version > chosen.version and not one.version.is_prerelease:
            if one.yanked is not None:
                add("yanked-skipped", f"{skill} {one.version} is yanked: {one.yanked or 'no reason given'}.")
            elif one.disabled is not None:
                add("disabled-skipped", f"{skill} {one.version} is switched off: {one.disabled}.")
    if flag_refused:
        add("flag-refused", "accept_breaking_change is not allowed in this namespace and was not applied.")
    return tuple(found)
