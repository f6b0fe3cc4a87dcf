"""Where a version comes from, as flags or CI say it."""

from __future__ import annotations

import argparse
import os
from typing import Final

_FROM_CI: Final = {
    "repository": ("GITHUB_REPOSITORY", "CI_PROJECT_PATH"),
    "commit": ("GITHUB_SHA", "CI_COMMIT_SHA"),
    "run": ("GITHUB_RUN_ID", "CI_PIPELINE_ID"),
}


def provenance(wanted: argparse.Namespace) -> dict[str, str | None]:
    """``repository``, ``commit`` and ``run``: the flag, else what the machine of the build calls it."""
    return {
        what: getattr(wanted, what) or next((value for name in names if (value := os.environ.get(name))), None)
        for what, names in _FROM_CI.items()
    }
