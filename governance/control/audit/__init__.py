"""What changed, and what was refused: one entry each, that nobody can rewrite. The lowest domain."""
