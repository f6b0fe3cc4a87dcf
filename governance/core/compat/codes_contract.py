"""Rows of CODES for changes beside the two schemas: what a call may do, needs, costs and answers."""

from __future__ import annotations

from typing import Final

from governance.core.compat.code import Code
from governance.core.compat.codes_text import TEXT_CODES
from governance.core.compat.model import JSON, FindingLevel, Side

_BREAKING, _RISKY, _NOTE = FindingLevel.BREAKING, FindingLevel.RISKY, FindingLevel.NOTE

_EXCEPT = "Keep it as it was, or publish a major version and say so in its migration guide."
_TELL = "Tell the consumers that rely on it, or keep it as it was."
_NOTHING = "Nothing to do."


def _row(
    code: str, level: FindingLevel, title: str, means: str, hits: str, fix: str,
    example: tuple[JSON, JSON], near_miss: tuple[JSON, JSON],
) -> Code:  # fmt: skip
    return Code(
        id=f"contract.{code}", level=level, title=title, means=means, hits=hits, fix=fix,
        sides=(Side.CONTRACT,), example=example, near_miss=near_miss,
    )  # fmt: skip


def _errors(*codes: tuple[str, str, bool]) -> dict[str, JSON]:
    return {"errors": [{"code": code, "meaning": meaning, "retryable": retry} for code, meaning, retry in codes]}


def _rules(*rules: tuple[str, str]) -> dict[str, JSON]:
    return {"business_rules": [{"id": id_, "text": text} for id_, text in rules]}


