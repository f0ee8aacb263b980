"""Assay: which storage do my Hadoop jobs need, and what would I gain?"""

__version__ = "0.1.0"
