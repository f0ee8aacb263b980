"""What each statement of a study comes to, as claims over a run's values; written by hand, by the statement's number.

The graphs that the thesis calls large and small are taken by name, whatever their size in a run.
"""
