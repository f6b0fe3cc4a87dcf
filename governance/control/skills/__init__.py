"""The registry: skills, their immutable versions, and the live state beside each."""
