"""A cluster that is there already: found through its configuration, used as a client, never started or stopped."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay.cluster.addresses import Addresses
from assay.cluster.commands import write_hadoop_command
from assay.cluster.configuration import LOG4J
from assay.cluster.daemon import (
    HISTORYSERVER_PAGE,
    NAMENODE_PAGE,
    RESOURCEMANAGER_PAGE,
    historyserver_ready,
    namenode_info,
    no_answer,
    resourcemanager_ready,
)
from assay.cluster.distribution import Distribution
from assay.cluster.site import derive_site, read_site
from assay.cluster.starts import Starts
from assay.model.cluster import ClusterSpec, Layout, RunningCluster
from assay.model.errors import AssayError, BadInputError
from assay.model.limits import LimitUse
from assay.model.progress import Progress

_CHECK_EVERY_S = 10.0


class ExistingCluster:
    """The cluster that `spec.conf_dir` describes.

    Settings' properties change what its clients ask for (`mapreduce.*` and the like); its daemons stay as they are.
    """

    def __init__(self, distribution: Distribution, spec: ClusterSpec, environment: Mapping[str, str]) -> None:
        """Raises BadInputError when the configuration is missing or does not say where the cluster is."""
        if spec.conf_dir is None:
            conf_dir = environment.get("HADOOP_CONF_DIR")
            if not conf_dir:
                raise BadInputError("an existing cluster needs conf_dir, the directory of its Hadoop configuration")
            spec = spec.model_copy(update={"conf_dir": Path(conf_dir)})
        assert spec.conf_dir is not None  # noqa: S101 - for the type checker: it was set above
        self._conf_dir = spec.conf_dir.resolve()
        self._distribution = distribution
        addresses = Addresses(read_site(self._conf_dir), self._conf_dir)
        self._namenodes = addresses.namenodes()
        self._resourcemanagers = addresses.resourcemanagers()
        self._historyserver = addresses.historyserver()
        self._namenode_url: str | None = None
        self._checked_at_s = 0.0

    def check(self, properties: Mapping[str, str]) -> None:
        """Nothing is started, so nothing can be in the way."""

    def limit_use(self) -> LimitUse | None:
        """Its limits are its own."""
        return None

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningCluster]:
        """Check that it answers and give it out; nothing is started, so nothing is stopped.

        Raises AssayError naming the service that does not answer.
        """
        progress.detail(f"looking for the cluster of {self._conf_dir}")
        namenode = self._answering("NameNode", self._namenodes, lambda url: bool(namenode_info(url)), NAMENODE_PAGE)
        self._answering(
            "ResourceManager", self._resourcemanagers, resourcemanager_ready, RESOURCEMANAGER_PAGE,
            " with an active NodeManager",
        )  # fmt: skip
        history = self._answering("JobHistoryServer", (self._historyserver,), historyserver_ready, HISTORYSERVER_PAGE)
        conf_dir = layout.neutral / "conf"
        derive_site(self._conf_dir, conf_dir, properties)
        # Which jobs a program ran is read from what its client says at the level INFO.
        if not (conf_dir / "log4j.properties").exists():
            (conf_dir / "log4j.properties").write_text(LOG4J)
        starts = Starts(name="existing", properties={})
        hadoop = write_hadoop_command(layout.neutral / "bin" / "hadoop", self._distribution, starts, conf_dir)
        version = str(namenode_info(namenode).get("SoftwareVersion", "unknown"))
        self._namenode_url, self._checked_at_s = namenode, time.monotonic()
        yield RunningCluster(
            hadoop=hadoop, conf_dir=conf_dir, namenode_url=namenode, history_url=history, hadoop_version=version,
            extras=self._distribution.extras, settings={"starts": "existing", "client": self._distribution.version},
        )  # fmt: skip

    def failure(self) -> str | None:
        """Whether the NameNode still answers; asked at most every ten seconds."""
        if self._namenode_url is None or time.monotonic() - self._checked_at_s < _CHECK_EVERY_S:
            return None
        self._checked_at_s = time.monotonic()
        return None if namenode_info(self._namenode_url) else f"the NameNode at {self._namenode_url} no longer answers"

    def _answering(
        self, service: str, urls: tuple[str, ...], answers: Callable[[str], bool], page: str, besides: str = ""
    ) -> str:
        """The first address that answers; `page` is what is asked there, `besides` what the service must have."""
        for url in urls:
            if answers(url):
                return url
        why = "; ".join(f"{url}: {no_answer(url + page) or f'no {service}{besides} answers there'}" for url in urls)
        raise AssayError(
            f"the {service} of {self._conf_dir} does not answer as it should: {why}; is the cluster up, and can this "
            "machine reach it?"
        )
