"""Consumers: who relies on what, and what is deployed where."""
