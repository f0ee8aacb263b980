"""Proves that both stores keep their contract: WebHDFS against a small server of its calls, `hadoop fs` against a script."""

import json
import socket
import stat
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlparse

import httpx
import pytest

from assay.model.errors import AssayError
from assay.store.hadoop_fs import HadoopFs
from assay.store.hdfs import WebHdfs
from tests.serving import running


class NameNode(BaseHTTPRequestHandler):
    """Answers the few WebHDFS calls that the store makes, in the shapes of Hadoop 3's documentation."""

    files: dict[str, bytes]
    withheld = 0
    dead: str = ""
    asked: list[str]

    def do_GET(self):
        path, operation = self._parse()
        if operation == "":
            begin, end = self._range(len(self.files[path]))
            return self._send(200, self.files[path][begin:end], self.withheld)
        under = {name: body for name, body in self.files.items() if name == path or name.startswith(path + "/")}
        if not under:
            return self._refuse(404, f"File does not exist: {path}")
        if operation == "OPEN":
            return self._redirect(path)
        if operation == "GET_BLOCK_LOCATIONS":
            place = {"hostName": "LOCALHOST", "ipAddr": "10.0.0.7"}
            return self._answer({"LocatedBlocks": {"locatedBlocks": [{"locations": [place]}]}})
        if operation == "GETCONTENTSUMMARY":
            return self._answer({"ContentSummary": {"length": sum(map(len, under.values()))}})
        rows = [
            {"pathSuffix": name[len(path) + 1 :], "type": "FILE", "length": len(body)}
            for name, body in under.items()
            if "/" not in name[len(path) + 1 :]
        ]
        folders = dict.fromkeys(
            name[len(path) + 1 :].partition("/")[0] for name in under if "/" in name[len(path) + 1 :]
        )
        rows += [{"pathSuffix": name, "type": "DIRECTORY", "length": 0} for name in folders]
        return self._answer({"FileStatuses": {"FileStatus": rows}})

    def do_PUT(self):
        path, operation = self._parse()
        if operation == "":
            self.files[path] = self._chunks()
            return self._send(201, b"")
        if path in self.files:
            return self._refuse(403, f"{path} already exists\nat some.Class")
        return self._redirect(path)

    def do_DELETE(self):
        path, _ = self._parse()
        for name in [name for name in self.files if name.startswith(path)]:
            del self.files[name]
        self._answer({"boolean": True})

    def _parse(self):
        """The path, and the operation; none on the address of a DataNode, which here is the same server."""
        url = urlparse(self.path)
        return url.path.removeprefix("/webhdfs/v1").removeprefix("/data"), parse_qs(url.query).get("op", [""])[0]

    def _redirect(self, path):
        excluded = parse_qs(urlparse(self.path).query).get("excludedatanodes", [""])[0]
        self.asked.append(excluded)
        host = self.dead if self.dead and excluded != "10.0.0.7" else self.headers["Host"]
        self._answer({"Location": f"http://{host}/data{path}?{self._wanted()}"})

    def _wanted(self):
        """The part of a file that was asked for, as the NameNode hands it on to the DataNode's address."""
        asked = parse_qs(urlparse(self.path).query)
        return "&".join(f"{name}={asked[name][0]}" for name in ("offset", "length") if name in asked)

    def _range(self, size):
        asked = parse_qs(urlparse(self.path).query)
        begin = int(asked.get("offset", ["0"])[0])
        return begin, begin + int(asked["length"][0]) if "length" in asked else size

    def _chunks(self):
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, content):
        self._send(200, json.dumps(content).encode())

    def _refuse(self, code, message):
        self._send(code, json.dumps({"RemoteException": {"message": message}}).encode())

    def _send(self, code, body, withheld=0):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) - withheld])

    def log_message(self, *_):
        pass


@pytest.fixture
def webhdfs():
    NameNode.files, NameNode.withheld, NameNode.dead, NameNode.asked = {}, 0, "", []
    with running(ThreadingHTTPServer(("127.0.0.1", 0), NameNode)) as server:
        yield WebHdfs(f"http://127.0.0.1:{server.server_port}")


