"""What a text introduces that the text before it did not have.

Descriptions are what a model routes by and obeys. Most changes in them are plain rewording; a few deserve a
second pair of eyes, because no schema shows them: an order to the model, a demand for secrecy, a new URL,
another tool's name, characters nobody can see. Only what is *new* counts, so that a text which always gave
orders may be reworded in peace.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from governance.core.schema.budget import READING_STEPS, Budget, BudgetExceeded

MAX_READ: Final = 200_000
"""Characters that are read of the texts of one side."""
_CHARACTERS_A_STEP: Final = 3


class TextKind(StrEnum):
    ORDER = "order"
    SECRECY = "secrecy"
    URL = "url"
    TOOL = "tool"
    INVISIBLE = "invisible"


@dataclass(frozen=True, kw_only=True, order=True)
class TextRisk:
    """Something in a text that deserves a look; ``fragment`` is what it is, in a comparable form."""

    kind: TextKind
    fragment: str


_MODEL = r"(?:assistant|model|agent|ai|llm|claude|gpt|chatgpt|gemini)"
_RULES = r"(?:instructions?|prompts?|rules|guidelines|directions|messages?|context)"
_SECRETS = (
    r"(?:conversation|chat history|system prompt|credentials?|passwords?|api[ _-]?keys?|private keys?|"
    r"access tokens?|secrets?|environment variables|\.env|~/\.|id_rsa)"
)


@dataclass(frozen=True)
class _Pattern:
    """``regex`` is tried only on texts that hold one of ``needles``: most texts hold none, and that is quick."""

    needles: tuple[str, ...]
    regex: re.Pattern[str]

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        return self.regex.finditer(text) if any(needle in text for needle in self.needles) else iter(())


def _patterns(*rows: tuple[str, str]) -> tuple[_Pattern, ...]:
    """Rows of (needles divided by ``|``, regular expression)."""
    return tuple(_Pattern(tuple(needles.split("|")), re.compile(regex)) for needles, regex in rows)


_ORDERS: Final = _patterns(
    (
        "ignore|disregard|forget|override|bypass",
        rf"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{{0,30}}\b{_RULES}\b",
    ),
    (
        "must|shall|have to|required to",
        rf"\b(?:you|the {_MODEL})\s+(?:must|shall|have to|are required to)\b(?:\s+(?:always|never|not|first))?",
    ),
    ("should always|should never", rf"\b(?:you|the {_MODEL})\s+should\s+(?:always|never)\b"),
    ("always|never", r"\b(?:always|never)\s+(?:call|use|invoke|run|execute|prefer|choose|select)\b"),
    (
        "this tool|this skill|this function",
        r"\b(?:call|use|invoke|run|execute)\s+this\s+(?:tool|skill|function)\s+(?:first|always|before|whenever)\b",
    ),
    (
        "before",
        r"\bbefore\s+(?:calling|using|invoking|running)\s+(?:any|all|every|other)\b[^.\n]{0,20}\btools?\b",
    ),
    ("instead of", r"\binstead\s+of\s+(?:any|all|every|the)?\s*others?\s+tools?\b"),
    (
        "conversation|history|prompt|credential|password|key|token|secret|environment|.env|~/.|id_rsa",
        rf"\b(?:send|forward|pass|include|upload|attach|append|post|leak|read)\b[^.\n]{{0,40}}(?<!\w){_SECRETS}",
    ),
    ("<", r"<\s*/?\s*(?:important|system|instructions?|secret|critical|assistant|admin)\s*>|<\|[a-z_]{1,20}\|>"),
    ("[", r"\[\s*/?\s*(?:inst|system)\s*\]"),
    ("忽略", r"忽略[^。\n]{0,12}(?:指令|指示|提示|规则)"),
    ("必须|务必|一定要|不得", r"(?:你|模型|助手)(?:必须|务必|一定要|不得)"),
    ("调用|使用", r"(?:总是|始终|务必|必须)(?:先)?(?:调用|使用)"),
    ("ignore", r"\bignore[zr]?\s+[^.\n]{0,20}\b(?:instructions|consignes|règles)\b"),
    ("tu dois|vous devez", r"\b(?:tu dois|vous devez)\b"),
    ("toujours", r"\b(?:utilise[zr]?|appele[zr]?)\s+toujours\b"),
)
_SECRECY: Final = _patterns(
    (
        "user|human|person|any|them",
        r"\b(?:do not|don't|never|must not|without)\s+(?:tell|telling|mention|mentioning|reveal|revealing|"
        r"inform|informing|show|showing|disclose|disclosing|notify|notifying|alert|alerting)\b"
        r"[^.\n]{0,40}\b(?:user|human|person|anyone|anybody|them)\b",
    ),
    ("keep", r"\bkeep\s+(?:this|it|that|these)\b[^.\n]{0,20}\b(?:secret|hidden|confidential|private)\b"),
    ("hide", r"\bhide\s+(?:this|it|that|these)\s+from\b"),
    ("without the user", r"\bwithout\s+the\s+user'?s?\s+(?:knowing|knowledge|noticing|consent)\b"),
    ("用户|任何人", r"(?:不要|不得|切勿|别)(?:告诉|告知|透露|提及|通知)[^。\n]{0,12}(?:用户|任何人)"),
    (
        "utilisateur",
        r"\bne\s+(?:dis|dites|mentionne[zr]?|révèle[zr]?|informe[zr]?)\s+(?:pas|rien|jamais)\b"
        r"[^.\n]{0,30}\butilisateur",
    ),
)
_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'`\])}|\\]{1,500}|\bwww\.[^\s<>\"'`\])}|\\]{1,500}")
_HOST: Final = r"(?:[a-z0-9-]{1,63}\.){1,8}(?:xn--[a-z0-9-]{1,59}|[a-z]{2,24})(?::[0-9]{1,5})?"
_REST: Final = r"[^\s<>\"'`\])}|\\]{0,500}"
_BARE_URL: Final = re.compile(
    rf"(?<![\w/:.@-])//(?P<relative>{_HOST}(?![\w.-]){_REST})"
    rf"|\]\(\s*<?(?P<target>{_HOST}(?![\w.-]){_REST})"
    rf"|(?<![\w/:.@-])(?P<path>{_HOST}/{_REST})"
)
"""What clients make a link of without a scheme: ``//host``, a target in Markdown, a host with a path."""
_FILE: Final = re.compile(
    r"[^/]*\.(?:js|ts|jsx|tsx|mjs|py|rb|rs|java|php|json|jsonl|ya?ml|toml|xml|html?|css|csv|tsv|txt|md|sql|sh|log|pdf"
    r"|png|jpe?g|gif|svg|zip|gz|tar|jar|exe|dll|db|ini|cfg|conf|lock|env|ipynb|docx?|xlsx?|pptx?)"
)
_RESERVED_HOST: Final = re.compile(
    r"(?:[a-z0-9-]+\.)*(?:example(?:\.(?:com|org|net))?|test|invalid|localhost)(?::[0-9]+)?|127\.0\.0\.1(?::[0-9]+)?"
)
# repeats are bounded, so that hostile text costs no more than its length
_SNAKE = r"[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,12}"
_COMPOUND = r"[a-z][a-z0-9]{0,40}(?:(?:[_.-][a-z0-9]{1,40}){1,12}|(?:[A-Z][a-z0-9]{0,40}){1,12})"
_TOOL_MENTIONS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?i:\b(?:use|call|invoke|run|prefer|try|using|calling|invoking|via|see|instead of))\s+(?i:the\s+)?"
        rf"[`'\"*]{{0,2}}({_SNAKE})\b",
        rf"[`'\"*]{{0,2}}\b({_COMPOUND})\b[`'\"*]{{0,2}}\s+(?i:tool|skill|function)\b",
    )
)
_NEVER_SEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
_JOINERS: Final = re.compile("(?<=[\x20-\u024f])[\u200c\u200d]|[\u200c\u200d](?=[\x20-\u024f])")
"""Joiners are part of Persian, of Indic scripts and of emoji; beside Latin letters they only hide."""


