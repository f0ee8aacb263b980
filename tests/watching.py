"""Watches what tests run."""

from assay.model.progress import Silent


class Watcher(Silent):
    """Keeps the details that it is told, and the trials of a plan that began and ended."""

    def __init__(self):
        self.details, self.began, self.ended = [], [], []

    def detail(self, text):
        self.details.append(text)

    def trial_begins(self, trial, number, total):
        self.began.append(trial)

    def trial_ends(self, record):
        self.ended.append(record.trial)
