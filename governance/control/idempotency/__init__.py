"""``Idempotency-Key``: a creating POST that is sent again creates nothing twice."""
