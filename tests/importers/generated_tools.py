"""Tools and native manifests as hypothesis draws them, for round trips through every dialect."""

from __future__ import annotations

from hypothesis import strategies as st

from governance.core.contract import SideEffects

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9) | TEXT,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXT, inside, max_size=3),
    max_leaves=6,
)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(
            TEXT, st.fixed_dictionaries({}, optional={"default": JSON, "description": TEXT}), max_size=3
        ),
        "additionalProperties": st.booleans(),
        "x-example": JSON,
        "$comment": TEXT,
    },
)
HINTS = st.fixed_dictionaries(
    {},
    optional={
        "title": TEXT,
        **dict.fromkeys(
            ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), st.booleans() | st.none()
        ),
        "more": JSON,
    },
)
TOOLS = st.fixed_dictionaries(
    {"name": TEXT.filter(bool), "inputSchema": SCHEMAS},
    optional={
        "title": TEXT,
        "description": TEXT,
        "outputSchema": SCHEMAS | st.booleans(),
        "annotations": HINTS,
        "_meta": st.dictionaries(TEXT, JSON, max_size=2),
        "icons": JSON,
        "input_schema": SCHEMAS,
    },
)
NATIVE = st.fixed_dictionaries(
    {
        "name": st.just("a.b"),
        "version": st.just("1.0.0"),
        "compatibility": st.just("input_compatible"),
        "description": TEXT.map(lambda text: f"Does {text}"),
        "input_schema": SCHEMAS,
        "output_schema": SCHEMAS | st.booleans(),
        "timeout_sec": st.integers(1, 60) | st.floats(0.1, 60),
    },
    optional={
        "title": TEXT,
        "side_effects": st.sampled_from([effect.value for effect in SideEffects]),
        "dangerous": st.booleans(),
        "idempotent": st.booleans(),
        "category": st.sampled_from(["tool", "system", "workflow", "knowledge"]),
        "business_rules": st.just([{"id": "1", "text": "Always."}]),
        "errors": st.just([{"code": "E", "meaning": "It failed.", "retryable": True}]),
        "examples": st.lists(JSON, max_size=2),
        "required_permissions": st.lists(st.sampled_from(["a", "b"]), max_size=2),
        "extensions": st.dictionaries(
            st.sampled_from(["mcp", "skill_md"]) | TEXT,
            JSON | st.fixed_dictionaries({"annotations": HINTS}),
            max_size=2,
        ),
    },
)
