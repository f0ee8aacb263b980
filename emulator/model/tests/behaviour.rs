//! What each part of a drive does to a workload.

mod support;

use assay_model::{Kind, Nanos, Profile, Request, build};
use support::{Bench, GIB, Job, KIB, MIB, SECOND, profile_file, random, sequential};

fn changed(name: &str, figures: &[(&str, f64)]) -> Profile {
    let mut profile = profile_file(name).profile();
    profile.figures.extend(figures.iter().map(|(name, value)| (name.to_string(), *value)));
    profile
}

/// Reads in order at depth 1, the host thinking before each request; gives MB/s.
fn read_with_pauses(profile: &Profile, bytes: u64, think: Nanos) -> f64 {
    let mut device = build(profile, 1).unwrap();
    let (mut now, count) = (0, 4000);
    for id in 0..count {
        let mut done = Vec::new();
        device.submit(now, Request { id, kind: Kind::Read, offset: id * bytes, bytes });
        while done.is_empty() {
            now = device.next_event().unwrap();
            device.advance(now, &mut done);
        }
        now = done[0].at + think;
    }
    (count * bytes) as f64 / 1e6 / (now as f64 / 1e9)
}

#[test]
fn a_slowed_drive_takes_so_many_times_as_long_and_as_much_energy() {
    for name in ["wd10ezex", "samsung-840-evo-120gb"] {
        let ran = |slowdown: u64| {
            let mut device = build(&Profile { slowdown, ..profile_file(name).profile() }, 1).unwrap();
            let (mut done, end) = (Vec::new(), 60 * SECOND * slowdown);
            for id in 0..200 {
                let kind = if id % 3 == 0 { Kind::Write } else { Kind::Read };
                let offset = id * 7919 % 1000 * MIB;
                device.submit(id * 2_000_000 * slowdown, Request { id, kind, offset, bytes: 64 * KIB });
            }
            while let Some(event) = device.next_event().filter(|event| *event <= end) {
                device.advance(event, &mut done);
            }
            let times: Vec<_> = done.iter().map(|one| (one.id, one.at / slowdown, one.at % slowdown)).collect();
            (times, device.report(end))
        };
        let ((times, report), (slowed, slow)) = (ran(1), ran(4));
        assert_eq!(times, slowed);
        assert_eq!((report.reads, report.writes), (slow.reads, slow.writes));
        assert_eq!(
            (report.elapsed_seconds * 4.0, report.busy_seconds * 4.0),
            (slow.elapsed_seconds, slow.busy_seconds)
        );
        assert_eq!((report.joules.total * 4.0, report.joules.idle * 4.0), (slow.joules.total, slow.joules.idle));
    }
}

#[test]
fn a_disk_reads_ahead_while_the_host_thinks() {
    let disk = profile_file("wd10ezex").profile();
    let rate = read_with_pauses(&disk, 128 * KIB, 300_000);
    assert!((rate / 180.0 - 1.0).abs() < 0.02, "{rate} MB/s");
    // A host that needs 2 ms for 128 KiB gets what it can take, not a turn of the platter each time.
    let slow = read_with_pauses(&disk, 128 * KIB, 2_000_000);
    assert!(slow > 55.0, "{slow} MB/s");
}

#[test]
fn a_discard_on_a_disk_takes_no_time_and_disturbs_nobody() {
    let disk = profile_file("wd10ezex").profile();
    let completed = |discards: bool| {
        let mut device = build(&disk, 1).unwrap();
        let mut done = Vec::new();
        for id in 0..20 {
            device.submit(id * 1000, Request { id, kind: Kind::Read, offset: id * GIB, bytes: 4 * KIB });
            if discards {
                let discard = Request { id: 100 + id, kind: Kind::Discard, offset: id * GIB, bytes: MIB };
                device.submit(id * 1000, discard);
                assert_eq!(device.next_event(), Some(id * 1000));
                device.advance(id * 1000, &mut done);
                let last = done.pop().unwrap();
                assert_eq!((last.id, last.at), (100 + id, id * 1000));
            }
        }
        device.advance(10 * SECOND, &mut done);
        (done.iter().map(|one| (one.id, one.at)).collect::<Vec<_>>(), device.report(10 * SECOND).busy_seconds)
    };
    assert_eq!(completed(true), completed(false));
    assert_eq!(completed(false).0.len(), 20);
}

