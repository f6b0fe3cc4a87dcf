"""Instructions hidden in text: what nobody sees, what looks like something else, and what commands the model
against its user. These block, so each pattern is narrow: an honest tool may say when to call it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from governance.core.lint.model import Spot
from governance.core.lint.reading import everything_shown, line_of, prose
from governance.core.skill import SkillManifest

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MARKS: Final = frozenset("\u200e\u200f\u061c")
"""Direction marks: they belong to Hebrew and Arabic text."""
_JOINERS: Final = frozenset("\u200c\u200d")
_FLAG: Final = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
"""A flag of a region (England's, say): the only honest use of tag characters."""

_TWINS: Final = str.maketrans(
    "авеіјкмнорсѕтухһԁԛԝӏАВЕІЈКМНОРСЅТУХԌԚԜοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abeijkmhopcstyxhdqwlABEIJKMHOPCSTYXGQWoABEZHIKMNOPTYX",
)
"""Letters that pass for Latin ones. Small Greek letters but omicron are left out: formulas are full of them."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_CYRILLIC: Final = re.compile("[\u0400-\u052f]+")
_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f]")
_BORROWED: Final = re.compile("[A-Za-z]+[\u0400-\u052f]{1,5}")
"""A Latin word with a Russian ending (``PDFа``)."""

_ACT_AGAINST: Final = r"(?:ignore|disregard|forget|override|bypass)"
_EARLIER: Final = r"(?:previous|prior|earlier|preceding|above|foregoing|existing|original|other|system|safety|your)"
_RULES: Final = r"(?:instructions?|prompts?|rules|guidelines|directives|messages|guardrails|polic(?:y|ies))"
_PRIVATE: Final = (
    r"(?:(?:full|entire|whole|complete|previous|current)\s+(?:conversation|chat)(?:\s+(?:history|log|transcript))?|"
    r"(?:conversation|chat)\s+history|system\s+prompts?|hidden\s+instructions|~/\.\w+|/\.ssh\b|\bid_rsa\b|"
    r"\bmcp\.json\b|\.aws/credentials)"
)
_CARRIES: Final = (
    r"\b(?:send|forward|upload|post|append|include|attach|pass|copy|paste|put|leak|exfiltrate|transmit)\b"
    rf"[^.\n]{{0,80}}{_PRIVATE}[^.\n]{{0,80}}\b(?:to|in|into|as|with|within|via|through)\b"
)
_CONVERSATION: Final = re.compile(
    r"/properties/(?:messages|(?:chat_|conversation_)?history|conversation|transcript)/description"
)
"""A field that is what a conversation goes into, by its name, in the sight of everybody."""
_ORDERS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_ACT_AGAINST}\s+(?:(?:all|any|every|the|of|these|those|my|your)\s+){{0,4}}{_EARLIER}\s+"
        rf"(?:(?:system|user|developer|safety|tool|and)\s+){{0,2}}{_RULES}\b",
        _CARRIES,
        r"\b(?:read|open|cat|load|fetch|access)\b[^.\n]{0,60}"
        r"(?:~/\.(?:ssh|aws|cursor|config|gnupg|netrc|env)\b|/\.ssh/|\bid_rsa\b|\bmcp\.json\b|/etc/passwd)"
        r"[^\n]{0,200}\b(?:pass|send|include|as|sidenote|parameter|argument)\b",
        r"<\|(?:im_start|im_end|system|endoftext|assistant|user)\|?>?",
        r"\[/?(?:inst|system)\]|<</?sys>>",
        r"<\s*important\s*>[\s\S]{0,2000}?\b(?:before|must|do not|don't|otherwise)\b",
        r"\byou\s+are\s+(?:now|no\s+longer)\s+(?:a|an|in|bound|restricted|limited|the|dan)\b[^.\n]{0,60}"
        r"\b(?:mode|assistant|restrictions?|rules|guidelines|jailbr\w+|unrestricted)\b",
        r"忽略(?:掉)?(?:之前|以上|先前|前面|上述|所有|一切)[^。\n]{0,12}(?:指令|指示|提示|规则|说明)",
        r"\bignore[zr]?\s+(?:toutes?\s+)?(?:les|vos|tes)\s+(?:instructions|consignes|règles)\s+"
        r"(?:précédentes|antérieures|ci-dessus|du\s+système)",
        r"\bignora\s+(?:todas\s+)?las\s+instrucciones\s+(?:anteriores|previas)",
        r"\bignoriere?\s+(?:alle\s+)?(?:vorherigen|bisherigen|obigen)\s+(?:anweisungen|regeln)",
        r"\bignore\s+(?:todas\s+)?as\s+instruções\s+(?:anteriores|prévias)",
        r"\bignora\s+(?:tutte\s+)?le\s+istruzioni\s+(?:precedenti|sopra)",
        r"\bигнорируй(?:те)?\s+(?:все\s+)?(?:предыдущие|прежние|прошлые)\s+(?:инструкции|указания|правила|команды)",
        r"(?:以前|これまで|前|上記)の(?:すべての|全ての)?(?:指示|命令|指令|ルール)[をは]?(?:すべて|全て)?無視",
        r"이전(?:의)?\s*(?:모든\s*)?(?:지시|명령|지침)(?:\s*사항)?[을를은는]?\s*(?:모두\s*)?무시",
    )
)
_ROUND: Final = r"\b(?:\s+(?:sobre|de|que|nada)\b|\s*[.!,;)]|\s*$)"
_SECRECY: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:do\s+not|don't|never|must\s+not|should\s+not|without)\s+(?:ever\s+)?"
        r"(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?)\s+(?:the\s+)?(?:user|human|operator|customer)s?\b"
        r"(?:\s+(?:about|that|of|anything|this|it|what)\b|\s*[.!,;)]|\s*$)",
        r"\b(?:do\s+not|don't|never|must\s+not|without)\s+(?:ever\s+)?(?:mention|reveal|disclose|admit)(?:ing)?\s+"
        r"(?:this|that|these|it|any\s+of\s+this|the\s+(?:existence|instructions?))\b[^.\n]{0,60}"
        r"\b(?:to\s+)?(?:the\s+)?(?:user|human|anyone|anybody|operator)\b",
        r"\b(?:hide|conceal|keep)\s+(?:this|that|these|it|the\s+\w+)\s+(?:[^.\n]{0,30}\s)?(?:hidden\s+|secret\s+)?"
        r"from\s+the\s+(?:user|human|operator)\b(?!'s)(?!\s+(?:interface|list|menu|table|group))",
        r"\b(?:the\s+)?(?:user|human|operator)\s+(?:must|should)\s*(?:not|never|n't)\s+"
        r"(?:know|notice|find\s+out|learn|be\s+(?:told|informed|aware))\b",
        r"\bwithout\s+the\s+(?:user|human|operator)'?s?\s+(?:knowing|knowledge|noticing)\b",
        r"(?:不要|不得|切勿|禁止|别)(?:告诉|告知|通知|提醒|让)[^。\n]{0,6}用户(?:知道|此事|这)?",
        r"(?:对|向)用户(?:隐瞒|保密)",
        r"\bne\s+(?:dis|dites|révèle[zr]?|informe[zr]?|préviens|prévenez)\s+(?:pas|rien|jamais)\b[^.\n]{0,30}"
        r"\butilisateur",
        r"\bà\s+l'insu\s+de\s+l'utilisateur",
        rf"\bno\s+(?:le\s+)?(?:digas|cuentes|menciones|informes|reveles)\s+(?:(?:nada|esto|eso)\s+)?al\s+usuario{_ROUND}",
        rf"\bnão\s+(?:diga|conte|informe|mencione|revele)\s+(?:(?:nada|isso|isto)\s+)?ao\s+usuário{_ROUND}",
        r"\bnon\s+(?:dire|dirlo|rivelare|menzionare)\s+(?:(?:nulla|niente|questo)\s+)?all'utente",
        r"\b(?:sage?n?|verrate?n?|erzähle?n?|teile?n?)\s+(?:sie\s+)?(?:(?:es|dies|das)\s+)?"
        r"dem\s+(?:nutzer|benutzer|anwender)\s+nichts?\b",
        r"\bне\s+(?:говори|сообщай|рассказывай|упоминай)(?:те)?\s+(?:(?:об\s+этом|этого|ничего)\s+)?пользовател",
        r"ユーザー[にへ]は?[^。\n]{0,12}(?:伝え|知らせ|教え|話さ|言わ)(?:ない|ず|るな)",
        r"사용자에게\s*(?:이\s*사실을\s*|절대\s*)?(?:알리|말하)지\s*마",
    )
)
_QUOTED_SPEECH: Final = re.compile(
    r"\b(?:detect|block|filter|flag|reject|scan|classif|recogni[sz]e|such\s+as|like|e\.g\.|attack|injection)\w*\b"
    r"[^\n]{0,80}[\"'`“‘(]\s*$"
)
_FORBIDS: Final = re.compile(r"(?:\b(?:never|not|nor|no|cannot|avoid|refuse|forbidden)\b|n't\b)[^.!?;]*$")
MAX_EXAMPLES: Final = 50
"""Of one pattern in one text that may be excused; whoever gives more does not describe an attack."""
MAX_READ: Final = 1_000_000
"""Characters of one skill's texts that are searched; no model reads as much, and time is bounded."""


def invisible(manifest: SkillManifest) -> Iterator[Spot]:
    for pointer, text in everything_shown(manifest):
        found = list(dict.fromkeys(_unseen(text)))
        if found:
            listed = ", ".join(f"U+{ord(char):04X} {unicodedata.name(char, 'control')}" for char in found[:5])
            message = f"the text holds characters nobody sees: {listed}"
            yield Spot(pointer, message, line=line_of(text, found[0]))


def lookalike(manifest: SkillManifest) -> Iterator[Spot]:
    for pointer, text in everything_shown(manifest):
        if text.isascii():
            continue
        words = list(dict.fromkeys(_disguised(text)))
        if words:
            plain = words[0].translate(_TWINS)
            message = f"letters of another script pass for Latin ones in {words[0]!r} (looks like {plain!r})"
            yield Spot(pointer, message, line=line_of(text, words[0]))


def order(manifest: SkillManifest) -> Iterator[Spot]:
    yield from _matches(manifest, _ORDERS, "the text orders the model about")


def secrecy(manifest: SkillManifest) -> Iterator[Spot]:
    yield from _matches(manifest, _SECRECY, "the text asks the model to keep something from its user")


def _unseen(text: str) -> Iterator[str]:
    if text.isascii() and text.isprintable():
        return
    flags = [match.span() for match in _FLAG.finditer(text)]
    leftward = _RIGHT_TO_LEFT.search(text) is not None
    for match in _INVISIBLE.finditer(text):
        char, at = match[0], match.start()
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if char in _MARKS and leftward:
            continue
        if char in _JOINERS and before and after and _joins(before) and _joins(after):
            continue
        if (
            "\ufe00" <= char <= "\ufe0f"
            and before
            and unicodedata.category(before) in ("So", "Sm", "Sk", "Po", "Nd", "Lo")
        ):
            continue  # it chooses how the sign before it is drawn
        if any(start <= at < end for start, end in flags):
            continue
        yield char


def _joins(char: str) -> bool:
    """May a joiner stand beside this character? Emoji, and scripts that write with joiners."""
    return ord(char) > 0x24F and not "\u2000" <= char <= "\u206f"


def _disguised(text: str) -> Iterator[str]:
    russian = any(any(char.translate(_TWINS) == char for char in run) for run in _CYRILLIC.findall(text))
    for word in _WORD.findall(text):
        if word.isascii() or not _LATIN.search(word):
            continue
        foreign = [char for char in word if not _LATIN.match(char)]
        if not foreign or any(char.translate(_TWINS) == char for char in foreign):
            continue  # a letter with no Latin twin gives itself away
        if russian and _BORROWED.fullmatch(word):
            continue
        yield word


def _matches(manifest: SkillManifest, patterns: tuple[re.Pattern[str], ...], meaning: str) -> Iterator[Spot]:
    read = 0
    for pointer, text in prose(manifest):
        read += len(text)
        if read > MAX_READ:
            yield Spot(pointer, f"the skill has more than {MAX_READ:,} characters of text, too many to be searched")
            return
        plain = _plain(text)
        for pattern in patterns:
            if pattern.pattern == _CARRIES and _CONVERSATION.search(pointer):
                continue
            if match := _first(pattern, plain):
                shown = " ".join(match[0].split())
                yield Spot(pointer, f"{meaning}: {shown[:120]!r}", line=line_of(text, shown))
                break


def _first(pattern: re.Pattern[str], plain: str) -> re.Match[str] | None:
    for number, match in enumerate(pattern.finditer(plain), start=1):
        if number == MAX_EXAMPLES or not _is_excused(plain, match):
            return match
    return None


def _is_excused(plain: str, match: re.Match[str]) -> bool:
    """Is it told of, as an example of an attack; or forbidden, as in ``never delete it without telling the user``?"""
    before = plain[max(0, match.start() - 160) : match.start()]
    if _QUOTED_SPEECH.search(before):
        return True
    return match[0].startswith("without") and _FORBIDS.search(before) is not None


def _plain(text: str) -> str:
    """The text as a model understands it, with disguises off."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
        text = _WORD.sub(lambda word: word[0].translate(_TWINS) if _LATIN.search(word[0]) else word[0], text)
    return re.sub(r"[ \t\r\f\v]+|\n(?!\n)", " ", text.replace("’", "'")).casefold()
