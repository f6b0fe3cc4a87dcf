"""``diff --batch``: one pair a line in, one answer a line out, in bounded memory.

A line that cannot be read is answered and does not stop the run; nor does one that the engine cannot finish.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import IO, Any, Final

from governance.cli.bare import is_bare_schema
from governance.comparing import Comparer
from governance.core.compat.engine import Settings
from governance.core.compat.model import Comparison, Level, Side, Verdict
from governance.core.document import Limits, read_json
from governance.core.schema.load import accepts_only_objects, schema_faults
from governance.core.skill import SkillManifest
from governance.core.versioning import Version, normalise_version, required_bump
from governance.errors import Fault, GovernanceError, InvalidContract, InvalidVersion
from governance.importers.mcp import tool_contract

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
BACKSTOP_SEC: Final = 5.0
"""More than the ceiling that one line may take: whatever does not look at the clock is ended then."""

_UNBOUNDED_SEC: Final = 3600.0
_LIMITS: Final = Limits(size=MAX_LINE_BYTES)
_UNVERSIONED: Final = "1.0.0"
_LEADING_ID: Final = re.compile(rb'\s*\{\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,400}"|-?\d{1,40})\s*[,}]')


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One line's answer. ``bad``: it could not be read or handled, as opposed to a contract that is invalid."""

    document: dict[str, Any]
    size: int
    bad: bool = False


class BadLineError(Exception):
    """The line is no comparison. ``identity`` is its id, as far as it could be read."""

    def __init__(self, sentence: str, identity: Any) -> None:
        super().__init__(sentence)
        self.identity = identity


class OutOfTimeError(BaseException):
    """Raised by the alarm; not an Exception, so that no handler on the way mistakes it for its own."""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """What a batch is compared with: the settings, and for bare schemas the side."""

    settings: Settings
    comparer: Comparer
    side: Side | None = None

    def answers(self, stream: IO[bytes], *, file: str | None = None) -> Iterator[Answer]:
        """An answer for every line that is not blank; ``file`` is named in answers to bad lines."""
        for number, line in bounded_lines(stream):
            size = len(line) + 1
            try:
                pair = _read(line)
            except BadLineError as error:
                place = {"line": number, **({"file": file} if file else {})}
                document = {"id": error.identity, **place, "verdict": "invalid", "error": str(error)}
                yield Answer(document=document, size=size, bad=True)
            else:
                document, failed = self._compare(pair)
                yield Answer(document={"id": pair.get("id"), **document}, size=size, bad=failed)

    def _compare(self, pair: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        """The answer, and whether the engine failed on the pair instead of deciding it."""
        failed = False
        began = time.perf_counter_ns()
        try:
            with _alarm(self._longest):
                comparison = self._decide(pair)
        except OutOfTimeError:
            comparison = _gave_up(f"time: no answer within {self._longest:g} seconds")
        except (RecursionError, MemoryError):
            comparison = _gave_up("budget: the pair needs more memory or depth than is allowed")
        except Exception as error:  # whatever one pair does to the engine, the next ones are answered
            comparison, failed = _gave_up(f"internal: {type(error).__name__}: {error}"), True
        micros = (time.perf_counter_ns() - began) // 1000
        document = comparison.to_document()
        baseline = _version(pair.get("old_version"))
        if baseline is not None and comparison.verdict is not Verdict.INVALID:
            document["bump"] = required_bump(comparison, baseline).value
        return document | {"micros": micros}, failed

    def _decide(self, pair: Mapping[str, Any]) -> Comparison:
        if self.side is not None:
            return self.comparer.check_schemas(pair["old"], pair["new"], side=self.side, settings=self.settings)
        skills = {}
        for key in ("old", "new"):
            try:
                skills[key] = _skill(pair, key)
            except GovernanceError as error:
                return _invalid(key, _BARE if is_bare_schema(pair[key]) else error)
        old, new = skills["old"], skills["new"]
        if old and new and not all(_own_name(pair[key]) for key in ("old", "new")):
            skills["new"] = replace(new, name=old.name)  # where one says no name, none has changed
        return self.comparer.check(skills["old"], skills["new"], settings=self.settings)

    @property
    def _longest(self) -> float:
        ceiling = self.comparer.ceiling_sec
        return _UNBOUNDED_SEC if ceiling is None else ceiling + BACKSTOP_SEC


def bounded_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """1-based numbers and lines without their end; a line past the limit comes cut, one byte over it."""
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 2):
        number += 1
        text = line.rstrip(b"\r\n")
        while not line.endswith(b"\n") and (line := stream.readline(MAX_LINE_BYTES)):
            pass
        if text.strip():
            yield number, text


