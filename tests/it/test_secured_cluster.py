"""Proves that a cluster with Kerberos and TLS is used as others are, from a keytab and with a user's tickets.

A client on the master of a secured Hadoop runs jobs, reads all its daemons by SPNEGO and its nodes over SSH and from
YARN. What is wrong with a login is said before anything starts; tickets that expire meanwhile cost what was not read.
"""

import time

import pytest

from assay.engine.tasks import FILE_SYSTEM_COUNTERS
from assay.model.doubt import Outcome
from tests.it.driving import assay_command
from tests.it.securing import COOKIE_S, MARKS, REALM, USER, WORKERS, OnMaster, a_client
from tests.it.test_ssh import PORT, SSHD, sshd_on

gssapi = pytest.importorskip("gssapi", reason="the Kerberos library is not installed (setup/prepare kerberos)")
pytestmark = MARKS
needs_sshd = pytest.mark.skipif(SSHD is None, reason="there is no sshd (apt-get install openssh-server)")
MB = 1_000_000
EXPERIMENT = """
experiment: secured
workloads: {{name: terasort, options: {{size: {size}}}, hadoop: {{mapreduce.terasort.output.replication: 2}}}}
cluster: {{conf_dir: {conf_dir}{more}}}
settings: small
hadoop: {{mapreduce.job.reduces: 2, dfs.replication: 2}}
"""


class Client(OnMaster):
    def __init__(self, place, cluster):
        super().__init__(place, cluster)
        self.tickets = place.home / "tickets"
        place.environment |= {"KRB5CCNAME": str(self.tickets)}

    def experiment(self, size="8MB", **more):
        more.setdefault("ca_file", self.cluster.certificates.authority)
        given = "".join(f", {key}: {value}" for key, value in more.items() if value)
        return self.place.experiment(EXPERIMENT.format(size=size, conf_dir=self.cluster.conf_dir, more=given))

    def run(self, out, size="8MB", **more):
        """The record of a run of one trial."""
        command = assay_command("run", self.experiment(size, **more), "--out", out)
        self.place.command(*self.enter, *command)
        (record,) = self.place.records(out)
        return record

    def refused(self, *arguments, **more):
        """What is said before anything starts."""
        command = assay_command("run", self.experiment(**more), "--out", "none", *arguments)
        done = self.place.command(*self.enter, *command, code=2)
        assert not (self.place.home / "none").exists()
        return " ".join((done.stdout + done.stderr).split())

    @property
    def keytab(self):
        return f"{{keytab: {self.cluster.keytab}}}"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with a_client(Client, tmp_path_factory) as client:
        yield client


def amounts(record, series):
    return {
        one.node: one.value for one in record.amounts if (one.probe, one.series, one.part) == ("daemons", series, "run")
    }


def kinds(record):
    return {doubt.kind for doubt in record.doubts}


def test_with_a_keytab_jobs_run_and_all_daemons_tell_their_counters(client):
    record = client.run("keytab", "100MB", kerberos=client.keytab)
    assert record.outcome is Outcome.PASS, record.error
    assert not kinds(record) & {"daemon-silent", "login-lost", "machines-overlooked"}, record.doubts
    written = amounts(record, "hdfs_written_bytes")
    assert set(written) == set(WORKERS)
    output = 2 * record.totals.counters[FILE_SYSTEM_COUNTERS]["HDFS_BYTES_WRITTEN"]
    assert output == 200 * MB
    assert sum(written.values()) == pytest.approx(output, rel=0.05)
    assert {one.node for one in record.amounts if one.series == "cpu_s"} == {"master", *WORKERS}
    assert all(job.state == "SUCCEEDED" for job in record.jobs)


def test_with_the_users_tickets_too_and_a_day_that_is_too_short_is_a_doubt(client):
    client.cluster.kinit(client.tickets, "-l", "5m")
    record = client.run("by-ticket")
    assert record.outcome is Outcome.PASS, record.error
    assert not kinds(record) & {"daemon-silent", "login-lost"}, record.doubts
    experiment = client.experiment()
    dry = assay_command("run", experiment, "--dry-run", "--for", "3h")
    said = client.place.command(*client.enter, *dry)
    assert f"the ticket of {USER}@{REALM} ends in" in " ".join((said.stdout + said.stderr).split())


