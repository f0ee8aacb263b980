"""Runs commands of Assay in this process."""

from click.testing import CliRunner

from assay.cli import cli


def assay(*words):
    """A command's exit code, and what it prints."""
    done = CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False, catch_exceptions=False)
    return done.return_value, done.output
