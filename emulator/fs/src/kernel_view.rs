//! How long requests really take, as the kernel sees it: from the block layer's taking one to its completion.
//!
//! The emulator can't see what a request waits for before it arrives or after it was answered: a busy processor, the loop
//! device's worker, FUSE. The kernel adds up the requests' times to the nanosecond, but from before the driver has them:
//! while the driver has no room, while a flush that has to come first is under way, and while the program that collects
//! requests has no processor. A real drive's requests wait for these, too. And its busy time is counted in clock ticks,
//! which on a loaded machine was off by a fifth. So at intervals that are no multiple of a clock tick there is a look at how
//! many requests are under way, and how many of these the driver has. Only where the process was kept from looking, the
//! kernel's busy time has to do.
//!
//! The loop device's worker hands nothing on while it waits for a flush. A drive behind SATA makes requests wait in the same
//! way, because its command for a flush cannot be queued with others; one behind NVMe or SAS would take them meanwhile. So
//! what requests wait behind a flush is counted apart, and whoever reads it says whether the drive was waited for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use assay_model::Nanos;
use serde::Serialize;

use crate::sys;

/// Between two looks. At 3 ms a minute has 20,000 of them, for a few tenths of a percent of a processor.
const INTERVAL: Duration = Duration::from_millis(3);
/// Between two looks that are further apart the process was kept from looking, and requests came and went unseen.
const LONGEST_INTERVAL: Duration = Duration::from_millis(50);
/// Fields of the file `stat` (the kernel's Documentation/block/stat.rst): milliseconds of all reads, writes and discards,
/// each added up, how many are under way, and milliseconds in which there was any.
const MILLISECONDS: [usize; 3] = [3, 7, 14];
const UNDER_WAY: usize = 8;
const BUSY_MS: usize = 9;

/// A block device's requests since the last reset.
#[derive(Debug)]
pub struct KernelView {
    files: Files,
    counts: Counts,
    held: Held,
    took_ms_at_reset: AtomicU64,
}

/// Looks by when a request counts as the drive's: each count has what the one before it has, and more.
#[derive(Debug, Default)]
struct Counts {
    /// From when the driver has it, and no flush is under way.
    unflushed: Looks,
    /// From when the driver has it.
    driven: Looks,
    /// From the block layer's taking it, but for what waits because the driver has no room.
    taken: Looks,
}

/// By how many seconds the drive's client waited longer than for the drive, by what for: none is part of another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LateBy {
    /// For a flush that had to end first, after the driver had the request.
    pub late_behind_flush_seconds: f64,
    /// For the driver to have it: a flush that had to come first, or a program that collected requests.
    pub late_before_driver_seconds: f64,
    /// For anything else.
    pub late_otherwise_seconds: f64,
}

/// What the emulator has at the moment.
#[derive(Debug, Default)]
struct Held {
    flushes: AtomicUsize,
    others: AtomicUsize,
}

#[derive(Debug)]
struct Files {
    stat: File,
    in_driver: File,
    /// How many requests the driver takes at once.
    depth: u64,
}

/// Nanoseconds; a look stands for the time since the one before.
#[derive(Debug, Default)]
struct Looks {
    busy: AtomicU64,
    /// Of all requests, before the driver had them.
    outside: AtomicU64,
}

/// What a look sees.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// Since the look before.
    time: Nanos,
    /// How much of that the device was busy, by the kernel's clock ticks; None where the look before is recent enough.
    unseen_busy: Option<Nanos>,
    under_way: u64,
    in_driver: u64,
}

/// An interval as the kernel saw it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Time in which the driver had at least one request.
    pub busy_s: f64,
    /// The times of all requests but flushes, added up, from when the driver had them.
    pub request_s: f64,
}

