"""Jobs that a site has run, by MapReduce's own histories: what is kept of them, and what their counters suggest."""
