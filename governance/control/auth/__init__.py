"""Who is calling, and what may they do where."""
