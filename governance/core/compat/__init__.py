"""Compatibility: is every value of one contract a value of another? One question, asked on two sides."""
