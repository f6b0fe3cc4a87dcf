"""A CI job proves who it is: its ID token is found where the host of the job puts it, and exchanged for ours.

GitHub hands one out on request to jobs with ``permissions: id-token: write``; others, GitLab among them, put one into a
variable, for which ``GOVCTL_OIDC_TOKEN`` is the name here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from governance.errors import AuthError

DEFAULT_AUDIENCE: Final = "skill-governance"
_URL: Final = "ACTIONS_ID_TOKEN_REQUEST_URL"
_BEARER: Final = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
_PATIENCE_SEC: Final = 10
_MOST_BYTES: Final = 64 * 1024


def may_prove(environment: Mapping[str, str]) -> bool:
    """Does this run have a way to say who it is?"""
    return bool(environment.get("GOVCTL_OIDC_TOKEN") or (environment.get(_URL) and environment.get(_BEARER)))


def assertion_of(environment: Mapping[str, str]) -> str:
    """The job's ID token for this service. Raises AuthError."""
    given = environment.get("GOVCTL_OIDC_TOKEN")
    if given:
        return given.strip()
    import httpx  # only CI jobs pay for it

    url, bearer = environment[_URL], environment[_BEARER]
    audience = environment.get("GOVCTL_OIDC_AUDIENCE") or DEFAULT_AUDIENCE
    try:
        with httpx.Client(timeout=_PATIENCE_SEC, follow_redirects=False) as http:
            answer = http.get(
                httpx.URL(url).copy_merge_params({"audience": audience}), headers={"Authorization": f"Bearer {bearer}"}
            )
            value = answer.json()["value"] if len(answer.content) <= _MOST_BYTES else None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        value = None
    if not isinstance(value, str):
        raise AuthError(
            "The host of this job gave no ID token.",
            fix="Give the job `permissions: id-token: write`, or set GOVCTL_TOKEN.",
        )
    return value