#[test]
fn inner_tracks_are_slower() {
    let file = profile_file("wd10ezex");
    let inner = file.capacity() - 4 * GIB;
    let rate = Bench::new(&file.profile()).run(&mut [sequential(Kind::Read, inner, MIB, 8)], SECOND, 4 * SECOND).mb_s();
    assert!((rate / 110.0 - 1.0).abs() < 0.02, "{rate} MB/s");
}

#[test]
fn a_disks_queue_pays_and_starves_none() {
    let file = profile_file("wd10ezex");
    let rate = |depth| {
        let mut job = [random(Kind::Read, file.capacity(), 4 * KIB, depth, 3)];
        Bench::new(&file.profile()).run(&mut job, SECOND, 60 * SECOND).per_second()
    };
    let rates: Vec<f64> = [1, 2, 4, 8, 16, 32].into_iter().map(rate).collect();
    assert!(rates.windows(2).all(|pair| pair[1] > pair[0] * 0.99), "{rates:?}");
    let mut device = build(&file.profile(), 1).unwrap();
    let far = Request { id: 0, kind: Kind::Read, offset: file.capacity() - MIB, bytes: 4 * KIB };
    device.submit(0, far);
    let (mut now, mut next, mut waited) = (0, 1, None);
    let mut near = random(Kind::Read, GIB, 4 * KIB, 31, 3);
    let mut flying = 1;
    while waited.is_none() {
        while flying < 32 {
            let (kind, offset, bytes) = (near.next)();
            device.submit(now, Request { id: next, kind, offset, bytes });
            (next, flying) = (next + 1, flying + 1);
        }
        let mut done = Vec::new();
        now = device.next_event().unwrap();
        device.advance(now, &mut done);
        flying -= done.len();
        waited = done.iter().find(|completion| completion.id == 0).map(|completion| completion.at);
    }
    assert!(waited.unwrap() < SECOND, "{} ms", waited.unwrap() / 1_000_000);
}

#[test]
fn a_disks_cache_takes_a_burst_at_the_links_rate() {
    let mut device = build(&profile_file("wd10ezex").profile(), 1).unwrap();
    for id in 0..24 {
        device.submit(0, Request { id, kind: Kind::Write, offset: id * MIB, bytes: MIB });
    }
    device.submit(0, Request { id: 99, kind: Kind::Flush, offset: 0, bytes: 0 });
    let mut done = Vec::new();
    device.advance(10 * SECOND, &mut done);
    let accepted = done[23].at as f64 / 1e6;
    let flushed = done[24].at as f64 / 1e6;
    assert!(accepted < 24.0 * 1.048576 / 0.55 + 1.0, "accepted after {accepted} ms");
    let written = 24.0 * 1.048576 / 0.18;
    assert!(flushed > written && flushed < written + 20.0, "flushed after {flushed} ms");
}

#[test]
fn a_stream_of_writes_and_a_stream_of_reads_share_a_disk() {
    let mut bench = Bench::new(&profile_file("wd10ezex").profile());
    let mut read = 0;
    let mut jobs = [sequential(Kind::Read, 0, 128 * KIB, 2), sequential(Kind::Write, 64 * GIB, MIB, 4)];
    let both = bench.run_with(&mut jobs, 2 * SECOND, 20 * SECOND, |_, bytes| read += u64::from(bytes == 128 * KIB));
    let reads = (read * 128 * KIB) as f64 / 1e6 / 22.0;
    assert!(both.mb_s() > 60.0 && both.mb_s() < 150.0, "{} MB/s", both.mb_s());
    assert!(reads > 0.2 * both.mb_s() && reads < 0.8 * both.mb_s(), "{reads} of {} MB/s", both.mb_s());
}

