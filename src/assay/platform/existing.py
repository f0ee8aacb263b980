"""A cluster that is there already: found through its configuration, used as a client, never started or stopped."""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay.host.http import BoundedWeb
from assay.host.kerberos import Login, NoTicketError, Ticket
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import AssayError, BadInputError, NoAnswerError, NoLoginError
from assay.model.host_names import in_url
from assay.model.kerberos import KerberosSpec
from assay.model.platform import EXISTING, ClusterSpec, Layout, PlatformKind, RunningCluster, jmx_bean
from assay.model.probe import ForeignCluster, NodeSource, NodeSourceContext, Scene
from assay.model.progress import Progress
from assay.model.registry import ENGINES, NODE_SOURCES, PLATFORMS, STORES
from assay.model.store import Placer, Store
from assay.model.trial import HDFS, MAPREDUCE
from assay.platform.base import Cluster, HadoopPlatform
from assay.platform.configuration import LOG4J, derive_site, read_site
from assay.platform.daemon import write_hadoop_command
from assay.platform.discovery import discover
from assay.platform.distribution import Distribution, Starts

_ANYWHERE = ("", "0.0.0.0", "::", "0:0:0:0:0:0:0:0")  # noqa: S104 - recognised, never bound
_PLACE = re.compile(
    r"(?:[a-z]+://)?(?:\[(?P<six>[^\]]*)\]|(?P<host>[^:/]*))(?::(?P<port>[0-9]+))?(?:/.*)?", re.IGNORECASE
)


