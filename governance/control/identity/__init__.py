"""Identity: CI jobs prove who they are by OIDC and get a short token."""