#[test]
fn an_idle_ssd_empties_its_fast_cells() {
    let mut bench = Bench::new(&profile_file("samsung-840-evo-120gb").profile());
    let write = |bench: &mut Bench| bench.run(&mut [sequential(Kind::Write, 0, MIB, 8)], 0, SECOND / 2).mb_s();
    let pause = |bench: &mut Bench, seconds: u64| {
        bench.now += seconds * SECOND;
        bench.device.advance(bench.now, &mut Vec::new());
    };
    bench.run(&mut [sequential(Kind::Write, 0, MIB, 8)], 0, 12 * SECOND);
    assert!(write(&mut bench) < 150.0, "full");
    pause(&mut bench, 25);
    assert!(write(&mut bench) > 390.0, "drained");
    bench.run(&mut [sequential(Kind::Write, 0, MIB, 8)], 0, 12 * SECOND);
    bench.device.settle(bench.now);
    assert!(write(&mut bench) > 390.0, "settled");
}

#[test]
fn writes_beyond_the_fast_cells_are_charged_for_all_the_time_that_they_take() {
    let file = profile_file("samsung-840-evo-120gb");
    let figure = |name: &str| file.figures[name].value();
    let above = figure("write_watts") - figure("idle_watts");
    let mut bench = Bench::new(&file.profile());
    let mut stream = [sequential(Kind::Write, 0, MIB, 8)];
    bench.run(&mut stream, 0, 5 * SECOND);
    bench.device.reset_report(bench.now);
    bench.run(&mut stream, 0, 5 * SECOND);
    let within = bench.device.report(bench.now).joules.write;
    bench.run(&mut stream, 0, 5 * SECOND);
    bench.device.reset_report(bench.now);
    let moved = bench.run(&mut stream, 0, 5 * SECOND);
    let beyond = bench.device.report(bench.now).joules.write;
    assert!(moved.mb_s() < 150.0, "{} MB/s", moved.mb_s());
    assert!((within / (5.0 * above) - 1.0).abs() < 0.02, "{within} J at the fast cells' rate");
    assert!((beyond / (5.0 * above) - 1.0).abs() < 0.02, "{beyond} J at the main cells' rate");
}

#[test]
fn an_ssd_that_tidies_up_is_charged_for_it_once_whenever_it_is_asked() {
    let file = profile_file("samsung-840-evo-120gb");
    let figure = |name: &str| file.figures[name].value();
    let above = figure("write_watts") - figure("idle_watts");
    let pause = |bench: &mut Bench, seconds: u64| {
        bench.now += seconds * SECOND;
        bench.device.advance(bench.now, &mut Vec::new());
        bench.device.report(bench.now).joules.write
    };
    let mut bench = Bench::new(&file.profile());
    let moved = bench.run(&mut [sequential(Kind::Write, 0, MIB, 8)], 0, SECOND);
    bench.device.reset_report(bench.now);
    let drained_s = moved.bytes as f64 / 1e6 / figure("slc_drain_mb_s");
    let (early, all, later) = (pause(&mut bench, 1), pause(&mut bench, 20), pause(&mut bench, 20));
    assert!(early > 0.4 * above && early < 0.6 * above, "{early} J");
    // What was under way at the second's end, up to 16 MB, comes on top.
    assert!((all / (drained_s * above) - 1.0).abs() < 0.05, "{all} J for {drained_s} s");
    assert_eq!(all, later);
    bench.run(&mut [sequential(Kind::Write, 0, 4 * KIB, 1)], 0, SECOND / 1000);
    assert!(bench.device.report(bench.now).joules.write - later < 0.01 * above, "counted again");
    bench.device.settle(bench.now);
    let settled = bench.device.report(bench.now).joules.write;
    assert!((settled / all - 1.0).abs() < 0.01, "{settled} J");
}

#[test]
fn a_used_ssd_falls_off_its_cliff() {
    let used = changed("crucial-mx100-512gb", &[("fill_fraction", 0.9), ("erased_bytes", 4.0 * GIB as f64)]);
    let mut bench = Bench::new(&used);
    let rate = |bench: &mut Bench| bench.run(&mut [sequential(Kind::Write, 0, MIB, 8)], 0, SECOND).mb_s();
    assert!(rate(&mut bench) > 480.0);
    bench.run(&mut [sequential(Kind::Write, 0, MIB, 8)], 0, 15 * SECOND);
    let cliff = rate(&mut bench);
    // A review saw 346 MB/s fall to 104: to three tenths.
    assert!(cliff > 100.0 && cliff < 190.0, "{cliff} MB/s");
}

