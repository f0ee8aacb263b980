//! What a replay promises.

mod support;

use assay_model::{Answered, Kind, Nanos, Request, build, replay};
use support::{MIB, SECOND, profile_file};

/// Streams of adjoining reads of 1 MiB, each of which computes for `think` between an answer and its next request.
fn streams(count: u64, think: Nanos, name: &str) -> (Vec<Answered>, Nanos) {
    let mut device = build(&profile_file(name).profile(), 1).unwrap();
    let (mut log, mut done): (Vec<Answered>, _) = (Vec::new(), Vec::new());
    let mut waiting: Vec<(Nanos, u64, u64)> = (0..count).map(|stream| (stream, stream, 0)).collect();
    while !waiting.is_empty() || device.next_event().is_some() {
        waiting.sort_unstable();
        let next = device.next_event().unwrap_or(Nanos::MAX);
        if waiting.first().is_some_and(|(at, _, _)| *at <= next) {
            let (at, stream, turn) = waiting.remove(0);
            let id = log.len() as u64;
            let request = Request { id, kind: Kind::Read, offset: (stream * 1000 + turn) * MIB, bytes: MIB };
            device.submit(at, request);
            log.push(Answered { request, arrived: at, answered: Nanos::MAX });
            continue;
        }
        device.advance(next, &mut done);
        for completion in done.drain(..) {
            let answered = &mut log[completion.id as usize];
            answered.answered = completion.at;
            let (stream, turn) = (answered.request.offset / MIB / 1000, answered.request.offset / MIB % 1000);
            if turn < 99 {
                waiting.push((completion.at + think, stream, turn + 1));
            }
        }
    }
    let end = log.iter().map(|answered| answered.answered).max().unwrap();
    (log, end)
}

/// Replays a log on a drive; returns when the last request was answered.
fn end_on(name: &str, log: &[Answered]) -> Nanos {
    let mut device = build(&profile_file(name).profile(), 1).unwrap();
    let replayed = replay(device.as_mut(), log);
    assert_eq!(replayed.len(), log.len());
    assert!(replayed.iter().all(|answered| answered.answered >= answered.arrived));
    assert!(replayed.windows(2).all(|pair| pair[0].arrived <= pair[1].arrived));
    replayed.iter().map(|answered| answered.answered).max().unwrap_or(0)
}

#[test]
fn the_same_drive_gives_the_same_times() {
    for name in ["seagate-exos-x16-16tb", "intel-s4500-960gb"] {
        let (log, end) = streams(3, SECOND / 500, name);
        assert_eq!(end_on(name, &log), end, "{name}");
    }
}

#[test]
fn another_drive_takes_about_the_time_that_the_streams_take_there() {
    let (disk, ssd) = ("seagate-exos-x16-16tb", "intel-s4500-960gb");
    for count in [1, 2, 4] {
        let (on_disk, _) = streams(count, SECOND / 500, disk);
        let (_, ssd_end) = streams(count, SECOND / 500, ssd);
        let replayed = end_on(ssd, &on_disk) as f64 / ssd_end as f64;
        assert!((0.6..1.6).contains(&replayed), "{count} streams: {replayed} of the time");
    }
}

#[test]
fn computing_between_requests_takes_its_time_on_any_drive() {
    let (log, _) = streams(1, SECOND / 10, "seagate-exos-x16-16tb");
    assert!(end_on("null", &log) >= 99 * (SECOND / 10));
}

#[test]
fn requests_at_once_and_empty_logs_are_replayed() {
    let request = |id| Request { id, kind: Kind::Write, offset: id * MIB, bytes: MIB };
    let log: Vec<Answered> = (0..5).map(|id| Answered { request: request(id), arrived: 7, answered: 7 }).collect();
    assert!(end_on("intel-s4500-960gb", &log) > 0);
    assert_eq!(end_on("null", &[]), 0);
}
