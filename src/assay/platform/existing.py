"""A cluster that is there already: found through its configuration, used as a client, never started or stopped."""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from assay.host.http import BoundedWeb
from assay.host.kerberos import Login, NoTicketError, Ticket
from assay.model.cluster import EXISTING, ClusterSpec, ExistingSpec
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import AssayError, BadInputError, NoAnswerError, NoLoginError
from assay.model.existing import ExistingDaemon, Site
from assay.model.host_names import HostNames, canonical_host
from assay.model.kerberos import KerberosSpec
from assay.model.layout import Layout
from assay.model.platform import PlatformKind
from assay.model.probe import Ask, ForeignCluster, ForeignHost, NodeSourceContext, NodeSourceKind, Scene
from assay.model.progress import Progress, Silent
from assay.model.registry import NODE_SOURCES, PLATFORMS
from assay.model.running_cluster import RunningCluster
from assay.model.service import Stack
from assay.platform.base import Cluster, HadoopPlatform
from assay.platform.cluster_keys import existing_keys, existing_spec
from assay.platform.configuration import derive_site, read_site
from assay.platform.daemon import write_hadoop_command
from assay.platform.distribution import Distribution, Starts
from assay.platform.hadoop import LOG4J, LOG4J_FILE
from assay.platform.programs import jars_stored, sent_jars

_CHECK_EVERY_S = 10.0
GONE_AFTER_S, GONE_AFTER_MISSES = 60.0, 4
"""Masters that have been silent so often and for so long are gone; a busy one may miss a question or two."""
CONF_DIR = "the directory of its Hadoop configuration"


def login_of(spec: ExistingSpec, site: Mapping[str, str], environment: Mapping[str, str]) -> Login | None:
    """What its configuration wants, or the experiment says; None where neither does. Raises BadInputError."""
    is_secure = site.get("hadoop.security.authentication", "simple").lower() == "kerberos"
    given = spec.kerberos or (KerberosSpec() if is_secure else None)
    return None if given is None else Login(given, environment)


TICKET_ENDS = doubt_kind(
    "ticket-ends", "cluster",
    when="the Kerberos ticket for an existing cluster ends before the run is expected to",
    why="no trial begins after that, and one that is running may not end: what is then lost is that trial",
    cure="renew the ticket in time (`kinit -R`, or `kinit` again) or name a keytab; after a stop go on with --resume",
)  # fmt: skip


def ticket_doubts(spec: ClusterSpec, seconds: float) -> Sequence[Doubt]:
    """Whether the login lasts for a run of so many seconds. Raises BadInputError where there is none."""
    login = login_of(spec, read_site(spec.conf_dir), os.environ) if isinstance(spec, ExistingSpec) else None
    if login is None or login.renews:
        return ()
    ticket = _good(login)
    if ticket.left_s >= seconds:
        return ()
    left, takes = (f"{max(1, round(seconds_left / 60))} min" for seconds_left in (ticket.left_s, seconds))
    return (TICKET_ENDS.doubt(f"the ticket of {ticket.principal} ends in {left}, and the run takes about {takes}"),)


