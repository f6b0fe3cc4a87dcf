"""The live record beside each version: announced, ended, switched; never the version itself."""
