"""Which of the given versions a range in npm's grammar admits, ascending, and the best of them."""

from __future__ import annotations

import argparse

from governance.cli.arguments import plain
from governance.cli.report import Report, Table, Verdict
from governance.cli.run import Call
from governance.core.versioning import Range, Version

VALUES_MAY_BEGIN_WITH_DASH = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("range", metavar="RANGE", type=plain, help="such as '^1.2', '>=1 <3', '1.x || 2.0.0'")
    parser.add_argument("versions", metavar="VERSION", nargs="+", type=plain, help="strict SemVer; spelling is kept")
    parser.add_argument(
        "--include-prerelease", action="store_true", help="let prereleases match like any other version"
    )


def run(call: Call) -> int:
    """0 when something matches, 1 when nothing does."""
    arguments = call.arguments
    wanted = Range.parse(arguments.range)
    versions = [Version.parse(text) for text in arguments.versions]
    admitted = [
        version
        for version in sorted(versions)
        if wanted.admits(version, include_prerelease=arguments.include_prerelease)
    ]
    matches = [str(version) for version in admitted]
    best = matches[-1] if matches else None
    if best is None:
        verdict = Verdict(word="none", sentence=f"{arguments.range} admits none of them.", tone="bad")
    else:
        verdict = Verdict(word="best", sentence=best, tone="good")
    table = Table(columns=("matches, ascending",), rows=tuple((match,) for match in matches))
    return call.output.emit(
        Report(
            document={"range": arguments.range, "matches": matches, "best": best},
            blocks=(verdict, table) if matches else (verdict,),
            exit_code=0 if matches else 1,
        )
    )
