"""Consent: which version serves a caller. Nobody crosses a breaking change without having said so."""

from governance.core.consent.resolution import Acceptance, Basis, HeldBack, Resolution, resolve
from governance.core.consent.serving import Notice
from governance.core.consent.ways import SHELL, WAYS, spelled
from governance.core.lines import Line, Published, lines_of

__all__ = [
    "SHELL",
    "WAYS",
    "Acceptance",
    "Basis",
    "HeldBack",
    "Line",
    "Notice",
    "Published",
    "Resolution",
    "lines_of",
    "resolve",
    "spelled",
]