def _read(line: bytes) -> dict[str, Any]:
    try:
        pair = read_json(line, limits=_LIMITS)
    except GovernanceError as error:
        raise BadLineError(_sentence(error), _leading_id(line)) from None
    if not isinstance(pair, dict):
        raise BadLineError("The line is no JSON object.", None)
    for key in ("old", "new"):
        if key not in pair:
            sentence = f'The line has no "{key}"; write null for a tool that is not there.'
            raise BadLineError(sentence, pair.get("id"))
    if pair["old"] is None and pair["new"] is None:
        raise BadLineError("Both tools are null: there is nothing to compare.", pair.get("id"))
    return pair


def _sentence(error: GovernanceError) -> str:
    """What is wrong, and at which column: file and line are told beside it."""
    if not error.faults:
        return error.message
    fault = error.faults[0]
    column = fault.place.column if fault.place else None
    where = f" at column {column}" if column else f" at {fault.pointer}" if fault.pointer else ""
    return f"The line cannot be read{where}: {fault.message}."


def _leading_id(line: bytes) -> Any:
    """The id of a line that is refused as a whole, where it comes first, as it mostly does."""
    found = _LEADING_ID.match(line)
    if found is None:
        return None
    try:
        return read_json(found.group(1))
    except GovernanceError:
        return None


def _skill(pair: Mapping[str, Any], key: str) -> SkillManifest | None:
    tool = pair[key]
    if tool is None:
        return None
    if not isinstance(tool, dict):
        raise InvalidContract("A tool is a JSON object, or null when it is not there.")
    names = (pair.get("name"), pair.get("tool"))
    name = _own_name(tool) or next((name for name in names if isinstance(name, str) and name), "tool")
    version = pair.get(f"{key}_version")
    manifest = tool_contract(tool, name=name, version=version if isinstance(version, str) else _UNVERSIONED)
    schema = manifest.input_schema
    if isinstance(schema, dict) and schema.get("type") == "object" and "$ref" not in schema:
        return manifest  # it says so at its root; whether it is a schema at all the engine tells
    faults = schema_faults(schema) or ([] if accepts_only_objects(schema) else [_OBJECT_ROOT])
    if faults:
        located = [replace(fault, pointer=f"/input_schema{fault.pointer}") for fault in faults]
        raise InvalidContract(f"The input schema is not valid: {faults[0].message}.", faults=located)
    return manifest


def _own_name(tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""


_BARE: Final = InvalidContract("A JSON Schema by itself is no tool: add --side input or --side output.")

_OBJECT_ROOT: Final = Fault(
    pointer="", code="object-root", message='it must accept only objects: write "type": "object" at its root'
)


def _version(spelling: Any) -> Version | None:
    if not isinstance(spelling, str):
        return None
    try:
        return Version.parse(normalise_version(spelling)[0])
    except InvalidVersion:
        return None


def _invalid(side: str, error: GovernanceError) -> Comparison:
    return Comparison(
        verdict=Verdict.INVALID,
        level=Level.UNDECIDED,
        reason=f"{side}: {error.message}",
        faults=error.faults,
        invalid_side=side,
    )


def _gave_up(reason: str) -> Comparison:
    return Comparison(verdict=Verdict.UNDECIDED, level=Level.UNDECIDED, reason=reason)


@contextmanager
def _alarm(ceiling_sec: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can be interrupted
        return

    def ring(signum: int, frame: FrameType | None) -> None:
        raise OutOfTimeError

    before: Callable[[int, FrameType | None], Any] | int | None = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, ceiling_sec)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