impl KernelView {
    /// Looks at a block device (`loop3`) from now on, in a thread that ends with the process or when the device is gone.
    pub fn of(device: &str) -> io::Result<Arc<Self>> {
        let folder = Path::new("/sys/block").join(device);
        let (stat, in_driver) = (File::open(folder.join("stat"))?, File::open(folder.join("inflight"))?);
        let depth = numbers(&File::open(folder.join("queue/nr_requests"))?)?.first().copied().unwrap_or(u64::MAX);
        let files = Files { stat, in_driver, depth };
        let took_ms_at_reset = files.took_ms().into();
        let view = Arc::new(Self { files, counts: Counts::default(), held: Held::default(), took_ms_at_reset });
        let looking = Arc::clone(&view);
        thread::Builder::new().name("kernel-view".into()).stack_size(128 << 10).spawn(move || {
            // At a lower priority than the serving thread's it would look when that sleeps: when little is under way.
            let _ = sys::real_time_priority(2);
            let (mut last, mut last_busy_ms) = (sys::monotonic_ns(), 0);
            while let Ok((under_way, busy_ms, in_driver)) = looking.files.look() {
                let now = sys::monotonic_ns();
                let busy = busy_ms.saturating_sub(last_busy_ms) * 1_000_000;
                let look = Look::new(now - last, busy, under_way, in_driver);
                looking.counts.note(look, looking.held.handed_on(in_driver), looking.files.depth);
                (last, last_busy_ms) = (now, busy_ms);
                thread::sleep(INTERVAL);
            }
        })?;
        Ok(view)
    }

    /// Says how many requests the emulator has now: flushes, and others.
    pub fn holds(&self, flushes: usize, others: usize) {
        self.held.flushes.store(flushes, Relaxed);
        self.held.others.store(others, Relaxed);
    }

    /// Counts anew.
    pub fn reset(&self) {
        for looks in self.counts.each() {
            looks.busy.store(0, Relaxed);
            looks.outside.store(0, Relaxed);
        }
        self.took_ms_at_reset.store(self.files.took_ms(), Relaxed);
    }

    /// By how much the drive's client waited longer than for the drive since the last reset; for the rest see [`late_s`].
    #[must_use]
    pub fn late(&self, modelled_s: f64, flush_s: f64, least_s: f64) -> LateBy {
        let took_ms = self.files.took_ms().saturating_sub(self.took_ms_at_reset.load(Relaxed));
        self.counts.late(took_ms as f64 / 1e3, modelled_s, flush_s, least_s)
    }
}

impl Files {
    /// How many requests are under way, for how many milliseconds there were any, and how many the driver has.
    fn look(&self) -> io::Result<(u64, u64, u64)> {
        let stat = numbers(&self.stat)?;
        let field = |index: usize| stat.get(index).copied().unwrap_or(0);
        Ok((field(UNDER_WAY), field(BUSY_MS), numbers(&self.in_driver)?.iter().sum()))
    }

    fn took_ms(&self) -> u64 {
        let found = numbers(&self.stat).unwrap_or_default();
        MILLISECONDS.iter().filter_map(|field| found.get(*field)).sum()
    }
}

impl Held {
    /// How many of the driver's requests do not wait behind a flush.
    fn handed_on(&self, in_driver: u64) -> u64 {
        if self.flushes.load(Relaxed) == 0 { in_driver } else { in_driver.min(self.others.load(Relaxed) as u64) }
    }
}

impl Counts {
    fn each(&self) -> [&Looks; 3] {
        [&self.unflushed, &self.driven, &self.taken]
    }

    fn note(&self, look: Look, unflushed: u64, depth: u64) {
        let taken = if look.in_driver >= depth { look.in_driver } else { look.under_way };
        for (looks, counted) in self.each().into_iter().zip([unflushed, look.in_driver, taken]) {
            looks.note(look, counted);
        }
    }

