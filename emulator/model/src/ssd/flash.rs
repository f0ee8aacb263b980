//! Reading from flash: units that read at the same time, on channels that carry the data away.

use crate::Nanos;
use crate::profile::Checked;
use crate::rng::{Rng, mix};

/// Programs under way, as a read meets them: the share of units that they hold, and for how long at most.
#[derive(Clone, Copy, Debug)]
pub struct Programming {
    share: f64,
    nanos: f64,
}

/// The units and channels, each with the time at which it is free.
#[derive(Debug)]
pub struct Flash {
    units_free: Vec<f64>,
    channels_free: Vec<f64>,
    page_bytes: u64,
    latency: f64,
    jitter: f64,
    program_latency: f64,
    /// Bytes per nanosecond of one channel.
    channel_rate: f64,
    rng: Rng,
}

impl Flash {
    /// All units idle.
    pub fn new(figures: &Checked, seed: u64) -> Self {
        let channels = figures.get("channels") as usize;
        let units = channels * figures.get("dies_per_channel") as usize;
        Flash {
            units_free: vec![0.0; units],
            channels_free: vec![0.0; channels],
            page_bytes: figures.bytes("page_bytes"),
            latency: figures.us("read_latency_us"),
            jitter: figures.get("read_jitter_fraction"),
            program_latency: figures.us("program_latency_us"),
            channel_rate: figures.rate("channel_mb_s"),
            rng: Rng::new(seed),
        }
    }

    /// What one unit reads at a time.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// How programs at `rate` hold the units. A page into a fast cell holds its unit for less than the
    /// program latency: for no longer than the rate leaves it.
    pub fn programming(&self, rate: f64) -> Programming {
        if rate <= 0.0 {
            return Programming { share: 0.0, nanos: 0.0 };
        }
        let nanos = (self.units_free.len() as f64 * self.page_bytes as f64 / rate).max(1.0);
        Programming { share: (self.program_latency / nanos).min(1.0), nanos: nanos.min(self.program_latency) }
    }

    /// Reads a range, from `at` on, while programs hold units; returns when its last page is out of its channel.
    pub fn read(&mut self, at: Nanos, offset: u64, bytes: u64, programming: Programming) -> Nanos {
        let end = offset + bytes;
        let mut ready = at as f64;
        for page in offset / self.page_bytes..end.div_ceil(self.page_bytes) {
            let from = offset.max(page * self.page_bytes);
            let upto = end.min((page + 1) * self.page_bytes);
            ready = ready.max(self.read_page(at as f64, page, upto - from, programming));
        }
        ready.ceil() as Nanos
    }

    /// Pages that adjoin lie on different units; which page of a stripe is on which unit is scattered,
    /// as the drive's map of addresses does.
    fn read_page(&mut self, at: f64, page: u64, bytes: u64, programming: Programming) -> f64 {
        let units = self.units_free.len() as u64;
        let unit = ((page + mix(page / units)) % units) as usize;
        let spread = 1.0 + self.jitter * (2.0 * self.rng.unit() - 1.0);
        let held = programming.share > 0.0 && self.rng.unit() < programming.share;
        let wait = if held { self.rng.unit() * programming.nanos } else { 0.0 };
        let sensed = self.units_free[unit].max(at) + wait + self.latency * spread;
        self.units_free[unit] = sensed;
        // The channel's work is counted from the arrival: a page that waits for its unit holds up no other.
        let carry = bytes as f64 / self.channel_rate;
        let channel = unit % self.channels_free.len();
        self.channels_free[channel] = self.channels_free[channel].max(at) + carry;
        self.channels_free[channel].max(sensed + carry)
    }
}