def test_webhdfs_puts_and_sizes_and_deletes(webhdfs, tmp_path):
    source = tmp_path / "edges.tsv"
    source.write_bytes(b"1\t2\n" * 1000)
    webhdfs.put(source, "/in/edges.tsv")
    assert webhdfs.size_bytes("/in") == 4000
    webhdfs.delete("/in")
    assert webhdfs.size_bytes("/in") == 0


def test_bytes_of_files_are_those_that_were_brought_unless_some_are_compressed(webhdfs):
    assert webhdfs.put_bytes("/in") == 0
    NameNode.files |= {"/in/part-0": b"a\nb\n", "/in/deep/part-1": b"c\n", "/other/x.gz": b"?"}
    assert webhdfs.put_bytes("/in") == 6
    NameNode.files["/in/deep/more.gz"] = b"?"
    assert webhdfs.put_bytes("/in") is None


@pytest.mark.parametrize("name", ["a b", "ä#1", "50%20", "[x]?", "a+b"])
def test_webhdfs_keeps_the_name_of_a_file(webhdfs, tmp_path, name):
    (tmp_path / name).write_bytes(b"1\t2\n")
    webhdfs.put(tmp_path / name, f"/in/{name}")
    assert [unquote(path) for path in NameNode.files] == [f"/in/{name}"]


def test_webhdfs_reads_lines_over_pieces_and_skips_hidden_files(webhdfs):
    NameNode.files |= {
        "/out/part-0": b"a\nb\n",
        "/out/part-1": b"c\nno end",
        "/out/_SUCCESS": b"x\n",
        "/out/empty": b"",
    }
    assert list(webhdfs.lines("/out")) == [b"a", b"b", b"c", b"no end"]


@pytest.fixture
def closed_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def test_webhdfs_turns_to_another_datanode_where_one_is_dead(webhdfs, closed_port):
    """The NameNode sends readers to a dead one for ten minutes."""
    NameNode.files |= {"/out/part-0": b"abc"}
    NameNode.dead = f"localhost:{closed_port}"
    assert b"".join(webhdfs.pieces("/out/part-0")) == b"abc"
    assert NameNode.asked == ["", "10.0.0.7"]


def test_webhdfs_gives_up_where_the_only_datanode_is_dead(webhdfs, closed_port, monkeypatch):
    NameNode.files |= {"/out/part-0": b"abc"}
    NameNode.dead = f"localhost:{closed_port}"
    monkeypatch.setattr(WebHdfs, "_address_of", lambda *_: None)
    with pytest.raises(AssayError, match="reading /out/part-0 from HDFS failed: .*refused"):
        list(webhdfs.pieces("/out/part-0"))


def test_webhdfs_lists_files_and_reads_parts_of_them(webhdfs):
    body = bytes(range(256)) * 10_000
    NameNode.files |= {"/out/part-1": body, "/out/part-0": b"abc", "/out/_SUCCESS": b""}
    assert webhdfs.list_files("/out") == [("/out/part-0", 3), ("/out/part-1", len(body))]
    assert b"".join(webhdfs.pieces("/out/part-1")) == body
    assert b"".join(webhdfs.pieces("/out/part-1", 1_000_001, 300)) == body[1_000_001:1_000_301]
    assert b"".join(webhdfs.pieces("/out/part-0", 1, 300)) == b"bc"


def test_webhdfs_writes_a_stream(webhdfs):
    webhdfs.write("/in/rows", (bytes([at]) * 1000 for at in range(3)))
    assert b"".join(webhdfs.pieces("/in/rows")) == bytes(1000) + b"\1" * 1000 + b"\2" * 1000
    assert webhdfs.streams


def test_a_file_that_ends_too_early_is_no_whole_file(webhdfs):
    NameNode.files["/out/x"], NameNode.withheld = b"abc" * 1000, 7
    with pytest.raises(AssayError, match="reading /out/x from HDFS broke off: 7 bytes did not come"):
        list(webhdfs.pieces("/out/x"))


