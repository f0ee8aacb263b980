"""`python -m assay`: the same as the `assay` entry script, without its set-up."""

from assay.cli import main

main()
