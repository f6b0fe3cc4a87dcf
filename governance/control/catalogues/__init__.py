"""Whole tool lists, released as one: all members go in or none."""
