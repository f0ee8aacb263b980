"""What the command line's commands do, one file each; `cli.py` has their arguments."""
