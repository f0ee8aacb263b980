//! Answers leave at the drive's times and in its order, whatever order the real work is done in.

use super::*;
use crate::path_cost::Line;
use assay_model::{Profile, build};

const US: Nanos = 1000;

/// Serves one request after another; each takes as many microseconds as it has bytes.
#[derive(Default)]
struct OneByOne {
    queue: VecDeque<(Nanos, u64)>,
    free_at: Nanos,
    submitted: Vec<Nanos>,
    clock: Nanos,
}

impl Device for OneByOne {
    fn submit(&mut self, at: Nanos, request: Request) {
        assert!(at >= self.clock && self.submitted.last().is_none_or(|last| at >= *last), "time went back");
        self.submitted.push(at);
        self.free_at = self.free_at.max(at) + request.bytes * US;
        self.queue.push_back((self.free_at, request.id));
    }
    fn next_event(&self) -> Option<Nanos> {
        self.queue.front().map(|(at, _)| *at)
    }
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        self.clock = self.clock.max(to);
        while let Some((at, id)) = self.queue.front().copied().filter(|(at, _)| *at <= to) {
            self.queue.pop_front();
            done.push(Completion { id, at });
        }
    }
    fn settle(&mut self, at: Nanos) {
        self.clock = at;
    }
    fn report(&self, at: Nanos) -> Report {
        build(&null_profile(), 0).unwrap().report(at)
    }
    fn reset_report(&mut self, _at: Nanos) {}
}

fn null_profile() -> Profile {
    serde_json::from_str(r#"{"name": "null", "kind": "null", "figures": {}}"#).unwrap()
}

fn begun(path: PathCost) -> Schedule<u64, &'static str> {
    let mut schedule = Schedule::default();
    schedule.begin(1000 * US, Box::new(OneByOne::default()), path);
    schedule
}

fn ready(schedule: &mut Schedule<u64, &'static str>, now: Nanos) -> Vec<u64> {
    schedule.advance(now);
    std::iter::from_fn(|| schedule.take_ready(now)).map(|ready| ready.ticket).collect()
}

#[test]
fn without_a_drive_the_work_alone_decides() {
    let mut schedule = Schedule::default();
    let slot = schedule.arrive(5, 1, Kind::Read, 0, 10);
    assert_eq!(schedule.next_event(), None);
    assert!(ready(&mut schedule, 6).is_empty());
    schedule.worked(slot, "bytes");
    let served = Served { kind: Kind::Read, offset: 0, bytes: 10, arrived: 5 };
    assert_eq!(schedule.take_ready(7), Some(Ready { ticket: 1, outcome: "bytes", served }));
    assert_eq!(schedule.under_way(), 0);
    assert!(schedule.report(8).is_none() && !schedule.settle(8) && !schedule.reset(8));
}

#[test]
fn an_answer_leaves_at_its_deadline_and_not_before() {
    let mut schedule = begun(PathCost::default());
    let slot = schedule.arrive(1100 * US, 1, Kind::Read, 0, 50);
    schedule.worked(slot, "");
    assert_eq!(schedule.next_event(), Some(1150 * US));
    assert!(ready(&mut schedule, 1149 * US).is_empty());
    assert_eq!(ready(&mut schedule, 1150 * US), [1]);
}

#[test]
fn slow_work_delays_its_own_answer_only() {
    let mut schedule = begun(PathCost::default());
    let slow = schedule.arrive(1100 * US, 1, Kind::Write, 0, 50);
    let quick = schedule.arrive(1100 * US, 2, Kind::Read, 0, 50);
    schedule.worked(quick, "");
    assert_eq!(ready(&mut schedule, 1200 * US), [2]);
    schedule.worked(slow, "");
    assert_eq!(ready(&mut schedule, 1900 * US), [1]);
    let (_, accounts) = schedule.report(2000 * US).unwrap();
    assert_eq!(accounts.late().requests, 1);
    assert_eq!(accounts.late().worst_us, 750.0);
}