class Addresses:
    """The http addresses of NameNode, ResourceManager and JobHistoryServer in one configuration."""

    def __init__(self, properties: Mapping[str, str], conf_dir: Path, scheme: str) -> None:
        """Raises BadInputError when the configuration names no store of that scheme."""
        self._properties = properties
        self._conf_dir = conf_dir
        self._default_fs = properties.get("fs.defaultFS", "")
        if not self._default_fs.startswith(f"{scheme}://"):
            what = self._default_fs or "not set"
            raise BadInputError(f"{conf_dir} names no {scheme.upper()}: fs.defaultFS is {what}")

    def of(self, role: str) -> tuple[str, ...]:
        """Those of a daemon. Raises BadInputError for one whose address is not in Hadoop's configuration."""
        known = {
            "namenode": self.namenodes, "resourcemanager": self.resourcemanagers, "historyserver": self.historyservers,
        }  # fmt: skip
        if role not in known:
            raise BadInputError(
                f"{self._conf_dir} can't say where the {role} is: of an existing cluster's daemons only "
                f"{', '.join(known)} are known; leave conf_dir out, and Assay starts a cluster of its own"
            )
        return known[role]()

    def namenodes(self) -> tuple[str, ...]:
        """One address, or with high availability those of all NameNodes of the default name service.

        In a federation the default file system's NameNode is that of the service with its address.
        """
        secure = self._properties.get("dfs.http.policy") == "HTTPS_ONLY"
        scheme, port = ("https", 9871) if secure else ("http", 9870)
        key = f"dfs.namenode.{scheme}-address"
        authority = urlsplit(self._default_fs).netloc.rpartition("@")[2]
        host = _host_and_port(authority)[0]
        suffixes = [f".{host}.{member}" for member in self._members(host)] or [self._suffix(authority)]
        urls = []
        for suffix in suffixes:
            rpc_key = f"dfs.namenode.rpc-address{suffix}"
            rpc_host = _host_and_port(self._properties.get(rpc_key, ""))[0]
            default_host = host if rpc_host in _ANYWHERE and len(suffixes) == 1 else rpc_host
            # What has no key of its service's has the one without.
            own_key = f"{key}{suffix}" if f"{key}{suffix}" in self._properties else key
            named = own_key if len(suffixes) == 1 else f"{key}{suffix}"
            urls.append(self._url(scheme, named, default_host, port, rpc_key if suffix else ""))
        return tuple(urls)

    def _members(self, service: str) -> list[str]:
        return _list(self._properties.get(f"dfs.ha.namenodes.{service}", ""))

    def _suffix(self, authority: str) -> str:
        """What the keys of the NameNode with this address, or of this name service, end in."""
        wanted = _host_and_port(authority)
        wanted = (wanted[0], wanted[1] or "8020")
        for service in _list(self._properties.get("dfs.nameservices", "")):
            for suffix in [f".{service}.{member}" for member in self._members(service)] or [f".{service}"]:
                host, port = _host_and_port(self._properties.get(f"dfs.namenode.rpc-address{suffix}", ""))
                if wanted[0] == service or (host.lower(), port or "8020") == (wanted[0].lower(), wanted[1]):
                    return suffix
        return ""

    def resourcemanagers(self) -> tuple[str, ...]:
        """One address, or with high availability those of all ResourceManagers; without it their ids mean nothing."""
        secure = self._properties.get("yarn.http.policy") == "HTTPS_ONLY"
        scheme, port, key = ("https", 8090, "webapp.https.address") if secure else ("http", 8088, "webapp.address")
        available = self._properties.get("yarn.resourcemanager.ha.enabled", "").lower() == "true"
        members = _list(self._properties.get("yarn.resourcemanager.ha.rm-ids", "")) if available else []
        urls = []
        for suffix in [f".{member}" for member in members] or [""]:
            hostname = f"yarn.resourcemanager.hostname{suffix}"
            rpc_host = _host_and_port(self._properties.get(f"yarn.resourcemanager.address{suffix}", ""))[0]
            host = self._properties.get(hostname, "").strip("[]") or rpc_host
            urls.append(self._url(scheme, f"yarn.resourcemanager.{key}{suffix}", host, port, hostname))
        return tuple(urls)

    def historyservers(self) -> tuple[str, ...]:
        """The JobHistoryServer's address; by default it is on the host of its RPC address."""
        secure = self._properties.get("mapreduce.jobhistory.http.policy") == "HTTPS_ONLY"
        scheme, port, key = ("https", 19890, "webapp.https.address") if secure else ("http", 19888, "webapp.address")
        host = _host_and_port(self._properties.get("mapreduce.jobhistory.address", ""))[0]
        return (self._url(scheme, f"mapreduce.jobhistory.{key}", host, port, "mapreduce.jobhistory.address"),)

    def _url(self, scheme: str, key: str, default_host: str, default_port: int, other_key: str = "") -> str:
        value = self._properties.get(key, "")
        if not _PLACE.fullmatch(value):
            raise BadInputError(
                f"{self._conf_dir} does not say where the cluster is: {key} is {value!r}, and must be HOST:PORT; an "
                "IPv6 address stands in brackets, as in [::1]:9870"
            )
        host, port = _host_and_port(value)
        host = default_host if host in _ANYWHERE else host
        if host in _ANYWHERE:
            why = f"neither {key} nor {other_key} names a host" if other_key else f"{key} names no host"
            raise BadInputError(f"{self._conf_dir} does not say where the cluster is: {why}")
        return f"{scheme}://{in_url(host)}:{port or default_port}"


def _host_and_port(place: str) -> tuple[str, str]:
    """Of `HOST:PORT` as Hadoop writes it, with or without a scheme; an IPv6 address without its brackets."""
    match = _PLACE.fullmatch(place.strip())
    return (match["six"] or match["host"] or "", match["port"] or "") if match else ("", "")


def _list(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


_STATUS_PAGE = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus"
_ACTIVE: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "namenode": (_STATUS_PAGE, lambda answer: jmx_bean(answer).get("State") == "active"),
    "resourcemanager": ("/ws/v1/cluster/info", lambda answer: _ha_state(answer) == "ACTIVE"),
}
"""The page by which one of several says whether it is the active one. A standby sends no reader of these elsewhere."""


def _ha_state(answer: Any) -> object:
    info = answer.get("clusterInfo") if isinstance(answer, dict) else None
    return info.get("haState") if isinstance(info, dict) else None


_CHECK_EVERY_S = 10.0
GONE_AFTER_S, GONE_AFTER_MISSES = 60.0, 4
"""NameNodes that have been silent so often and for so long are gone; a busy one may miss a question or two."""
CONF_DIR = "the directory of its Hadoop configuration"


