//! The figures of a hard disk.

use crate::figures::{CAPACITY, FigureSpec, MIB, optional, required};
use crate::hdd::geometry::SeekCurve;
use crate::profile::{Checked, FigureError, contradiction};

/// Names, meanings, units and bounds; rates are in MB/s of 10^6 bytes.
pub const FIGURES: &[FigureSpec] = &[
    CAPACITY,
    required("rotation_rpm", "turns of the platters a minute", "turns a minute", 1000.0, 30000.0),
    required("seek_track_to_track_ms", "seek to the next track", "milliseconds", 0.05, 20.0),
    required("seek_average_ms", "seek between two random places", "milliseconds", 0.1, 50.0),
    required("seek_full_stroke_ms", "seek from the first to the last track", "milliseconds", 0.2, 100.0),
    optional("write_settle_ms", "extra settling of the head before a write", "milliseconds", 0.0, 10.0, 0.5),
    required("outer_rate_mb_s", "sustained rate of the outermost zone", "MB/s", 1.0, 2000.0),
    required("inner_rate_mb_s", "sustained rate of the innermost zone", "MB/s", 1.0, 2000.0),
    optional("zones", "zones of equal rate from outside to inside", "zones", 1.0, 64.0, 16.0),
    optional("link_mb_s", "ceiling of the link to the host", "MB/s", 10.0, 8000.0, 550.0),
    optional("command_us", "time of the controller for one command", "microseconds", 1.0, 5000.0, 60.0),
    optional("queue_depth", "commands that the drive holds and orders", "commands", 1.0, 256.0, 32.0),
    optional("queue_age_limit_ms", "wait after which a command goes first", "milliseconds", 10.0, 60000.0, 500.0),
    optional("read_segments", "streams whose data the cache keeps apart", "segments", 1.0, 256.0, 16.0),
    optional("read_segment_bytes", "read-ahead kept for one stream", "bytes", 65536.0, 256.0 * MIB, 2.0 * MIB),
    optional(
        "stream_visit_bytes",
        "read or written in one stream, on average, before the heads turn to another that waits",
        "bytes",
        4096.0,
        256.0 * MIB,
        MIB,
    ),
    required("write_cache_bytes", "written data that the cache takes", "bytes", MIB, 4096.0 * MIB),
    optional("write_cache_pieces", "separate pieces of written data that it takes", "pieces", 1.0, 4096.0, 64.0),
    optional("write_delay_ms", "idleness before written data goes to the platters", "milliseconds", 0.0, 10000.0, 20.0),
    optional("flush_ms", "time of a flush beyond the writing itself", "milliseconds", 0.0, 100.0, 0.1),
    required("idle_watts", "power when ready and idle", "watts", 0.0, 100.0),
    required("seek_watts", "power when seeking", "watts", 0.0, 100.0),
    required("read_watts", "power when reading", "watts", 0.0, 100.0),
    required("write_watts", "power when writing", "watts", 0.0, 100.0),
];

/// What must hold between figures: seek times rise with distance, the outer zone is not the slower one,
/// the link is not slower than the platters, a segment holds a visit.
pub fn agree(figures: &Checked) -> Vec<FigureError> {
    let limits = [
        ("inner_rate_mb_s", "outer_rate_mb_s", "inner tracks are no faster than outer_rate_mb_s"),
        ("outer_rate_mb_s", "link_mb_s", "data can't leave the drive faster than link_mb_s"),
        ("stream_visit_bytes", "read_segment_bytes", "a visit must fit into read_segment_bytes"),
    ];
    let mut errors: Vec<FigureError> =
        limits.into_iter().filter_map(|(name, limit, why)| figures.at_most(name, limit, why)).collect();
    let (least, most) = SeekCurve::average_bounds_ms(figures);
    let average = figures.get("seek_average_ms");
    if !(least..=most).contains(&average) {
        let why = "no seek curve rises from seek_track_to_track_ms to seek_full_stroke_ms with that average";
        errors.push(contradiction("seek_average_ms", average, least, most, "milliseconds", why));
    }
    errors
}
