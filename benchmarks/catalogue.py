"""What a whole tool list costs: imported, checked, released, released again, compared.

    .venv/bin/python benchmarks/catalogue.py [TOOLS] [MEGABYTES]

The list is made, not found: the real lists of ``tests/data/catalogues``, repeated under new names and mutated with
a fixed seed until there are TOOLS (344) of MEGABYTES (3) together; every further release changes a seventh of
them. Beside each wall time stands the CPU time of this process, service and client together: on a shared machine
trust that one. The database is embedded, with fsync on, and a process of its own.
"""

from __future__ import annotations

import copy
import json
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from governance.client import ControlPlane
from governance.comparing import Comparer
from governance.control import embedded
from governance.control.serving import serving
from governance.control.settings import Settings
from governance.core.catalogues import compare_catalogues
from governance.core.contract import manifest_from_document
from governance.core.releases import VersionBy
from governance.importers import import_paths, import_text
from governance.importers.export import export_catalogue
from governance.wire import CatalogueCandidate

CATALOGUES = Path(__file__).parents[1] / "tests" / "data" / "catalogues"
SEED = 7
CHANGED = 7
"""One tool in so many changes from release to release."""


def made(tools: int, size: int) -> list[dict[str, Any]]:
    """Members without numbers: the real ones under new names, with fields added until they have their size."""
    chance = random.Random(SEED)
    real = [one for one in import_paths([CATALOGUES], namespace="big").accepted if one.input_schema is not None]
    members = []
    for number in range(tools):
        member = copy.deepcopy(chance.choice(real).to_document())
        member.pop("version", None)
        member["name"] = f"big.{member['name'].rpartition('.')[2][:80]}_{number}"
        fields = member["input_schema"].setdefault("properties", {})
        while len(json.dumps(member)) < size // tools:
            kind = chance.choice(("string", "integer", "boolean"))
            fields[f"made_{len(fields)}"] = {"type": kind, "description": "made up " * chance.randrange(8, 24)}
        members.append(member)
    return members


def changed(members: list[dict[str, Any]], release: int) -> list[dict[str, Any]]:
    """The next release: a seventh of the tools takes one more optional field."""
    following = copy.deepcopy(members)
    for member in following[release % CHANGED :: CHANGED]:
        member["input_schema"]["properties"][f"since_{release}"] = {"type": "string"}
    return following


def measured(subject: str, work: Callable[[], Any]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    print(f"| {subject} | {time.perf_counter() - wall:.2f} | {time.process_time() - cpu:.2f} |", flush=True)


def main(tools: int, megabytes: float) -> None:
    members = made(tools, int(megabytes * 1_000_000))
    print(
        f"{len(members)} tools, {len(json.dumps(members)):,} bytes\n\n| subject | wall s | CPU s |\n| --- | --- | --- |"
    )
    folder = Path(tempfile.mkdtemp(prefix="gov-", dir="/tmp"))
    folder.chmod(0o711)
    try:
        with embedded.start(folder / "home") as server:
            settings = Settings(
                home=folder, database_url=server.service_url, database_owner_url=server.owner_url, port=0
            )
            with serving(settings) as running, ControlPlane(running.address, running.token, timeout=600) as plane:
                run(plane, members)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    offline(members)
    print(f"\npeak memory of service and client: {peak} MB")


def offline(members: list[dict[str, Any]]) -> None:
    """What `govctl import` and `govctl catalogue check` do without a registry."""
    lists = [members, changed(members, 1)]
    manifests = [[manifest_from_document(one, native=False) for one in members] for members in lists]
    text = json.dumps(export_catalogue(manifests[0]))
    measured("import of an MCP tool list", lambda: import_text(text, namespace="big"))
    comparer = Comparer()
    measured("compared with its successor, offline", lambda: compare_catalogues(*manifests, compare=comparer.check))


def run(plane: ControlPlane, members: list[dict[str, Any]]) -> None:
    measured("first release", lambda: plane.put_release("big", "1.0.0", members))
    measured("the same again", lambda: plane.put_release("big", "1.0.0", members))
    following = changed(members, 1)
    asked = CatalogueCandidate(name="big", version="1.1.0")
    measured("check of the next", lambda: plane.check(following, catalogue=asked))
    measured("the next, just checked", lambda: plane.put_release("big", "1.1.0", following))
    for minor in range(2, 5):
        following = changed(following, minor)
        number, now = f"1.{minor}.0", following
        measured(f"{number}, not checked before", lambda number=number, now=now: plane.put_release("big", number, now))
    by_content = changed(following, 5)
    measured("numbered by content", lambda: plane.put_release("big", "1.5.0", by_content, version_by=VersionBy.CONTENT))
    measured("diff of first and last", lambda: plane.diff_releases("big", "1.0.0", "1.5.0"))
    measured("read", lambda: plane.get_release("big", "1.5.0"))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 344, float(given[1]) if len(given) > 1 else 3)
