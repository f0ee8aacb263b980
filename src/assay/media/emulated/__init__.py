"""Emulated."""
