"""A Hadoop cluster that is secured as a site's is: a KDC, keytabs, certificates, and daemons on nodes of their own.

Nothing of this machine's Kerberos is used or changed: KRB5_CONFIG and its Java property name the realm's own file.
Facts of Hadoop's secure mode: its documentation, SecureMode and HttpAuthentication.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.engine.yarn import CAPACITY_SCHEDULER
from assay.host.lease import Lease
from assay.host.processes import MARK
from assay.model.cluster import EmbeddedSpec
from assay.model.installation import Installation
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.service import NodeContext
from assay.network.links import make_lans
from assay.platform.configuration import files_of, known_sites, to_xml
from assay.platform.daemon import clean_environment, daemon_command, java_command, last_words, write_hadoop_command
from assay.platform.distribution import Starts, find_distribution
from assay.platform.hadoop import LOG4J
from tests.it.driving import AS_ROOT, HADOOP, ROOT, a_place, wait_for

SBIN = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
PROGRAMS = {
    name: shutil.which(name, path=SBIN) for name in ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "openssl")
}
LACKING = [name for name, program in PROGRAMS.items() if program is None]
MARKS = [
    pytest.mark.it,
    pytest.mark.alone,
    pytest.mark.long,
    AS_ROOT,
    pytest.mark.skipif(bool(LACKING), reason=f"there is no {', '.join(LACKING)} (apt-get install krb5-kdc krb5-user)"),
]

REALM, KDC_PORT, PASSWORD = "ASSAY.TEST", 8800, "changeit"
MASTER, WORKERS = "master", ("worker-1", "worker-2")
NAMES = (MASTER, *WORKERS)
USER = "tester"
SECURE_IO = Path(__file__).parent / "java" / "org" / "apache" / "hadoop" / "io" / "SecureIOUtils.java"
COOKIE_S = 5
"""After that the web servers want a new proof."""

KRB5 = """\
[libdefaults]
  default_realm = {realm}
  dns_lookup_realm = false
  dns_lookup_kdc = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
[realms]
  {realm} = {{
    kdc = {kdc}
  }}
[domain_realm]
{hosts}
"""
KDC = """\
[kdcdefaults]
  kdc_listen = {listen}
  kdc_tcp_listen = {listen}
[realms]
  {realm} = {{
    database_name = {home}/principal
    key_stash_file = {home}/stash
    acl_file = {home}/acl
    max_life = 12h
  }}
[logging]
  kdc = STDERR
"""


class Realm:
    """A KDC's files in a folder of their own, and the environment of its clients."""

    def __init__(self, home, kdc=f"{MASTER}:{KDC_PORT}", listen=KDC_PORT):
        self.home = home
        home.mkdir()
        hosts = "\n".join(f"  {name} = {REALM}" for name in NAMES)
        self.config = home / "krb5.conf"
        self.config.write_text(KRB5.format(realm=REALM, kdc=kdc, hosts=hosts))
        (home / "kdc.conf").write_text(KDC.format(realm=REALM, home=home, listen=listen))
        (home / "acl").write_text("")
        self.environment = {"KRB5_CONFIG": str(self.config), "KRB5_KDC_PROFILE": str(home / "kdc.conf")}
        self._do("kdb5_util", "create", "-s", "-r", REALM, "-P", PASSWORD)

    def add(self, principals, options=""):
        """Principals with keys that nobody knows, by the files of their keytabs."""
        lines = [f"addprinc -randkey {options} {name}" for names in principals.values() for name in names]
        lines += [f"ktadd -norandkey -k {file} {' '.join(names)}" for file, names in principals.items()]
        self._do("kadmin.local", "-r", REALM, said="\n".join(lines) + "\nquit\n")

    def start(self, node, environment):
        """The KDC's process on a node; it may go with the lease that marks its environment."""
        log = self.home / "kdc.log"
        command = [PROGRAMS["krb5kdc"], "-n", "-r", REALM, "-P", str(self.home / "pid")]
        process = node.start(command, {**environment, **self.environment}, log)
        wait_for(lambda: "commencing operation" in log.read_text() or process.poll() is not None, 20)
        assert process.poll() is None, log.read_text()
        return process

    def _do(self, name, *arguments, said=None):
        done = subprocess.run(
            [PROGRAMS[name], *arguments], env={**os.environ, **self.environment}, input=said, capture_output=True,
            text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


class Certificates:
    """A certificate for all nodes, signed by an authority of our own, as Python and Java want them."""

    def __init__(self, home, java):
        home.mkdir()
        self.authority, self._home, self._java = home / "ca.pem", home, java
        names = ",".join(f"DNS:{name}" for name in NAMES)
        (home / "names").write_text(f"subjectAltName={names}\n")
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Test CA",
            "-out", "ca.pem", "-keyout", "ca.key",
        )  # fmt: skip
        self._openssl(
            "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=node", "-out", "node.csr", "-keyout", "node.key"
        )
        self._openssl(
            "x509", "-req", "-in", "node.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "node.pem",
        )  # fmt: skip
        self._openssl(
            "pkcs12", "-export", "-in", "node.pem", "-inkey", "node.key", "-certfile", "ca.pem", "-name", "node",
            "-passout", f"pass:{PASSWORD}", "-out", "node.p12",
        )  # fmt: skip
        self._do(
            str(java.home / "bin" / "keytool"), "-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem",
            "-keystore", "trust.p12", "-storetype", "PKCS12", "-storepass", PASSWORD,
        )  # fmt: skip

    def files(self):
        """Hadoop's `ssl-server.xml` and `ssl-client.xml`."""
        found = {}
        for side in ("server", "client"):
            stores = {"truststore": "trust.p12", **({"keystore": "node.p12"} if side == "server" else {})}
            properties = {"ssl.server.keystore.keypassword": PASSWORD} if side == "server" else {}
            for store, file in stores.items():
                prefix = f"ssl.{side}.{store}"
                properties |= {
                    f"{prefix}.location": str(self._home / file), f"{prefix}.password": PASSWORD, f"{prefix}.type": "pkcs12",
                }  # fmt: skip
            found[f"ssl-{side}.xml"] = to_xml(properties)
        return found

    def _openssl(self, *arguments):
        self._do(PROGRAMS["openssl"], *arguments)

    def _do(self, *command):
        subprocess.run(command, cwd=self._home, check=True, capture_output=True, timeout=60)


