//! Where an address lies on the platters, and how long the head takes to it.

use crate::Nanos;
use crate::profile::Checked;

/// A wait this near to a whole turn is the rounding of a wait of nothing.
const TURN_ROUNDING_NANOS: f64 = 100.0;

/// Seek time over distance: `a + b * sqrt(distance)` for short seeks, in which the arm speeds up and
/// slows down, and a straight line for long ones, in which it coasts.
///
/// The form is that of Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer
/// 27(3), 1994. Distance is a share of the full stroke; the two parts meet at a third of it. `b` is the
/// one value for which the mean over random pairs of places, whose distance has the density
/// `2 (1 - d)`, is the data sheet's average.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    shortest: f64,
    root: f64,
    knee: f64,
    slope: f64,
}

const KNEE: f64 = 1.0 / 3.0;
/// Weights of the mean over `2 (1 - d)`: of `a` and of `sqrt(d)` below the knee, of the knee's own value
/// and of the full stroke's gain over it above.
const WEIGHT_SHORT: f64 = 5.0 / 9.0;
const WEIGHT_LONG: f64 = 4.0 / 9.0;
const WEIGHT_FULL: f64 = 1.5 * 8.0 / 81.0;

impl SeekCurve {
    fn new(figures: &Checked) -> Self {
        let shortest = figures.ms("seek_track_to_track_ms");
        let full = figures.ms("seek_full_stroke_ms");
        let knee = knee_value(shortest, figures.ms("seek_average_ms"), full);
        SeekCurve { shortest, root: (knee - shortest) / KNEE.sqrt(), knee, slope: (full - knee) / (1.0 - KNEE) }
    }

    /// The averages for which the curve rises all the way, least and most, in milliseconds.
    pub fn average_bounds_ms(figures: &Checked) -> (f64, f64) {
        let shortest = figures.get("seek_track_to_track_ms");
        let full = figures.get("seek_full_stroke_ms");
        (mean(shortest, shortest, full), mean(shortest, full, full))
    }

    /// Nanoseconds to move over `distance`, a share of the full stroke; nothing for no distance.
    fn nanos(&self, distance: f64) -> f64 {
        if distance <= KNEE {
            self.shortest + self.root * distance.sqrt()
        } else {
            self.knee + self.slope * (distance - KNEE)
        }
    }
}

/// The mean of `sqrt(d)` below the knee under the density `2 (1 - d)`.
fn weight_root() -> f64 {
    2.0 * (2.0 / 3.0 * KNEE.powf(1.5) - 2.0 / 5.0 * KNEE.powf(2.5))
}

/// The mean seek of a curve with these values at no distance, at the knee and at the full stroke.
fn mean(shortest: f64, knee: f64, full: f64) -> f64 {
    let root = (knee - shortest) / KNEE.sqrt();
    shortest * WEIGHT_SHORT + root * weight_root() + knee * WEIGHT_LONG + (full - knee) * WEIGHT_FULL
}

/// The value at the knee that gives the wanted mean; `mean` is linear in it.
fn knee_value(shortest: f64, average: f64, full: f64) -> f64 {
    let low = mean(shortest, shortest, full);
    let high = mean(shortest, full, full);
    shortest + (full - shortest) * (average - low) / (high - low)
}

/// Tracks of one rate. Head and track switches are part of the rate, so a "track" here is what
/// passes in one turn of a sequential transfer.
#[derive(Clone, Debug)]
struct Zone {
    start: u64,
    end: u64,
    /// Bytes per nanosecond.
    rate: f64,
    /// Turns from the platter's mark to `start`; each zone goes on where the one before it ends.
    turns: f64,
    /// Place of `start` as a share of the stroke, and the share that the zone takes.
    stroke: f64,
    stroke_share: f64,
}

/// A place on the platters.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The address.
    pub offset: u64,
    /// Share of the stroke, 0 outside.
    stroke: f64,
    /// Turns from the mark to here, counted through all tracks: the whole part names the track.
    turns: f64,
}

/// The head: where it stands, and since when.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub place: Place,
    pub since: Nanos,
}

/// The platters.
#[derive(Clone, Debug)]
pub struct Geometry {
    seek: SeekCurve,
    settle: f64,
    turn: f64,
    /// Turns by which the platter is ahead at time 0.
    phase: f64,
    zones: Vec<Zone>,
}

