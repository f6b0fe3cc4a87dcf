"""May a skill be replaced by what is named for it: it exists, is active, and does not lead back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from governance.core.gate.facts import ReplacementFacts
from governance.core.lines import Published
from governance.core.names import is_name
from governance.core.skill import NO_REPLACEMENT, Status
from governance.core.versioning import Range, Version
from governance.errors import Fault, InvalidRange, InvalidRequest


def replacement_faults(
    skill: str, replaced: Iterable[Version], replacement: str | None, facts: ReplacementFacts | None
) -> Iterator[tuple[str, str]]:
    """What keeps ``replacement`` (``name@range``) from standing for these versions: ids of REASONS with a sentence.

    Without ``facts`` only what needs no registry is judged.
    """
    if replacement is None or replacement == NO_REPLACEMENT:
        return
    name, _, wanted = replacement.partition("@")
    range_ = Range.parse(wanted)
    for version in replaced:
        if name == skill and range_.admits(version, include_prerelease=True):
            yield "replacement-itself", f"{replacement} admits {version} itself."
    if facts is None:
        return
    matching = [one for one in facts.published if range_.admits(one.version)]
    if not matching:
        yield "replacement-missing", f"No published version is {replacement}."
    elif not any(can_replace(one) for one in matching):
        yield "replacement-inactive", f"No version that {replacement} admits is active."
    if name != skill and skill in facts.leads_to:
        way = " → ".join((skill, name, *facts.leads_to))
        yield "replacement-circular", f"The replacements lead in a circle: {way}."


def check_replacement(text: str) -> None:
    """Raises InvalidRequest for what is neither ``name@range`` nor NO_REPLACEMENT."""
    if text == NO_REPLACEMENT:
        return
    name, _, wanted = text.partition("@")
    why = "is not name@range, such as knowledge.extract@^2"
    if is_name(name) and wanted.strip():
        try:
            Range.parse(wanted)
        except InvalidRange as error:
            why = error.message
        else:
            return
    raise InvalidRequest(
        "The replacement cannot be read.",
        fix=f"Write name@range, or {NO_REPLACEMENT!r} to say that there is none.",
        faults=[Fault(pointer="/replacement", message=f"{text[:200]!r} {why}", code="range")],
    )


def can_replace(one: Published) -> bool:
    return one.state is Status.ACTIVE and one.yanked is None and one.disabled is None
