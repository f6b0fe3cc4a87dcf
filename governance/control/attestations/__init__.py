"""Attestations: that the tests of a contract ran, and how they ended."""
