//! The figures of a solid-state drive.

use crate::figures::{CAPACITY, FigureSpec, MIB, optional, required};
use crate::power::Watts;
use crate::profile::{Checked, FigureError};

/// Names, meanings, units and bounds; rates are in MB/s of 10^6 bytes.
pub const FIGURES: &[FigureSpec] = &[
    CAPACITY,
    required("link_mb_s", "ceiling of the link to the host", "MB/s", 10.0, 64000.0),
    optional("link_duplex", "both directions at once over one: 1 when they share the link", "links", 1.0, 2.0, 1.0),
    optional("queue_depth", "commands that the drive works on", "commands", 1.0, 65536.0, 32.0),
    required("read_commands_per_s", "reads that the controller handles", "commands a second", 100.0, 1e8),
    required("write_commands_per_s", "writes that the controller handles", "commands a second", 100.0, 1e8),
    required("read_command_us", "time of the controller in one read, beside others", "microseconds", 0.0, 10000.0),
    required("write_command_us", "time of the controller in one write, beside others", "microseconds", 0.0, 10000.0),
    required("channels", "channels to the flash chips", "channels", 1.0, 64.0),
    required("dies_per_channel", "units on one channel that read at the same time", "dies", 1.0, 64.0),
    optional("channel_mb_s", "rate of one channel", "MB/s", 10.0, 10000.0, 400.0),
    optional("page_bytes", "what one unit reads at a time", "bytes", 4096.0, 65536.0, 16384.0),
    required("read_latency_us", "time of one page read in the flash", "microseconds", 1.0, 10000.0),
    optional("read_jitter_fraction", "spread of that time to either side", "share", 0.0, 1.0, 0.1),
    optional("program_latency_us", "how long a unit is held by a page's writing", "microseconds", 1.0, 20000.0, 1000.0),
    required("buffer_bytes", "written data that the drive's memory takes", "bytes", 65536.0, 16384.0 * MIB),
    required("write_rate_mb_s", "rate of writing into the main cells", "MB/s", 1.0, 64000.0),
    optional("slc_cache_bytes", "fast cells for writes, a fixed part", "bytes", 0.0, 1e14, 0.0),
    optional("slc_cache_dynamic_bytes", "fast cells besides, of an empty drive", "bytes", 0.0, 1e14, 0.0),
    optional("slc_write_rate_mb_s", "rate of writing into the fast cells", "MB/s", 1.0, 64000.0, 1.0),
    optional("slc_drain_mb_s", "rate of emptying the fast cells when idle", "MB/s", 1.0, 64000.0, 150.0),
    optional("idle_delay_ms", "idleness before the drive tidies up", "milliseconds", 0.0, 60000.0, 500.0),
    optional("fill_fraction", "share held by data of an earlier use", "share", 0.0, 1.0, 0.0),
    optional("spare_fraction", "flash beyond the capacity", "share of the capacity", 0.01, 1.0, 0.07),
    optional("erased_bytes", "most flash that the drive keeps erased ahead", "bytes", MIB, 1e15, 1e15),
    optional("flush_ms", "time of a flush beyond the writing itself", "milliseconds", 0.0, 100.0, 0.5),
    required("idle_watts", "power when ready and idle", "watts", 0.0, 100.0),
    required("read_watts", "power when reading at the link's rate", "watts", 0.0, 100.0),
    required("write_watts", "power while its cells are being written", "watts", 0.0, 100.0),
];

/// What must hold between figures: work takes no less power than idleness, and the fast cells are faster.
pub fn agree(figures: &Checked) -> Vec<FigureError> {
    let mut errors = Watts::agree(figures);
    if figures.get("slc_cache_bytes") + figures.get("slc_cache_dynamic_bytes") > 0.0 {
        let why = "the fast cells are no slower than write_rate_mb_s";
        errors.extend(figures.at_least("slc_write_rate_mb_s", "write_rate_mb_s", why));
    }
    errors
}