    fn late(&self, took_s: f64, modelled_s: f64, flush_s: f64, least_s: f64) -> LateBy {
        let [unflushed, driven, taken] =
            self.each().map(|looks| late_s(looks.seen(took_s), modelled_s, flush_s, least_s));
        LateBy {
            late_behind_flush_seconds: (driven - unflushed).max(0.0),
            late_before_driver_seconds: (taken - driven).max(0.0),
            late_otherwise_seconds: unflushed,
        }
    }
}

impl LateBy {
    /// For nothing that is known by name.
    #[must_use]
    pub fn of(seconds: f64) -> Self {
        Self { late_behind_flush_seconds: 0.0, late_before_driver_seconds: 0.0, late_otherwise_seconds: seconds }
    }

    /// All that a drive was not waited for; what waits behind a flush waits for a drive that then takes no command.
    #[must_use]
    pub fn seconds(&self, flush_alone: bool) -> f64 {
        self.late_otherwise_seconds + if flush_alone { 0.0 } else { self.late_behind_flush_seconds }
    }
}

impl Look {
    /// `busy` is how much of the time the device was busy by the kernel's clock ticks.
    fn new(time: Nanos, busy: Nanos, under_way: u64, in_driver: u64) -> Self {
        let unseen_busy = (u128::from(time) > LONGEST_INTERVAL.as_nanos()).then(|| busy.min(time));
        Self { time, unseen_busy, under_way, in_driver }
    }
}

impl Looks {
    /// Adds a look, with as many requests as `counted` in the drive.
    fn note(&self, look: Look, counted: u64) {
        let busy = look.unseen_busy.unwrap_or(if counted > 0 { look.time } else { 0 });
        self.busy.fetch_add(busy, Relaxed);
        // Where requests of a time without a look were, the one at its end does not tell.
        let outside = if look.unseen_busy.is_some() { 0 } else { look.under_way.saturating_sub(counted) };
        self.outside.fetch_add(look.time * outside, Relaxed);
    }

    fn seen(&self, took_s: f64) -> Seen {
        let seconds = |time: &AtomicU64| time.load(Relaxed) as f64 / 1e9;
        Seen { busy_s: seconds(&self.busy), request_s: (took_s - seconds(&self.outside)).max(0.0) }
    }
}

fn numbers(file: &File) -> io::Result<Vec<u64>> {
    let mut buffer = [0; 512];
    let length = file.read_at(&mut buffer, 0)?;
    let text = std::str::from_utf8(&buffer[..length]).unwrap_or_default();
    Ok(text.split_whitespace().filter_map(|word| word.parse().ok()).collect())
}

