"""Proves against a real KDC what a login gives, what is said where there is none, and that a keytab's tickets stay good."""

import os
import subprocess
import time

import pytest

from assay.host import kerberos
from assay.host.kerberos import Login, NoTicketError
from assay.model.kerberos import KerberosSpec
from assay.node.local import LocalNode
from tests.it.securing import LACKING, PROGRAMS, REALM, Realm

gssapi = pytest.importorskip("gssapi", reason="the Kerberos library is not installed (setup/prepare kerberos)")
pytestmark = [
    pytest.mark.it,
    pytest.mark.skipif(bool(LACKING), reason=f"there is no {', '.join(LACKING)} (apt-get install krb5-kdc krb5-user)"),
]


@pytest.fixture
def realm(tmp_path, monkeypatch):
    (port,) = LocalNode().free_ports(1)
    found = Realm(tmp_path / "realm", f"127.0.0.1:{port}", f"127.0.0.1:{port}")
    found.add({tmp_path / "keytab": ["tester"], tmp_path / "web": ["HTTP/master"]})
    found.add({tmp_path / "brief": ["brief"]}, "-maxlife 8s")
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    found.process = found.start(LocalNode(), os.environ)
    yield found
    found.process.kill()
    found.process.wait()


def why(act):
    with pytest.raises(NoTicketError) as caught:
        act()
    return str(caught.value)


def test_a_keytab_gives_tickets_and_proofs_for_servers_that_the_realm_knows(realm, tmp_path):
    login = Login(KerberosSpec(keytab=tmp_path / "keytab"), {})
    assert login.ticket().principal == f"tester@{REALM}"
    assert login.ticket().left_s > 3600
    assert login.authorization("master").startswith("Negotiate YII")
    unknown = (
        f"there is no Kerberos ticket for HTTP/worker-1: Server HTTP/worker-1@{REALM} not found in Kerberos database"
    )
    assert why(lambda: login.authorization("worker-1")) == unknown
    other = Login(KerberosSpec(keytab=tmp_path / "keytab", principal="nobody"), {})
    assert why(other.ticket).endswith("keytab: it holds no key of nobody")
    realm.process.kill()
    realm.process.wait()
    again = Login(KerberosSpec(keytab=tmp_path / "keytab"), {})
    assert why(again.ticket).endswith(f"Cannot contact any KDC for realm '{REALM}'")


def test_a_users_tickets_expire(realm, tmp_path):
    cache = tmp_path / "cache"
    kinit = [PROGRAMS["kinit"], "-k", "-t", str(tmp_path / "keytab"), "-c", str(cache), "-l", "2s", "tester"]
    subprocess.run(kinit, check=True, timeout=20)
    login = Login(KerberosSpec(), {"KRB5CCNAME": f"FILE:{cache}"})
    assert 0 < login.ticket().left_s <= 2
    assert login.authorization("master").startswith("Negotiate ")
    time.sleep(2.5)
    assert (
        why(login.ticket) == why(lambda: login.authorization("master")) == f"the Kerberos ticket in {cache} has expired"
    )
    cache.write_bytes(b"none")
    assert "Unsupported credentials cache format" in why(login.ticket)


@pytest.mark.usefixtures("realm")
def test_tickets_from_a_keytab_are_good_for_longer_than_one_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(kerberos, "RENEW_S", 1.0)
    login = Login(KerberosSpec(keytab=tmp_path / "brief"), {})
    with login.kept(tmp_path):
        cache = login.environment({})["KRB5CCNAME"]
        mine = Login(KerberosSpec(ticket_cache=cache), {})  # as Hadoop's clients read it
        for _ in range(12):
            assert 0 < mine.ticket().left_s <= 8
            assert mine.authorization("master")
            time.sleep(1)
