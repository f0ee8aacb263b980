"""Reports: what people read, made from records only."""