/// By how much the drive's client waited longer than for the drive: what requests took beyond the model's time, shared
/// among those that were under way together; but at most the time in which the drive itself had no need to work.
///
/// `modelled_s` are the model's times of all requests but flushes, added up, `flush_s` those of flushes, which the kernel's
/// count leaves out; `least_s` is the time of the drive's busiest part.
#[must_use]
pub fn late_s(seen: Seen, modelled_s: f64, flush_s: f64, least_s: f64) -> f64 {
    if seen.request_s <= modelled_s {
        return 0.0;
    }
    let waited = seen.busy_s * (1.0 - modelled_s / seen.request_s);
    waited.min((seen.busy_s + flush_s - least_s).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(time: Nanos, under_way: u64, in_driver: u64) -> Look {
        Look { time, unseen_busy: None, under_way, in_driver }
    }

    #[test]
    fn what_the_driver_does_not_have_yet_waits_for_something_else() {
        let looks = Looks::default();
        for (under_way, in_driver) in [(0, 0), (40, 32), (3, 1), (33, 32), (1, 0)] {
            looks.note(look(2_000_000_000, under_way, in_driver), in_driver);
        }
        assert_eq!(looks.seen(50.0), Seen { busy_s: 6.0, request_s: 50.0 - 2.0 * 12.0 });
        assert_eq!(Looks::default().seen(0.5), Seen { busy_s: 0.0, request_s: 0.5 });
    }

    #[test]
    fn of_a_time_without_a_look_the_kernel_s_ticks_are_taken() {
        let looks = Looks::default();
        looks.note(Look::new(500_000_000, 400_000_000, 0, 0), 0);
        looks.note(Look::new(100_000_000, 900_000_000, 1, 1), 1);
        looks.note(Look::new(3_000_000, 9_000_000, 0, 0), 0);
        assert_eq!(looks.seen(0.5).busy_s, 0.5);
        looks.note(Look::new(500_000_000, 500_000_000, 1, 0), 0);
        assert_eq!(looks.seen(1.0), Seen { busy_s: 1.0, request_s: 1.0 }, "where the request was then nobody has seen");
    }

    #[test]
    fn what_waits_behind_a_flush_waits_for_the_drive() {
        let held = Held::default();
        held.others.store(2, Relaxed);
        assert_eq!(held.handed_on(9), 9);
        held.flushes.store(1, Relaxed);
        assert_eq!(held.handed_on(9), 2);
        assert_eq!(held.handed_on(1), 1, "the kernel has not seen an answer's end yet, or it has seen it first");
    }

    #[test]
    fn what_waits_behind_a_flush_is_late_where_the_drive_takes_commands_meanwhile() {
        // A request of 1 s in the model waits 1 s for the driver to have it, 2 s behind a flush, and 3 s for a processor.
        let counts = Counts::default();
        counts.note(look(1_000_000_000, 1, 0), 0, 128);
        counts.note(look(2_000_000_000, 1, 1), 0, 128);
        counts.note(look(4_000_000_000, 1, 1), 1, 128);
        let late = counts.late(7.0, 1.0, 0.0, 0.0);
        let expected =
            LateBy { late_behind_flush_seconds: 2.0, late_before_driver_seconds: 1.0, late_otherwise_seconds: 3.0 };
        assert_eq!(late, expected);
        assert_eq!((late.seconds(true), late.seconds(false)), (3.0, 5.0));
    }

    #[test]
    fn what_a_full_driver_has_no_room_for_is_never_late() {
        let counts = Counts::default();
        counts.note(look(1_000_000_000, 5, 2), 2, 2);
        let late = counts.late(5.0, 2.0, 0.0, 0.0);
        assert_eq!((late.late_before_driver_seconds, late.late_otherwise_seconds), (0.0, 0.0));
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error() {
        assert!(KernelView::of("no such device").is_err());
    }

    #[test]
    fn requests_one_after_the_other_are_late_by_what_they_took_longer() {
        let seen = Seen { busy_s: 9.0, request_s: 9.0 };
        assert!((late_s(seen, 6.0, 0.0, 1.0) - 3.0).abs() < 1e-9);
        assert_eq!(late_s(seen, 9.5, 0.0, 1.0), 0.0);
        assert_eq!(late_s(Seen { busy_s: 0.0, request_s: 0.0 }, 0.0, 0.0, 0.0), 0.0);
    }

    #[test]
    fn a_drive_that_always_had_work_was_not_waited_for() {
        // Two streams through a link that is never idle: what each request waits longer, the other one uses.
        let seen = Seen { busy_s: 10.0, request_s: 20.0 };
        assert!((late_s(seen, 18.0, 0.0, 9.9) - 0.1).abs() < 1e-9);
        assert!((late_s(seen, 18.0, 0.5, 9.9) - 0.6).abs() < 1e-9, "flushes are not in the kernel's count");
        assert_eq!(late_s(seen, 18.0, 0.0, 11.0), 0.0);
    }

    #[test]
    fn a_deep_queue_is_late_by_what_the_drive_could_have_done_meanwhile() {
        // 39,000 of 90,000 requests a second, 32 under way, 4 of them in the drive.
        let seen = Seen { busy_s: 10.0, request_s: 320.0 };
        let least_s = 10.0 * 39.0 / 90.0;
        assert!((late_s(seen, 40.0, 0.0, least_s) - (10.0 - least_s)).abs() < 1e-9);
    }
}
