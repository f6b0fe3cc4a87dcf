"""Rollouts: a version takes over in steps, and steps back by itself."""