#[test]
fn reads_of_an_ssd_wait_for_programs() {
    let file = profile_file("samsung-840-evo-120gb");
    let alone = Bench::new(&file.profile()).run(&mut [random(Kind::Read, 16 * GIB, 4 * KIB, 1, 3)], 0, SECOND);
    let mut bench = Bench::new(&file.profile());
    let mut jobs: Vec<Job> = vec![random(Kind::Read, 16 * GIB, 4 * KIB, 1, 3), sequential(Kind::Write, 0, MIB, 4)];
    let mut reads = 0;
    bench.run_with(&mut jobs, 0, SECOND, |_, bytes| reads += u64::from(bytes == 4 * KIB));
    assert!(reads > 200 && reads < alone.requests / 2, "{reads} of {}", alone.requests);
}

#[test]
fn the_least_time_is_that_of_the_busiest_part() {
    for file in support::profiles().iter().filter(|file| file.kind != "null") {
        let least_share = |depth| {
            let mut bench = Bench::new(&file.profile());
            bench.run(&mut [random(Kind::Read, 1 << 30, 4 * KIB, depth, 7)], 0, SECOND);
            let report = bench.device.report(bench.now);
            assert!(report.least_seconds <= report.busy_seconds, "{}", file.name);
            report.least_seconds / report.busy_seconds
        };
        let (alone, together) = (least_share(1), least_share(128));
        assert!(together > 0.9 && (file.kind != "ssd" || alone < 0.5), "{}: {alone} {together}", file.name);
    }
}

#[test]
fn a_report_says_what_came() {
    let mut bench = Bench::new(&profile_file("wd10ezex").profile());
    bench.run(&mut [sequential(Kind::Read, 0, MIB, 4)], 0, SECOND);
    let report = bench.device.report(bench.now);
    assert!(report.reads.sequential_share > 0.99 && report.writes.requests == 0);
    assert!(report.busy_seconds > 0.99 && report.busy_seconds <= 1.0, "{}", report.busy_seconds);
    assert_eq!(report.request_size_bytes.mean, MIB as f64);
    assert!(report.joules.read > 6.0 && report.joules.total < 6.9, "{:?}", report.joules);
    bench.device.reset_report(bench.now);
    bench.settle();
    bench.device.reset_report(bench.now);
    let from = bench.now;
    bench.run(&mut [random(Kind::Write, 100 * GIB, 4 * KIB, 1, 3)], 0, SECOND);
    let report = bench.device.report(bench.now);
    assert!(report.writes.sequential_share < 0.01 && report.reads.requests == 0 && from > 0);
    assert!((report.elapsed_seconds - 1.0).abs() < 1e-6);
    assert!(report.seek_distance_bytes.mean > 20e9, "{}", report.seek_distance_bytes.mean);
    let json = serde_json::to_value(&report).unwrap();
    assert!(json["joules"]["seek"].as_f64().unwrap() > 0.0 && json["queue_depth"]["buckets"][0]["count"].is_u64());
}

/// Writes 4 KiB after 4 KiB in order, each with a flush; gives writes a second.
fn flushed_writes(profile: &Profile, seconds: u64) -> f64 {
    let mut device = build(profile, 1).unwrap();
    let (mut now, mut id) = (0, 0);
    while now < seconds * SECOND {
        for kind in [Kind::Write, Kind::Flush] {
            device.submit(
                now,
                Request { id: 2 * id + u64::from(kind == Kind::Flush), kind, offset: id * 4 * KIB, bytes: 4 * KIB },
            );
            let mut done = Vec::new();
            while done.is_empty() {
                now = device.next_event().unwrap();
                device.advance(now, &mut done);
            }
        }
        id += 1;
    }
    id as f64 / seconds as f64
}

#[test]
fn a_flush_after_each_write_costs_a_disk_a_turn() {
    let rate = flushed_writes(&profile_file("wd10ezex").profile(), 10);
    assert!(rate > 100.0 && rate <= 120.5, "{rate} a second");
    let ssd = flushed_writes(&profile_file("samsung-870-evo-250gb").profile(), 1);
    assert!(ssd > 1000.0 && ssd < 2500.0, "{ssd} a second");
}