def test_webhdfs_refusals_are_one_sentence(webhdfs, tmp_path):
    NameNode.files["/in/x"] = b""
    (tmp_path / "x").touch()
    with pytest.raises(AssayError, match=r"^HDFS refused CREATE of /in/x: /in/x already exists$"):
        webhdfs.put(tmp_path / "x", "/in/x")


def test_webhdfs_that_does_not_answer_is_an_assay_error():
    with pytest.raises(AssayError, match="did not answer LISTSTATUS"):
        list(WebHdfs("http://127.0.0.1:9").lines("/out"))


def test_a_file_that_is_removed_while_blocks_are_looked_up_has_none(monkeypatch):
    files = [{"type": "FILE", "pathSuffix": name} for name in ("kept", "removed")]
    located = [{"block": {"blockId": 7, "numBytes": 100}, "locations": ["a", "b"]}]
    answers = {
        ("/logs", "GETFILESTATUS"): {"FileStatus": {"type": "DIRECTORY"}},
        ("/logs", "LISTSTATUS"): {"FileStatuses": {"FileStatus": [*files, {"type": "FILE", "pathSuffix": "gone"}]}},
        **{(f"/logs/{file['pathSuffix']}", "GETFILESTATUS"): {"FileStatus": file} for file in files},
        ("/logs/kept", "GET_BLOCK_LOCATIONS"): {"LocatedBlocks": {"locatedBlocks": located}},
    }

    def send(_, __, path, op):
        answer = answers.get((path, op))
        return httpx.Response(200, json=answer) if answer else httpx.Response(404)

    monkeypatch.setattr(WebHdfs, "_send", send)
    assert WebHdfs("http://127.0.0.1:9").blocks("/logs") == {7: 200}


@pytest.fixture
def hadoop_fs(tmp_path):
    def make(body):
        script = tmp_path / "hadoop"
        script.write_text(f'#!/bin/bash\necho "$@" >>{tmp_path}/calls\n{body}\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return HadoopFs(script)

    return make


def test_hadoop_fs_does_not_take_a_stream_so_that_nodes_write_what_is_made(hadoop_fs):
    assert not hadoop_fs("").streams


@pytest.mark.parametrize("name", ["x", "a b", "ä#1", "50%20", "[x]", "a,b", "*"])
def test_hadoop_fs_makes_the_parent_and_puts_a_file_of_any_name(hadoop_fs, tmp_path, name):
    """The client gets the bytes alone: it would read the name as a URI and a pattern."""
    (tmp_path / name).write_bytes(b"1\t2\n")
    hadoop_fs(f'[ "$2" != -put ] || cat >"{tmp_path}/got"').put(tmp_path / name, "/in/x")
    assert (tmp_path / "calls").read_text().splitlines() == ["fs -mkdir -p /in", "fs -put - /in/x"]
    assert (tmp_path / "got").read_bytes() == b"1\t2\n"


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/logs/2026", "/logs/2026"),
        ("/logs [1]/*", r"/logs \[1\]/\*"),
        ("hdfs://[::1]:8020/a{b}?", r"hdfs://[::1]:8020/a\{b\}\?"),
        ("s3a://x/a\\b", r"s3a://x/a\\b"),
    ],
)
def test_hadoop_fs_takes_a_path_for_itself_and_for_no_pattern(hadoop_fs, tmp_path, path, pattern):
    store = hadoop_fs('[ "$2" != -du ] || echo "42 42 x"')
    store.list_files(path), store.list_below(path), list(store.pieces(path)), store.size_bytes(path)
    store.get([path], tmp_path)
    store.delete(path)
    calls = [call.removesuffix(f" {tmp_path}") for call in (tmp_path / "calls").read_text().splitlines()]
    assert all(call.endswith(f" {pattern}") for call in calls)
    assert len(calls) == 7