def login_of(spec: ClusterSpec, site: Mapping[str, str], environment: Mapping[str, str]) -> Login | None:
    """What its configuration wants, or the experiment says; None where neither does. Raises BadInputError."""
    wanted = site.get("hadoop.security.authentication", "simple").lower() == "kerberos"
    given = spec.kerberos or (KerberosSpec() if wanted else None)
    return None if given is None else Login(given, environment)


TICKET_ENDS = doubt_kind(
    "ticket-ends", "cluster",
    when="the Kerberos ticket for an existing cluster ends before the run is expected to",
    why="no trial begins after that, and one that is running may not end: what is then lost is that trial",
    cure="renew the ticket in time (`kinit -R`, or `kinit` again) or name a keytab; after a stop go on with --resume",
)  # fmt: skip


def ticket_doubts(spec: ClusterSpec, seconds: float) -> Sequence[Doubt]:
    """Whether the login lasts for a run of so many seconds. Raises BadInputError where there is none."""
    login = login_of(spec, read_site(spec.conf_dir), os.environ) if spec.conf_dir is not None else None
    if login is None or login.renews:
        return ()
    ticket = _good(login)
    if ticket.left_s >= seconds:
        return ()
    left, takes = (f"{max(1, round(one / 60))} min" for one in (ticket.left_s, seconds))
    return (TICKET_ENDS.doubt(f"the ticket of {ticket.principal} ends in {left}, and the run takes about {takes}"),)


PROMETHEUS_PAGE = "/api/v1/query"


