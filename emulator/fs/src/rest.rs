//! Waiting for the next deadline or request, exactly where it matters and asleep where it does not.
//!
//! A sleeping thread comes back late by what the machine needs to wake it, some 5 us on bare metal and up to 50 us on a
//! virtual machine. That is learned from every sleep; where a single request is under way, whose delay would go whole into
//! the measured latency, the thread gets up so much earlier and looks for requests until the deadline is there.
//!
//! Where many are under way the drive is the bottleneck, and a reply that is a few microseconds late only shortens its
//! queue a little. The thread then sleeps on for 1 us per further request, so that several replies share a wake-up, and
//! never spins: on a machine with two cores the requests' sender needs the processor.

use std::io;
use std::time::Duration;

use assay_model::Nanos;

use crate::sys;

/// Nobody gets up earlier than this: it is processor time spent on looking at the clock.
const EARLIEST_NS: Nanos = 60_000;
/// Nor earlier than by this part of the wait: where the deadlines are close together, it would be all looking and no sleep.
/// A short write to an SSD takes some 30 us, and a machine of slow wake-ups needs a third of that.
const EARLIEST_SHARE: Nanos = 2;
/// A shorter sleep would cost more than looking at the clock.
const SHORTEST_NS: Nanos = 5_000;
/// How much longer a sleep is for each further request under way, and at most.
const PATIENCE_EACH_NS: Nanos = 1_000;
const PATIENCE_NS: Nanos = 20_000;
/// The longest sleep: no arithmetic with far-off deadlines can then overflow.
const LONGEST: Duration = Duration::from_secs(3600);

/// What is known of this machine's wake-ups.
#[derive(Debug)]
pub struct Rest {
    /// By how much wake-ups are late, a running mean.
    late_ns: f64,
}

impl Default for Rest {
    fn default() -> Self {
        Self { late_ns: 5_000.0 }
    }
}

impl Rest {
    /// Has `wait` sleep until there is something or until about `deadline`; not at all when that is near. None: no
    /// deadline. `wait` says whether there was something; None has it wait without end.
    pub fn until(
        &mut self,
        mut wait: impl FnMut(Option<Duration>) -> io::Result<bool>,
        deadline: Option<Nanos>,
        under_way: usize,
    ) -> io::Result<()> {
        let Some(deadline) = deadline else {
            return wait(None).map(drop);
        };
        let Some(sleep) = self.sleep(sys::monotonic_ns(), deadline, under_way) else {
            return wait(Some(Duration::ZERO)).map(drop);
        };
        let wake = sys::monotonic_ns() + sleep.as_nanos() as Nanos;
        if !wait(Some(sleep))? {
            self.woke(sys::monotonic_ns().saturating_sub(wake));
        }
        Ok(())
    }

    /// How long to sleep; None: too short to sleep at all.
    fn sleep(&self, now: Nanos, deadline: Nanos, under_way: usize) -> Option<Duration> {
        let left = deadline.saturating_sub(now);
        let rest = if under_way > 1 {
            left.saturating_add((PATIENCE_EACH_NS * (under_way as Nanos - 1)).min(PATIENCE_NS))
        } else {
            let early = ((self.late_ns * 1.5) as Nanos + 1_000).min(EARLIEST_NS).min(left / EARLIEST_SHARE);
            left.saturating_sub(early)
        };
        (rest > SHORTEST_NS).then(|| Duration::from_nanos(rest).min(LONGEST))
    }

    /// Learns from a sleep that ended by itself. A sleep that was late because others had the processor teaches nothing.
    fn woke(&mut self, late_ns: Nanos) {
        if late_ns < 4 * EARLIEST_NS {
            self.late_ns += (late_ns as f64 - self.late_ns) / 16.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_wakes_late_is_asked_to_wake_earlier() {
        let mut rest = Rest::default();
        let before = rest.sleep(0, 1_000_000, 1).unwrap();
        for _ in 0..200 {
            rest.woke(30_000);
        }
        let after = rest.sleep(0, 1_000_000, 1).unwrap();
        assert!(before - after > Duration::from_micros(30) && after > Duration::from_micros(940));
    }

    #[test]
    fn one_long_absence_teaches_nothing_and_no_machine_makes_us_spin_for_long() {
        let mut rest = Rest::default();
        rest.woke(50_000_000);
        assert_eq!(rest.late_ns, 5_000.0);
        for _ in 0..200 {
            rest.woke(200_000);
        }
        assert!(rest.sleep(0, 1_000_000, 1).unwrap() >= Duration::from_micros(940));
    }

    #[test]
    fn many_replies_share_a_wake_up() {
        let rest = Rest::default();
        assert_eq!(rest.sleep(0, 100_000, 5), Some(Duration::from_micros(104)));
        assert_eq!(rest.sleep(0, 100_000, 100), Some(Duration::from_micros(120)));
        assert_eq!(rest.sleep(0, u64::MAX, 100), Some(LONGEST));
    }

    #[test]
    fn a_near_or_past_deadline_needs_no_sleep() {
        let rest = Rest::default();
        assert_eq!(rest.sleep(1_000_000, 1_005_000, 1), None);
        assert_eq!(rest.sleep(1_000_000, 900_000, 1), None);
        assert_eq!(rest.sleep(0, u64::MAX, 1), Some(LONGEST));
    }
}
