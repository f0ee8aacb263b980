"""Proves that a foreign cluster's web interfaces are asked within bounds, over TLS too, and that each silence has its reason."""

import shutil
import subprocess
import threading
import time

import pytest

from assay.engine.job_history_server import HistoryServer
from assay.host.http import BoundedWeb, Bounds
from assay.model.errors import AssayError, BadInputError, NoAnswerError
from assay.node.local import LocalNode
from tests.serving import serving


def why(web, url):
    with pytest.raises(NoAnswerError) as caught:
        web.ask(url)
    assert str(caught.value).startswith(f"{url}: ")
    return caught.value.reason


def test_an_answer_is_its_json_and_parameters_are_passed_on():
    with serving({"/jmx": lambda query: {"query": query}}) as server:
        web = BoundedWeb()
        assert web.ask(f"{server.url}/jmx", {"qry": "a:b=c,d=*"}) == {"query": {"qry": "a:b=c,d=*"}}
        assert web.ask(f"{server.url}/jmx?qry=x") == {"query": {"qry": "x"}}
        assert web.count == 2
        web.close()


def test_each_silence_has_its_reason():
    (nobody,) = LocalNode().free_ports(1)
    remote = {"RemoteException": {"message": "Standby state\nat org.apache"}}
    answers = {
        "/login": (401, {}), "/broken": (500, remote), "/bad": (400, {"status": "error", "error": "parse error"}),
        "/text": (200, "<html>"), "/slow": lambda _: time.sleep(1) or {}, "/long": {"text": "x" * (1 << 20)},
    }  # fmt: skip
    with serving(answers) as server:
        web = BoundedWeb(bounds=Bounds(timeout_s=0.3, most_bytes=1 << 19))
        assert "asks for a login" in why(web, f"{server.url}/login")
        assert why(web, f"{server.url}/broken") == "HTTP status 500 (Standby state)"
        assert why(web, f"{server.url}/bad") == "HTTP status 400 (parse error)"
        assert why(web, f"{server.url}/none") == "HTTP status 404"
        assert why(web, f"{server.url}/text") == "its answer is not JSON"
        assert why(web, f"{server.url}/slow") == "no answer within 0.3 s"
        assert "more than 0 MiB" in why(web, f"{server.url}/long")
        assert "refused" in why(web, f"http://127.0.0.1:{nobody}/")


def test_many_threads_ask_a_few_at_once_and_so_many_a_second():
    with serving({"/": lambda _: time.sleep(0.02) or {}}) as server:
        web = BoundedWeb(bounds=Bounds(at_once=3, per_second=100))
        began_s = time.monotonic()
        threads = [threading.Thread(target=web.ask, args=(server.url,)) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - began_s > 39 / 100
        assert server.most_at_once <= 3
        assert len(server.asked) == web.count == 40


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Signed by itself, for 127.0.0.1."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    names = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-out", names[0], "-keyout", names[1]],
        check=True, capture_output=True,
    )  # fmt: skip
    return names


def test_a_file_of_certificates_is_what_https_addresses_are_trusted_by(certificate):
    history = {"/ws/v1/history/mapreduce/jobs/job_1_0001/tasks": {"tasks": None}}
    with serving({"/": {"good": True}, **history}, certificate) as server:
        assert BoundedWeb(certificate[0]).ask(server.url + "/") == {"good": True}
        assert "certificate verify failed" in why(BoundedWeb(), server.url + "/")
        known = HistoryServer(server.url, patience_s=0, ca_file=certificate[0])
        with pytest.raises(AssayError, match="404"):
            known.failure("job_1_0001")
        with pytest.raises(AssayError, match="certificate verify failed"):
            HistoryServer(server.url, patience_s=0).failure("job_1_0001")


def test_a_file_without_certificates_is_refused(tmp_path):
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(BadInputError, match=r"ca\.pem can't be used: it holds no certificate; name a file"):
        BoundedWeb(tmp_path / "ca.pem")
    with pytest.raises(BadInputError, match="No such file"):
        BoundedWeb(tmp_path / "none.pem")
