"""Proves the ratio of data to memory: what it is worked out from, what is said where that is not known, and its page cache."""

import pytest

from assay.model.errors import BadInputError
from assay.plan.data_ratio import SiteNode, cache_bytes, times_text

GIB = 1 << 30
LEAST = 32 << 20


def test_a_node_s_part_of_the_input_over_the_memory_that_containers_leave():
    node = SiteNode(128 * GIB, 96 * GIB, 64.0 * GIB)
    assert node.ratio() == 2
    assert node.text == (
        "a node reads 64.0 GiB of the input, and has 128.0 GiB of memory, of which containers may take 96.0 GiB"
    )


@pytest.mark.parametrize(
    ("node", "options"),
    [
        (SiteNode(None, GIB, 1.0), ["--node-memory"]),
        (SiteNode(2 * GIB, None, 1.0), ["--container-memory"]),
        (SiteNode(2 * GIB, GIB, None), ["--nodes"]),
        (SiteNode(None, None, None), ["--node-memory", "--container-memory", "--nodes"]),
    ],
)
def test_what_is_not_known_is_named_with_its_option(node, options):
    with pytest.raises(BadInputError) as refused:
        node.ratio()
    named = str(refused.value).partition("or say --ratio")[0]
    assert [option for option in ("--node-memory", "--container-memory", "--nodes") if option in named] == options


def test_containers_that_may_take_all_leave_a_ratio_to_be_said():
    with pytest.raises(BadInputError, match="leaves no memory for files; say with --ratio"):
        SiteNode(8 * GIB, 8 * GIB, 1.0).ratio()


def test_a_sample_s_page_cache():
    assert cache_bytes(2 * GIB, 4, LEAST, most_bytes=8 * GIB) == GIB // 2
    assert cache_bytes(2 * GIB, 0.25, LEAST, most_bytes=8 * GIB) == 8 * GIB
    assert cache_bytes(2 * GIB, 0.2, LEAST, most_bytes=8 * GIB) is None
    assert cache_bytes(2 * GIB, 0.2, LEAST, most_bytes=11 * GIB) == 10 * GIB, "what is written waits there"


def test_ample_memory_needs_no_least_sample():
    assert cache_bytes(1 << 20, 0.2, LEAST, most_bytes=8 * GIB) is None


def test_containers_that_were_assumed_are_said_to_be():
    assert SiteNode(128 * GIB, 8 * GIB, 64.0 * GIB, usual_containers=True).text.endswith(
        "containers may take 8.0 GiB (assumed: Hadoop's default; --container-memory says another)"
    )
    with pytest.raises(BadInputError, match=r"8.0 GiB \(assumed: Hadoop's default.* leaves no memory"):
        SiteNode(8 * GIB, 8 * GIB, 1.0, usual_containers=True).ratio()


@pytest.mark.parametrize(("count", "text"), [(0.25, "0.25"), (4, "4"), (66.666, "66.7"), (3280.4, "3,280")])
def test_times_are_readable(count, text):
    assert times_text(count) == text


def test_a_sample_that_is_too_small_is_refused_with_one_that_is_not():
    with pytest.raises(BadInputError, match=r"leaves 25.0 MiB .* less than 32.0 MiB; take at least --sample 128MiB$"):
        cache_bytes(100 << 20, 4, LEAST, most_bytes=8 * GIB)
    assert cache_bytes(128 << 20, 4, LEAST, most_bytes=8 * GIB) == LEAST
    with pytest.raises(BadInputError, match=r"name a place with at least 128 MiB, or say --ratio 3.7$"):
        cache_bytes(120 << 20, 4, LEAST, most_bytes=8 * GIB, whole=True)
    assert cache_bytes(120 << 20, 3.7, LEAST, most_bytes=8 * GIB) is not None
