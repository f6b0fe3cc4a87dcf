"""Texts that command the model against its user: orders to drop its instructions or to carry data away, and
demands for secrecy. These block, so each pattern is narrow: an honest tool may say when to call it, and speak of
attacks. What honest texts were found to say stands in the tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from governance.core.lint.hidden import undisguised
from governance.core.lint.model import Spot
from governance.core.lint.reading import line_of, prose
from governance.core.skill import Category, SkillManifest

_ACTS_AGAINST: Final = ("ignore", "disregard", "forget", "override", "bypass")
_ACT_AGAINST: Final = f"(?:{'|'.join(_ACTS_AGAINST)})"
_EARLIER: Final = r"(?:previous|prior|earlier|preceding|above|foregoing|existing|original|other|system|safety|your)"
_RULES: Final = r"(?:instructions?|prompts?|rules|guidelines|directives|messages|guardrails|polic(?:y|ies))"
_SECRETS: Final = r"/\.ssh/(?!config\b|known_hosts\b)|\bid_rsa\b|\bmcp\.json\b|\.aws/credentials"
_PRIVATE: Final = (
    r"(?:(?:full|entire|whole|complete|previous|current)\s+(?:conversation|chat)(?:\s+(?:history|log|transcript))?|"
    r"(?:conversation|chat)\s+history|system\s+prompts?|hidden\s+instructions|"
)


class _Phrase(NamedTuple):
    """A pattern, and words of which a text must hold one before it is worth searching."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]


def _phrase(words: str, pattern: str) -> _Phrase:
    return _Phrase(tuple(words.split()), re.compile(pattern))


def _carries(what: str) -> str:
    verbs = "send|forward|upload|post|append|include|attach|pass|copy|paste|put|leak|exfiltrate|transmit"
    return rf"\b(?:{verbs})\b[^.\n]{{0,80}}{what}[^.\n]{{0,80}}\b(?:to|in|into|as|with|within|via|through)\b"


def _reads(what: str) -> str:
    verbs, ends = "read|open|cat|load|fetch|access", "pass|send|include|as|sidenote|parameter|argument"
    return rf"\b(?:{verbs})\b[^.\n]{{0,60}}(?:{what})[^\n]{{0,200}}\b(?:{ends})\b"


