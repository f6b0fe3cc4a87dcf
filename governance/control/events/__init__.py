"""Events: what the audit log records, told to those who asked, once each."""
