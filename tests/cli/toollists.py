"""Small tool lists, and a git repository that holds one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

OLD: dict[str, Any] = {
    "type": "object",
    "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["q"],
}
WIDER: dict[str, Any] = {**OLD, "properties": {**OLD["properties"], "after": {"type": "string"}}}
NARROWER: dict[str, Any] = {**OLD, "required": ["q", "limit"]}


def tools(**schemas: Any) -> str:
    """A tool list with one tool a keyword."""
    listed = [{"name": name, "description": f"Find {name}.", "inputSchema": schema} for name, schema in schemas.items()]
    return json.dumps({"tools": listed})


def write(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)


def new_repository(folder: Path) -> Path:
    """One commit on ``main``: ``tools.json`` with the tool ``find``."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.email", "dev@example.org")
    git(folder, "config", "user.name", "Dev")
    write(folder / "tools.json", tools(find=OLD))
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder
