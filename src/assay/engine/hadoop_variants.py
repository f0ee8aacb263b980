"""The variants of workloads that are Hadoop's jobs: commands of the jobs jar, and programs of Hadoop's own jars.

A cost is estimated before a run only. A record's bytes are those of its packed key and value with the frame around
them. An edge leads from its end of lower degree to the other, and between equal degrees to the larger id.
"""

from assay.model.dataset import Amounts
from assay.model.registry import VARIANTS
from assay.model.workload import BYTES_S, HADOOP_JOB_S, MIB, RECORD_S, Cost, Variant, hadoop_cost

# Quantities that costs are declared by: staged bytes, and the ids that neighbour lists hold.
_STAGED = Amounts(bytes=1)
_IDS = Amounts(nodes=1, edges=2)
_EDGES = Amounts(edges=1)
_NOTHING = Amounts()
# Resident memory of a verification: the graph and NetworKit's copy with edge ids; and with lists of both ends.
_VERIFY = Amounts(nodes=100, edges=100)
_VERIFY_LISTS = 2.5 * _VERIFY
# A neighbour is about 10 bytes of text; each iteration holds it twice in HDFS (read and written), and about three
# times in spills and merges.
_ADJACENCY_BYTES = 5 * 10
# A record of small ids in the shuffle: spilled, and merged on each side.
_SHIPPED_BYTES = 3 * 14
# To find the degrees and direct the edges, two jobs ship each edge from both its ends, and hold it in lists.
_LIST_BYTES = 2 * 4
_DIRECTING_BYTES = 2 * _STAGED + (_SHIPPED_BYTES + _LIST_BYTES) * _IDS
_DIRECTING_RECORDS = Amounts(nodes=1, edges=4)
# Where lists are sent instead of triads, an id takes a byte or two of its list.
_LISTED_BYTES, _LISTED_S = Amounts(wedges_by_degree=3 * 2), Amounts(wedges_by_degree=RECORD_S / 20)
# A triad is a line of two ids and a flag in HDFS, and a binary record that is spilled and once merged on each side.
_TRIAD_LINE_BYTES, _TRIAD_SHUFFLE_BYTES = 20, 3 * 26
# What the job that closes the triads holds in HDFS and in its spills at once.
_BY_ID, _BY_DEGREE = Amounts(edges=1, wedges_by_id=1), Amounts(edges=1, wedges_by_degree=1)
# An edge in the blocks that `partition` ships, of ids that differ little from one to the next.
_BLOCK_BYTES = 8
# The friends of each edge of a triangle.
_FRIENDS = Amounts(triangles=3)
_FRIENDS_BYTES = 2 * _SHIPPED_BYTES * _FRIENDS
# A message of label propagation has 19 bytes, which are spilled, and merged on each side.
_MESSAGE_BYTES = 3 * 19
# An edge or a vertex of a directed graph has 27 bytes in binary files and spills, of which there are about three,
# beside the edge's text. By edge and by vertex, the memory is that of making the graph and verifying.
_RANKS = Amounts(nodes=1, edges=1)
_RANKS_COST = Cost(
    jobs=0, start_s=HADOOP_JOB_S, iterated=True, seconds=RECORD_S * _RANKS,
    disk_bytes=_STAGED + 4 * 27 * _RANKS, memory_bytes=Amounts(nodes=400, edges=90),
)  # fmt: skip
# Input, output, and spills of both sides that may be merged once more; input and output are read again.
_SORT_COST = hadoop_cost(2, 5 / BYTES_S + 2 / 400e6, copies=5)
# One hard disk's rate, at which TestDFSIO's files are written once and for `read` read once.
_DISK_BYTES_S = 150e6


def _iterations(jobs: int, bytes_by_id: float = _ADJACENCY_BYTES, memory_bytes: Amounts = _VERIFY) -> Cost:
    """Return the cost of jobs that each read, shuffle and write the whole graph and delete the previous output."""
    disk_bytes = 2 * _STAGED + bytes_by_id * _IDS
    return Cost(jobs=jobs, iterated=True, seconds=RECORD_S * _IDS, disk_bytes=disk_bytes, memory_bytes=memory_bytes)


def _directed(
    jobs: int, records: Amounts, disk_bytes: Amounts, other_disk_bytes: Amounts = _NOTHING, *, lists: bool = False,
    memory_bytes: Amounts = _VERIFY,
) -> Cost:  # fmt: skip
    """The cost of directing the edges, and of what is then shipped and held; `lists` along edges instead of triads."""
    return Cost(
        jobs=jobs, seconds=RECORD_S * (_DIRECTING_RECORDS + records) + (_LISTED_S if lists else _NOTHING),
        disk_bytes=_DIRECTING_BYTES + disk_bytes + (_LISTED_BYTES if lists else _NOTHING),
        other_disk_bytes=_DIRECTING_BYTES + other_disk_bytes, memory_bytes=memory_bytes,
    )  # fmt: skip


