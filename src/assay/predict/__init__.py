"""Predicting the time of a job on drives that did not run it, from its time and the requests to those that did."""
