"""Emulated."""

from assay.media.emulated import medium as medium