def compiled(home, distribution):
    """A folder with what replaces a class of Hadoop's on the workers (see there)."""
    home.mkdir()
    hadoop = ":".join(map(str, distribution.jars.glob("hadoop-common-*.jar")))
    command = [distribution.java.home / "bin" / "javac", "-d", home, "-cp", hadoop, "-Xlint:none", SECURE_IO]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return home


def of_all(distribution, first):
    """The properties that clients have too; `first` are folders that go before Hadoop's classes in containers."""
    classpath = ",".join([*map(str, first), *distribution.classpath])
    return {
        "fs.defaultFS": f"hdfs://{MASTER}:8020",
        "hadoop.security.authentication": "kerberos",
        "hadoop.security.authorization": "true",
        "hadoop.security.auth_to_local": f"RULE:[2:$1@$0](.*@{REALM})s/.*/root/\nDEFAULT",
        "hadoop.user.group.static.mapping.overrides": f"{USER}={USER};root=root",
        "dfs.namenode.kerberos.principal": f"nn/_HOST@{REALM}",
        "dfs.datanode.kerberos.principal": f"dn/_HOST@{REALM}",
        "dfs.block.access.token.enable": "true",
        "dfs.data.transfer.protection": "authentication",
        "dfs.http.policy": "HTTPS_ONLY",
        "dfs.namenode.https-address": f"{MASTER}:9871",
        "dfs.replication": "2",
        "yarn.resourcemanager.hostname": MASTER,
        "yarn.resourcemanager.principal": f"rm/_HOST@{REALM}",
        "yarn.nodemanager.principal": f"nm/_HOST@{REALM}",
        "yarn.http.policy": "HTTPS_ONLY",
        "yarn.application.classpath": classpath,
        "yarn.app.mapreduce.am.staging-dir": "/user",
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": classpath,
        "mapreduce.jobhistory.address": f"{MASTER}:10020",
        "mapreduce.jobhistory.principal": f"jhs/_HOST@{REALM}",
        "mapreduce.jobhistory.http.policy": "HTTPS_ONLY",
        "mapreduce.jobhistory.done-dir": "/mr-history/done",
        "mapreduce.jobhistory.intermediate-done-dir": "/mr-history/tmp",
    }


