"""One other engine in a process of its own: reads ``[old, new]`` a line, answers ``["yes"|"no"|"unknown"|error, ms]``.

python benchmarks/rival.py covers|jsoncompat|jsonsubschema
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any


def covers(old: Any, new: Any) -> str:
    import jsonschema_rs

    drafts = {
        "draft-04": jsonschema_rs.Draft4, "draft-06": jsonschema_rs.Draft6, "draft-07": jsonschema_rs.Draft7,
        "2019-09": jsonschema_rs.Draft201909,
    }  # fmt: skip
    forms = []
    for schema in (new, old):
        named = str(schema.get("$schema", "")) if isinstance(schema, dict) else ""
        draft = next((value for key, value in drafts.items() if key in named), jsonschema_rs.Draft202012)
        forms.append(jsonschema_rs.canonicalize(schema, draft=draft))
    return str(forms[0].covers(forms[1]))


def jsoncompat(old: Any, new: Any) -> str:
    import jsoncompat

    return "yes" if jsoncompat.check_compat(json.dumps(old), json.dumps(new), "deserializer") else "no"


def jsonsubschema(old: Any, new: Any) -> str:
    from jsonsubschema import isSubschema

    return "yes" if isSubschema(old, new) else "no"


def main(name: str) -> int:
    engines: dict[str, Callable[[Any, Any], str]] = {
        "covers": covers, "jsoncompat": jsoncompat, "jsonsubschema": jsonsubschema,
    }  # fmt: skip
    engine = engines[name]
    try:
        engine({"type": "string"}, {"type": "string"})
    except ImportError:
        return 3
    print("ready", flush=True)
    for line in sys.stdin:
        old, new = json.loads(line)
        began = time.process_time()
        try:
            answer = engine(old, new)
        except BaseException as error:
            answer = type(error).__name__
        print(json.dumps([answer, (time.process_time() - began) * 1000]), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
