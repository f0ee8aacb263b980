"""Proves that files of sar tell how long drives were busy, by stage, and that data which tell nothing are refused or named."""

import tarfile
from datetime import UTC, datetime

import pytest

from assay.model.errors import BadInputError
from assay.triage.busy import DriveTimes, too_short
from assay.triage.sar_files import files_of, read_sar
from tests.triage.test_busy import the_job

NAMES = "DEV;tps;rkB/s;wkB/s;areq-sz;aqu-sz;await;%util"


def write(folder, job, node, shares, step_s=10, gap=(0, 0), offset_s=0, rates="1000;1000"):
    """What `sadf -d` prints of a node around a job, whose drives are busy for shares of the time, but for a gap.

    They move so much, unless they are never busy.
    """
    begin_s = job.started_ms // 1000 - 120 + offset_s
    lines = [f"# hostname;interval;timestamp;{NAMES}"]
    for at_s in range(begin_s, job.finished_ms // 1000 + 120 + offset_s, step_s):
        if not gap[0] <= at_s - begin_s < gap[1]:
            moment = datetime.fromtimestamp(at_s + step_s, UTC)
            lines += [
                f"{node};{step_s};{moment:%Y-%m-%d %H:%M:%S} UTC;{device};10;{rates if share else '0;0'};8;1;1;{100 * share}"
                for device, share in shares.items()
            ]
    (folder / f"{node}.csv").write_text("\n".join(lines) + "\n")


SHARES = {"sda": 0.1, "sdb": 0.4, "sdb1": 0.9, "rhel-root": 0.9}


def busy(folder, job, **more):
    measured = read_sar(files_of([folder]), [job])
    return measured, DriveTimes(measured, [job], **more).of(job)


def test_the_busiest_drive_of_the_busiest_node_tells_what_is_usual(tmp_path):
    job = the_job()
    write(tmp_path, job, "worker-0.site.org", SHARES)
    write(tmp_path, job, "worker-1", {**SHARES, "sdb": 0.3})
    measured, of_job = busy(tmp_path, job)
    assert of_job.usual_s == {"map": pytest.approx(0.4 * 120, rel=0.05), "reduce": pytest.approx(0.4 * 60, rel=0.05)}
    assert of_job.seconds["map"] == pytest.approx(0.5 * 140, rel=0.05)
    assert (of_job.drives, measured.step_s, measured.remarks) == (2, 10, ())


def test_a_stage_in_a_gap_is_not_known(tmp_path):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        write(tmp_path, job, node, SHARES, gap=(140, 180))
    assert set(busy(tmp_path, job)[1].seconds) == {"reduce"}


def test_intervals_longer_than_half_of_a_stage_tell_a_bound_and_not_what_is_usual(tmp_path):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        write(tmp_path, job, node, SHARES, step_s=40)
    of_job = busy(tmp_path, job)[1]
    assert set(of_job.usual_s) == {"map"}
    assert set(of_job.seconds) == {"map", "reduce"}


def test_an_interval_with_impossible_values_is_a_gap(tmp_path):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        write(tmp_path, job, node, SHARES)
    lines = (tmp_path / "worker-0.csv").read_text().splitlines()
    place = 1 + 15 * len(SHARES)
    lines[place] = lines[place].replace(";1000;1000;8;1;1;10.0", ";429496728.80;1000;8;1;1;85899345.76")
    (tmp_path / "worker-0.csv").write_text("\n".join(lines) + "\n")
    measured, of_job = busy(tmp_path, job)
    assert (set(of_job.seconds), of_job.refuted) == ({"reduce"}, "")
    assert measured.remarks[0].startswith("--sar has 1 interval with impossible values")


def test_a_drive_is_busy_for_no_longer_than_an_interval(tmp_path):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        write(tmp_path, job, node, {"sda": 1.05})
    measured, of_job = busy(tmp_path, job)
    assert of_job.seconds["map"] == pytest.approx(140)
    assert measured.remarks == ()


def test_devices_by_number_of_other_hosts_do_not_matter(tmp_path):
    job = the_job()
    write(tmp_path, job, "worker-0", SHARES)
    write(tmp_path, job, "worker-7", {"dev8-0": 0.1})
    assert set(read_sar(files_of([tmp_path]), [job]).drives) == {"worker-0"}


def test_a_device_by_number_beside_names_is_one_that_the_node_no_longer_has(tmp_path):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        write(tmp_path, job, node, {**SHARES, "dev253-5": 0.9})
    measured, of_job = busy(tmp_path, job)
    assert (of_job.drives, set(of_job.usual_s)) == (2, {"map", "reduce"})
    (remark,) = measured.remarks
    assert remark.startswith("--sar has devices by number beside others by name (dev253-5): ")
    for node in ("worker-0", "worker-1"):  # sysstat can name drives of NVMe
        write(tmp_path, job, node, {**SHARES, "nvme0n1": 0.1, "dev259-5": 0.9})
    assert busy(tmp_path, job)[1].drives == 3


def test_the_paths_of_a_drive_for_which_nothing_is_counted_count(tmp_path):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        write(tmp_path, job, node, {"nvme0n1": 0.0, "nvme0c0n1": 0.4})
    of_job = busy(tmp_path, job)[1]
    assert (of_job.drives, of_job.usual_s["map"]) == (1, pytest.approx(0.4 * 120, rel=0.05))


@pytest.mark.parametrize(
    ("rates", "share", "is_told"), [("1;1", 0.98, True), ("1;1", 0.1, False), ("400;400", 0.98, False)]
)
def test_drives_that_are_busy_while_they_move_nothing_bound_jobs_and_do_not_tell_what_is_likely(
    tmp_path, rates, share, is_told
):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        write(tmp_path, job, node, {"sda": share}, rates=rates)
    measured, of_job = busy(tmp_path, job)
    assert bool(of_job.usual_s) is not is_told
    assert of_job.seconds["map"] == pytest.approx(share * 140, rel=0.05)
    told = "--sar has drives that count as busy while they move nothing, on worker-0, worker-1, "
    assert [remark for remark in measured.remarks if remark.startswith(told)] == list(measured.remarks)
    assert len(measured.remarks) == is_told


def test_of_volumes_without_names_the_drives_below_count_and_a_remark_says_so(tmp_path):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        write(tmp_path, job, node, {**SHARES, "dm-0": 0.9})
    measured, of_job = busy(tmp_path, job)
    assert of_job.usual_s["map"] == pytest.approx(0.4 * 120, rel=0.05)
    (remark,) = measured.remarks
    assert remark.startswith("--sar has volumes by number alone (dm-0), and the drives below count in their place: ")
    for node in ("worker-0", "worker-1"):  # a drive alone has no other path
        write(tmp_path, job, node, {"sda": 0.1, "dm-0": 0.1})
    assert busy(tmp_path, job)[0].remarks == ()


def test_runs_too_short_for_the_intervals_are_counted(tmp_path):
    job, longer = the_job(), the_job(number=2, map_ms=600_000)
    for node in ("worker-0", "worker-1"):
        write(tmp_path, longer, node, SHARES, step_s=100)
    measured = read_sar(files_of([tmp_path]), [job, longer])
    (remark,) = too_short(measured, [job, longer])
    assert remark.startswith("--sar tells how busy drives were in steps of up to 100 s. No stage of 1 of 2 runs takes")
    assert list(too_short(measured, [longer])) == []


def test_nodes_without_files_and_runs_outside_their_time_are_named(tmp_path):
    job, later = the_job(), the_job(number=2, submitted_ms=the_job().submitted_ms + 3_600_000)
    write(tmp_path, job, "worker-0", SHARES)
    measured = read_sar([tmp_path / "worker-0.csv"], [job, later])
    remarks = "; ".join(measured.remarks)
    assert "--sar has files of 1 of 2 nodes" in remarks
    assert "1 of 2 runs are outside the time of the files of --sar" in remarks
    assert DriveTimes(measured, [job, later]).of(job).usual_s == {}


def test_local_times_are_an_assumption(tmp_path):
    job = the_job()
    began = datetime.fromtimestamp(job.started_ms // 1000 - 60).astimezone()
    (tmp_path / "sar.txt").write_text(
        f"Linux 5.14.0 (worker-0) {began:%Y-%m-%d} _x86_64_ (8 CPU)\n\n{began:%H:%M:%S} DEV rkB/s wkB/s %util\n"
        f"{datetime.fromtimestamp(job.started_ms // 1000).astimezone():%H:%M:%S} sda 1.00 1.00 5.00\n"
    )
    assert "are of this machine's zone" in read_sar(files_of([tmp_path]), [job]).remarks[0]


def test_files_in_folders_below_are_read_each_once(tmp_path):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        (tmp_path / "sar" / node).mkdir(parents=True)
        write(tmp_path / "sar" / node, job, node, SHARES)
    (tmp_path / "sar" / "worker-1" / "again").symlink_to(tmp_path / "sar")
    (tmp_path / "sar" / ".hidden").write_bytes(b"\0")
    assert [file.name for file in files_of([tmp_path / "sar"])] == ["worker-0.csv", "worker-1.csv"]
    assert set(busy(tmp_path / "sar", job)[1].seconds) == {"map", "reduce"}


def test_a_folder_without_files_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "empty" / "below").mkdir(parents=True)
    with pytest.raises(
        BadInputError, match=r"empty has no file in it; copy into it what `sadf -d FILE -- -d -p` prints"
    ):
        files_of([tmp_path / "empty"])


def test_a_nodes_days_may_be_in_several_files_in_any_order(tmp_path):
    job = the_job()
    for node in ("worker-0", "worker-1"):
        write(tmp_path, job, node, SHARES)
    whole = busy(tmp_path, job)[1]
    head, *lines = (tmp_path / "worker-0.csv").read_text().splitlines()
    middle = len(lines) // len(SHARES) // 2 * len(SHARES)
    (tmp_path / "a.csv").write_text("\n".join([head, *lines[middle:]]))
    (tmp_path / "worker-0.csv").write_text("\n".join([head, *lines[:middle]]))
    assert busy(tmp_path, job)[1] == whole


def test_an_archive_in_a_folder_is_refused_before_any_file_is_read(tmp_path):
    write(tmp_path, the_job(), "worker-0", SHARES)
    with tarfile.open(tmp_path / "worker-1.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "worker-0.csv", "worker-0.csv")
    with pytest.raises(BadInputError, match=r"worker-1.tar.gz is an archive of files; unpack it with `tar -xf "):
        files_of([tmp_path])


@pytest.mark.parametrize(
    ("node", "shares", "more", "message"),
    [
        ("worker-7", SHARES, {}, "names files of worker-7, and the jobs ran on worker-0, worker-1; name the files of these hosts"),
        ("worker-0", {"sda": 0.1, "sdb": 0.1, "mpatha": 0.2}, {}, r"volumes with several paths \(mpatha\), and does not"),
        ("worker-0", {"sda": 0.1, "sdb": 0.1, "emcpowera": 0.2}, {}, r"volumes with several paths \(emcpowera\)"),
        ("worker-0", {"sda": 0.1, "dev259-0": 0.2}, {}, r"devices by the numbers of NVMe drives \(dev259-0\), which"),
        ("worker-0", {"nvme0n1": 0.1, "dev0-0": 0.2, "dev259-3": 0.1}, {}, r"numbers of NVMe drives \(dev0-0\), which"),
        ("worker-0", {"dev8-0": 0.1}, {}, r"devices by number \(dev8-0\), which may be drives or made of them"),
        ("worker-0", {"sda": 2.0}, {}, "--sar has no interval without impossible values"),
        ("worker-0", {"dm-0": 0.1}, {}, "tells of no drive, only of dm-0"),
        ("worker-0", SHARES, {"offset_s": 86_400}, "and the jobs ran from .*; name the files of these days"),
    ],
)  # fmt: skip
def test_data_that_tell_nothing_are_refused(tmp_path, node, shares, more, message):
    job = the_job()
    write(tmp_path, job, node, shares, **more)
    with pytest.raises(BadInputError, match=message):
        read_sar(files_of([tmp_path]), [job])
    with pytest.raises(BadInputError, match="there is no such file or folder"):
        files_of([tmp_path / "none"])
