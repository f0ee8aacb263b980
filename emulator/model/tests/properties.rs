//! What holds for every device and every workload.

mod support;

use assay_model::{Completion, Device, Kind, Nanos, Profile, Request, build};
use proptest::prelude::*;
use support::{KIB, profile_file, profiles};

/// A request and the pause before it.
type Step = (Nanos, Request);

/// Workloads of all kinds of request, some adjoining, on the first GiB or all over the device.
fn workload(length: usize) -> impl Strategy<Value = Vec<Step>> {
    let kind =
        prop_oneof![5 => Just(Kind::Read), 5 => Just(Kind::Write), 1 => Just(Kind::Flush), 1 => Just(Kind::Discard)];
    let pause = prop_oneof![3 => Just(0u64), 2 => 0..2_000_000u64, 1 => 0..60_000_000u64];
    let place = prop_oneof![2 => Just(None), 1 => (0..1u64 << 18).prop_map(Some), 1 => (0..1u64 << 24).prop_map(Some)];
    let step = (pause, kind, place, 1..256u64);
    prop::collection::vec(step, 1..length).prop_map(|steps| {
        let mut end = 0;
        let mut request = |id: usize, kind, place: Option<u64>, blocks: u64| {
            let offset = place.map_or(end, |block| block * 4 * KIB);
            let bytes = if kind == Kind::Flush { 0 } else { blocks * 4 * KIB };
            end = offset + bytes;
            Request { id: id as u64, kind, offset, bytes }
        };
        let numbered = steps.into_iter().enumerate();
        numbered.map(|(id, (pause, kind, place, blocks))| (pause, request(id, kind, place, blocks))).collect()
    })
}

/// Any profile that ships, as it is or with the tightest of limits.
fn any_profile() -> impl Strategy<Value = Profile> {
    let shipped: Vec<Profile> = profiles().iter().map(support::ProfileFile::profile).collect();
    let tight = shipped.iter().filter(|profile| profile.kind != "null").map(|profile| {
        let hdd = [
            ("write_cache_bytes", 1048576.0),
            ("write_cache_pieces", 1.0),
            ("read_segments", 1.0),
            ("read_segment_bytes", 65536.0),
            ("stream_visit_bytes", 4096.0),
            ("zones", 1.0),
        ];
        let ssd = [
            ("buffer_bytes", 65536.0),
            ("fill_fraction", 1.0),
            ("erased_bytes", 1048576.0),
            ("channels", 1.0),
            ("dies_per_channel", 1.0),
            ("flush_ms", 0.0),
        ];
        let mut profile = profile.clone();
        let limited = [
            ("read_burst_ms", 1000.0),
            ("fast_write_bytes", 1048576.0),
            ("fast_write_mb_s", 64000.0),
            ("recover_mb_s", 1.0),
            ("link_mb_s", 200.0),
            ("total_iops", 100.0),
        ];
        let changes = match profile.kind.as_str() {
            "hdd" => hdd,
            "ssd" => ssd,
            _ => limited,
        };
        profile.figures.extend(changes.map(|(name, value)| (name.to_string(), value)));
        profile.figures.insert("queue_depth".into(), 2.0);
        profile
    });
    let all: Vec<Profile> = shipped.iter().cloned().chain(tight).collect();
    prop::sample::select(all)
}

/// Submits all requests at their times and runs to the end, from event to event; `watch` sees every step.
fn play(device: &mut dyn Device, steps: &[Step], mut watch: impl FnMut(&dyn Device, Nanos)) -> Vec<Completion> {
    let (mut done, mut at) = (Vec::new(), 0);
    for (pause, request) in steps {
        at += pause;
        while let Some(event) = device.next_event().filter(|event| *event <= at) {
            device.advance(event, &mut done);
            watch(device, event);
        }
        device.submit(at, *request);
    }
    let mut turns = 0;
    while let Some(event) = device.next_event() {
        device.advance(event, &mut done);
        watch(device, event.max(at));
        turns += 1;
        assert!(turns < 1000 * steps.len() + 10_000, "no end of events");
    }
    done
}

