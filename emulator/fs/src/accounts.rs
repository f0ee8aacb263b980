//! How well the emulator kept the model's times: late requests and the overshoot of replies.

use assay_model::{Kind, Nanos};
use serde::Serialize;

/// A reply is late by more than this, and by more than a tenth of the drive's response time; else it is only overshot.
const LATE_NS: Nanos = 200_000;
const LATE_SHARE: u64 = 10;

/// Requests whose reply left too late, because the backing store or this process was slower than the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Late {
    /// How many.
    pub requests: u64,
    /// Their share of all requests that had a deadline; 0 where there were none.
    pub share: f64,
    /// By how much the worst was late.
    pub worst_us: f64,
    /// How long at least one of them was overdue.
    pub seconds: f64,
}

/// Time from deadline to reply. The figures are upper bounds of buckets an eighth wide.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overshoot {
    /// Of half of the replies.
    pub median_us: f64,
    /// Of all but one in a hundred.
    pub p99_us: f64,
}

/// The accounts since the start or the last reset.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    replies: u64,
    late: u64,
    worst_ns: Nanos,
    overdue: Union,
    response_ns: u128,
    flush_ns: u128,
    overshoot: Spread,
}

impl Accounts {
    /// Notes a reply. `response_ns` is the model's time from arrival to completion. A request that takes no time in the
    /// model has no deadline to miss.
    pub fn reply(&mut self, kind: Kind, response_ns: Nanos, deadline: Nanos, now: Nanos) {
        if response_ns == 0 {
            return;
        }
        let over = now.saturating_sub(deadline);
        self.replies += 1;
        self.response_ns += u128::from(response_ns);
        if kind == Kind::Flush {
            self.flush_ns += u128::from(response_ns);
        }
        self.overshoot.add(over);
        if over > LATE_NS && over > response_ns / LATE_SHARE {
            self.late += 1;
            self.worst_ns = self.worst_ns.max(over);
            // Requests that are overdue together cost their client that time once.
            self.overdue.add(deadline, now);
        }
    }

    /// The late ones.
    #[must_use]
    pub fn late(&self) -> Late {
        let share = if self.replies == 0 { 0.0 } else { self.late as f64 / self.replies as f64 };
        Late {
            requests: self.late,
            share,
            worst_us: self.worst_ns as f64 / 1e3,
            seconds: self.overdue.length() as f64 / 1e9,
        }
    }

    /// How long the model took for a request, on average; 0 where there were none.
    #[must_use]
    pub fn mean_response_us(&self) -> f64 {
        if self.replies == 0 { 0.0 } else { self.response_ns as f64 / self.replies as f64 / 1e3 }
    }

    /// The model's times of all requests but flushes, and of flushes, each added up.
    #[must_use]
    pub fn modelled_s(&self) -> (f64, f64) {
        ((self.response_ns - self.flush_ns) as f64 / 1e9, self.flush_ns as f64 / 1e9)
    }

    /// The spread of the overshoot.
    #[must_use]
    pub fn overshoot(&self) -> Overshoot {
        let at = |share| self.overshoot.quantile(share) as f64 / 1e3;
        Overshoot { median_us: at(0.5), p99_us: at(0.99) }
    }
}

/// How many disjoint intervals a union can still extend backwards; replies leave nearly in the order of time.
const OPEN_INTERVALS: usize = 64;

/// The time that any of many intervals covers. They come in any order; where more than `OPEN_INTERVALS` of them are
/// apart from one another, nothing is added before the end of the earliest any more.
#[derive(Debug, Clone, Default)]
struct Union {
    /// Disjoint and in the order of time.
    open: Vec<(Nanos, Nanos)>,
    /// Nothing is added before this; `closed_ns` of the time before it is covered.
    closed_until: Nanos,
    closed_ns: Nanos,
}

impl Union {
    fn add(&mut self, start: Nanos, end: Nanos) {
        let start = start.max(self.closed_until);
        if start >= end {
            return;
        }
        let first = self.open.partition_point(|&(_, until)| until < start);
        let next = self.open.partition_point(|&(from, _)| from <= end);
        let touched = &self.open[first..next];
        let from = touched.first().map_or(start, |one| one.0.min(start));
        let until = touched.last().map_or(end, |one| one.1.max(end));
        self.open.splice(first..next, [(from, until)]);
        if self.open.len() > OPEN_INTERVALS {
            let (from, until) = self.open.remove(0);
            self.closed_ns += until - from;
            self.closed_until = until;
        }
    }

    fn length(&self) -> Nanos {
        self.closed_ns + self.open.iter().map(|(from, until)| until - from).sum::<Nanos>()
    }
}

/// Counts of values in buckets that are an eighth of their value wide.
#[derive(Debug, Clone)]
struct Spread(Box<[u64; 512]>);

impl Default for Spread {
    fn default() -> Self {
        Self(Box::new([0; 512]))
    }
}

impl Spread {
    fn bucket(value: u64) -> usize {
        if value < 8 {
            return value as usize;
        }
        let shift = 60 - value.leading_zeros();
        (u64::from(shift + 1) * 8 + ((value >> shift) & 7)) as usize
    }

