"""Proves that packets as tshark prints them become flows, that a mark is exact, and what is told when nothing is captured."""

import os
import shutil
import socket
import threading
import time
from pathlib import Path

import pytest

from assay.model.layout import Layout
from assay.model.probe import ProbeContext, Scene
from assay.node.local import LocalNode
from assay.probe.network import Network
from assay.probe.nftables import Count, CountedFlow, FlowsError
from assay.probe.own_cost import Children
from assay_extras.packet_capture import capture
from assay_extras.packet_capture.capture import (
    Capture,
    Pipeline,
    Tally,
    Tools,
    capture_filter,
    capturing,
    find_tools,
    reading_command,
)
from tests.probe.faking import amounts_of, measuring

FIXTURES = Path(__file__).parents[2] / "fixtures" / "extras" / "packet_capture"
# Of real traffic: 300000 bytes to port 23562; a fence of 2 bytes; by IPv6 200000 bytes from port 23566; 5000 bytes to
# it from 127.0.0.2 and 100 bytes back; a fence of 3.
PACKETS = (FIXTURES / "packets.txt").read_bytes()
LAST_WORDS = (FIXTURES / "dumpcap-end.txt").read_text()
PORTS, FENCE_PORT = (23562, 23566), 23563
HERE, TWO = "127.0.0.1", "127.0.0.2"
SENT, ANSWERED = 5_000_000, 200_000
LARGEST_SEGMENT = 1 << 16


def tallied(piece_bytes=1 << 20):
    tally = Tally(PORTS, FENCE_PORT)
    for start in range(0, len(PACKETS), piece_bytes):
        tally.take(PACKETS[start : start + piece_bytes])
    return tally


class TestTally:
    def test_frames_become_ip_bytes_by_flow(self):
        tally = tallied()
        # Each IPv4 packet has 20 + 32 bytes of headers, but a connection's first one in each direction: 20 + 40.
        assert tally.sums()[CountedFlow(HERE, HERE, 23562, to_server=True)] == Count(300_000 + 11 * 52 + 8, 11)
        assert tally.sums()[CountedFlow(TWO, HERE, 23566, to_server=True)] == Count(5_000 + 6 * 52 + 8, 6)
        assert tally.sums()[CountedFlow(HERE, TWO, 23566, to_server=False)] == Count(100 + 4 * 52 + 8, 4)
        by_ipv6 = tally.sums()[CountedFlow("::1", "::1", 23566, to_server=False)]
        assert by_ipv6 == Count(200_000 + by_ipv6.packets * 72 + 8, by_ipv6.packets)
        assert sum(count.packets for count in tally.sums().values()) == PACKETS.count(b"\n") - 2, "fences are not told"
        assert tally.strange_lines == 0

    @pytest.mark.parametrize("piece_bytes", [1, 7, 100, 1000])
    def test_lines_may_come_in_pieces(self, piece_bytes):
        assert tallied(piece_bytes).sums() == tallied().sums()
        assert tallied(piece_bytes).at_fence == tallied().at_fence

    def test_a_fence_parts_what_passed_before_it_from_the_rest(self):
        tally = Tally(PORTS, FENCE_PORT)
        end = PACKETS.index(b"23563\n") + len(b"23563\n")
        tally.take(PACKETS[: end + 80])
        assert tally.fence == 2
        assert {flow.port for flow in tally.at_fence} == {23562}
        assert len(tally.sums()) == 3
        tally.take(PACKETS[end + 80 :])
        assert tally.fence == 3
        assert tally.at_fence == tally.sums()

    def test_between_two_listening_ports_both_directions_are_told_as_the_packet_filter_does(self):
        tally = Tally((1, 2), 9)
        tally.take(b"114\ta\t1\tb\t2\n")
        assert tally.sums() == {
            CountedFlow("a", "b", 2, to_server=True): Count(100, 1), CountedFlow("a", "b", 1, to_server=False): Count(100, 1),
        }  # fmt: skip

    @pytest.mark.parametrize(
        "line", [b"", b"74\t127.0.0.1\t\t127.0.0.1\t", b"long\ta\t1\tb\t2", b"74\ta\t1\tb\t2\tmore"]
    )
    def test_a_line_of_no_tcp_packet_is_counted_as_such(self, line):
        tally = Tally((1, 2), 9)
        tally.take(line + b"\n")
        assert (tally.sums(), tally.strange_lines) == ({}, 1)


