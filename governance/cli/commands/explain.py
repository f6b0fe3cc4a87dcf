"""What a code means, whom it hits and what to do; without a code, all there are."""

from __future__ import annotations

import argparse
from typing import Any

from governance.cli.exact import dumps
from governance.cli.explanations import Explanation, explanations, near
from governance.cli.report import Block, Code, Heading, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.errors import NotFound


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", metavar="CODE", help="such as input.required-added")


def run(call: Call) -> int:
    known = explanations()
    wanted = call.arguments.code
    if wanted is None:
        return call.output.emit(_all(known))
    if wanted not in known:
        close = near(wanted, known)
        hint = f"Did you mean {', '.join(close)}? " if close else ""
        raise NotFound(f"There is no code {wanted!r}.", fix=f"{hint}`govctl explain` lists all.")
    return call.output.emit(_one(known[wanted]))


def _all(known: dict[str, Explanation]) -> Report:
    rows = tuple((one.code, one.kind, one.title) for one in known.values())
    documents = [{"code": one.code, "kind": one.kind, "title": one.title} for one in known.values()]
    verdict = Verdict(word="codes", sentence=f"{len(known)}; `govctl explain CODE` tells more.")
    return Report(
        document={"codes": documents},
        blocks=(verdict, Table(columns=("code", "kind", "title"), rows=rows)),
        records=documents,
    )


def _one(one: Explanation) -> Report:
    blocks: list[Block] = [Verdict(word=one.kind, sentence=f"{one.code}: {one.title}.")]
    blocks += [Paragraph(text=f"{label}: {text}") for label, text in one.facts]
    samples = (("For example", one.example), ("A near miss, which does not count", one.near_miss))
    for heading, sample in samples:
        if sample is not None:
            blocks.append(Heading(text=heading))
            text = "\n".join(f"{word}: {dumps(fragment)}" for word, fragment in sample.items())
            blocks.append(Code(text=text, language="text"))
    facts = dict(one.facts)
    document: dict[str, Any] = {"code": one.code, "kind": one.kind, "title": one.title, **facts}
    document |= {key: sample for key, sample in (("example", one.example), ("near_miss", one.near_miss)) if sample}
    return Report(document=document, blocks=tuple(blocks))
