"""Proves that what a process binds to all interfaces is on loopback with the library, and that open ports are doubted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.platform import loopback
from assay.platform.loopback import PRELOADED, compile_library, doubts_of_ports, preloading

BINDS = """
import socket, sys
family, kind, address, only_six = sys.argv[1:]
made = socket.socket(getattr(socket, family), getattr(socket, kind))
if family == "AF_INET6":
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(only_six))
made.bind((address, 0))
print(made.getsockname()[0])
if kind == "SOCK_STREAM":
    made.listen()
    socket.create_connection(("::1" if only_six == "1" else "127.0.0.1", made.getsockname()[1])).close()
"""
LISTENS = "import socket, sys; made = socket.create_server(('', 0)); print(made.getsockname()[1], flush=True); sys.stdin.read()"
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    library, reason = compile_library(tmp_path_factory.mktemp("library") / "bin")
    assert not reason
    return preloading(os.environ, library)


@needs_compiler
def test_it_compiles_without_a_warning(tmp_path):
    source = Path(loopback.__file__).with_name("loopback.c")
    command = ["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", tmp_path / "a.so", source]
    subprocess.run(command, check=True)


@needs_compiler
@pytest.mark.parametrize(
    ("asked", "got"),
    [
        (("AF_INET", "SOCK_STREAM", "0.0.0.0", "0"), "127.0.0.1"),
        (("AF_INET", "SOCK_STREAM", "127.0.0.1", "0"), "127.0.0.1"),
        (("AF_INET6", "SOCK_STREAM", "::", "0"), "::ffff:127.0.0.1"),
        (("AF_INET6", "SOCK_STREAM", "::ffff:0.0.0.0", "0"), "::ffff:127.0.0.1"),
        (("AF_INET6", "SOCK_STREAM", "::", "1"), "::1"),
        (("AF_INET6", "SOCK_STREAM", "::1", "1"), "::1"),
        # A client's, by which it asks a name server.
        (("AF_INET", "SOCK_DGRAM", "0.0.0.0", "0"), "0.0.0.0"),
    ],
)
def test_servers_are_bound_to_loopback_and_reached_there(preloaded, asked, got):
    said = subprocess.run(
        [sys.executable, "-c", BINDS, *asked], env=preloaded, capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout, said.stderr) == (0, f"{got}\n", "")


@needs_compiler
@pytest.mark.parametrize(("family", "got"), [("AF_INET", "127.0.0.1"), ("AF_INET6", "::ffff:127.0.0.1")])
def test_who_listens_without_binding_is_on_loopback_too(preloaded, family, got):
    program = f"""
import socket
server = socket.socket(socket.{family})
server.listen()
socket.create_connection(("127.0.0.1", server.getsockname()[1])).close()
print(server.getsockname()[0])
"""
    said = subprocess.run([sys.executable, "-c", program], env=preloaded, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, f"{got}\n", "")


@needs_compiler
def test_sockets_that_are_no_servers_of_tcp_listen_as_without_the_library(preloaded, tmp_path):
    program = """
import os, socket, sys
os.chdir(sys.argv[1])
local = socket.socket(socket.AF_UNIX)
local.bind("here")
local.listen()
try:
    socket.socket(type=socket.SOCK_DGRAM).listen()
except OSError as error:
    print(error.strerror)
"""
    command = [sys.executable, "-c", program, tmp_path]
    said = subprocess.run(command, env=preloaded, capture_output=True, text=True, check=False)
    assert (said.stdout, said.stderr) == ("Operation not supported\n", "")


@pytest.mark.parametrize("name", ["a b", "a:b", "$LIB"])
def test_nothing_is_preloaded_from_a_path_that_the_linker_reads_otherwise(tmp_path, name):
    library, reason = compile_library(tmp_path / name)
    assert library is None
    assert f"no library can be preloaded from {tmp_path / name}" in reason


@needs_compiler
def test_an_address_that_is_none_is_refused_as_without_the_library(preloaded):
    program = "import socket; socket.socket().bind(('192.0.2.1', 0))"
    said = subprocess.run([sys.executable, "-c", program], env=preloaded, capture_output=True, text=True, check=False)
    assert "Errno 99" in said.stderr


@needs_compiler
def test_what_is_preloaded_already_stays(tmp_path):
    library, _ = compile_library(tmp_path)
    assert preloading({PRELOADED: "/other.so", "A": "b"}, library) == {PRELOADED: f"{library}:/other.so", "A": "b"}
    assert preloading({PRELOADED: "/other.so"}, None) == {PRELOADED: "/other.so"}


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [(None, "there is no C compiler"), ("echo 'fatal error: no netinet/in.h' >&2; exit 1", "no netinet/in.h")],
)
def test_without_a_compiler_that_works_open_ports_are_doubted_with_the_reason(tmp_path, monkeypatch, compiler, reason):
    if compiler is not None:
        (tmp_path / "cc").write_text(f"#!/bin/sh\n{compiler}\n")
        (tmp_path / "cc").chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(tmp_path))
        library, no_library = compile_library(tmp_path / "bin")
    assert library is None
    assert reason in no_library
    with subprocess.Popen([sys.executable, "-c", LISTENS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as daemon:
        port = int(daemon.stdout.readline())
        (doubt,) = doubts_of_ports({daemon.pid: "nodemanager"}, no_library)
        daemon.communicate()
    assert (doubt.kind, doubt.severity) == ("ports-open", 0)
    assert f"other hosts can reach nodemanager at port {port}: {no_library}" == doubt.what


@needs_compiler
def test_with_the_library_nothing_is_doubted(preloaded):
    with subprocess.Popen(
        [sys.executable, "-c", LISTENS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=preloaded
    ) as daemon:
        daemon.stdout.readline()
        assert doubts_of_ports({daemon.pid: "nodemanager"}, "") == ()
        daemon.communicate()
