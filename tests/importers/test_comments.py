"""Comments that silence lints are found where they are comments, and speak of what stands beside or below them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.lint.model import Ignore
from governance.errors import MalformedDocument, Place
from governance.importers import import_text
from governance.importers.comments import MAX_COMMENTS, ignores_in
from governance.importers.draft import Source

HEAD = (
    "name: shop.find\nversion: 1.0.0\ncompatibility: backward_compatible\n"
    "description: Find one order.\ntimeout_sec: 5\n"
)
YAML = f"""\
{HEAD}input_schema:
  type: object
  # govctl: ignore[below] about what follows
  properties:
    order_id: {{type: string}}  # govctl: ignore[beside] about the order

    # govctl: ignore[nested] about one field

    # a word between
    place: {{type: string,
            # govctl: ignore[flow] inside braces
            description: "# govctl: ignore[text] no"}}
  required: [order_id]
output_schema:
  description: |
    # govctl: ignore[text] no
    text
  # govctl: ignore[last] about the type
  type: object
examples:
  # govctl: ignore[first] the item alone
  - order_id: a
  - order_id: b
# govctl: ignore[nothing] at the end
"""
LINES = YAML.splitlines()


def found(text: str, *, file: str = "a.yaml") -> dict[str, Ignore]:
    (ignores,) = [import_text(text, file=file).ignores]
    return {",".join(one.ids): one for one in ignores}


def lines(ignore: Ignore, text: str, file: str = "a.yaml") -> list[str]:
    """The first words of the lines in which it speaks of something."""
    return [
        line.split()[0]
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.strip().startswith("#")
        for first in [len(line) - len(line.lstrip()) + 1]
        if any(ignore.covers(Place(file=file, line=number, column=at)) for at in range(first, len(line) + 1))
    ]


def test_every_comment_is_found_and_no_text_is_taken_for_one() -> None:
    ignores = found(YAML)
    assert list(ignores) == ["below", "beside", "nested", "flow", "last", "first", "nothing"]
    for name, ignore in ignores.items():
        assert ignore.place.line is not None
        assert ignore.place.column is not None
        assert LINES[ignore.place.line - 1][ignore.place.column - 1 :].startswith(f"# govctl: ignore[{name}]")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("beside", ["order_id:"]),
        ("nested", ["place:", "description:"]),
        ("flow", ["description:"]),
        ("last", ["type:"]),
        ("first", ["-"]),
        ("nothing", []),
    ],
)
def test_a_comment_speaks_of_what_begins_beside_or_below_it_and_of_nothing_else(name: str, expected: list[str]) -> None:
    assert lines(found(YAML)[name], YAML) == expected


def test_a_comment_above_a_key_speaks_of_all_that_is_in_its_value() -> None:
    below = found(YAML)["below"]
    assert below.covers(Place(file="a.yaml", line=10, column=15))
    assert not below.covers(Place(file="a.yaml", line=7, column=3))  # where `input_schema` itself is located
    assert not below.covers(Place(file="a.yaml", line=18, column=13))
    assert not below.covers(Place(file="b.yaml", line=10, column=15))


def test_a_comment_where_no_value_begins_says_so() -> None:
    assert "where no value begins" in found(YAML)["nothing"].complaint


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (f"# govctl: ignore[all] one team\n{YAML}", "a.yaml"),
        (
            '\n# govctl: ignore[all] one team\n\nname = "a"\nversion = "1.0.0"\n\n[input_schema]\ntype="object"\n',
            "a.toml",
        ),
        ("---\n# govctl: ignore[all] one team\nname: a\ndescription: b: c\n---\n# Do\n\nIt.\n", "SKILL.md"),
    ],
)
def test_a_comment_above_the_first_line_speaks_of_everything(text: str, file: str) -> None:
    one = found(text, file=file)["all"]
    inside = [Place(file=file, line=number, column=1) for number in range(4, len(text.splitlines()) + 1)]
    assert all(map(one.covers, inside))
    assert file != "a.toml" or one.covers(Place(file=file))


def test_above_the_first_line_of_a_later_document_a_comment_speaks_of_that_document_alone() -> None:
    text = f"{HEAD}---\n# govctl: ignore[second] one team\n{HEAD}"
    lines_of_it = [
        number for number in range(1, 13) if found(text)["second"].covers(Place(file="a.yaml", line=number, column=1))
    ]
    assert lines_of_it == [8, 9, 10, 11, 12]


def test_in_a_list_of_tools_a_comment_speaks_of_the_tool_below_it() -> None:
    tools = "".join(f"# govctl: ignore[{n}] x\n- name: {n}\n  inputSchema: {{type: object}}\n" for n in "ab")
    ignores = found(tools)
    assert lines(ignores["a"], tools) == ["-", "inputSchema:"]
    assert [ignores["b"].covers(Place(file="a.yaml", line=line, column=3)) for line in (2, 5)] == [False, True]


TOML = '''\
name = "shop.find"
description = """
# govctl: ignore[text] no
[not.a.table]
key = 1"""
owner = "a"  # govctl: ignore[beside] about the owner
note = '# govctl: ignore[text] no'

# govctl: ignore[table] about the input
[input_schema]
type = "object"

[input_schema.properties.id]
type = "string"

[output_schema]
type = "object"
'''


def test_toml_comments_speak_of_a_line_or_of_a_table() -> None:
    ignores = {",".join(one.ids): one for one in ignores_in(Source(text=TOML, file="a.toml"))}
    assert list(ignores) == ["beside", "table"]
    assert lines(ignores["beside"], TOML, "a.toml") == ["owner"]
    assert lines(ignores["table"], TOML, "a.toml") == ["[input_schema]", "type", "[input_schema.properties.id]", "type"]


def test_markdown_comments_speak_of_the_text_but_not_from_inside_a_code_block() -> None:
    text = (
        "---\nname: a\n# govctl: ignore[front] x\ndescription: b\n---\n# Do\n\n"
        "```\n<!-- govctl: ignore[no] x -->\n```\n\n<!-- govctl: ignore[body]\nlong reason -->\n"
    )
    ignores = found(text, file="SKILL.md")
    assert list(ignores) == ["front", "body"]
    assert lines(ignores["front"], text, "SKILL.md") == ["description:"]
    assert ignores["body"].reason == "long reason"
    assert ignores["body"].place == Place(file="SKILL.md", line=12, column=1)
    assert lines(ignores["body"], text, "SKILL.md") == ["```", "<!--", "```", "<!--", "long"]


def test_json_has_no_comments() -> None:
    assert ignores_in(Source(text='{"a": "# govctl: ignore[x] y"}', file="a.json")) == ()


@pytest.mark.parametrize(
    ("comment", "complaint"),
    [
        ("ignore", "asks for nothing"),
        ("ignroe[a] b", "asks for nothing"),
        ("ignore[] because", "names no lint"),
        ("ignore[a]", "gives no reason"),
        ("ignore[a] --", "gives no reason"),
        ("ignore[a, b]: because", ""),
    ],
)
def test_a_comment_that_cannot_be_heard_says_why(comment: str, complaint: str) -> None:
    (one,) = import_text(f"# govctl: {comment}\n{HEAD}").ignores
    assert (one.complaint == "") is (complaint == "")
    assert complaint in one.complaint


def test_more_comments_than_anybody_means_are_not_read() -> None:
    many = "".join(f"a{n}: 1 # govctl: ignore[x] y\n" for n in range(MAX_COMMENTS + 5))
    assert len(ignores_in(Source(text=many, file="a.yaml"))) == MAX_COMMENTS


def test_lines_are_counted_as_the_reader_of_the_source_counts_them() -> None:
    schemas = "input_schema: {type: object}\noutput_schema: {type: object}\n"
    owner = 'owner: "a\u2028b"\n# govctl: ignore[two] x\n'
    text = f"{HEAD}{schemas}{owner}category: tool  # govctl: ignore[one] x\r\ntags: [a]\n"
    result = import_text(text, file="a.yaml")
    (item,) = result.imported
    places = {name: item.locate(f"/{name}") for name in ("owner", "category", "tags")}
    for ignore in result.ignores:
        assert [name for name, place in places.items() if place and ignore.covers(place)] == ["category"]
    assert len(result.ignores) == 2


def test_a_comment_behind_the_end_of_a_long_value_is_told_that_nothing_begins_there() -> None:
    (one,) = import_text(f'{HEAD}owner: "a\n  b"  # govctl: ignore[one] x\n').ignores
    assert "no value begins" in one.complaint


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["<!-- govctl:", "<!-- govctl: ignore[a] b", "```\n", "# govctl: x\n", "# govctl: ignore[a] b\na: "]
)
def test_a_hostile_text_costs_no_more_than_its_length(piece: str) -> None:
    many = piece * (1_000_000 // len(piece))
    ignores_in(Source(text=f"---\nname: a\n---\n{many}", file="SKILL.md"), markdown=True)
    ignores_in(Source(text=f"b: |\n  {many}\n", file="a.yaml"))


PIECES = st.sampled_from(
    [
        "# govctl: ignore[a] b",
        "a:",
        " ",
        "\n",
        "- ",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "|",
        "'''",
        '"""',
        "= 1",
        "---\n",
        "<!-- govctl:",
        "-->",
        "é",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(["a.yaml", "SKILL.md", "a.toml"]))
def test_whatever_a_source_holds_the_search_ends_without_an_error(text: str, file: str) -> None:
    source = Source(text=text, file=file)
    try:
        ignores = ignores_in(source, markdown=file.endswith(".md"))
    except MalformedDocument:  # a text without a value has no format
        assert all(not line.strip() or line.strip().startswith("#") for line in text.splitlines())
        return
    for one in ignores:
        assert text.splitlines()[(one.place.line or 1) - 1]


def test_comments_of_every_file_of_a_folder_are_kept(tmp_path: Path) -> None:
    from governance.importers import import_paths

    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(f"# govctl: ignore[x] {name}\n" + HEAD.replace("find", name))
    assert [one.reason for one in import_paths([tmp_path]).ignores] == ["a", "b"]