#[test]
fn a_late_wake_up_does_not_move_the_drives_times() {
    let mut schedule = begun(PathCost::default());
    for unique in 1..=3 {
        let slot = schedule.arrive(1100 * US, unique, Kind::Read, 0, 50);
        schedule.worked(slot, "");
    }
    assert_eq!(ready(&mut schedule, 1220 * US), [1, 2]);
    assert_eq!(schedule.next_event(), Some(1250 * US), "the third is due when it always was");
}

#[test]
fn the_paths_cost_dates_an_arrival_back() {
    let line = Line { base_ns: 30_000.0, ns_per_byte: 0.0 };
    let mut schedule = begun(PathCost { read: line, write: line });
    let slot = schedule.arrive(1100 * US, 1, Kind::Read, 0, 50);
    schedule.worked(slot, "");
    assert_eq!(schedule.next_event(), Some(1120 * US));
    schedule.advance(1125 * US);
    let first = schedule.take_ready(1125 * US).unwrap();
    assert_eq!((first.ticket, first.served.arrived), (1, 1070 * US), "in the log too");
    // The next one comes 40 us after the completion, of which the path takes 30.
    schedule.arrive(1160 * US, 2, Kind::Read, 0, 50);
    assert_eq!(schedule.next_event(), Some(1180 * US));
    // Not before what the drive already knows, though.
    schedule.arrive(1161 * US, 3, Kind::Read, 0, 50);
    assert_eq!(schedule.next_event(), Some(1180 * US));
}

#[test]
fn an_arrival_is_never_dated_before_the_drives_last_event() {
    let line = Line { base_ns: 30_000.0, ns_per_byte: 0.0 };
    let mut schedule = begun(PathCost { read: line, write: line });
    let slot = schedule.arrive(1100 * US, 1, Kind::Read, 0, 50);
    schedule.worked(slot, "");
    assert_eq!(ready(&mut schedule, 1121 * US), [1]);
    schedule.arrive(1130 * US, 2, Kind::Read, 0, 50);
    assert_eq!(schedule.next_event(), Some(1170 * US), "from the event at 1120, not from 1100");
}

#[test]
fn places_are_used_again() {
    let mut schedule = begun(PathCost::default());
    for unique in 0..100 {
        let now = (1000 + unique * 100) * US;
        let slot = schedule.arrive(now, unique, Kind::Flush, 0, 1);
        assert_eq!(slot, Slot(0));
        schedule.worked(slot, "");
        assert_eq!(ready(&mut schedule, now + US), [unique]);
    }
}

#[test]
fn the_next_drive_starts_anew_and_what_the_last_one_left_is_due() {
    let mut schedule = begun(PathCost::default());
    let worked = schedule.arrive(1100 * US, 1, Kind::Read, 0, 50);
    let slow = schedule.arrive(1100 * US, 2, Kind::Read, 0, 50);
    schedule.worked(worked, "");
    schedule.begin(1120 * US, Box::new(OneByOne::default()), PathCost::default());
    assert_eq!(ready(&mut schedule, 1120 * US), [1]);
    schedule.worked(slow, "");
    assert_eq!(ready(&mut schedule, 1121 * US), [2]);
    let slot = schedule.arrive(1130 * US, 3, Kind::Read, 0, 50);
    schedule.worked(slot, "");
    assert_eq!(schedule.next_event(), Some(1180 * US));
    schedule.end(1140 * US);
    assert_eq!(ready(&mut schedule, 1140 * US), [3]);
    assert_eq!(schedule.next_event(), None);
}

#[test]
fn the_null_drive_answers_at_once() {
    let mut schedule = Schedule::default();
    schedule.begin(0, build(&null_profile(), 0).unwrap(), PathCost::default());
    let slot = schedule.arrive(10, 1, Kind::Read, 0, 4096);
    schedule.worked(slot, "");
    assert_eq!(ready(&mut schedule, 10), [1]);
}
