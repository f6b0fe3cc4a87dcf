"""What stands in the files that deploy the registry, read as their own tools read them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SCHEMAS = ROOT / "tests" / "data" / "schemas"
PORT = "8470"


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage of a Dockerfile: its base and its (instruction, arguments), in order."""

    base: str
    name: str
    steps: tuple[tuple[str, str], ...]

    def only(self, instruction: str) -> str:
        """The arguments of the instruction that stands there once."""
        (found,) = (arguments for word, arguments in self.steps if word == instruction)
        return found

    def environment(self) -> dict[str, str]:
        pairs = (pair for word, arguments in self.steps if word == "ENV" for pair in shlex.split(arguments))
        return dict(pair.split("=", 1) for pair in pairs)


def stages(text: str) -> list[Stage]:
    """The stages of a Dockerfile that uses neither here-documents nor an escape character of its own."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found: list[Stage] = []
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        word, _, arguments = line.strip().partition(" ")
        if word == "FROM":
            base, _, name = arguments.partition(" AS ")
            found.append(Stage(base=base, name=name, steps=()))
        else:
            last = found.pop()
            found.append(Stage(base=last.base, name=last.name, steps=(*last.steps, (word, arguments.strip()))))
    return found


_VARIABLE = re.compile(r"\$\{(\w+)(?::([-+?])([^}]*))?\}")


def composition(environment: Mapping[str, str]) -> dict[str, Any]:
    """docker-compose.yml with its variables filled in from ``environment``.

    Raises KeyError for a variable that must be set and is not.
    """

    def fill(match: re.Match[str]) -> str:
        name, rule, text = match.groups()
        value = environment.get(name, "")
        if rule == "?" and not value:
            raise KeyError(name)
        if rule == "+":
            return text if value else ""
        return value or (text if rule == "-" else "")

    def walk(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: walk(value) for key, value in node.items()}
        if isinstance(node, list):
            return [walk(value) for value in node]
        return _VARIABLE.sub(fill, node) if isinstance(node, str) else node

    document: dict[str, Any] = walk(yaml.safe_load((ROOT / "docker-compose.yml").read_text()))
    return document


def manifests() -> list[dict[str, Any]]:
    """All Kubernetes objects, templates included, kustomize's own file not."""
    files = sorted(path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml")
    return [document for path in files for document in yaml.safe_load_all(path.read_text())]


def schema(name: str) -> Any:
    return json.loads((SCHEMAS / name).read_text())