_FRAMED: Final = (
    r"<\s*important\s*>[\s\S]{0,600}?\b(?:before|after|when(?:ever)?|each\s+time)\s+(?:you\s+)?"
    r"(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?)\b[^.\n]{0,40}\b(?:tools?|functions?)\b"
)
"""The frame in which a tool's text speaks of other calls."""
_CONVERSATION: Final = re.compile(
    r"/properties/(?:messages|(?:chat_|conversation_)?history|conversation|transcript)/description"
)
"""A field that is what a conversation goes into, by its name, in the sight of everybody."""
_AGAINST: Final = _phrase(
    " ".join(_ACTS_AGAINST),
    rf"\b{_ACT_AGAINST}\s+(?:(?:all|any|every|the|of|these|those|my|your)\s+){{0,4}}{_EARLIER}\s+"
    rf"(?:(?:system|user|developer|safety|tool|and)\s+){{0,2}}{_RULES}\b",
)
_CARRYING: Final = _phrase(
    "conversation chat prompt instructions .ssh id_rsa mcp.json .aws", _carries(_PRIVATE + _SECRETS + ")")
)
_ORDERS: Final = (
    _AGAINST,
    _CARRYING,
    _phrase(
        "~/. /etc/passwd .ssh id_rsa mcp.json .aws",
        _reads(rf"~/\.(?:aws|cursor|gnupg|netrc)\b|/etc/passwd|{_SECRETS}"),
    ),
    _phrase("<|", r"<\|(?:im_start|im_end|system|endoftext|assistant|user)\|?>?"),
    _phrase("inst] system] sys>>", r"\[/?(?:inst|system)\]|<</?sys>>"),
    _phrase("longer", r"\byou\s+are\s+no\s+longer\s+(?:bound|restricted|limited)\s+by\b"),
    _phrase(
        "now",
        r"\byou\s+are\s+now\s+(?:a|an|in|the|dan)\b[^.\n]{0,40}"
        r"(?:\b(?:developer|debug|admin|maintenance|god|dan|root|sudo|jailbreak|unrestricted|unfiltered|unlocked)\s+mode|"
        r"\b(?:no|without|free\s+of)\b[^.\n]{0,20}\b(?:restrictions?|rules|guidelines|filters?)|"
        r"\bjailbr\w+|\bunrestricted)\b",
    ),
    _phrase("忽略", r"忽略(?:掉)?(?:之前|以上|先前|前面|上述|所有|一切)[^。\n]{0,12}(?:指令|指示|提示|规则|说明)"),
    _phrase(
        "ignore",
        r"\bignore[zr]?\s+(?:toutes?\s+)?(?:les|vos|tes)\s+(?:instructions|consignes|règles)\s+"
        r"(?:précédentes|antérieures|ci-dessus|du\s+système)",
    ),
    _phrase("ignora", r"\bignora\s+(?:todas\s+)?las\s+instrucciones\s+(?:anteriores|previas)"),
    _phrase("ignorier", r"\bignoriere?\s+(?:alle\s+)?(?:vorherigen|bisherigen|obigen)\s+(?:anweisungen|regeln)"),
    _phrase("ignore", r"\bignore\s+(?:todas\s+)?as\s+instruções\s+(?:anteriores|prévias)"),
    _phrase("ignora", r"\bignora\s+(?:tutte\s+)?le\s+istruzioni\s+(?:precedenti|sopra)"),
    _phrase(
        "игнорируй",
        r"\bигнорируй(?:те)?\s+(?:все\s+)?(?:предыдущие|прежние|прошлые)\s+(?:инструкции|указания|правила|команды)",
    ),
    _phrase(
        "無視",
        r"(?:以前|これまで|前|上記)の(?:すべての|全ての)?(?:指示|命令|指令|ルール)[をは]?(?:すべて|全て)?無視",
    ),
    _phrase("무시", r"이전(?:의)?\s*(?:모든\s*)?(?:지시|명령|지침)(?:\s*사항)?[을를은는]?\s*(?:모두\s*)?무시"),
)
_TOOL_ORDERS: Final = (
    _phrase("important", _FRAMED),
    _phrase("~/.", _carries(r"~/\.\w+")),
    _phrase("~/.", _reads(r"~/\.(?:config|env)\b")),
)
"""What a tool has no business to say; instructions that are read speak of files and of tools in good faith."""
_ROUND: Final = r"\b(?:\s+(?:sobre|de|que|nada)\b|\s*[.!,;)]|\s*$)"
_SECRECY: Final = (
    _phrase(
        "user human operator customer",
        r"\b(?:do\s+not|don't|never|must\s+not|should\s+not|without)\s+(?:ever\s+)?"
        r"(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?)\s+(?:the\s+)?(?:user|human|operator|customer)s?\b"
        r"(?:\s+(?:about|that|of|anything|this|it|what(?!\s+to\b))\b|\s*[.!,;)]|\s*$)",
    ),
    _phrase(
        "user human operator anyone anybody",
        r"\b(?:do\s+not|don't|never|must\s+not|without)\s+(?:ever\s+)?(?:mention|reveal|disclose|admit)(?:ing)?\s+"
        r"(?:this|that|these|it|any\s+of\s+this|the\s+(?:existence|instructions?))\b[^.\n]{0,60}"
        r"\b(?:to\s+)?(?:the\s+)?(?:user|human|anyone|anybody|operator)\b",
    ),
    _phrase(
        "hide conceal keep",
        r"\b(?:hide|conceal|keep)\s+(?:this|that|these|it|the\s+\w+)\s+(?:[^.\n]{0,30}\s)?(?:hidden\s+|secret\s+)?"
        r"from\s+the\s+(?:user|human|operator)\b(?!'s)(?!\s+(?:interface|list|menu|table|group))",
    ),
    _phrase(
        "user human operator",
        r"\b(?:the\s+)?(?:user|human|operator)\s+(?:must|should)\s*(?:not|never|n't)\s+"
        r"(?:know|notice|find\s+out|learn|be\s+(?:told|informed|aware))\b",
    ),
    _phrase(
        "knowing knowledge noticing",
        r"\bwithout\s+the\s+(?:user|human|operator)'?s?\s+(?:knowing|knowledge|noticing)\b",
    ),
    _phrase(
        "用户",
        r"(?:不要|不得|切勿|禁止|别)(?:告诉|告知|通知|提醒)[^。\n]{0,6}用户(?!去|要|需|如何|怎|可以|应|重)",
    ),
    _phrase("用户", r"(?:不要|不得|切勿|禁止|别)让[^。\n]{0,6}用户(?:知道|发现|察觉|得知)"),
    _phrase("用户", r"(?:对|向)用户(?:隐瞒|保密)"),
    _phrase(
        "utilisateur",
        r"\bne\s+(?:dis|dites|révèle[zr]?|informe[zr]?|préviens|prévenez)\s+(?:pas|rien|jamais)\b[^.\n]{0,30}"
        r"\butilisateur",
    ),
    _phrase("utilisateur", r"\bà\s+l'insu\s+de\s+l'utilisateur"),
    _phrase(
        "usuario",
        rf"\bno\s+(?:le\s+)?(?:digas|cuentes|menciones|informes|reveles)\s+(?:(?:nada|esto|eso)\s+)?al\s+usuario{_ROUND}",
    ),
    _phrase(
        "usuário",
        rf"\bnão\s+(?:diga|conte|informe|mencione|revele)\s+(?:(?:nada|isso|isto)\s+)?ao\s+usuário{_ROUND}",
    ),
    _phrase(
        "utente",
        r"\bnon\s+(?:dire|dirlo|rivelare|menzionare)\s+(?:(?:nulla|niente|questo)\s+)?all'utente",
    ),
    _phrase(
        "nutzer anwender",
        r"\b(?:sage?n?|verrate?n?|erzähle?n?|teile?n?)\s+(?:sie\s+)?(?:(?:es|dies|das)\s+)?"
        r"dem\s+(?:nutzer|benutzer|anwender)\s+nichts?\b",
    ),
    _phrase(
        "пользовател",
        r"\bне\s+(?:говори|сообщай|рассказывай|упоминай)(?:те)?\s+(?:(?:об\s+этом|этого|ничего)\s+)?пользовател",
    ),
    _phrase("ユーザー", r"ユーザー[にへ]は?[^。\n]{0,12}(?:伝え|知らせ|教え|話さ|言わ)(?:ない|ず|るな)"),
    _phrase("사용자", r"사용자에게\s*(?:이\s*사실을\s*|절대\s*)?(?:알리|말하)지\s*마"),
)
_QUOTED_SPEECH: Final = re.compile(
    r"\b(?:detect|block|filter|flag|reject|scan|classif|recogni[sz]e|such\s+as|like|e\.g\.|attack|injection)\w*\b"
    r"[^\n]{0,80}[\"'`“‘(]\s*$"
)
_NEGATIONS: Final = ("do not", "don't", "never", "must not", "should not")
_NEGATED: Final = re.compile(r"(?:\b(?:never|not|nor|cannot|to avoid)|n't)\s+(?:ever\s+)?$")
_OF_OTHERS: Final = re.compile(
    r"\b(?:instructions?|texts?|inputs?|prompts?|contents?|comments?|attackers?|attempts?|payloads?|messages?|that|which|who|"
    r"tr(?:y|ies|ying)|attempting|designed|crafted|meant)\s+(?:to\s+|not\s+to\s+)?$"
)
"""What stands before a verb whose subject is a text or an attacker, and not the reader."""
_RESTRICTS: Final = re.compile(r"\b(?:information|data|resources?|details?|things?|ids?|that|which|what|because)\s+$")
"""What stands before ``the user should not know`` where it speaks of access, and not to the reader."""
_FORBIDS: Final = re.compile(
    r"(?:\b(?:never|not|nor|no|cannot|avoids?|refuses?|prevents?|forbidden|could|attack\w*|malicious|exploit\w*)\b"
    r"|n't\b|\bwith or\b)[^.!?;]*$"
)
_WAITS: Final = re.compile(r"[^.!?]{0,160}\b(?:until|unless|before)\b")
MAX_EXAMPLES: Final = 50
"""Of one pattern in one text that may be excused; whoever gives more does not describe an attack."""
MAX_READ: Final = 1_000_000
"""Characters of one skill's texts that are searched; no model reads as much, and time is bounded."""