def test_what_is_wrong_with_a_login_is_said_before_anything_starts(client, tmp_path):
    client.tickets.unlink(missing_ok=True)
    assert f"ticket cache {client.tickets} is not there; run `kinit`" in client.refused()
    client.cluster.kinit(client.tickets, "-l", "2s")
    time.sleep(3)
    assert "has expired; run `kinit`" in client.refused()
    (tmp_path / "no.keytab").write_bytes(b"\5\2")
    assert "no.keytab: it holds no key" in client.refused(kerberos=f"{{keytab: {tmp_path}/no.keytab}}")
    other = f"{{keytab: {client.cluster.keytab}, principal: nobody}}"
    assert "it holds no key of nobody" in client.refused(kerberos=other)
    assert "not there; name the file of a keytab" in client.refused(kerberos="{keytab: gone.keytab}")


def test_a_server_without_a_trusted_certificate_is_named(client):
    command = assay_command("run", client.experiment(ca_file=None, kerberos=client.keytab), "--out", "untrusted")
    done = client.place.command(*client.enter, *command, code=2)
    assert "certificate verify failed" in done.stderr
    assert not (client.place.home / "untrusted").exists()


def test_tickets_that_expire_meanwhile_cost_what_was_not_read_and_the_trial_goes_on(client):
    """An expired ticket comes in the place of a good one while the jobs run, and a good one again before they end."""
    expired, good = client.place.home / "expired", client.place.home / "good"
    client.cluster.kinit(expired, "-l", "1s")
    client.cluster.kinit(good)
    client.cluster.kinit(client.tickets)
    started = client.place.start("run", client.experiment("400MB"), "--out", "expiring", enter=client.enter)
    started.until(r"trial 1/1 .* · run( ·|\n)")
    time.sleep(3)  # its client has begun
    expired.replace(client.tickets)
    time.sleep(COOKIE_S + 8)
    good.replace(client.tickets)
    assert started.exit_code() == 0, started.text
    (record,) = client.place.records("expiring")
    assert record.outcome is Outcome.PASS, record.error
    (lost,) = [doubt for doubt in record.doubts if doubt.kind == "login-lost"]
    assert "has expired" in lost.what
    assert set(amounts(record, "hdfs_written_bytes")) == set(WORKERS)


def test_a_run_whose_ticket_has_expired_stops_and_goes_on_later(client):
    client.cluster.kinit(client.tickets, "-l", "20s")
    started = client.place.start("run", client.experiment("400MB"), "--out", "stopped", enter=client.enter)
    assert started.exit_code() == 1, started.text
    said = " ".join(started.text.split())
    assert "has expired" in said
    assert "continue with --resume" in said
    assert client.place.records("stopped") == []
    client.cluster.kinit(client.tickets)
    command = assay_command("run", client.experiment("400MB"), "--out", "stopped", "--resume")
    client.place.command(*client.enter, *command)
    (record,) = client.place.records("stopped")
    assert record.outcome is Outcome.PASS, record.error


@needs_sshd
def test_nodes_are_read_over_ssh(client):
    home = client.place.home
    with sshd_on({name: client.cluster.nodes[name] for name in WORKERS}, home):
        options = "StrictHostKeyChecking=no, UserKnownHostsFile=/dev/null"
        ssh = f"{{user: root, port: {PORT}, key: {home}/id, options: [{options}]}}"
        record = client.run("over-ssh", kerberos=client.keytab, ssh=ssh)
    assert record.outcome is Outcome.PASS, record.error
    assert not [doubt for doubt in record.doubts if doubt.kind.startswith("nodes-")], record.doubts
    assert {one.node for one in record.amounts if one.probe == "cpu"} >= set(WORKERS)