impl Geometry {
    /// Zones of equal width; with the bit density the same everywhere, the rate falls in proportion to
    /// the radius, from outside to inside, and a zone's share of the bytes is in proportion to its rate.
    pub fn new(figures: &Checked, phase: f64) -> Self {
        let capacity = figures.bytes("capacity_bytes");
        let count = figures.get("zones").round() as usize;
        let (outer, inner) = (figures.rate("outer_rate_mb_s"), figures.rate("inner_rate_mb_s"));
        let step = if count > 1 { (outer - inner) / (count - 1) as f64 } else { 0.0 };
        let rates: Vec<f64> = (0..count).map(|zone| outer - step * zone as f64).collect();
        let total: f64 = rates.iter().sum();
        let turn = 60e9 / figures.get("rotation_rpm");
        let (mut start, mut turns, mut sum) = (0, 0.0, 0.0);
        let mut zones = Vec::with_capacity(count);
        for (index, rate) in rates.into_iter().enumerate() {
            sum += rate;
            let end = if index + 1 == count { u64::MAX } else { (capacity as f64 * sum / total) as u64 };
            let (stroke, stroke_share) = (index as f64 / count as f64, 1.0 / count as f64);
            zones.push(Zone { start, end, rate, turns, stroke, stroke_share });
            turns += (end - start) as f64 / (rate * turn);
            start = end;
        }
        // The last zone takes addresses beyond the capacity too; its stroke is that of the capacity.
        let last = zones.last_mut().expect("at least one zone");
        last.stroke_share *= (u64::MAX - last.start) as f64 / (capacity - last.start) as f64;
        Geometry { seek: SeekCurve::new(figures), settle: figures.ms("write_settle_ms"), turn, phase, zones }
    }

    fn zone(&self, offset: u64) -> &Zone {
        &self.zones[self.zones.partition_point(|zone| zone.end <= offset)]
    }

    /// Where `offset` lies.
    pub fn place(&self, offset: u64) -> Place {
        let zone = self.zone(offset);
        let within = (offset - zone.start) as f64;
        let share = within / (zone.end - zone.start) as f64;
        Place {
            offset,
            stroke: zone.stroke + share * zone.stroke_share,
            turns: zone.turns + within / (zone.rate * self.turn),
        }
    }

    /// The rate at `offset` in bytes per nanosecond, and the address up to which it holds.
    pub fn rate(&self, offset: u64) -> (f64, u64) {
        let zone = self.zone(offset);
        (zone.rate, zone.end)
    }

    /// Nanoseconds from `now` until the head is over `target`: moving, settling (more for a write), and
    /// the wait for the platter. Nothing when the head has just come to that very address.
    pub fn access_nanos(&self, head: &Head, now: Nanos, target: &Place, write: bool) -> f64 {
        if head.place.offset == target.offset && head.since == now {
            return 0.0;
        }
        let same_track = head.place.turns.floor() == target.turns.floor();
        let seek = if same_track {
            0.0
        } else {
            let settle = if write { self.settle } else { 0.0 };
            self.seek.nanos((head.place.stroke - target.stroke).abs()) + settle
        };
        let passed = (now as f64 + seek) / self.turn + self.phase;
        let behind = target.turns - passed;
        let wait = (behind - behind.floor()) * self.turn;
        if self.turn - wait < TURN_ROUNDING_NANOS { seek } else { seek + wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_has_the_data_sheets_three_figures() {
        let (shortest, average, full) = (1.0, 9.0, 18.0);
        let knee = knee_value(shortest, average, full);
        let curve =
            SeekCurve { shortest, root: (knee - shortest) / KNEE.sqrt(), knee, slope: (full - knee) / (1.0 - KNEE) };
        assert!((curve.nanos(1.0) - full).abs() < 1e-9 && (curve.nanos(0.0) - shortest).abs() < 1e-9);
        let steps = 100_000;
        let mean: f64 = (0..steps)
            .map(|step| (step as f64 + 0.5) / steps as f64)
            .map(|distance| curve.nanos(distance) * 2.0 * (1.0 - distance) / steps as f64)
            .sum();
        assert!((mean - average).abs() < 1e-3, "{mean}");
    }
}