_BEHAVIOUR: Final[tuple[Code, ...]] = (
    _row(
        "tool-removed", _BREAKING, "the tool is gone",
        "The catalogue lists the tool no more and no alias stands in for it.",
        "Everyone who calls it or names it in a list of allowed tools.",
        "Keep the tool, or an alias of its name, until a major version.",
        ({}, None), ({}, {}),
    ),
    _row(
        "tool-renamed", _BREAKING, "the tool was renamed without an alias",
        "The tool is gone, and one of the same contract or a close name came in the same release.",
        "Everyone who calls it by the old name or lists that name.",
        "Keep the old name as an alias of the new one until a major version.",
        ({"name": "git.get_commit"}, {"name": "git.commit"}),
        ({"name": "git.get_commit"}, {"name": "git.get_commit"}),
    ),
    _row(
        "tool-added", _NOTE, "the tool is new",
        "The catalogue did not list it before.",
        "Nobody; a model has one tool more to choose from.",
        _NOTHING,
        (None, {}), ({}, {}),
    ),
    _row(
        "permission-added", _BREAKING, "a permission is required that was not",
        "A caller that was allowed to make the call may be refused now.",
        "Callers without the permission.",
        _EXCEPT,
        ({"required_permissions": ["repo:read"]}, {"required_permissions": ["repo:read", "repo:write"]}),
        ({"required_permissions": ["repo:read", "repo:write"]}, {"required_permissions": ["repo:write", "repo:read"]}),
    ),
    _row(
        "permission-removed", _NOTE, "a permission is required no more",
        "The call needs less than before.",
        "Nobody.",
        _NOTHING,
        ({"required_permissions": ["repo:read"]}, {}),
        ({"required_permissions": ["repo:read"]}, {"required_permissions": ["repo:read"]}),
    ),
    _row(
        "approval-added", _BREAKING, "a human must approve each call now",
        "Calls that ran at once wait for a person.",
        "Every unattended caller.",
        _EXCEPT,
        ({}, {"requires_approval": True}),
        ({"requires_approval": True}, {"requires_approval": True}),
    ),
    _row(
        "approval-dropped", _NOTE, "no human approves calls any more",
        "Calls that waited for a person run at once.",
        "No caller; whoever counted on the approval.",
        _NOTHING,
        ({"requires_approval": True}, {}),
        ({}, {}),
    ),
    _row(
        "runtime-need-added", _BREAKING, "the host must provide something it did not have to",
        "A network endpoint, an environment variable or disk space is needed before the skill can be loaded.",
        "Hosts that do not provide it.",
        "Make it optional, or publish a major version that names the need.",
        ({}, {"runtime_requirements": {"environment": ["API_TOKEN"]}}),
        (
            {"runtime_requirements": {"environment": ["API_TOKEN"], "disk_mb": 50}},
            {"runtime_requirements": {"environment": ["API_TOKEN"], "disk_mb": 20}},
        ),
    ),
    _row(
        "runtime-need-dropped", _NOTE, "the host need not provide something any more",
        "The skill loads with less than before.",
        "Nobody.",
        _NOTHING,
        ({"runtime_requirements": {"network": ["api.example.com"]}}, {}),
        ({}, {"runtime_requirements": {"network": ["api.example.com"]}}),
    ),
    _row(
        "idempotence-withdrawn", _BREAKING, "calls may not be repeated safely any more",
        "The old version promised that a repeated call changes nothing more; the new one does not.",
        "Callers, gateways and fallbacks that retry.",
        _EXCEPT,
        ({"idempotent": True}, {"idempotent": False}),
        ({}, {"idempotent": False}),
    ),
    _row(
        "idempotence-added", _NOTE, "calls may be repeated safely now",
        "The new version promises that a repeated call changes nothing more.",
        "Nobody.",
        _NOTHING,
        ({}, {"idempotent": True}),
        ({"idempotent": True}, {"idempotent": True}),
    ),
    _row(
        "side-effect-raised", _BREAKING, "a call may change more than before",
        "The side effect is higher in none, read, write, external, destructive, or was declared and is no more: "
        "what declares nothing may do anything.",
        "Callers that run harmless skills unattended, retry them, or allow only some effects.",
        _EXCEPT,
        ({"side_effects": "read"}, {"side_effects": "write"}),
        ({}, {"side_effects": "write"}),
    ),
    _row(
        "side-effect-lowered", _NOTE, "a call may change less than before",
        "The side effect is lower, or is declared where nothing was.",
        "Nobody.",
        _NOTHING,
        ({}, {"side_effects": "write"}),
        ({"side_effects": "read"}, {"side_effects": "write"}),
    ),
    _row(
        "effect-scope-changed", _RISKY, "a call changes things elsewhere than before",
        "The scope of the effect reads differently; no check can say whether it grew.",
        "Callers that relied on the effect staying where it was.",
        _TELL,
        ({"effect_scope": "one repository"}, {"effect_scope": "the organisation"}),
        ({}, {"effect_scope": "one repository"}),
    ),
    _row(
        "rollback-changed", _RISKY, "a call is undone in another way, or not at all",
        "What the old version said about undoing a call is changed or gone.",
        "Callers that undo calls.",
        _TELL,
        ({"rollback": "call delete with the id"}, {}),
        ({}, {"rollback": "call delete with the id"}),
    ),
    _row(
        "danger-added", _RISKY, "the skill is marked dangerous now",
        "It carries a destructive warning that it did not carry.",
        "Callers that let no dangerous skill run unattended.",
        "Say what became dangerous; if the effect grew, raise the side effect and publish a major version.",
        ({}, {"dangerous": True}),
        ({"dangerous": True}, {"dangerous": True}),
    ),
    _row(
        "danger-dropped", _NOTE, "the skill is not marked dangerous any more",
        "The destructive warning is gone.",
        "Nobody.",
        _NOTHING,
        ({"dangerous": True}, {}),
        ({}, {}),
    ),
    _row(
        "timeout-lowered", _RISKY, "a call is given less time",
        "A call that took longer than the new timeout succeeded before and fails now.",
        "Callers with large or slow requests.",
        "Keep the timeout unless measured calls stay well below the new one.",
        ({"timeout_sec": 30}, {"timeout_sec": 5}),
        ({"timeout_sec": 5}, {"timeout_sec": 5.0}),
    ),
    _row(
        "timeout-raised", _NOTE, "a call is given more time",
        "A call may take longer before it is cut off.",
        "Nobody, unless a caller waits less.",
        _NOTHING,
        ({"timeout_sec": 5}, {"timeout_sec": 30}),
        ({"timeout_sec": 30}, {"timeout_sec": 5}),
    ),
    _row(
        "error-not-retryable", _BREAKING, "an error that could be retried cannot any more",
        "The old version said that a call ending in this error may be tried again.",
        "Callers that retry on this code.",
        "Return a new code for the final case and keep this one retryable.",
        (_errors(("BUSY", "try later", True)), _errors(("BUSY", "try later", False))),
        (_errors(("BUSY", "try later", False)), _errors(("BUSY", "try later", True))),
    ),
    _row(
        "error-added", _RISKY, "a call may end in an error it could not end in",
        "The new version may return a business error that callers have not heard of.",
        "Callers that handle each code by name.",
        _TELL,
        (_errors(("BUSY", "try later", True)), _errors(("BUSY", "try later", True), ("GONE", "deleted", False))),
        (_errors(("BUSY", "try later", True), ("GONE", "deleted", False)), _errors(("BUSY", "try later", True))),
    ),
    _row(
        "error-changed", _RISKY, "an error means something else",
        "The meaning of a business error reads differently.",
        "Callers that act on this code.",
        "If the meaning moved, return a new code; if only the words did, tell nobody.",
        (_errors(("GONE", "deleted", False)), _errors(("GONE", "deleted or never there", False))),
        (_errors(("GONE", "deleted", False)), _errors(("GONE", "deleted", False))),
    ),
    _row(
        "error-dropped", _NOTE, "a call cannot end in an error any more",
        "The code is declared no more.",
        "Nobody.",
        _NOTHING,
        (_errors(("GONE", "deleted", False)), {}),
        ({}, _errors(("GONE", "deleted", False))),
    ),
    _row(
        "error-retryable", _RISKY, "an error may be retried now",
        "A call that ends in this error may be tried again.",
        "Nobody.",
        _NOTHING,
        (_errors(("BUSY", "try later", False)), _errors(("BUSY", "try later", True))),
        (_errors(("BUSY", "try later", True)), _errors(("BUSY", "try later", False))),
    ),
    _row(
        "business-rule-added", _RISKY, "a business rule holds that did not",
        "The semantic contract says more than it did.",
        "Callers whose requests or readings the rule rules out.",
        _TELL,
        ({}, _rules(("max-ten", "At most ten items."))),
        (_rules(("max-ten", "At most ten items.")), _rules(("max-ten", "At most ten items."))),
    ),
    _row(
        "business-rule-changed", _RISKY, "a business rule reads differently",
        "The sentence, pattern or expression of a rule changed under its id.",
        "Callers that rely on the rule.",
        _TELL,
        (_rules(("max-ten", "At most ten items.")), _rules(("max-ten", "At most five items."))),
        (_rules(("a", "One."), ("b", "Two.")), _rules(("b", "Two."), ("a", "One."))),
    ),
    _row(
        "business-rule-dropped", _RISKY, "a business rule holds no more",
        "The semantic contract promises less than it did.",
        "Callers that rely on the rule.",
        _TELL,
        (_rules(("sorted", "Results are sorted by date.")), {}),
        ({}, _rules(("sorted", "Results are sorted by date."))),
    ),
    _row(
        "allowed-tools-widened", _RISKY, "the skill may use tools it could not",
        "One call reaches further than before.",
        "Callers that allowed the skill because of what it could reach.",
        _TELL,
        ({"allowed_tools": ["Read"]}, {"allowed_tools": ["Read", "Bash"]}),
        ({"allowed_tools": ["Read", "Bash"]}, {"allowed_tools": ["Bash", "Read"]}),
    ),
    _row(
        "allowed-tools-narrowed", _NOTE, "the skill may not use some tools any more",
        "One call reaches less far than before.",
        "Nobody.",
        _NOTHING,
        ({"allowed_tools": ["Read", "Bash"]}, {"allowed_tools": ["Read"]}),
        ({"allowed_tools": ["Read"]}, {"allowed_tools": ["Read", "Bash"]}),
    ),
    _row(
        "fallback-changed", _RISKY, "another plan stands in when the skill fails",
        "The steps of the fallback, or their order, changed.",
        "Callers that are served by the fallback.",
        _TELL,
        ({"fallback": [{"skill": "a.b@^1"}]}, {"fallback": [{"skill": "a.c@^1"}]}),
        ({"fallback": [{"skill": "a.b@^1"}]}, {"fallback": [{"skill": "a.b@^1"}]}),
    ),
    _row(
        "slo-changed", _NOTE, "the objective changed",
        "Monitoring measures the skill against other numbers.",
        "Nobody's calls.",
        _NOTHING,
        ({"slo": {"success_ratio": 0.99}}, {"slo": {"success_ratio": 0.9}}),
        ({"slo": {"success_ratio": 0.99}}, {"slo": {"success_ratio": 0.99}}),
    ),
    _row(
        "category-changed", _NOTE, "the skill is of another category",
        "Tool, workflow, knowledge or system: it is listed elsewhere.",
        "Nobody's calls.",
        _NOTHING,
        ({"category": "tool"}, {"category": "system"}),
        ({}, {"category": "tool"}),
    ),
    _row(
        "entrypoint-changed", _NOTE, "other code answers",
        "The implementation moved; the contract did not.",
        "Nobody's calls, if the contract is kept.",
        _NOTHING,
        ({"entrypoint": "pkg.one:run"}, {"entrypoint": "pkg.two:run"}),
        ({"entrypoint": "pkg.one:run"}, {"entrypoint": "pkg.one:run"}),
    ),
    _row(
        "examples-changed", _NOTE, "the examples changed",
        "Sample calls were added, changed or taken out.",
        "Nobody's calls.",
        _NOTHING,
        ({}, {"examples": [{"input": {}}]}),
        ({"examples": [{"input": {}}]}, {"examples": [{"input": {}}]}),
    ),
    _row(
        "tags-changed", _NOTE, "the tags changed",
        "Search finds the skill under other tags.",
        "Nobody's calls.",
        _NOTHING,
        ({"tags": ["git"]}, {"tags": ["vcs"]}),
        ({"tags": ["git", "vcs"]}, {"tags": ["vcs", "git"]}),
    ),
    _row(
        "owner-changed", _NOTE, "the skill has another owner",
        "Somebody else answers for it.",
        "Nobody's calls.",
        _NOTHING,
        ({"owner": "team-a"}, {"owner": "team-b"}),
        ({"owner": "team-a"}, {"owner": "team-a"}),
    ),
)  # fmt: skip

CONTRACT_CODES: Final[tuple[Code, ...]] = (*_BEHAVIOUR, *TEXT_CODES)