_OF_GRAPHS = {
    "triangles/paper": Variant(
        about="as published: open triads are listed at their smallest vertex, closed by edges, and added up",
        jobs=("triads", "closing", "total"),
        command="triangles",
        counters={"edges": "edges", "wedges": "wedges_by_id"},
        cost=Cost(
            jobs=3, seconds=RECORD_S * _BY_ID, memory_bytes=_VERIFY,
            disk_bytes=2 * _STAGED + (_TRIAD_LINE_BYTES + _TRIAD_SHUFFLE_BYTES) * _BY_ID,
        ),
    ),
    "triangles/tuned": Variant(
        about="open triads are listed at their vertex of lowest degree: far fewer of them",
        jobs=("degrees", "triads", "closing"),
        command="triangles-tuned",
        in_parts=True,
        cost=_directed(3, _BY_DEGREE, (_TRIAD_LINE_BYTES + _SHIPPED_BYTES) * _BY_DEGREE),
    ),
    "triangles/intersect": Variant(
        about="no open triads: lists of neighbours of higher degree are sent along edges and intersected",
        jobs=("degrees", "directions", "intersection"),
        command="triangles-intersect",
        in_parts=True,
        cost=_directed(3, _EDGES, _SHIPPED_BYTES * _EDGES, lists=True),
    ),
    "triangles/partition": Variant(
        about="one job: reducers hold parts of the graph in memory; each counts the triangles among three parts",
        jobs=("counting",),
        command="triangles-partition",
        options=("edges-in-memory",),
        counters={"edges": "edges"},
        in_parts=True,
        cost=Cost(
            jobs=1, seconds=RECORD_S * _EDGES, disk_bytes=2 * _STAGED + 3 * _BLOCK_BYTES * _EDGES,
            memory_bytes=_VERIFY,
        ),
    ),
    "mutual-friends/paper": Variant(
        about="as published: triples from friend lists",
        jobs=("friend-lists", "triples", "lists"),
        command="mutual-friends",
        options=("literal-loops",),
        counters={"triples": "triples"},
        # A triple is a binary record of three ids that is spilled, and merged on each side.
        cost=Cost(
            jobs=3, seconds=Amounts(degree_squares=RECORD_S), memory_bytes=_VERIFY_LISTS,
            disk_bytes=4 * _STAGED + Amounts(degree_squares=3 * 26),
        ),
    ),
    "mutual-friends/tuned": Variant(
        about="each triangle is listed once, by open triads at its vertex of lowest degree",
        jobs=("degrees", "directions", "closing", "lists"),
        command="mutual-friends-tuned",
        cost=_directed(
            4, _BY_DEGREE + _FRIENDS, _SHIPPED_BYTES * _BY_DEGREE, _FRIENDS_BYTES, memory_bytes=_VERIFY_LISTS
        ),
    ),
    "mutual-friends/intersect": Variant(
        about="each triangle is listed once, by intersecting lists of neighbours of higher degree",
        jobs=("degrees", "directions", "intersection", "lists"),
        command="mutual-friends-intersect",
        cost=_directed(4, _EDGES + _FRIENDS, _SHIPPED_BYTES * _EDGES, _FRIENDS_BYTES, memory_bytes=_VERIFY_LISTS),
    ),
    "components/paper": Variant(
        about="as published: the smallest ids travel along edges, until an iteration changes nothing",
        jobs=("friend-lists", "iteration 1", "..."),
        command="components",
        options=("iterations",),
        # Social networks are small worlds; the iterations are as many as the eccentricity of each component's smallest
        # id.
        cost=_iterations(1 + 10),
    ),
    "components/tuned": Variant(
        about="large-star and small-star alternate, until one reducer's memory holds the rest and contracts it",
        jobs=("large-star 1", "small-star 1", "...", "contraction 1"),
        command="components-tuned",
        options=("vertices-in-memory",),
        # At most: without memory the first job sends each edge twice, as 18 bytes that are spilled and merged, and
        # writes a line of 16 for each. On real graphs the later jobs send about one pair more for each edge and ten for
        # each vertex.
        cost=Cost(
            jobs=3, seconds=RECORD_S * Amounts(nodes=10, edges=3), disk_bytes=2 * _STAGED + (3 * 18 + 16) * _IDS,
            memory_bytes=_VERIFY,
        ),
    ),
    "clustering-coefficient/intersect": Variant(
        about="finds triangles by intersecting lists of neighbours of higher degree",
        jobs=("degrees", "directions", "corners", "coefficients"),
        command="clustering-coefficient",
        # Lists are sent along edges, then at most one count for each vertex and two for each edge.
        cost=_directed(
            4, _IDS + _EDGES, _SHIPPED_BYTES * (2 * _IDS + _EDGES), lists=True,
            memory_bytes=Amounts(nodes=400, edges=250),
        ),
    ),
    "breadth-first-distances/paper": Variant(
        about="one job per hop reaches the neighbours of the previous job's vertices",
        jobs=("friend-lists", "iteration 1", "..."),
        command="breadth-first-distances",
        # Social networks are small worlds; one iteration per hop to the farthest vertex, and one that finds none.
        cost=_iterations(10),
    ),
    "degree-distribution/plain": Variant(
        about="counts degrees, then their histogram, both combined in maps",
        jobs=("degrees", "histogram"),
        command="degree-distribution",
        # The first job, at worst with nothing to combine: 11 bytes of lengths, id and count for each end of an
        # edge, spilled and merged on both sides; then lines of 10 bytes.
        cost=Cost(
            jobs=2, seconds=RECORD_S * _IDS, disk_bytes=2 * _STAGED + 3 * 11 * _IDS + Amounts(nodes=10),
            memory_bytes=0.64 * _VERIFY,
        ),
    ),
    "label-propagation/paper": Variant(
        about="all labels change at once; the vertex's own label has a vote; the smallest label wins a tie",
        jobs=("friend-lists", "iteration 1", "..."),
        command="label-propagation",
        # The votes are sparse matrices beside the graph.
        cost=_iterations(6, _ADJACENCY_BYTES + _MESSAGE_BYTES, 2.5 * _VERIFY),
    ),
    "k-core/paper": Variant(
        about="estimates start as degrees and fall to the h-index of the neighbours' estimates, until an iteration "
        "changes none",
        jobs=("friend-lists", "iteration 1", "..."),
        command="k-core",
        # Estimates settle slowly at the edges of the dense parts.
        cost=_iterations(25),
    ),
    "page-rank/paper": Variant(
        about="as in Pegasus: each iteration joins edges and ranks in one job, and adds up shares by target in another",
        jobs=("vertices", "join 1", "sum 1", "..."),
        command="page-rank",
        cost=_RANKS_COST,
    ),
    "page-rank/tuned": Variant(
        about="one job per iteration: lists of targets pass through with the ranks, and maps combine shares",
        jobs=("adjacency", "iteration 1", "...", "ranks"),
        command="page-rank-tuned",
        cost=_RANKS_COST,
    ),
}  # fmt: skip
_OF_OTHERS = {
    "k-means/paper": Variant(
        about="as published: no combiner; all points go to one reducer, whatever `mapreduce.job.reduces` is",
        jobs=("iteration 1", "..."),
        command="k-means",
        ships_all=True,
    ),
    "k-means/tuned": Variant(
        about="maps combine points into sums; several reducers share the centres",
        jobs=("iteration 1", "..."),
        command="k-means-tuned",
    ),
    "word-frequency/paper": Variant(
        about="as published: maps combine the counts of a word at each spill",
        jobs=("count",),
        command="word-frequency",
    ),
    "word-frequency/plain": Variant(
        about="no combiner: each occurrence is shuffled",
        jobs=("count",),
        command="word-frequency-plain",
        ships_all=True,
    ),
    "sort-lines/total-order": Variant(
        about="lines go to reducers by ranges from a sample of the input: the reducers' lines follow each other in "
        "order",
        jobs=("sort",),
        command="sort-lines",
        cost=hadoop_cost(1, 5 / BYTES_S + 2 / 60e6, copies=5),
    ),
    "lookup/listed": Variant(
        about="all maps hold the list of asked rows; files are scanned, tables are asked for these rows alone",
        jobs=("lookup",),
        command="lookup",
    ),
    "testdfsio/write": Variant(
        about="writes the files", jobs=("write",), cost=hadoop_cost(1, 1 / _DISK_BYTES_S, copies=1)
    ),
    "testdfsio/read": Variant(
        about="reads files that staging has written",
        jobs=("read",),
        after="write",
        cost=hadoop_cost(2, 2 / _DISK_BYTES_S, copies=1),
    ),
    # All copies at once: input, output, and spills of both sides that may be merged once more.
    "terasort/stock": Variant(
        about="as Hadoop ships it", jobs=("sort",), cost=hadoop_cost(1, 5 / BYTES_S, copies=5)
    ),
    "terasort/validate": Variant(
        about="TeraValidate reads records that staging has sorted, and checks their order",
        jobs=("validate",),
        after="stock",
        cost=hadoop_cost(2, 6 / BYTES_S, copies=5),
    ),
    "sort/stock": Variant(
        about="keys go to reducers by their hash: each output file is sorted, all of them together are not",
        jobs=("sort",),
        cost=_SORT_COST,
    ),
    "sort/total-order": Variant(
        about="keys go to reducers by ranges from a sample of the input: the output files follow each other in order",
        jobs=("sort",),
        ordered=True,
        cost=_SORT_COST,
    ),
    # Spills hold a thousand words per map task; the text, written and read, is all there is.
    "word-count/stock": Variant(
        about="as Hadoop ships it",
        jobs=("count",),
        cost=hadoop_cost(2, 2 / BYTES_S, copies=1.1, memory_bytes=128 * MIB),
    ),
    "grep/stock": Variant(about="as Hadoop ships it", jobs=("search", "sort")),
    # What a job does that nobody knows: as much as a sort, which is more than most do. What is in the store already, or
    # made by the jar, is not counted.
    "command/own": Variant(
        about="the jar's jobs; JAR is the name of its file",
        jobs=("JAR 1", "..."),
        cost=hadoop_cost(2, 5 / BYTES_S, copies=5),
    ),
}  # fmt: skip
for _place, (_name, _variant) in enumerate({**_OF_GRAPHS, **_OF_OTHERS}.items()):
    VARIANTS.add(_name, _variant, _place)
