"""Calibration: what a medium can do, measured with fio on a directory or a whole block device."""
