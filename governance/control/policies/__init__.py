"""Policies: how strict the gate is, by namespace and skill."""