def of_daemons(home, host, keytab, java_options):
    """The properties of the daemons on a host; all JVMs in containers there have these options."""
    web = f"HTTP/_HOST@{REALM}"
    return {
        "hadoop.tmp.dir": str(home / "hadoop-tmp"),
        "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
        "hadoop.http.authentication.type": "kerberos",
        "hadoop.http.authentication.simple.anonymous.allowed": "false",
        "hadoop.http.authentication.kerberos.principal": web,
        "hadoop.http.authentication.kerberos.keytab": keytab,
        "hadoop.http.authentication.signature.secret.file": str(home.parent / "secret"),
        "hadoop.http.authentication.token.validity": str(COOKIE_S),
        "dfs.web.authentication.kerberos.principal": web,
        "dfs.web.authentication.kerberos.keytab": keytab,
        "dfs.namenode.kerberos.internal.spnego.principal": web,
        "dfs.namenode.keytab.file": keytab,
        "dfs.namenode.name.dir": str(home / "name"),
        "dfs.datanode.keytab.file": keytab,
        "dfs.datanode.hostname": host,
        "dfs.datanode.address": f"{host}:9866",
        "dfs.datanode.https.address": f"{host}:9865",
        "dfs.datanode.ipc.address": f"{host}:9867",
        "dfs.datanode.data.dir": str(home / "data"),
        "yarn.resourcemanager.keytab": keytab,
        "yarn.resourcemanager.webapp.spnego-principal": web,
        "yarn.resourcemanager.webapp.spnego-keytab-file": keytab,
        "yarn.nodemanager.hostname": host,
        "yarn.nodemanager.keytab": keytab,
        "yarn.nodemanager.webapp.spnego-principal": web,
        "yarn.nodemanager.webapp.spnego-keytab-file": keytab,
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.local-dirs": str(home / "local"),
        "yarn.nodemanager.log-dirs": str(home / "containers"),
        "yarn.nodemanager.resource.memory-mb": "4096",
        "yarn.nodemanager.resource.cpu-vcores": "4",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99",
        "yarn.nodemanager.admin-env": f"JAVA_TOOL_OPTIONS={java_options}",
        "yarn.nodemanager.env-whitelist": f"JAVA_HOME,PATH,LANG,TZ,{MARK}",
        "yarn.scheduler.minimum-allocation-mb": "256",
        "mapreduce.jobhistory.keytab": keytab,
        "mapreduce.jobhistory.webapp.spnego-principal": web,
        "mapreduce.jobhistory.webapp.spnego-keytab-file": keytab,
    }


def write_site(conf_dir, properties, certificates=None):
    conf_dir.mkdir(parents=True)
    sites = known_sites()
    for file in (site.name for site in sites):
        content = {key: value for key, value in properties.items() if file in files_of(key, sites)}
        (conf_dir / file).write_text(to_xml(content))
    (conf_dir / "log4j.properties").write_text(LOG4J)
    if certificates is not None:
        (conf_dir / "capacity-scheduler.xml").write_text(to_xml(CAPACITY_SCHEDULER))
        for name, text in certificates.files().items():
            (conf_dir / name).write_text(text)


class Beside(NamedTuple):
    """What runs beside Hadoop for a store: its daemons, which start last, their principals on all nodes, properties.

    `of_host` gives those of a host's daemons from the name of its keytab, and `files` are further ones of the master.
    """

    store: str = "hdfs"
    roles: tuple[str, ...] = ()
    principal: str = ""
    shared: Mapping[str, str] = {}
    of_host: Callable[[str, str], Mapping[str, str]] = lambda _host, _keytab: {}
    files: Callable[[Path], Mapping[str, str]] = lambda _home: {}


