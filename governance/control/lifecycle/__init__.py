"""Lifecycle: deprecation, sunset, retirement, yanking, and the operator's switch."""
