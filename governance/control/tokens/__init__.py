"""Making, listing and revoking tokens, and the local one of the first start."""
