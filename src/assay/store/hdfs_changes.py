"""What alternatives of `assay advise` change in HDFS, as lines of a patch to review, with their traps.

Source: Hadoop's ArchivalStorage, and the classes that the traps name.
"""

CHANGES = {
    "data-on-ssd": (
        "# hdfs-site.xml of each DataNode; it reads this when it starts, or by",
        "#   `hdfs dfsadmin -reconfig datanode HOST:PORT start`",
        "- dfs.datanode.data.dir=/DISK/dfs/data",
        "+ dfs.datanode.data.dir=[SSD]/SSD/dfs/data,[DISK]/DISK/dfs/data",
        "$ hdfs storagepolicies -setStoragePolicy -path /PATH -policy ALL_SSD",
        "$ hdfs mover -p /PATH",
        "$ hdfs fsck /PATH -storagepolicies",
        "# trap: remove [DISK]/DISK/dfs/data last, when `hdfs fsck / -storagepolicies` shows no copy on DISK, and node",
        "#   by node: removed on all nodes at once, blocks are gone",
        "# trap: a directory without [SSD] before it counts as DISK, whatever it lies on",
        "# trap: without room on SSDs ALL_SSD falls back to DISK silently: `hdfs fsck /PATH -storagepolicies` shows it",
        "# trap: with ONE_SSD clients read the nearest copy, also from DISK, and of equally near ones any by chance,",
        "#   unless dfs.namenode.read.considerStorageType is true, which excludes dfs.namenode.read.considerLoad",
        "# trap: from node to node the mover moves 100 MB/s a DataNode at most (dfs.datanode.balance.bandwidthPerSec)",
        "# undo: while DataNodes still have both directories, `hdfs storagepolicies -unsetStoragePolicy -path /PATH`,",
        "#   then `hdfs mover -p /PATH`, which moves the copies back to DISK",
    ),
    "one-more-disk": (
        "# hdfs-site.xml of each DataNode",
        "+ dfs.datanode.data.dir=(as before),/NEW/dfs/data",
        "$ hdfs diskbalancer -plan NODE",
        "$ hdfs diskbalancer -execute /system/diskbalancer/DATE/NODE.plan.json",
        "# trap: blocks that are there stay on the old disks until the disk balancer moves them, at 10 MB/s",
        "#   (dfs.disk.balancer.max.disk.throughputInMBperSec)",
        "# undo: node by node, and after each wait until `hdfs fsck /` shows no under-replicated block: copies go with",
        "#   their directory",
    ),
    "more-nodes": (
        "$ hdfs balancer",
        "# trap: until then new nodes have no blocks, and read from the others",
        "# undo: name the nodes in the file of dfs.hosts.exclude; `hdfs dfsadmin -refreshNodes`; wait until they are",
        "#   decommissioned",
    ),
}