class ExistingCluster(Cluster):
    """The cluster that `spec.conf_dir` describes.

    Settings' properties change what its clients ask for (`mapreduce.*` and the like); its daemons stay as they are.
    """

    def __init__(
        self, distribution: Distribution, spec: ClusterSpec, store: str = HDFS, engine: str = MAPREDUCE,
        environment: Mapping[str, str] = os.environ,
    ) -> None:  # fmt: skip
        """Raises BadInputError when the configuration is missing or does not say where the cluster is.

        So it does for a file of certificates that has none, and for a login that can't be.
        """
        if spec.conf_dir is None:
            raise BadInputError(f"an existing cluster needs conf_dir, {CONF_DIR}")
        self._conf_dir = spec.conf_dir.resolve()
        self._spec = spec
        self._distribution = distribution
        kind = STORES.find(store)
        site = read_site(self._conf_dir)
        self.login = login_of(spec, site, environment)
        self._authorize = None if self.login is None else self.login.authorization
        self.web = BoundedWeb(spec.ca_file, authorize=self._authorize)
        self._secure_yarn = site.get("yarn.http.policy") == "HTTPS_ONLY"
        addresses = Addresses(site, self._conf_dir, kind.scheme)
        daemons = (*kind.daemons, *ENGINES.find(engine).daemons)
        # What other daemons' pages tell of is known when these answer.
        self._kinds = {daemon.role: daemon for daemon in daemons if daemon.page and not daemon.asked}
        self._urls = {role: addresses.of(role) for role in self._kinds}
        self._namenode_url: str | None = None
        self._checked_at_s = 0.0
        self._missed_s: list[float] = []

    def check(self, properties: Mapping[str, str]) -> None:
        """Raises BadInputError where there is no ticket, or the user's Prometheus or a daemon does not answer."""
        if self.login is not None:
            _good(self.login)
        self._check_prometheus()
        try:
            for role in self._kinds:
                self._answering(role)
        except AssayError as error:
            raise BadInputError(str(error), "conf_dir") from None

    def _check_prometheus(self) -> None:
        url = self._spec.prometheus
        if url is None:
            return
        try:
            answer = self.web.ask(url + PROMETHEUS_PAGE, {"query": "1"})
            good = isinstance(answer, dict) and answer.get("status") == "success"
            why = "" if good else "no Prometheus answers there"
        except NoAnswerError as error:
            why = error.reason
        if why:
            raise BadInputError(
                f"cluster: prometheus {url} can't be asked: {why}; look whether it is up, name the address at which "
                "this machine reaches it, or leave prometheus out",
                "prometheus",
            )

    def foreign(self, cluster: RunningCluster) -> ForeignCluster:
        """What lets it be seen, with its machines as they are now."""
        by_name = self.login is not None
        hosts, overlooked = discover(
            self.web.ask, cluster.addresses, secure_yarn=self._secure_yarn, by_name=by_name
        )  # fmt: skip
        return ForeignCluster(hosts, self.web.ask, self._spec.prometheus, overlooked)

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningCluster]:
        """Check that it answers and give it out; nothing is started, so nothing is stopped.

        Raises AssayError naming the service that does not answer.
        """
        with nullcontext() if self.login is None else self.login.kept(layout.neutral):
            yield self._found(layout, properties, progress)

    def _found(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> RunningCluster:
        progress.detail(f"looking for the cluster of {self._conf_dir}")
        answering = {role: self._answering(role) for role in self._kinds}
        conf_dir = layout.neutral / "conf"
        derive_site(self._conf_dir, conf_dir, properties)
        # Which jobs a program ran is read from what its client says at the level INFO.
        if not (conf_dir / "log4j.properties").exists():
            (conf_dir / "log4j.properties").write_text(LOG4J, encoding="utf-8")
        starts = Starts(name="existing", properties={})
        hadoop = write_hadoop_command(layout.neutral / "bin" / "hadoop", self._distribution, starts, conf_dir)
        self._namenode_url, self._checked_at_s = answering.get("namenode"), time.monotonic()
        return RunningCluster(
            hadoop=hadoop, conf_dir=conf_dir, version=self._version(), outlives=True,
            addresses=answering, extras=self._distribution.extras, ca_file=self._spec.ca_file,
            authorize=self._authorize, history=self._spec.history,
            settings={"starts": "existing", "client": self._distribution.version},
        )  # fmt: skip

    def failure(self) -> str | None:
        """Whether a NameNode still answers, asked at most every ten seconds: gone are those silent for a minute."""
        if self._namenode_url is None or time.monotonic() - self._checked_at_s < _CHECK_EVERY_S:
            return None
        self._checked_at_s = time.monotonic()
        if self._namenode_answers():
            self._missed_s.clear()
            return None
        self._missed_s.append(self._checked_at_s)
        silent_s = self._checked_at_s - self._missed_s[0]
        if silent_s < GONE_AFTER_S or len(self._missed_s) < GONE_AFTER_MISSES:
            return None
        where = " or ".join(self._urls["namenode"])
        return f"the NameNode at {where} no longer answers: asked {len(self._missed_s)} times in {silent_s:.0f} s"

    def _namenode_answers(self) -> bool:
        """Whether any does, the one in use first."""
        for url in sorted(self._urls["namenode"], key=lambda one: one != self._namenode_url):
            try:
                if jmx_bean(self.web.ask(url + _STATUS_PAGE)):
                    return True
            except NoLoginError:  # it has ended; jobs go on by what they were given when they began
                return True
            except NoAnswerError:
                continue
        return False

    def _version(self) -> str:
        """The NameNode's; `unknown` where it does not say, or there is none. Raises NoLoginError."""
        info: Mapping[str, Any] = {}
        if self._namenode_url is not None:
            try:
                info = jmx_bean(self.web.ask(self._namenode_url + self._kinds["namenode"].page))
            except NoLoginError:
                raise
            except NoAnswerError:
                pass
        return str(info.get("SoftwareVersion", "unknown"))

    def _answering(self, role: str) -> str:
        """The daemon's address with a good answer: the active one's, else the first; in safe mode it is good too."""
        urls, page, service = self._urls[role], self._kinds[role].page, self._kinds[role].name
        good: Callable[[Any], object] = jmx_bean if role == "namenode" else self._kinds[role].ready
        besides = " with an active NodeManager" if role == "resourcemanager" else ""
        reasons, passive = [], []
        for url in urls:
            try:
                if not good(self.web.ask(url + page)):
                    reasons.append(f"{url}: no {service}{besides} answers there")
                elif len(urls) == 1 or self._is_active(role, url):
                    return url
                else:
                    passive.append(url)
            except NoAnswerError as error:
                reasons.append(f"{url}: {error.reason}")
        if passive:
            return passive[0]
        raise AssayError(
            f"the {service} of {self._conf_dir} does not answer as it should: {'; '.join(reasons)}; is the cluster up, "
            "and can this machine reach it?"
        )

    def _is_active(self, role: str, url: str) -> bool:
        page, says_so = _ACTIVE[role]
        try:
            return says_so(self.web.ask(url + page))
        except NoAnswerError:
            return False


def _good(login: Login) -> Ticket:
    """Its ticket. Raises BadInputError where there is none."""
    try:
        return login.ticket()
    except NoTicketError as error:
        cure = "run `kinit`"
        if login.renews:
            cure = "look whether `kinit -kt KEYTAB PRINCIPAL` says the same, and whether this machine's clock is right"
        raise BadInputError(f"{error}; {cure}", "kerberos", "conf_dir") from None


def yarn_nodes(foreign: ForeignCluster) -> list[str]:
    """The machines that have a NodeManager. Raises AssayError where none is known."""
    hosts = [host.name for host in foreign.hosts if "nodemanager" in host.web]
    if not hosts:
        why = "; ".join(foreign.overlooked) or "the ResourceManager names no running node"
        raise AssayError(f"{why}; list `hosts` in the experiment")
    return hosts


class ExistingPlatform(HadoopPlatform):
    """Somebody else's cluster, used as its clients do."""

    @cached_property
    def _cluster(self) -> ExistingCluster:
        trial = self._trial
        return ExistingCluster(self._distribution, trial.cluster, trial.store, trial.engine, self._user_environment)

    def _environment(self) -> Mapping[str, str]:
        login = self._cluster.login
        return self._user_environment if login is None else login.environment(self._user_environment)

    def user(self) -> str:
        """A principal's first part, as Hadoop's own rule has it."""
        login = self._cluster.login
        return super().user() if login is None else re.split("[/@]", _good(login).principal)[0]

    def hindrance(self) -> str | None:
        try:
            if self._cluster.login is not None:
                self._cluster.login.ticket()
        except NoTicketError as error:
            return str(error)
        return None

    def _store(self, cluster: RunningCluster, layout: Layout) -> tuple[Store, Placer | None]:
        """It keeps its bytes as it is set up to."""
        environment = self._lease.environment(self._environment())
        return STORES.find(self._trial.store).open_foreign(cluster, environment), None

    def check(self, properties: Mapping[str, str]) -> None:
        """Raises BadInputError also where its nodes can't be read as the experiment says."""
        source = self._trial.cluster.node_source
        if source is not None:
            NODE_SOURCES.find(source.name).check(self._user_environment)
        super().check(properties)

    def _scene(self, cluster: RunningCluster, layout: Layout) -> Scene:
        """This machine's use says nothing of the nodes'; the cluster's own interfaces do, and what is read there."""
        foreign = self._cluster.foreign(cluster)
        return Scene(layout=layout, foreign=foreign, sources=self._sources(cluster, layout, foreign))

    def _sources(self, cluster: RunningCluster, layout: Layout, foreign: ForeignCluster) -> tuple[NodeSource, ...]:
        spec = self._trial.cluster.node_source
        if spec is None:
            return ()
        kind = NODE_SOURCES.find(spec.name)
        context = NodeSourceContext(
            hadoop=cluster.hadoop,
            jobs_jar=self._installation.jobs_jar,
            environment=self._lease.environment(self._environment()),
            lease_id=self._lease.id,
            scratch=layout.neutral,
            workers=partial(yarn_nodes, foreign),
        )
        return (kind.open(kind.options.model_validate(spec.options), context),)


PLATFORMS.add(
    "existing",
    PlatformKind(
        ExistingPlatform,
        ours=False,
        own_medium=EXISTING,
        own_keys=frozenset({"ca_file", "prometheus", "history", "kerberos"}),
        needed_keys={"conf_dir": CONF_DIR},
        lasting=ticket_doubts,
    ),
    place=2,
)
