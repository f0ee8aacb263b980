"""From the job histories that a site already has to the few jobs for which another drive could matter."""
