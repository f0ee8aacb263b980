"""Plans: an experiment's YAML, validated, becomes an ordered list of trials."""
