"""Golden files: what Assay shows of recorded runs, of the shipped experiments and of itself, held byte for byte."""