def risks_in(text: str, *, other_tools: Collection[str] = (), own_names: Collection[str] = ()) -> set[TextRisk]:
    """Everything in ``text`` that would deserve a look if it were new.

    ``other_tools`` are names of other tools, matched as whole words. ``own_names`` (the skill, its fields,
    its enum values) are never taken for another tool.
    """
    text = text[:MAX_READ]
    hidden = (_NEVER_SEEN,) if text.isascii() else (_NEVER_SEEN, _JOINERS)
    found = {
        TextRisk(kind=TextKind.INVISIBLE, fragment=f"U+{ord(char):04X}")
        for pattern in hidden
        for char in pattern.findall(text)
    }
    plain = unicodedata.normalize("NFKC", text)
    if found:
        plain = _NEVER_SEEN.sub("", _JOINERS.sub("", plain))
    folded = plain.casefold().replace("’", "'")
    for kind, patterns in ((TextKind.ORDER, _ORDERS), (TextKind.SECRECY, _SECRECY)):
        for pattern in patterns:
            found |= {TextRisk(kind=kind, fragment=" ".join(match[0].split())) for match in pattern.matches(folded)}
    found |= {TextRisk(kind=TextKind.URL, fragment=url) for url in _urls(folded)}
    return found | {TextRisk(kind=TextKind.TOOL, fragment=name) for name in _tools(plain, other_tools, own_names)}


