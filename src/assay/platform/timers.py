"""Hadoop's timers, which a scale model of a cluster makes as many times longer as its processors are slower.

Without that a daemon that gets an eighth of a processor would be asked, and given up, eight times too early. The table
has what may pass in a trial on a healthy cluster or on one that has lost a node: heartbeats, polls, time-outs, retries.
Not in it are housekeeping every some hours, thresholds of counts, and what Hadoop has no property for: a reducer's poll
for map outputs (EventFetcher, 1 s), its penalty for a failed fetch (ShuffleScheduler, 10 s), a DataNode's wait between
attempts to register (BPServiceActor, 5 s). A task reports every hundredth of `mapreduce.task.timeout` (MRJobConfUtil).

Sources: the `*-default.xml` of Hadoop 3.4.2, and the class named beside a timer that is not there.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from assay.model.errors import BadInputError


class Timer(NamedTuple):
    """A property that is a time, what it is by default, and where that is said."""

    name: str
    default: str
    source: str


CORE, HDFS, MAPRED, YARN = "core-default.xml", "hdfs-default.xml", "mapred-default.xml", "yarn-default.xml"

NODE_HEARTBEAT = "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"
DATANODE_HEARTBEAT = "dfs.heartbeat.interval"

TIMERS = (
    Timer("ipc.client.connect.retry.interval", "1000", CORE),
    Timer("ipc.client.connect.timeout", "20000", CORE),
    Timer("ipc.client.connection.maxidletime", "10000", CORE),
    Timer("ipc.client.connection.idle-scan-interval.ms", "10000", CORE),
    Timer("ipc.client.rpc-timeout.ms", "120000", CORE),
    Timer("ipc.ping.interval", "60000", CORE),
    Timer("hadoop.http.idle_timeout.ms", "60000", CORE),
    Timer("fs.df.interval", "60000", CORE),
    Timer("fs.du.interval", "600000", CORE),
    Timer(DATANODE_HEARTBEAT, "3", HDFS),
    Timer("dfs.namenode.heartbeat.recheck-interval", "300000", HDFS),
    Timer("dfs.namenode.stale.datanode.interval", "30000", HDFS),
    Timer("dfs.namenode.redundancy.interval.seconds", "3", HDFS),
    Timer("dfs.namenode.reconstruction.pending.timeout-sec", "300", HDFS),
    Timer("dfs.namenode.safemode.extension", "30000", HDFS),
    Timer("dfs.namenode.lease-recheck-interval-ms", "2000", HDFS),
    Timer("dfs.namenode.resource.check.interval", "5000", HDFS),
    Timer("dfs.datanode.bp-ready.timeout", "20", HDFS),
    Timer("dfs.datanode.socket.reuse.keepalive", "4000", HDFS),
    Timer("dfs.datanode.socket.write.timeout", "480000", HDFS),
    Timer("dfs.datanode.slow.io.warning.threshold.ms", "300", HDFS),
    Timer("dfs.client.slow.io.warning.threshold.ms", "30000", HDFS),
    Timer("dfs.client.socket-timeout", "60000", HDFS),
    Timer("dfs.client.socketcache.expiryMsec", "3000", HDFS),
    Timer("dfs.client.retry.window.base", "3000", HDFS),
    Timer("dfs.client.retry.interval-ms.get-last-block-length", "4000", HDFS),
    Timer("dfs.client.datanode-restart.timeout", "30", HDFS),
    Timer("dfs.client.write.exclude.nodes.cache.expiry.interval.millis", "600000", HDFS),
    Timer("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "400", HDFS),
    Timer("dfs.client.block.write.locateFollowingBlock.max.delay.ms", "60000", HDFS),
    Timer("dfs.client.congestion.backoff.mean.time", "5000", HDFS),
    Timer("dfs.client.congestion.backoff.max.time", "50000", HDFS),
    Timer("dfs.webhdfs.socket.connect-timeout", "60s", HDFS),
    Timer("dfs.webhdfs.socket.read-timeout", "60s", HDFS),
    Timer("mapreduce.client.progressmonitor.pollinterval", "1000", MAPRED),
    Timer("mapreduce.client.completion.pollinterval", "5000", MAPRED),
    Timer("mapreduce.task.timeout", "600000", MAPRED),
    Timer("mapreduce.task.stuck.timeout-ms", "600000", MAPRED),
    Timer("mapreduce.task.exit.timeout", "60000", MAPRED),
    Timer("mapreduce.task.exit.timeout.check-interval-ms", "20000", MAPRED),
    Timer("mapreduce.reduce.shuffle.connect.timeout", "180000", MAPRED),
    Timer("mapreduce.reduce.shuffle.read.timeout", "180000", MAPRED),
    Timer("mapreduce.reduce.shuffle.retry-delay.max.ms", "60000", MAPRED),
    Timer("mapreduce.reduce.shuffle.fetch.retry.interval-ms", "1000", MAPRED),
    Timer("mapreduce.reduce.shuffle.fetch.retry.timeout-ms", "30000", MAPRED),
    Timer("mapreduce.shuffle.connection-keep-alive.timeout", "5", MAPRED),
    Timer("mapreduce.job.speculative.retry-after-no-speculate", "1000", MAPRED),
    Timer("mapreduce.job.speculative.retry-after-speculate", "15000", MAPRED),
    Timer("mapreduce.job.reducer.unconditional-preempt.delay.sec", "300", MAPRED),
    Timer("mapreduce.job.local-fs.single-disk-limit.check.interval-ms", "5000", MAPRED),
    Timer("mapreduce.jobhistory.move.interval-ms", "180000", MAPRED),
    Timer("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "1000", MAPRED),
    Timer("yarn.app.mapreduce.am.hard-kill-timeout-ms", "10000", MAPRED),
    Timer("yarn.app.mapreduce.am.job.committer.cancel-timeout", "60000", MAPRED),
    Timer("yarn.app.mapreduce.am.job.committer.commit-window", "10000", MAPRED),
    Timer(NODE_HEARTBEAT, "1000", YARN),
    Timer("yarn.resourcemanager.nodemanagers.heartbeat-interval-min-ms", "1000", YARN),
    Timer("yarn.resourcemanager.nodemanagers.heartbeat-interval-max-ms", "1000", YARN),
    Timer("yarn.resourcemanager.connect.retry-interval.ms", "30000", YARN),
    Timer("yarn.resourcemanager.connect.max-wait.ms", "900000", YARN),
    Timer("yarn.resourcemanager.rm.container-allocation.expiry-interval-ms", "600000", YARN),
    Timer("yarn.am.liveness-monitor.expiry-interval-ms", "900000", YARN),
    Timer("yarn.nm.liveness-monitor.expiry-interval-ms", "600000", YARN),
    Timer("yarn.client.application-client-protocol.poll-interval-ms", "200", YARN),
    Timer("yarn.client.nodemanager-connect.retry-interval-ms", "10000", YARN),
    Timer("yarn.client.nodemanager-connect.max-wait-ms", "180000", YARN),
    Timer("yarn.nodemanager.resource-monitor.interval-ms", "3000", YARN),
    Timer("yarn.nodemanager.disk-health-checker.interval-ms", "120000", YARN),
    Timer("yarn.nodemanager.sleep-delay-before-sigkill.ms", "250", YARN),
    Timer("yarn.nodemanager.process-kill-wait.ms", "5000", YARN),
)  # fmt: skip

NAMES = frozenset(timer.name for timer in TIMERS)
_TIME = re.compile(r"(-?[0-9]{1,15})\s*(ns|us|ms|s|m|h|d)?")


def longer(properties: Mapping[str, str], dilation: int) -> dict[str, str]:
    """These properties with all timers so many times longer, also those that are left at Hadoop's default.

    A time of 0 or less, which has a meaning of its own, stays. Raises BadInputError for what is no time.
    """
    if dilation == 1:
        return dict(properties)
    known = {**{timer.name: timer.default for timer in TIMERS}, **properties}
    return {name: _longer(name, value, dilation) if name in NAMES else value for name, value in known.items()}


def _longer(name: str, value: str, dilation: int) -> str:
    found = _TIME.fullmatch(value.strip().lower())
    if found is None:
        raise BadInputError(
            f"{name} is {value!r}, and a dilation makes it {dilation} times longer: give a whole number, with a unit "
            "or without",
            name,
        )
    number = int(found[1])
    return f"{number * dilation if number > 0 else number}{found[2] or ''}"