def order(manifest: SkillManifest) -> Iterator[Spot]:
    own = () if manifest.category is Category.KNOWLEDGE else _TOOL_ORDERS
    yield from _matches(manifest, (*_ORDERS, *own), "the text orders the model about")


def secrecy(manifest: SkillManifest) -> Iterator[Spot]:
    yield from _matches(manifest, _SECRECY, "the text asks the model to keep something from its user")


def _matches(manifest: SkillManifest, phrases: tuple[_Phrase, ...], meaning: str) -> Iterator[Spot]:
    read = 0
    for pointer, text in prose(manifest):
        read += len(text)
        if read > MAX_READ:
            yield Spot(pointer, f"the skill has more than {MAX_READ:,} characters of text, too many to be searched")
            return
        plain = _plain(text)
        for phrase in phrases:
            if not any(word in plain for word in phrase.words):
                continue
            if phrase is _CARRYING and _CONVERSATION.search(pointer):
                continue
            if match := _first(phrase.pattern, plain):
                shown = " ".join(match[0].split())
                yield Spot(pointer, f"{meaning}: {shown[:120]!r}", line=line_of(text, shown))
                break


def _first(pattern: re.Pattern[str], plain: str) -> re.Match[str] | None:
    for number, match in enumerate(pattern.finditer(plain), start=1):
        if number == MAX_EXAMPLES or not _is_excused(plain, match):
            return match
    return None


def _is_excused(plain: str, match: re.Match[str]) -> bool:
    """Is it told of as an attack, or forbidden, as in ``delete nothing without telling the user``?"""
    before = plain[max(0, match.start() - 160) : match.start()]
    said = match[0]
    if _QUOTED_SPEECH.search(before):
        return True
    if said.startswith("without"):
        return _FORBIDS.search(before) is not None
    if said.startswith(_NEGATIONS):  # the demand itself begins so
        return said.endswith(" that") and _WAITS.match(plain, match.end()) is not None
    if said.startswith(("the user", "user")):
        return _RESTRICTS.search(before) is not None
    about_others = said.startswith(_ACTS_AGAINST) and _OF_OTHERS.search(before)
    return bool(about_others or _NEGATED.search(before))


def _plain(text: str) -> str:
    return re.sub(r"[ \t\r\f\v]+|\n(?!\n)", " ", undisguised(text).replace("’", "'")).casefold()
