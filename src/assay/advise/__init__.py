"""What to change first: alternatives to faster drives with prices, what each saves of past jobs, and how sure."""