def test_only_the_daemons_ports_and_the_fences_are_captured():
    assert capture_filter([9866, 13562], 40000) == (
        "(tcp and (port 9866 or port 13562)) or (udp and src port 40000 and dst port 40000)"
    )


class FakePipeline:
    """Prints what a test says, and the last fence that its capture asked for."""

    def __init__(self):
        self.said, self.stopped, self.answers, self.prints = LAST_WORDS, False, True, []
        self.capture = None

    def __call__(self, packets):
        self._port = packets.rsplit(" ", 1)[1].rstrip(")")
        return self

    def pieces(self):
        while not self.stopped:
            while self.prints:
                yield self.prints.pop(0)
            if self.answers:
                yield f"{42 + self.capture._fence}\t{HERE}\t{self._port}\t{HERE}\t{self._port}\n".encode()
            time.sleep(0.005)

    def complaints(self):
        return self.said

    def stop(self):
        self.stopped = True

    def close(self):
        pass


@pytest.fixture
def pipeline():
    return FakePipeline()


@pytest.fixture
def made(pipeline):
    pipeline.capture = Capture((13562,), pipeline)
    pipeline.capture.make()
    yield pipeline.capture
    pipeline.capture.remove()


class TestCapture:
    def test_it_reads_what_passed_before_the_mark(self, made, pipeline):
        assert made.read() == {}
        pipeline.prints.append(b"1014\ta\t13562\tb\t5\n")
        while not made.glance():
            pass
        assert made.read() == {CountedFlow("a", "b", 13562, to_server=False): Count(1000, 1)}

    def test_nothing_lost_is_no_doubt(self, made):
        assert made.doubts() == ()
        made.remove()
        assert made.doubts() == ()

    def test_lost_packets_are_a_doubt(self, made, pipeline):
        pipeline.said = LAST_WORDS.replace(": 41/0 (pcap:0", ": 41/7 (pcap:7")
        (doubt,) = made.doubts()
        assert doubt.kind == "network-packets-dropped"
        assert "lost 7 of 48 packets" in doubt.what

    def test_so_is_silence_about_them(self, made, pipeline):
        pipeline.said = "Capturing on 'Loopback: lo'"
        assert "not known" in made.doubts()[0].what

    def test_and_lines_that_tell_nothing(self, made, pipeline):
        pipeline.prints.append(b"who knows\n")
        while not made._tally.strange_lines:
            pass
        assert [doubt.kind for doubt in made.doubts()] == ["network-packets-unread"]

    def test_a_reader_that_is_behind_can_not_be_read(self, made, pipeline, monkeypatch):
        monkeypatch.setattr(capture, "PATIENCE_S", 0.05)
        pipeline.answers = False
        made.glance()
        with pytest.raises(FlowsError, match="behind"):
            made.read()

    def test_programs_that_end_say_why(self, made, pipeline):
        pipeline.said = "Capturing on 'Loopback: lo'\nThe network adapter on which the capture was being done is gone"
        pipeline.stopped = True
        made._thread.join()
        for read in (made.read, made.glance):
            with pytest.raises(FlowsError, match=r"the capture ended: The network adapter on .* is gone"):
                read()