#[test]
fn a_link_carries_as_much_in_both_directions_at_once_as_its_duplex_says() {
    for duplex in [1.0, 1.5, 2.0] {
        let figures = [("link_duplex", duplex), ("link_mb_s", 200.0), ("write_rate_mb_s", 500.0)];
        let mut bench = Bench::new(&changed("crucial-mx100-512gb", &figures));
        let mut jobs = [sequential(Kind::Read, 0, MIB, 8), sequential(Kind::Write, GIB, MIB, 8)];
        let rate = bench.run(&mut jobs, SECOND / 10, SECOND).mb_s();
        assert!((rate / (200.0 * duplex) - 1.0).abs() < 0.03, "{rate} MB/s at {duplex}");
    }
}

const CLOUD: &str = "cloud-volume-3000-iops";

#[test]
fn a_limited_device_keeps_each_limit_and_that_of_both_directions() {
    let rates = |total: f64| {
        let figures = [("read_mb_s", 90.0), ("write_mb_s", 60.0), ("total_mb_s", total)];
        let mut bench = Bench::new(&changed(CLOUD, &figures));
        let mut both = [sequential(Kind::Read, 0, MIB, 8), sequential(Kind::Write, GIB, MIB, 8)];
        let both = bench.run(&mut both, SECOND, 5 * SECOND).mb_s();
        (bench.run(&mut [sequential(Kind::Read, 0, MIB, 8)], SECOND, 5 * SECOND).mb_s(), both)
    };
    let (alone, both) = rates(1000.0);
    assert!((alone - 90.0).abs() < 2.0 && (both - 150.0).abs() < 3.0, "{alone}, {both} MB/s");
    let (alone, both) = rates(100.0);
    assert!((alone - 90.0).abs() < 2.0 && (both - 100.0).abs() < 2.0, "{alone}, {both} MB/s");
}

#[test]
fn an_idle_limited_device_does_its_burst_at_once_and_then_keeps_its_limit() {
    let figures = [("read_burst_ms", 100.0), ("read_iops", 300.0), ("read_latency_us", 400.0)];
    let mut bench = Bench::new(&changed(CLOUD, &figures));
    let mut times = Vec::new();
    bench.run_with(&mut [random(Kind::Read, GIB, 4 * KIB, 1, 3)], 0, 2 * SECOND, |at, _| times.push(at));
    // 30 of the burst, and 4 that its limit allows meanwhile, each in its latency.
    assert!(times[29] < 15_000_000, "{} ns for 30", times[29]);
    let steady = (times[times.len() - 1] - times[100]) as f64 / 1e9 / (times.len() - 101) as f64;
    assert!((steady * 300.0 - 1.0).abs() < 0.02, "{steady} s each");
}

#[test]
fn the_fast_writes_of_a_limited_device_end_and_come_back_while_it_is_idle() {
    let figures = [("fast_write_bytes", 1e9), ("fast_write_mb_s", 400.0), ("write_mb_s", 50.0), ("total_mb_s", 1000.0)];
    let mut profile = changed(CLOUD, &figures);
    profile.figures.insert("recover_mb_s".into(), 100.0);
    let mut bench = Bench::new(&profile);
    let mut job = [sequential(Kind::Write, 0, MIB, 4)];
    let rate = |bench: &mut Bench, job: &mut [Job], seconds: u64| bench.run(job, 0, seconds * SECOND).mb_s();
    assert!((rate(&mut bench, &mut job, 2) - 400.0).abs() < 10.0);
    rate(&mut bench, &mut job, 1);
    assert!((rate(&mut bench, &mut job, 4) - 50.0).abs() < 2.0);
    bench.settle();
    assert!((rate(&mut bench, &mut job, 2) - 400.0).abs() < 10.0);
    rate(&mut bench, &mut job, 2);
    bench.now += 5 * SECOND;
    assert!((rate(&mut bench, &mut job, 1) - 400.0).abs() < 10.0);
}
