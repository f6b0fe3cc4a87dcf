"""Governance for the skills of AI agents: compatibility with proof, a publish gate, records and an audit log.

Importing this package costs nothing; every part is imported by name where it is used.
"""

__version__ = "0.1.0"