/// When each request arrives.
fn arrivals(steps: &[Step]) -> Vec<Nanos> {
    steps
        .iter()
        .scan(0, |at, (pause, _)| {
            *at += pause;
            Some(*at)
        })
        .collect()
}

fn watts(profile: &Profile) -> f64 {
    let all = ["idle_watts", "seek_watts", "read_watts", "write_watts"];
    all.iter().filter_map(|name| profile.figures.get(*name)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_request_completes_once_after_its_arrival_and_in_order(profile in any_profile(), steps in workload(120)) {
        let mut device = build(&profile, 1).unwrap();
        let done = play(device.as_mut(), &steps, |_, _| ());
        let arrived = arrivals(&steps);
        prop_assert!(done.windows(2).all(|pair| pair[0].at <= pair[1].at));
        let mut ids: Vec<u64> = done.iter().map(|completion| completion.id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..steps.len() as u64).collect::<Vec<_>>());
        for completion in done {
            prop_assert!(completion.at >= arrived[completion.id as usize]);
        }
    }

    #[test]
    fn no_rate_exceeds_the_link(profile in any_profile(), steps in workload(120)) {
        let Some(link) = profile.figures.get("link_mb_s") else { return Ok(()) };
        let lanes = profile.figures.get("link_duplex").copied().unwrap_or(1.0);
        let mut device = build(&profile, 1).unwrap();
        let done = play(device.as_mut(), &steps, |_, _| ());
        let arrived = arrivals(&steps);
        let moves = |request: &Request| matches!(request.kind, Kind::Read | Kind::Write);
        let nanos = |bytes: u64| bytes as f64 / (link * 1e-3);
        let (mut carried, first) = (0, arrived[0]);
        for completion in done {
            let request = steps[completion.id as usize].1;
            if moves(&request) {
                carried += request.bytes;
                let alone = (completion.at - arrived[completion.id as usize]) as f64;
                prop_assert!(alone + 1.0 >= nanos(request.bytes), "{request:?} took {alone} ns");
                prop_assert!((completion.at - first) as f64 * lanes + 1.0 >= nanos(carried));
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_times_however_time_is_moved(profile in any_profile(), steps in workload(80), seed: u64) {
        let mut by_events = build(&profile, seed).unwrap();
        let expected = play(by_events.as_mut(), &steps, |_, _| ());
        let mut at_once = build(&profile, seed).unwrap();
        let (mut done, mut at) = (Vec::new(), 0);
        for (pause, request) in &steps {
            at += pause;
            at_once.submit(at, *request);
        }
        at_once.advance(at + 3600 * support::SECOND, &mut done);
        prop_assert_eq!(done, expected);
    }

    #[test]
    fn energy_never_falls_and_stays_below_the_greatest_power(profile in any_profile(), steps in workload(80)) {
        let mut device = build(&profile, 1).unwrap();
        let (mut before, mut last) = (assay_model::Joules::default(), 0);
        let mut energies = Vec::new();
        play(device.as_mut(), &steps, |device, at| {
            last = last.max(at);
            energies.push((last, device.report(last).joules));
        });
        for (at, joules) in energies {
            for (now, then) in [(joules.idle, before.idle), (joules.seek, before.seek), (joules.read, before.read),
                                (joules.write, before.write), (joules.total, before.total)] {
                prop_assert!(now >= then - 1e-9 && now >= 0.0, "{now} after {then}");
            }
            if profile.kind == "hdd" {
                prop_assert!(joules.total <= watts(&profile) * at as f64 * 1e-9 + 1e-9);
            }
            // Cells are written one program after the other: no more than all the time so far.
            if profile.kind == "ssd" {
                let above = profile.figures["write_watts"] - profile.figures["idle_watts"];
                prop_assert!(joules.write <= above * at as f64 * 1e-9 + 1e-9);
            }
            before = joules;
        }
    }

    #[test]
    fn a_flush_completes_after_the_writes_before_it_are_on_the_medium(
        profile in any_profile(), before in workload(40), after in workload(10),
    ) {
        let mut steps: Vec<Step> = before;
        let id = steps.len() as u64;
        steps.push((0, Request { id, kind: Kind::Flush, offset: 0, bytes: 0 }));
        let later = after.into_iter().map(|(pause, request)| (pause, Request { id: request.id + id + 1, ..request }));
        steps.extend(later);
        let written_later: u64 = steps[id as usize + 1..].iter()
            .filter(|(_, request)| request.kind == Kind::Write).map(|(_, request)| request.bytes).sum();
        let mut device = build(&profile, 1).unwrap();
        let mut seen = Vec::new();
        let done = play(device.as_mut(), &steps, |device, at| seen.push((at, device.report(at).unwritten_bytes)));
        let flushed = done.iter().find(|completion| completion.id == id).unwrap().at;
        for (_, unwritten) in seen.iter().filter(|(at, _)| *at >= flushed) {
            prop_assert!(*unwritten <= written_later);
        }
    }

    #[test]
    fn settling_leaves_nothing_unwritten_and_loses_no_request(profile in any_profile(), steps in workload(60)) {
        let mut device = build(&profile, 1).unwrap();
        let (mut at, mut done) = (0, Vec::new());
        for (pause, request) in &steps {
            at += pause;
            device.submit(at, *request);
        }
        device.settle(at);
        at += 3600 * support::SECOND;
        device.advance(at, &mut done);
        prop_assert_eq!(done.len(), steps.len());
        device.submit(at, Request { id: 0, kind: Kind::Write, offset: 0, bytes: 4 * KIB });
        device.advance(at + 1_000_000, &mut done);
        device.settle(at + 1_000_000);
        prop_assert_eq!(device.report(at + 1_000_000).unwritten_bytes, 0);
    }

    #[test]
    fn a_sequential_stream_beats_any_permutation_on_a_disk(
        name in prop::sample::select(vec!["wd10ezex", "seagate-exos-x16-16tb"]),
        order in Just((0..64u64).collect::<Vec<_>>()).prop_shuffle(),
        kind in prop::sample::select(vec![Kind::Read, Kind::Write]),
        depth in 1..4usize,
        seed: u64,
    ) {
        let profile = profile_file(name).profile();
        let sorted: Vec<u64> = (0..64).collect();
        let figure = |name: &str| profile.figures[name];
        let turn = 60e9 / figure("rotation_rpm");
        let short_seek = (figure("seek_track_to_track_ms") + figure("write_settle_ms")) * 1e6;
        // Where the platter stands at the start is luck: a turn and a short seek are not the order's doing.
        let stream = time_of(&profile, seed, kind, &sorted, depth);
        let permuted = time_of(&profile, seed, kind, &order, depth);
        prop_assert!(stream as f64 <= permuted as f64 + turn + short_seek, "{stream} ns in order, {permuted} ns in {order:?}");
    }
}

/// Time until the blocks of 256 KiB are read, or written and flushed, in this order.
fn time_of(profile: &Profile, seed: u64, kind: Kind, order: &[u64], depth: usize) -> Nanos {
    let mut device = build(profile, seed).unwrap();
    let mut waiting = order.iter().enumerate();
    let (mut flying, mut now, mut done) = (0, 0, Vec::new());
    loop {
        while flying < depth {
            let Some((id, block)) = waiting.next() else { break };
            device.submit(now, Request { id: id as u64, kind, offset: block * 256 * KIB, bytes: 256 * KIB });
            flying += 1;
        }
        if flying == 0 {
            break;
        }
        now = device.next_event().expect("requests are under way").max(now);
        done.clear();
        device.advance(now, &mut done);
        flying -= done.len();
    }
    device.submit(now, Request { id: u64::MAX, kind: Kind::Flush, offset: 0, bytes: 0 });
    done.clear();
    device.advance(now + 3600 * support::SECOND, &mut done);
    done[0].at
}
