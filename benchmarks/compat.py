"""How right and how fast is the compatibility engine, beside the others, on the same pairs in one run?

    .venv/bin/python benchmarks/compat.py [--seed N] [--changed COUNT] [--rivals PYTHON]

Right: every "no" is checked with a payload; a "yes" is wrong where any engine's payload separates the pair. Fast:
``check_schemas`` from two documents to findings, with explanation and verification. jsonschema-rs is there anyway;
jsoncompat and jsonsubschema take part when ``PYTHON`` (this one by default) has them. Each runs in a process that is
killed after two seconds. Times are processor time, which another program's work inflates least.
"""

from __future__ import annotations

import argparse
import json
import random
import select
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from corpus import Pair, changed, pairs, tools
from growing import (
    NARROW,
    WIDE,
    all_tagged,
    chain,
    chain_of_changes,
    changed_fields,
    fields,
    lists,
    nullable,
    overlapping,
    references,
    tagged,
)  # fmt: skip

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import Reading, Side
from governance.core.compat.question import Question
from governance.core.schema.budget import Budget

PATIENCE = 2.0
HERE = Path(__file__).resolve().parent


class Rival:
    """Another engine, started anew whenever it had to be killed or died."""

    def __init__(self, name: str, python: str) -> None:
        self.name, self.python = name, python
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> bool:
        argv = [self.python, str(HERE / "rival.py"), self.name]
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        return self._line(30) == "ready"

    def ask(self, pair: Pair) -> tuple[str, float]:
        if self.process is None and not self.start():
            return "crash", 0.0
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps([pair.old, pair.new]) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self._line(PATIENCE)
        if not line:
            died = self.process.poll() is not None
            self.stop()
            return ("crash" if died else "time-out"), PATIENCE * 1000
        answer, took = json.loads(line)
        return answer, took

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _line(self, seconds: float) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline().strip() if ready else ""


def ours(pair: Pair) -> tuple[str, Any, float]:
    """Our answer to literal containment, the payload, and milliseconds."""
    began = time.process_time()
    question = Question(
        pair.old, pair.new, side=Side.INPUT, reading=Reading.STRICT, assert_formats=False, budget=Budget(90_000)
    )
    answer = question.ask()
    said = {True: "no", False: "yes", None: "unknown"}[answer.found]
    if answer.found and question.witness(answer.value) is None:
        said = "unknown"
    return said, answer.value, (time.process_time() - began) * 1000


def compare(corpus: list[Pair], python: str) -> None:
    answers: dict[str, list[tuple[str, float]]] = {"ours": []}
    broken: list[bool] = []
    for pair in corpus:
        said, _, took = ours(pair)
        answers["ours"].append((said, took))
        broken.append(said == "no")  # with a payload that the validator confirmed
    for name in ("covers", "jsoncompat", "jsonsubschema"):
        rival = Rival(name, python if name != "covers" else sys.executable)
        if not rival.start():
            print(f"{name}: not installed for {python}, left out")
            continue
        answers[name] = [rival.ask(pair) for pair in corpus]
        rival.stop()
    columns = ("right", "safe, but breaks", "breaks, but safe", "undecided", "failed", "median", "p99", "max ms")
    print(f"\n{'engine':14} {'  '.join(columns)}")
    for name, given in answers.items():
        right = unsafe = alarm = undecided = failed = 0
        for pair, breaks, (said, _) in zip(corpus, broken, given, strict=True):
            if said == "unknown":
                undecided += 1
            elif said not in ("yes", "no"):
                failed += 1
            elif said == "yes" and (breaks or pair.contained is False):
                unsafe += 1
            elif said == "no" and not breaks and pair.contained is not False:
                alarm += 1
            else:
                right += 1
        times = sorted(took for _, took in given)
        counts = f"{right / len(corpus):5.1%}  {unsafe:16}  {alarm:16}  {undecided:9}  {failed:6}"
        print(f"{name:14} {counts}  {statistics.median(times):6.2f}  {_p99(times):6.2f}  {times[-1]:6.1f}")


def speed(corpus: list[Pair]) -> None:
    print("\nfrom two documents to explained and verified findings, default reading, ms")
    for group in sorted({pair.group for pair in corpus}):
        times, undecided = [], 0
        for pair in corpus:
            if pair.group == group:
                began = time.process_time()
                verdict = check_schemas(pair.old, pair.new, side=Side.INPUT)
                times.append((time.process_time() - began) * 1000)
                undecided += verdict.verdict == "undecided"
        times.sort()
        print(f"{group:10} {len(times):5} pairs  median {statistics.median(times):6.2f}  p99 {_p99(times):6.2f}"
              f"  max {times[-1]:6.1f}  undecided {undecided}")  # fmt: skip


def growth() -> None:
    print("\ngrowth, ms and findings (a type narrowed, the rest equal)")
    for make, sizes in (
        (fields, (10, 100, 1000)), (changed_fields, (10, 100)), (tagged, (10, 100)),
        (all_tagged, (10, 100)), (overlapping, (2, 20)), (chain, (4, 40)),
        (chain_of_changes, (4, 40)), (lists, (4, 40)), (nullable, (2, 20)),
        (references, (4, 40)),
    ):  # fmt: skip
        row = []
        for size in sizes:
            old, new = make(size, WIDE), make(size, NARROW)
            found = len(check_schemas(old, new, side=Side.INPUT).findings)
            best = min(_timed(old, new) for _ in range(3))
            row.append(f"{size}: {best:.1f} ({found})")
        print(f"{make.__name__:16} {'  '.join(row)}")


def catalogue(seed: int) -> None:
    source, real = random.Random(seed), [tool["inputSchema"] for tool in tools()]
    olds = [real[index % len(real)] for index in range(344)]
    news = [changed(schema, source) if source.random() < 0.5 else schema for schema in olds]
    began = time.process_time()
    for old, new in zip(olds, news, strict=True):
        check_schemas(old, new, side=Side.INPUT)
    print(f"\n344 tools against their successor in one process: {time.process_time() - began:.2f} s")


def _timed(old: Any, new: Any) -> float:
    began = time.process_time()
    check_schemas(old, new, side=Side.INPUT)
    return (time.process_time() - began) * 1000


def _p99(times: list[float]) -> float:
    return times[min(int(len(times) * 0.99), len(times) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--changed", type=int, default=400, help="how many changed tools to make")
    parser.add_argument(
        "--rivals", default=sys.executable, metavar="PYTHON", help="the interpreter that has the others"
    )
    options = parser.parse_args()
    corpus = pairs(options.seed, options.changed)
    print(f"{len(corpus)} pairs, seed {options.seed}")
    speed(corpus)
    growth()
    catalogue(options.seed)
    compare(corpus, options.rivals)


if __name__ == "__main__":
    main()
