"""JSON Schema, five dialects of it, in one dialect-free form that questions can be asked of."""
