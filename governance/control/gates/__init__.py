"""Judging before and serving after: checks, the gate's dry runs, and resolve, with the consents it records."""
