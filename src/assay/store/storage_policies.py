"""HDFS' storage policies of paths, through Hadoop's client: it knows the cluster's address and login.

The client's words are those of Hadoop 3's StoragePolicyAdmin. It tells the policy in force, and not whether that is a
path's own or its folder's.
"""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from assay.host.processes import last_telling
from assay.model.errors import AssayError
from assay.store.hadoop_fs import SILENT

POLICY_ADMIN = "org.apache.hadoop.hdfs.tools.StoragePolicyAdmin"
_POLICY = re.compile(r"BlockStoragePolicy\{(\w+):")
_PATIENCE_S = 300.0


class StoragePolicies:
    """The policies of a cluster's paths. Every method raises AssayError where the client fails."""

    def __init__(self, hadoop: Path, environment: Mapping[str, str]) -> None:
        self._hadoop, self._environment = hadoop, environment

    def of(self, path: str) -> str:
        """The policy in force for a path; empty where none is set for it or above it."""
        match = _POLICY.search(self._run("-getStoragePolicy", "-path", path))
        return match[1] if match else ""

    def of_folder(self, path: str) -> str:
        """The policy in force for the folder in which a path lies."""
        return self.of(str(PurePosixPath(path).parent))

    def set(self, path: str, policy: str) -> None:
        """Files written below the path from now on follow it; blocks that are there stay until the mover runs."""
        self._run("-setStoragePolicy", "-path", path, "-policy", policy)

    def unset(self, path: str) -> None:
        """The path follows its folder again."""
        self._run("-unsetStoragePolicy", "-path", path)

    def names(self) -> list[str]:
        """The policies that the cluster knows."""
        return _POLICY.findall(self._run("-listPolicies"))

    def _run(self, *arguments: str) -> str:
        command = [str(self._hadoop), POLICY_ADMIN, *arguments]
        try:
            done = subprocess.run(
                command, env=dict(self._environment), capture_output=True, encoding="utf-8", errors="replace",
                check=False, timeout=_PATIENCE_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise AssayError(f"storage policies: no answer in {_PATIENCE_S:.0f} s; is the cluster up?") from None
        if done.returncode != 0:
            said = last_telling(done.stderr, silent=SILENT)
            raise AssayError(f"storagepolicies {' '.join(arguments)} failed: {said}")
        return done.stdout
