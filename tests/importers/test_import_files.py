"""Files and folders: native manifests in three formats, folders walked within bounds, collisions across files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from governance.errors import DocumentTooLarge, InvalidName, InvalidVersion, NameCollision, NotFound
from governance.importers import IMPORTERS, import_files, import_paths, import_text, walk

YAML = """\
name: mail.send
version: 1.2.0
compatibility: backward_compatible
description: Sends a mail that the user has seen and approved.
input_schema:
  type: object
  properties:
    to: {type: string}
output_schema: {type: object}
timeout_sec: 10
"""
TOML = """\
name = "mail.read"
version = "1.2.0"
compatibility = "backward_compatible"
description = "Reads one mail of the user's own mailbox."
timeout_sec = 10

[input_schema]
type = "object"

[output_schema]
type = "object"
"""
JSON = {
    "name": "mail.list",
    "version": "1.2.0",
    "compatibility": "backward_compatible",
    "description": "Lists the mails of one folder.",
    "input_schema": {"type": "object"},
    "output_schema": True,
    "timeout_sec": 10,
}
TOOL = {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}}


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "name"),
    [(YAML, "mail.send"), (TOML, "mail.read"), (json.dumps(JSON), "mail.list"), ("# hello\n---\n" + YAML, "mail.send")],
)
def test_a_native_manifest_is_recognised_in_every_format(text: str, name: str) -> None:
    result = import_text(text, file="whatever.txt")
    assert not result.refused
    assert result.accepted[0].name == name
    assert result.imported[0].importer == "native"


@pytest.mark.parametrize(
    "text",
    [
        YAML + "---\n" + YAML.replace("mail.send", "mail.two"),
        json.dumps([{**JSON, "name": "mail.send"}, {**JSON, "name": "mail.two"}]),
        json.dumps({"skills": [{**JSON, "name": "mail.send"}, {**JSON, "name": "mail.two"}]}),
    ],
)
def test_one_file_may_hold_several_skills(text: str) -> None:
    assert {skill.name for skill in import_text(text).accepted} == {"mail.send", "mail.two"}


def test_namespace_and_version_leave_native_manifests_alone_but_fill_a_gap() -> None:
    assert import_text(YAML, namespace="x", version="9.0.0").accepted[0].version == "1.2.0"
    filled = import_text(YAML.replace("version: 1.2.0\n", ""), namespace="x", version="9.0.0").accepted[0]
    assert (filled.name, filled.version) == ("mail.send", "9.0.0")


def test_faults_of_a_manifest_have_file_and_line() -> None:
    text = YAML.replace("type: string", "type: strnig").replace("timeout_sec: 10", "timeout: 10")
    (refused,) = import_text(text, file="skill.yaml").refused
    places = {fault.pointer: str(fault.place) for fault in refused.error.faults}
    assert places["/input_schema/properties/to/type"] == "skill.yaml:8:16"
    assert places["/timeout"] == "skill.yaml:10:10"
    assert places["/timeout_sec"] == "skill.yaml:1:1"


def test_two_versions_of_a_skill_live_side_by_side_and_one_version_twice_does_not() -> None:
    other = YAML.replace("1.2.0", "1.3.0")
    assert len(import_files([("a.yaml", YAML), ("b.yaml", other)]).accepted) == 2
    result = import_files([("a.yaml", YAML), ("b.yaml", YAML), ("c.yaml", other)])
    assert [skill.version for skill in result.accepted] == ["1.3.0"]
    assert {refused.origin.file for refused in result.refused} == {"a.yaml", "b.yaml"}
    assert all(isinstance(refused.error, NameCollision) for refused in result.refused)
    assert "a.yaml" in str(result.refused[1].error)


def test_a_folder_is_walked_and_what_is_no_skill_is_passed_over_with_a_warning(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        mail__send_dot_yaml=YAML,
        mail__read_dot_toml=TOML,
        tools_dot_json=json.dumps({"package": "p", "version": "1.0.0", "tools": [TOOL]}),
        plan__SKILL_dot_md="---\nname: plan\ndescription: Plans work.\n---\nThink.\n",
        package_dot_json='{"name": "x", "version": "1.0.0"}',
        README_dot_md="# Nothing",
        node_modules__x__tools_dot_json=json.dumps([TOOL]),
        _dot_hidden__tools_dot_json=json.dumps([TOOL]),
    )
    result = import_paths([folder])
    assert {skill.name for skill in result.accepted} == {"mail.send", "mail.read", "p.echo", "plan"}
    assert not result.refused
    assert [Path(w.place.file).name for w in result.warnings if w.place and w.place.file] == ["package.json"]


def test_a_broken_file_in_a_folder_is_refused_and_hides_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path, a_dot_yaml=YAML, b_dot_json='{"tools": [', c_dot_yaml="a: &x [*x]\n")
    result = import_paths([folder])
    assert [skill.name for skill in result.accepted] == ["mail.send"]
    assert [Path(refused.origin.file or "").name for refused in result.refused] == ["b.json", "c.yaml"]


def test_a_named_file_must_hold_a_skill(tmp_path: Path) -> None:
    folder = written(tmp_path, package_dot_json='{"name": "x", "version": "1.0.0"}')
    (refused,) = import_paths([folder / "package.json"]).refused
    assert "no skill here" in str(refused.error)


def test_texts_of_a_whole_tree_are_sifted_like_a_folder() -> None:
    tree = [
        ("HEAD:a.yaml", YAML),
        ("HEAD:README.md", "# Hello"),
        ("HEAD:x.png", b"\x89PNG\x00"),
        ("HEAD:.ci.yml", "a: *b"),
    ]
    result = import_files(tree, named=False)
    assert [skill.name for skill in result.accepted] == ["mail.send"]
    assert not result.refused


def test_links_that_lead_outside_are_not_followed(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", secret_dot_yaml=YAML)
    inside = written(tmp_path / "inside", read_dot_toml=TOML)
    (inside / "link.yaml").symlink_to(outside / "secret.yaml")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    (inside / "dangling.yaml").symlink_to(inside / "none.yaml")
    result = import_paths([inside])
    assert [skill.name for skill in result.accepted] == ["mail.read"]
    assert any("outside" in warning.message for warning in result.warnings)


def test_a_folder_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "MAX_FILES", 2)
    folder = written(tmp_path, a_dot_json="{}", b_dot_json="{}", c_dot_json="{}")
    with pytest.raises(DocumentTooLarge):
        import_paths([folder])


def test_a_file_past_the_size_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    path.write_bytes(b" " * (17 * 1024 * 1024))
    (refused,) = import_paths([path]).refused
    assert isinstance(refused.error, DocumentTooLarge)


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such file"):
        import_paths([tmp_path / "none.json"])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"namespace": "Not A Name"}, InvalidName),
        ({"namespace": "a."}, InvalidName),
        ({"version": "latest"}, InvalidVersion),
    ],
)
def test_a_wrong_namespace_or_version_is_an_error_before_anything_is_read(
    options: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        import_text("", **options)


def test_importers_have_ids_and_titles_of_their_own() -> None:
    ids = "skill_md native a2a openapi subjects openai anthropic mcp"
    assert [importer.id for importer in IMPORTERS] == ids.split()
    assert len({importer.title for importer in IMPORTERS}) == len(IMPORTERS)


def test_a_pointer_into_an_accepted_manifest_leads_to_its_source() -> None:
    text = json.dumps({"tools": [{**TOOL, "annotations": {"readOnlyHint": True}, "icons": [1]}]}, indent=1)
    (item,) = import_text(text, file="t.json").imported
    lines = text.split("\n")

    def line(pointer: str) -> Any:
        place = item.locate(pointer)
        assert place is not None
        return lines[(place.line or 0) - 1].strip()

    assert line("/input_schema/type") == '"type": "object"'
    assert line("/side_effects") == '"annotations": {'
    assert line("/extensions/mcp/icons") == '"icons": ['
    assert line("/description").startswith('"description"')
