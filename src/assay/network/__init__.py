"""Networks between nodes on this machine."""
