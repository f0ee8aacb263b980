"""Proves that word frequency and the degree distribution run verified, and move the records that are stated."""

import pytest

from tests.it.driving import IN_ONE_CONTAINER
from tests.it.handwritten import TEXT

pytestmark = [pytest.mark.it, pytest.mark.long]

TASKS = "org.apache.hadoop.mapreduce.TaskCounter"

BOOKS = {
    "a first.txt": "\ufeffThe SHIP\u2019s end\r\n\r\n'' \u2014 don't; the End!\rwell-known\n".encode(),
    "second.txt": "\u00c9t\u00e9 \u0130stanbul caf\u00e9 \u03a3\u0391\u03a3 \u4e2d\u6587 1,000\u00a0x#".encode(),
    "third.latin1": "caf\u00e9 na\u00efve \u00df\n".encode("latin-1") + b"cut \xe2\x82\n\xed\xa0\x80z \xf0\x90\x80",
    ".hidden": b"no word of it",
}
FOUND = {
    "the": 2, "ships": 1, "end": 2, "dont": 1, "wellknown": 1, "été": 1, "istanbul": 1, "café": 1, "\u03c3\u03b1\u03c3": 1, "中文": 1,
    "1000": 1, "x": 1, "caf": 1, "nave": 1, "cut": 1, "z": 1,
}  # fmt: skip


def test_words_and_degrees(place):
    (place.home / "books").mkdir()
    for name, content in BOOKS.items():
        (place.home / "books" / name).write_bytes(content)
    (place.home / "graph.txt").write_bytes(TEXT)
    (place.home / "letters").mkdir()
    (place.home / "letters" / "a.txt").write_text("βγδ, εζ; βγδ\r\n")
    records = place.verified(f"""
experiment: words
workloads:
  - {{name: word-frequency, options: {{size: 3MB, files: 2}}}}
  - {{name: word-frequency, variant: plain, options: {{size: 3MB, files: 2}}}}
  - {{name: word-frequency, options: {{directory: {place.home}/books}}}}
  - {{name: grep, options: {{directory: {place.home}/letters, pattern: "[β-ω]+"}}}}
  - degree-distribution
datasets: {{file: graph.txt}}
media: {place.media}
hadoop: {IN_ONE_CONTAINER}
cache: warm
""")
    assert len(records) == 5
    found = {(one.trial.workload.name, one.trial.workload.variant): one for one in records if not own(one)}
    check_shipped(found["word-frequency", "paper"], found["word-frequency", "plain"])
    books, greek_words = sorted((one for one in records if own(one)), key=lambda one: one.trial.workload.name)[::-1]
    assert books.outputs[0].summary == {"words": sum(FOUND.values()), "distinct_words": len(FOUND)}
    assert [job.name for job in greek_words.jobs] == ["search", "sort"]
    assert greek_words.settings["dfs.user.home.dir.prefix"].endswith("/home")
    assert greek_words.outputs[0].summary == {"matches": 3, "distinct_matches": 2}
    degrees = found["degree-distribution", "plain"]
    assert degrees.outputs[0].summary == {"vertices": 13, "edges": 15, "degrees": 5}


def own(record):
    return "directory" in record.trial.workload.options


def check_shipped(paper, plain):
    """The same text and counts; with the combiner a word is shipped once per map task, without it each time."""
    assert paper.outputs[0].summary == plain.outputs[0].summary
    words, distinct = (paper.outputs[0].summary[name] for name in ("words", "distinct_words"))
    maps = paper.jobs[0].stages[0].tasks
    assert paper.jobs[0].counters[TASKS]["MAP_OUTPUT_RECORDS"] == words
    assert plain.jobs[0].counters[TASKS]["REDUCE_INPUT_RECORDS"] == words
    assert distinct <= paper.jobs[0].counters[TASKS]["REDUCE_INPUT_RECORDS"] <= min(distinct * maps, words / 2)
    assert plain.jobs[0].counters[TASKS]["COMBINE_INPUT_RECORDS"] == 0