@pytest.mark.parametrize("names", ["alice hadoop", "alice domain users", r"CORP\alice CORP\domain users", ""])
def test_hadoop_fs_lists_files_whoever_owns_them(hadoop_fs, names):
    """Names of a directory service have blanks, and object stores know none."""
    path = "/logs/a  b 1 2026-11-25"
    listing = (
        f"Found 2 items\ndrwxr-xr-x   - {names}          0 2026-11-25 03:15 /logs/x\n"
        f"-rw-r--r--+  3 {names}         42 2026-11-25 03:15 {path}"
    )
    store = hadoop_fs(f"cat <<'END'\n{listing}\nEND")
    assert store.list_files("/logs") == [(path, 42)]
    assert [(file.path, file.bytes) for file in store.list_below("/logs")] == [(path, 42)]


def test_hadoop_fs_names_what_it_can_not_list_or_copy(hadoop_fs, tmp_path):
    store = hadoop_fs(
        'echo "-rw-r--r--   3 a b         42 2026-11-25 03:15 /logs/a"; echo "WARN util.NativeCodeLoader" >&2\n'
        'echo "${2#-}: Permission denied: user=b" >&2; exit 1'
    )
    unread = []
    assert [file.path for file in store.list_below("/logs", unread)] == ["/logs/a"]
    assert unread == store.get(["/logs/c"], tmp_path) == ["Permission denied: user=b"]
    with pytest.raises(AssayError, match="Permission denied"):
        store.list_below("/logs")


def test_hadoop_fs_reads_lines_and_sizes(hadoop_fs):
    store = hadoop_fs('case "$2" in -cat) printf "a\\nb\\n";; -du) echo "42 42 /out";; esac')
    assert list(store.lines("/out")) == [b"a", b"b"]
    assert store.size_bytes("/out") == 42


def test_hadoop_fs_that_cannot_know_whether_a_path_is_there_does_not_call_it_missing(hadoop_fs):
    warning = "echo 'WARN util.NativeCodeLoader: Unable to load' >&2"
    assert hadoop_fs(warning).exists("/a")
    assert not hadoop_fs(f"{warning}; exit 1").exists("/a")
    assert hadoop_fs("exit 1").size_bytes("/a") == 0
    for said, code in (("test: Call From a to b failed", 1), ("-test: java.net.UnknownHostException: b", 255)):
        with pytest.raises(AssayError, match=rf"^hadoop fs -test -e /a failed: {said}$"):
            hadoop_fs(f"echo '{said}' >&2; exit {code}").exists("/a")


def test_hadoop_fs_says_the_last_line_of_a_failure(hadoop_fs, tmp_path):
    (tmp_path / "x").touch()
    store = hadoop_fs("echo warning >&2; echo 'put: quota exceeded' >&2; exit 1")
    with pytest.raises(AssayError, match="put: quota exceeded"):
        store.put(tmp_path / "x", "/in/x")
    with pytest.raises(AssayError, match="put: quota exceeded"):
        list(store.lines("/out"))
    assert store.size_bytes("/absent") == 0


def test_hadoop_fs_lists_files_and_reads_parts_of_them(hadoop_fs):
    listing = (
        "Found 3 items\\n"
        "drwxr-xr-x   - me us          0 2026-01-01 10:00 /out/deep\\n"
        "-rw-r--r--   1 me us          0 2026-01-01 10:00 /out/_SUCCESS\\n"
        "-rw-r--r--   1 me us    4000000 2026-01-01 10:00 /out/a part\\n"
    )
    store = hadoop_fs(f'case "$2" in -ls) printf "{listing}";; -cat) head -c 4000000 /dev/zero; printf end;; esac')
    assert store.list_files("/out") == [("/out/a part", 4_000_000)]
    assert sum(map(len, store.pieces("/out/a part"))) == 4_000_003
    assert b"".join(store.pieces("/out/a part", 3_999_998, 4)) == b"\0\0en"
    assert b"".join(store.pieces("/out/a part", 10, 4)) == b"\0\0\0\0"
    assert b"".join(store.pieces("/out/a part", 4_000_001, 100)) == b"nd"


def test_hadoop_fs_that_fails_while_a_file_is_read_says_so(hadoop_fs):
    store = hadoop_fs("printf abc; echo 'cat: block is lost' >&2; exit 1")
    with pytest.raises(AssayError, match="block is lost"):
        list(store.pieces("/out/x"))