    fn upper(bucket: usize) -> u64 {
        if bucket < 8 {
            return bucket as u64;
        }
        let shift = bucket / 8 - 1;
        ((8 + bucket as u64 % 8) << shift) + ((1 << shift) - 1)
    }

    fn add(&mut self, value: u64) {
        self.0[Self::bucket(value)] += 1;
    }

    fn quantile(&self, share: f64) -> u64 {
        let total: u64 = self.0.iter().sum();
        let wanted = (total as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.0.iter().enumerate() {
            seen += count;
            if *count > 0 && seen >= wanted {
                return Self::upper(bucket);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_values_and_is_an_eighth_wide() {
        for value in (0..2000).chain([1 << 20, (1 << 40) + 12345, u64::MAX]) {
            let upper = Spread::upper(Spread::bucket(value));
            assert!(upper >= value && upper - value <= value / 8, "{value} lies below {upper}");
        }
        assert!(Spread::bucket(u64::MAX) < 512);
    }

    #[test]
    fn late_needs_both_a_tenth_and_200_us() {
        let mut accounts = Accounts::default();
        accounts.reply(Kind::Read, 1_000_000, 0, 190_000);
        accounts.reply(Kind::Read, 10_000_000, 0, 900_000);
        assert_eq!(accounts.late().requests, 0);
        accounts.reply(Kind::Read, 1_000_000, 0, 210_000);
        accounts.reply(Kind::Read, 10_000_000, 0, 1_100_000);
        assert_eq!(accounts.late(), Late { requests: 2, share: 0.5, worst_us: 1100.0, seconds: 1.1e-3 });
    }

    #[test]
    fn what_is_overdue_together_counts_once() {
        let mut accounts = Accounts::default();
        accounts.reply(Kind::Read, 1_000_000, 10_000_000, 12_000_000);
        accounts.reply(Kind::Read, 1_000_000, 11_000_000, 13_000_000);
        accounts.reply(Kind::Read, 1_000_000, 10_500_000, 12_500_000);
        assert!((accounts.late().seconds - 3e-3).abs() < 1e-12);
        accounts.reply(Kind::Read, 1_000_000, 20_000_000, 21_000_000);
        assert!((accounts.late().seconds - 4e-3).abs() < 1e-12);
    }

    #[test]
    fn what_was_overdue_before_an_earlier_late_reply_counts() {
        let mut accounts = Accounts::default();
        accounts.reply(Kind::Read, 1_000_000, 10_000_000, 10_300_000);
        accounts.reply(Kind::Read, 1_000_000, 5_000_000, 11_000_000);
        assert!((accounts.late().seconds - 6e-3).abs() < 1e-12, "{:?}", accounts.late());
        accounts.reply(Kind::Read, 1_000_000, 20_000_000, 21_000_000);
        accounts.reply(Kind::Read, 1_000_000, 30_000_000, 31_000_000);
        accounts.reply(Kind::Read, 1_000_000, 20_500_000, 30_500_000);
        assert!((accounts.late().seconds - 17e-3).abs() < 1e-12, "{:?}", accounts.late());
    }

    #[test]
    fn a_union_is_the_instants_that_any_interval_covers() {
        let mut random = 20_140_814_u64;
        let mut below = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % most
        };
        for _ in 0..200 {
            let mut union = Union::default();
            let mut covered = [false; 100];
            for _ in 0..30 {
                let start = below(99);
                let end = start + below(100 - start);
                union.add(start, end);
                covered[start as usize..end as usize].fill(true);
            }
            assert_eq!(union.length(), covered.iter().filter(|one| **one).count() as u64, "{union:?}");
        }
    }

    #[test]
    fn a_union_of_many_intervals_stays_small_and_counts_nothing_twice() {
        let mut union = Union::default();
        for at in 0..10_000 {
            union.add(10 * at, 10 * at + 3);
        }
        assert_eq!(union.length(), 30_000);
        assert!(union.open.len() <= OPEN_INTERVALS);
        union.add(0, 100_000);
        let open_from = union.closed_until;
        assert_eq!(union.length(), open_from.div_ceil(10) * 3 + (100_000 - open_from));
    }

    #[test]
    fn overshoot_is_the_time_after_the_deadline() {
        let mut accounts = Accounts::default();
        for us in 1..=100 {
            accounts.reply(Kind::Read, 1_000_000, 500, 500 + us * 1000);
        }
        let overshoot = accounts.overshoot();
        assert!((50.0..57.0).contains(&overshoot.median_us), "{overshoot:?}");
        assert!((99.0..112.0).contains(&overshoot.p99_us), "{overshoot:?}");
    }

    #[test]
    fn a_drive_that_takes_no_time_is_never_late() {
        let mut accounts = Accounts::default();
        accounts.reply(Kind::Read, 0, 0, 5_000_000);
        assert_eq!(accounts.late(), Late { requests: 0, share: 0.0, worst_us: 0.0, seconds: 0.0 });
        assert_eq!(accounts.overshoot(), Overshoot { median_us: 0.0, p99_us: 0.0 });
    }
}
