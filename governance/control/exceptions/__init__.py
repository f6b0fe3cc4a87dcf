"""Exceptions: findings that named people let pass for a while."""