class ExistingCluster(Cluster):
    """The cluster that `spec.conf_dir` describes.

    Settings' properties change what its clients ask for; its daemons stay as they are.
    """

    def __init__(
        self, distribution: Distribution, spec: ExistingSpec, stack: Stack, environment: Mapping[str, str] = os.environ,
        store: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        """`store` is what the experiment says of its store.

        Raises BadInputError when the configuration is missing or does not say where the cluster is.

        So it does for a file of certificates that has none, and for a login that can't be.
        """
        self._conf_dir = spec.conf_dir.resolve()
        self._spec = spec
        self._distribution = distribution
        properties = read_site(self._conf_dir)
        self.login = login_of(spec, properties, environment)
        self._authorize = None if self.login is None else self.login.authorization
        self.web = BoundedWeb(spec.ca_file, authorize=self._authorize)
        self._site = Site(properties, self._conf_dir)
        self._stack = stack
        self._of_discoveries = {
            name: value
            for discovery in stack.discoveries
            for name, value in discovery.properties(store, self._site).items()
        }
        self._defaults = {name: value for discovery in stack.discoveries for name, value in discovery.defaults.items()}
        self._daemons = daemons_of(stack, self._conf_dir)
        self._masters = [daemon for daemon in self._daemons if daemon.well is not None]
        self._urls = {daemon.role: daemon.addresses(self._site) for daemon in self._masters}
        self._in_use: Mapping[str, str] = {}
        self._checked_at_s = 0.0
        self._missed_s: list[float] = []

    def check(self, properties: Mapping[str, str]) -> None:
        """Raises BadInputError where there is no ticket, or a daemon does not answer.

        So it does where two daemons would have the same port.
        """
        refuse_shared(self._conf_dir, self._masters, self._urls)
        if self.login is not None:
            _good(self.login)
        try:
            for master in self._masters:
                self._answering(master)
        except AssayError as error:
            raise BadInputError(str(error), "conf_dir") from None

    def foreign(self, cluster: RunningCluster) -> ForeignCluster:
        """What lets it be seen, with its machines as they are now."""
        by_name = self.login is not None
        hosts, overlooked = discover(self.web.ask, cluster.addresses, self._daemons, self._site, by_name=by_name)
        return ForeignCluster(hosts, self.web.ask, overlooked, self._daemons)

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningCluster]:
        """Check that it answers and give it out; nothing is started, so nothing is stopped.

        Raises AssayError naming the service that does not answer.
        """
        with nullcontext() if self.login is None else self.login.kept(layout.neutral):
            yield self._found(layout, properties, progress)

    def _found(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> RunningCluster:
        progress.detail(f"looking for the cluster of {self._conf_dir}")
        self._in_use = {master.role: self._answering(master) for master in self._masters}
        self._checked_at_s = time.monotonic()
        conf_dir, properties = layout.neutral / "conf", {**self._defaults, **properties, **self._of_discoveries}
        derive_site(self._conf_dir, conf_dir, properties)
        # Which jobs a program ran is read from what its client says at the level INFO.
        if not (conf_dir / LOG4J_FILE).exists():
            (conf_dir / LOG4J_FILE).write_text(LOG4J, encoding="utf-8")
        hadoop = write_hadoop_command(
            layout.neutral / "bin" / "hadoop", self._distribution, Starts(name="existing"), conf_dir,
            self._stack.commands,
        )  # fmt: skip
        return RunningCluster(
            hadoop=hadoop, conf_dir=conf_dir, version=self._version(), outlives=True,
            addresses=self._in_use, extras=self._distribution.extras, ca_file=self._spec.ca_file,
            authorize=self._authorize, history=self._spec.history,
            settings={"starts": "existing", "client": self._distribution.version},
            properties=properties,
        )  # fmt: skip

    def failure(self) -> str | None:
        """Whether all masters whose silence ends a trial still answer, asked at most every ten seconds.

        Gone are those silent for a minute.
        """
        if not self._in_use or time.monotonic() - self._checked_at_s < _CHECK_EVERY_S:
            return None
        self._checked_at_s = time.monotonic()
        silent = next((master for master in self._masters if master.alive and not self._is_alive(master)), None)
        if silent is None:
            self._missed_s.clear()
            return None
        self._missed_s.append(self._checked_at_s)
        silent_s = self._checked_at_s - self._missed_s[0]
        if silent_s < GONE_AFTER_S or len(self._missed_s) < GONE_AFTER_MISSES:
            return None
        where = " or ".join(self._urls[silent.role])
        return f"the {silent.name} at {where} no longer answers: asked {len(self._missed_s)} times in {silent_s:.0f} s"

    def _is_alive(self, master: ExistingDaemon) -> bool:
        """Whether any of those of its role answers, the one in use first."""
        assert master.alive is not None  # noqa: S101 - no other is asked
        for url in sorted(self._urls[master.role], key=lambda address: address != self._in_use[master.role]):
            try:
                if master.alive.is_good(self.web.ask(url + master.alive.page)):
                    return True
            except NoLoginError:  # it has ended; jobs go on by what they were given when they began
                return True
            except NoAnswerError:
                continue
        return False

    def _version(self) -> str:
        """What the first master says that knows it; `unknown` where none does. Raises NoLoginError."""
        for master in self._masters:
            if master.version is not None and master.well is not None:
                try:
                    version = master.version(self.web.ask(self._in_use[master.role] + master.well.page))
                except NoLoginError:
                    raise
                except NoAnswerError:
                    continue
                if version:
                    return version
        return "unknown"

    def _answering(self, master: ExistingDaemon) -> str:
        """The address with a good answer: that of the active one, else the first."""
        assert master.well is not None  # noqa: S101 - no other is a master
        urls, reasons, passive = self._urls[master.role], [], []
        for url in urls:
            try:
                if not master.well.is_good(self.web.ask(url + master.well.page)):
                    reasons.append(f"{url}: no {master.name}{master.wanted} answers there")
                elif len(urls) == 1 or self._is_active(master, url):
                    return url
                else:
                    passive.append(url)
            except NoAnswerError as error:
                reasons.append(f"{url}: {error.reason}")
        if passive:
            return passive[0]
        raise AssayError(
            f"the {master.name} of {self._conf_dir} does not answer as it should: {'; '.join(reasons)}; is the cluster "
            "up, and can this machine reach it?"
        )

    def _is_active(self, master: ExistingDaemon, url: str) -> bool:
        if master.active is None:
            return True
        try:
            return bool(master.active.is_good(self.web.ask(url + master.active.page)))
        except NoAnswerError:
            return False


def _good(login: Login) -> Ticket:
    """Return the login's ticket. Raises BadInputError where there is none."""
    try:
        return login.ticket()
    except NoTicketError as error:
        cure = "run `kinit`"
        if login.renews:
            cure = "look whether `kinit -kt KEYTAB PRINCIPAL` says the same, and whether this machine's clock is right"
        raise BadInputError(f"{error}; {cure}", "kerberos", "conf_dir") from None


def refuse_shared(conf_dir: Path, masters: Sequence[ExistingDaemon], urls: Mapping[str, Sequence[str]]) -> None:
    """Raises BadInputError where the configuration has two daemons at the same address."""
    owners: dict[str, ExistingDaemon] = {}
    for master in masters:
        for url in urls[master.role]:
            other = owners.setdefault(url, master)
            if other is not master:
                raise BadInputError(
                    f"{conf_dir} has the {other.name} and the {master.name} both at {url}, and a port has one daemon; "
                    "correct the address of one of them there", "conf_dir",
                )  # fmt: skip


def daemons_of(stack: Stack, conf_dir: Path) -> tuple[ExistingDaemon, ...]:
    """What is known of the daemons of a stack. Raises BadInputError where a service can't be found there."""
    for service in stack.services:
        if service.discovery is not None:
            continue
        if service.programs is not None and not service.existing:
            raise BadInputError(
                f"{service.name} runs on clusters that Assay starts, not yet on an existing one: leave conf_dir out, "
                "or name another engine or store", "engine", "store",
            )  # fmt: skip
        if service.daemons and not service.existing:
            roles = ", ".join(daemon.role for daemon in service.daemons)
            raise BadInputError(
                f"{conf_dir} can't say where the {roles} is: nobody knows how to find the service {service.name} on an "
                "existing cluster; leave conf_dir out, and Assay starts a cluster of its own"
            )
    return stack.existing


class _Machines:
    """The machines that are known so far, each once however its masters write its name."""

    def __init__(self) -> None:
        self.by_name: dict[str, ForeignHost] = {}
        self._names = HostNames()
        self._by_address: dict[str, str] = {}

    def add(self, name: str, address: str, role: str, url: str) -> None:
        known = self._names.find([name]) or self._by_address.get(canonical_host(name)) or self._names.find([address])
        before = self.by_name[known] if known is not None else ForeignHost(self._names.add(name))
        if address:
            self._by_address.setdefault(canonical_host(address), before.name)
        urls = dict.fromkeys((*before.web.get(role, ()), url))
        web = {**before.web, role: tuple(urls)}
        self.by_name[before.name] = ForeignHost(before.name, before.address or address, web)


def discover(
    ask: Ask, addresses: Mapping[str, str], daemons: Sequence[ExistingDaemon], site: Site, *, by_name: bool = False
) -> tuple[tuple[ForeignHost, ...], tuple[str, ...]]:
    """The machines, those of the masters (`addresses` by role) among them, and why some may be missing.

    `by_name` says that a login wants the machines' names.
    """
    machines = _Machines()
    overlooked: list[str] = []
    for daemon in reversed(daemons):  # machines are called as the engine's master calls them
        if daemon.workers is None or daemon.role not in addresses:
            continue
        url = addresses[daemon.role]
        try:
            for worker in daemon.workers.read(ask(url + daemon.workers.page, {}), site, by_name):
                machines.add(worker.host, worker.address, worker.role, worker.url)
        except NoAnswerError as error:
            overlooked.append(str(error))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            overlooked.append(f"{url}: its list of nodes is incomplete or malformed: {error}")
    for role, url in addresses.items():
        machines.add(urlsplit(url).hostname or "", "", role, url)
    return tuple(machines.by_name[name] for name in sorted(machines.by_name)), tuple(overlooked)


class ExistingPlatform(HadoopPlatform):
    """Somebody else's cluster, used as its clients do."""

    @property
    def _spec(self) -> ExistingSpec:
        spec = self._trial.cluster
        assert isinstance(spec, ExistingSpec)  # noqa: S101 - its kind is this platform's
        return spec

    @cached_property
    def _cluster(self) -> ExistingCluster:
        return ExistingCluster(
            self._distribution, self._spec, self._stack, self._user_environment, self._trial.store.options
        )

    def _environment(self) -> Mapping[str, str]:
        login = self._cluster.login
        return self._user_environment if login is None else login.environment(self._user_environment)

    def user(self) -> str:
        """A principal's first part, as Hadoop's own rule has it."""
        login = self._cluster.login
        return super().user() if login is None else re.split("[/@]", _good(login).principal)[0]

    def blocking_problem(self) -> str | None:
        try:
            if self._cluster.login is not None:
                self._cluster.login.ticket()
        except NoTicketError as error:
            return str(error)
        return None

    def _placer(self, cluster: RunningCluster, layout: Layout) -> None:
        """Nothing: its store places bytes as it is configured to."""

    def check(self, properties: Mapping[str, str]) -> None:
        """Raises BadInputError also where its nodes can't be read as the experiment says."""
        for _, kind, options in self._node_sources():
            kind.check(options, self._user_environment, self._cluster.web.ask)
        super().check(properties)
        if self._stack.discoveries:
            folder = self._lease.make_directory(self._installation.parts / "work" / f"{self._lease.id}-check")
            with self._cluster.running(Layout(neutral=folder), properties, Silent()) as started:
                self._equipped(started, properties)

    def _equipped(self, started: RunningCluster, properties: Mapping[str, str]) -> RunningCluster:
        """Ask what is there already beside the cluster, too. Raises BadInputError where it can't be used."""
        cluster = super()._equipped(started, properties)
        facts = {
            name: fact
            for discovery in self._stack.discoveries
            for name, fact in discovery.check(cluster, properties).items()
        }
        return replace(cluster, facts={**cluster.facts, **facts})

    @contextmanager
    def _supplied(self, cluster: RunningCluster) -> Iterator[RunningCluster]:
        """Have jars for jobs on its file system: nodes then fetch them once, and no job uploads them."""
        folder = f"/user/{self.user()}/assay/{self._lease.id}-jars"
        with ExitStack() as scopes:
            stored = scopes.enter_context(jars_stored(cluster, cluster.job_jars, folder))
            sent = {
                name: scopes.enter_context(jars_stored(cluster, jars, f"{folder}-{name}"))
                for name, jars in sent_jars(self._stack, self._parts).items()
            }
            yield replace(cluster, stored_jars=stored, sent_jars=sent)

    def _scene(self, cluster: RunningCluster, layout: Layout) -> Scene:
        """This machine's use says nothing of the nodes'; the cluster's own interfaces do, and what is read there."""
        foreign = self._cluster.foreign(cluster)
        context = NodeSourceContext(self._lease.environment(self._environment()), foreign)
        sources = {probe: kind.open(options, context) for probe, kind, options in self._node_sources()}
        return Scene(layout=layout, foreign=foreign, sources=sources)

    def _node_sources(self) -> Iterator[tuple[str, NodeSourceKind, Any]]:
        """The ways to read its nodes, each with its probe's name and its options: those named, and those without any.

        Raises BadInputError for one that is not installed.
        """
        for spec in self._spec.node_sources:
            kind = NODE_SOURCES.find(spec.name)
            yield kind.probe(spec.name), kind, TypeAdapter(kind.options).validate_python(spec.options)
        for name, kind in NODE_SOURCES.items():
            if kind.options is None:
                yield kind.probe(name), kind, None


PLATFORMS.add(
    EXISTING,
    PlatformKind(
        ExistingPlatform,
        is_managed=False,
        keys=existing_keys,
        spec=existing_spec,
        own_medium=EXISTING,
        needed_keys={"conf_dir": CONF_DIR},
        lasting=ticket_doubts,
    ),
    place=2,
)
