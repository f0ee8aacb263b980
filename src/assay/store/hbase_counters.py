"""What region servers count: bytes of the write-ahead log, of flushes and of compactions.

A sink of Hadoop's metrics system (`FileSink`) writes them into a file beside the server's log once a second. They are
of one copy, and of all tables, HBase's own too. Those of the log add up the estimated sizes of cells, and are not the
bytes of its files. Source: MetricsWALSource, MetricsRegionServerSource.
"""

import re
from pathlib import Path

from assay.model.node import NodeFiles
from assay.model.quantity import Kind
from assay.model.service import Counters, Counts

_SERIES = {
    "writtenBytes": "log_written_bytes",
    "flushedOutputBytes": "flush_written_bytes",
    "compactedInputBytes": "compaction_read_bytes",
    "compactedOutputBytes": "compaction_written_bytes",
}
_COUNTS = "regionserver.counts"
"""The file, beside the log."""
FOLDER = "regionserver"
"""Of the sink's configuration: clients and other servers, which have metrics too, don't see it."""
METRICS_FILE = f"{FOLDER}/hadoop-metrics2-hbase.properties"
_SINK = "hbase.sink.assay"
METRICS = f"""\
*.period=1
{_SINK}.class=org.apache.hadoop.metrics2.sink.FileSink
{_SINK}.filename={_COUNTS}
{_SINK}.context=regionserver
{_SINK}.record.filter.class=org.apache.hadoop.metrics2.filter.RegexFilter
{_SINK}.record.filter.include=Server|WAL
{_SINK}.metric.filter.class=org.apache.hadoop.metrics2.filter.RegexFilter
{_SINK}.metric.filter.include={"|".join(_SERIES)}
"""
_LAST_BYTES = 4096
"""More than the lines of a second."""
_LINE = re.compile(r"^(\d+) regionserver\.(\w+): (.*)\n", re.MULTILINE)
_COUNTER = re.compile(rf"\b({'|'.join(_SERIES)})=(\d+)")


def _read(node: NodeFiles, log: Path) -> Counts | None:
    """The last line of each record that is whole; what they tell together is as old as the older one."""
    tail = node.read(log.with_name(_COUNTS), _LAST_BYTES)
    last = {record: (int(time_ms), line) for time_ms, record, line in _LINE.findall(tail)}
    counted = [_COUNTER.findall(line) for _, line in last.values()]
    values = {_SERIES[name]: float(value) for pairs in counted for name, value in pairs}
    return Counts(min(time_ms for time_ms, _ in last.values()), values) if len(values) == len(_SERIES) else None


COUNTERS = Counters(
    series=dict.fromkeys(_SERIES.values(), Kind.BYTES),
    titles={
        "log_written_bytes": "written to the log",
        "flush_written_bytes": "flushed",
        "compaction_read_bytes": "read to compact",
        "compaction_written_bytes": "compacted",
    },
    read=_read,
)
