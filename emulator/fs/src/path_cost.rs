//! What a request costs on its way through loop device, FUSE and this process, without any modelled drive.

use assay_model::{Kind, Nanos};
use serde::{Deserialize, Serialize};

/// A cost that grows with the request: `base_ns + bytes * ns_per_byte`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Cost of a request of no length.
    pub base_ns: f64,
    /// Further cost of each byte.
    pub ns_per_byte: f64,
}

impl Line {
    /// The cost of that many bytes; 0 for a line that would give less.
    #[must_use]
    pub fn at(&self, bytes: u64) -> Nanos {
        (self.base_ns + self.ns_per_byte * bytes as f64).max(0.0) as Nanos
    }

    /// The line through two measured points (bytes, ns), with neither part below zero.
    #[must_use]
    pub fn through(small: (u64, f64), large: (u64, f64)) -> Self {
        let slope = ((large.1 - small.1) / (large.0 - small.0) as f64).max(0.0);
        Self { base_ns: (small.1 - slope * small.0 as f64).max(0.0), ns_per_byte: slope }
    }

    fn is_sound(&self) -> bool {
        let sound = |value: f64| value.is_finite() && value >= 0.0;
        sound(self.base_ns) && sound(self.ns_per_byte)
    }
}

/// The path's cost by direction, as `assay-emulator measure` prints it and `begin` takes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathCost {
    /// Of reads.
    pub read: Line,
    /// Of writes.
    pub write: Line,
}

impl PathCost {
    /// The cost of one request. A flush or a discard carries no data: it costs what the shortest write does.
    #[must_use]
    pub fn of(&self, kind: Kind, bytes: u64) -> Nanos {
        match kind {
            Kind::Read => self.read.at(bytes),
            Kind::Write => self.write.at(bytes),
            Kind::Flush | Kind::Discard => self.write.at(0),
        }
    }

    /// False when a part is negative or no number.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.read.is_sound() && self.write.is_sound()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_its_points_and_never_below_zero() {
        let line = Line::through((4096, 50_000.0), (1 << 20, 400_000.0));
        assert!(line.at(4096).abs_diff(50_000) <= 1 && line.at(1 << 20).abs_diff(400_000) <= 1);
        let falling = Line::through((4096, 50_000.0), (1 << 20, 40_000.0));
        assert_eq!((falling.ns_per_byte, falling.at(1 << 20)), (0.0, 50_000));
        let steep = Line::through((4096, 10.0), (8192, 1_000_000.0));
        assert_eq!(steep.base_ns, 0.0);
    }

    #[test]
    fn a_path_that_pays_for_itself_is_refused() {
        let line = |base_ns, ns_per_byte| Line { base_ns, ns_per_byte };
        assert!(PathCost::default().is_sound());
        assert!(!PathCost { read: line(-1.0, 0.0), write: line(0.0, 0.0) }.is_sound());
        assert!(!PathCost { read: line(0.0, 0.0), write: line(0.0, f64::NAN) }.is_sound());
    }
}