class TestWithoutCapture:
    SCENE = Scene(layout=Layout.below(Path("/nowhere")), ports={"shuffle": (13562,)}, nodes=(LocalNode(),))

    def doubts_and_amounts(self, start):
        network = Network(LocalNode(), lambda ports: Capture(ports, start))
        with measuring(network, scene=self.SCENE) as reading:
            reading.mark("run")
        return reading.doubts, [one for one in amounts_of(reading) if not one.subject.startswith("interface")]

    def test_a_machine_without_tshark_is_told_what_to_install(self, tmp_path):
        (doubt,), amounts = self.doubts_and_amounts(lambda _: find_tools(str(tmp_path)))
        assert doubt.kind == "network-capture-missing"
        assert "no dumpcap and no tshark on this machine" in doubt.what
        assert "apt-get install tshark" in doubt.cure
        assert amounts == [], "nothing stands in"

    def test_who_may_not_capture_is_told_so(self, tmp_path):
        tools = programs(tmp_path, f"cat {FIXTURES / 'dumpcap-refused.txt'} >&2; exit 1", "cat")
        (doubt,), amounts = self.doubts_and_amounts(lambda packets: Pipeline(tools, packets, os.environ, ["lo"]))
        assert "You do not have permission to capture" in doubt.what
        assert amounts == []


def programs(place, dumpcap, tshark):
    """Two shell scripts in place of the programs."""
    for name, script in (("dumpcap", dumpcap), ("tshark", tshark)):
        (place / name).write_text(f"#!/bin/sh\n{script}\n")
        (place / name).chmod(0o755)
    return Tools(str(place / "dumpcap"), str(place / "tshark"))


def test_one_program_reads_what_the_other_captures(tmp_path):
    tools = programs(tmp_path, f"echo told >&2; cat {FIXTURES / 'packets.txt'}", "cat; echo too >&2")
    pipeline = Pipeline(tools, "port 1", os.environ, ["lo"])
    assert b"".join(pipeline.pieces()) == PACKETS
    pipeline.stop()
    assert pipeline.complaints() == "told\n\ntoo\n"
    pipeline.close()


def test_what_would_grow_with_the_traffic_is_turned_off():
    assert "tcp.analyze_sequence_numbers:FALSE" in reading_command("tshark")


class TestOnThisMachine:
    @pytest.fixture
    def server(self):
        if not (shutil.which("tshark") and shutil.which("dumpcap")) or os.geteuid():
            pytest.skip("needs tshark, and root")
        with socket.create_server((HERE, 0)) as server:
            yield server

    def test_what_went_over_loopback_is_counted_with_its_headers(self, server):
        port, children = server.getsockname()[1], Children()
        counter = capturing(ProbeContext(os.environ, children.watch))([port])
        counter.make()
        assert counter.read() == {}
        again = segments_sent_again()
        talk(server)
        flows = counter.read()
        # How many packets it takes depends on what else runs here, and so does what is sent again, which counts too.
        again_bytes = (segments_sent_again() - again) * LARGEST_SEGMENT
        payload = {flow.to_server: count.bytes - 52 * count.packets for flow, count in flows.items()}
        assert SENT <= payload[True] <= 1.01 * SENT + again_bytes
        assert ANSWERED <= payload[False] <= 1.01 * ANSWERED + again_bytes
        assert {(flow.sender, flow.receiver, flow.port) for flow in flows} == {(HERE, HERE, port)}
        assert 0 < children.busy_s < 5
        assert counter.doubts() == ()
        busy_s = children.busy_s
        assert busy_s == children.busy_s


def segments_sent_again():
    """By all of this host's connections since it started (proc_net_snmp(5), RetransSegs)."""
    names, values = (
        line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if line.startswith("Tcp:")
    )
    return int(dict(zip(names, values, strict=True))["RetransSegs"])


def talk(server):
    """A client sends, the server answers."""

    def serve():
        connection, _ = server.accept()
        with connection:
            received = 0
            while received < SENT:
                received += len(connection.recv(1 << 20))
            connection.sendall(bytes(ANSWERED))

    thread = threading.Thread(target=serve)
    thread.start()
    with socket.create_connection(server.getsockname()) as client:
        client.sendall(bytes(SENT))
        while client.recv(1 << 20):
            pass
    thread.join()
