"""Studies, reproduced: published values and statements beside what a run of one of their experiments measured.

Pure: reads records and the figures in `data/`, decides nothing about a run, and changes nothing.
"""