def introduced(
    old: Iterable[str],
    new: Iterable[str],
    *,
    other_tools: Collection[str] = (),
    own_names: Collection[str] = (),
    budget: Budget | None = None,
) -> dict[TextRisk, str]:
    """What the ``new`` texts bring that none of the ``old`` ones had, each with the first text that brings it.

    Empty for plain rewording. Of the old texts MAX_READ characters are read.

    Raises:
        BudgetExceeded: the budget did not last, or more than MAX_READ characters are new.
    """
    budget = budget or Budget(READING_STEPS)
    before = list(dict.fromkeys(old))
    found: dict[TextRisk, str] = {}
    read = 0
    for text in _unlike(before, new):
        budget.spend(1 + len(text) // _CHARACTERS_A_STEP)
        read += len(text) if text.isascii() else len(unicodedata.normalize("NFKC", text[: MAX_READ + 1]))
        if read > MAX_READ:
            raise BudgetExceeded("more text is new than is read")
        for risk in sorted(risks_in(text, other_tools=other_tools, own_names=own_names)):
            found.setdefault(risk, text)
    if not found:
        return found
    known: set[TextRisk] = set()
    for text in _within(MAX_READ, before):
        budget.spend(1 + len(text) // _CHARACTERS_A_STEP)
        known |= risks_in(text, other_tools=other_tools, own_names=own_names)
    mentioned = "\n".join(before).casefold()
    return {
        risk: text
        for risk, text in found.items()
        if risk not in known and not (risk.kind is TextKind.TOOL and risk.fragment.casefold() in mentioned)
    }


def _unlike(before: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    same = set(before)
    return (text for text in dict.fromkeys(new) if text not in same)


def _within(budget: int, texts: Iterable[str]) -> Iterator[str]:
    """The texts until they hold ``budget`` characters together."""
    for text in texts:
        if budget <= 0:
            return
        yield text
        budget -= len(text)


def _urls(folded: str) -> set[str]:
    """Host and path of each URL; those reserved for documentation lead nowhere."""
    found = set()
    for match in _URL.finditer(folded) if "://" in folded or "www." in folded else ():
        address = match[0].partition("://")[2] or match[0]
        address = address.partition("#")[0].rstrip(".,;:!?*_/")
        host = address.partition("/")[0].rpartition("@")[2]
        if host and not _RESERVED_HOST.fullmatch(host):
            found.add(address)
    return found | _bare_urls(folded)


def _bare_urls(folded: str) -> set[str]:
    found = set()
    for match in _BARE_URL.finditer(folded) if "/" in folded or "](" in folded else ():
        address = (match["relative"] or match["target"] or match["path"]).partition("#")[0].rstrip(".,;:!?*_/")
        host = address.partition("/")[0]
        if not _RESERVED_HOST.fullmatch(host) and not _FILE.fullmatch(host):
            found.add(address)
    return found


def _tools(plain: str, other_tools: Collection[str], own_names: Collection[str]) -> set[str]:
    own = {name.casefold() for name in own_names}
    found = {
        match[1] for pattern in _TOOL_MENTIONS for match in pattern.finditer(plain) if match[1].casefold() not in own
    }
    if other_tools:
        words = set(re.findall(r"[A-Za-z][A-Za-z0-9_.-]*", plain))
        words |= {word.rstrip(".-") for word in words}
        found |= {name for name in other_tools if name in words and name.casefold() not in own}
    return found
