"""The control plane: the service on Postgres that keeps versions, decisions and the record."""
