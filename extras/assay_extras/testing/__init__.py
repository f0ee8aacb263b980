"""A fake for every protocol: a whole plan runs in memory."""