class SecuredCluster:
    """Two workers and a master, which is a client's place too."""

    def __init__(self, home, lease, lan, beside):
        installation = Installation(root=ROOT, parts=HADOOP.parent, jobs_jar=ROOT, cache=home, state=home / "state")
        self.distribution = find_distribution(installation, os.environ)
        self.home, self._lease = home, lease
        self.nodes = {node.name: node for node in lan.nodes}
        self.realm = Realm(home / "realm")
        self.certificates = Certificates(home / "tls", self.distribution.java)
        self._classes = compiled(home / "classes", self.distribution)
        self._java_options = f"-Djava.security.krb5.conf={self.realm.config}"
        self._environment = lease.environment(clean_environment(os.environ, self.distribution))
        self._daemons = []
        self.keytab = home / f"{USER}.keytab"
        self.conf_dir = home / "client"
        (home / "secret").write_text("a secret of the web servers")
        self._beside = beside
        services = {"nn": [MASTER], "rm": [MASTER], "jhs": [MASTER], "dn": WORKERS, "nm": WORKERS, "HTTP": NAMES}
        services |= {beside.principal: NAMES} if beside.principal else {}
        own = {
            home / f"{host}.keytab": [f"{service}/{host}" for service, hosts in services.items() if host in hosts]
            for host in NAMES
        }
        self.realm.add({**own, self.keytab: [USER]})

    def start(self):
        """All daemons, one kind after the other; a folder of the user's own is in the store then."""
        self.realm.start(self.nodes[MASTER], self._environment)
        shared = {**of_all(self.distribution, [self._classes, self.conf_dir]), **self._beside.shared}
        write_site(self.conf_dir, shared)
        for host in NAMES:
            folder = self.home / host
            keytab = str(self.home / f"{host}.keytab")
            own = {**of_daemons(folder, host, keytab, self._java_options), **self._beside.of_host(host, keytab)}
            write_site(folder / "conf", {**shared, **own}, self.certificates)
            for name, text in self._beside.files(folder).items() if host == MASTER else ():
                (folder / "conf" / name).write_text(text)
            for name in ("logs", "tmp"):
                (folder / name).mkdir()
        kinds = {kind.role: kind for kind in stack_of(self._beside.store).daemons}
        self._format(kinds["namenode"])
        for role in ("namenode", "datanode", "resourcemanager", "nodemanager"):
            self._start(kinds[role])
        for role in ("namenode", "datanode", "resourcemanager", "nodemanager"):
            self._wait(kinds[role])
        self._fill()
        for role in ("historyserver", *self._beside.roles):
            self._start(kinds[role])
        for role in ("historyserver", *self._beside.roles):
            self._wait(kinds[role])

    def kinit(self, cache, *options):
        """Tickets of the user in a file."""
        command = [PROGRAMS["kinit"], "-k", "-t", str(self.keytab), "-c", str(cache), *options, USER]
        self._do(command, self.realm.environment)

    def _do(self, command, environment):
        done = subprocess.run(
            self.nodes[MASTER].command(command), env={**self._environment, **environment}, capture_output=True,
            text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def _fill(self):
        for arguments in (
            ["-mkdir", "-p", f"/user/{USER}", "/tmp", "/mr-history/tmp", "/mr-history/done"],
            ["-chown", USER, f"/user/{USER}"],
            ["-chmod", "755", "/mr-history"],
            ["-chmod", "1777", "/tmp", "/mr-history/tmp"],
        ):
            self.administer("fs", *arguments)

    def administer(self, *arguments, classes=""):
        """Run Hadoop's command as the administrator, whom each daemon's principal is."""
        cache, starts = self.home / "admin-tickets", self._starts()
        command = [PROGRAMS["kinit"], "-k", "-t", str(self.home / f"{MASTER}.keytab"), "-c", str(cache), f"nn/{MASTER}"]
        self._do(command, self.realm.environment)
        conf_dir = self.home / MASTER / "conf"
        hadoop = write_hadoop_command(
            self.home / "admin" / "hadoop", self.distribution, starts, conf_dir, stack_of().commands
        )
        self._do([str(hadoop), *arguments], {"KRB5CCNAME": str(cache), "HADOOP_CLASSPATH": classes})

    def _starts(self):
        options = (self._java_options, "-XX:+UseSerialGC")
        return Starts(name="secured", control_options=options, data_options=options)

    def _format(self, kind):
        conf_dir, log = self.home / MASTER / "conf", self.home / MASTER / "logs" / "format.log"
        command = java_command(self.distribution, (self._java_options,), conf_dir, kind.main_class, kind.formats)
        assert self.nodes[MASTER].start(command, self._environment, log).wait(60) == 0, last_words(log)

    def _start(self, kind):
        for host in WORKERS if kind.on_workers else [MASTER]:
            layout = Layout(neutral=self.home / host)
            node = NodeContext(
                EmbeddedSpec(), layout, host, MASTER, classpath=self.distribution.classpath, programs=HADOOP.parent
            )
            environment = {**self._environment, "HADOOP_CONF_DIR": str(node.conf_dir)}
            command = daemon_command(kind, self.distribution, self._starts(), node)
            after = command.index("-cp") + 1
            command[after] = f"{self._classes}:{command[after]}"
            log = self._log(kind, host)
            self._daemons.append((kind, log, self.nodes[host].start(command, environment, log)))

    def _wait(self, kind):
        for known, log, process in self._daemons:
            if known is kind:
                wait_for(
                    lambda log=log, process=process: kind.ready_text in log.read_text() or process.poll() is not None,
                    120,
                )
                assert process.poll() is None, f"{log}: {last_words(log)}"

    def _log(self, kind, host):
        return self.home / host / "logs" / f"{kind.role}.log"


class OnMaster:
    """What runs on the cluster's master; put `enter` before its commands."""

    def __init__(self, place, cluster):
        self.place, self.cluster = place, cluster
        place.environment |= {"KRB5_CONFIG": str(cluster.realm.config)}
        holder = str(cluster.nodes[MASTER].holder)
        self.enter = ["nsenter", "--target", holder, "--net", "--uts", "--mount", f"--wd={place.home}", "--"]


@contextmanager
def a_client(kind: type[OnMaster], tmp_path_factory, beside: Beside = Beside()):  # noqa: B008 - a value
    """It, its cluster and all that runs on that go at the scope's end."""
    home = tmp_path_factory.mktemp("secured")
    for name in ("secured", "place"):
        (home / name).mkdir()
    with Lease(home / "state", "cluster") as lease:
        (lan,) = make_lans(NAMES, [None], home, lease, os.environ)
        cluster = SecuredCluster(home / "secured", lease, lan, beside)
        cluster.start()
        with a_place(home / "place") as place:
            yield kind(place, cluster)
            assert place.left_over() == []
