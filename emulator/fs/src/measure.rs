//! Measures what a request costs on its way to the emulated disk, so that it can be taken off the modelled times.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::buffers::Buffer;
use crate::pace::Pace;
use crate::path_cost::{Line, PathCost};

use rustix::fs::OFlags;
use serde_json::{Value, json};

/// The two request sizes that the line goes through.
const SMALL_BYTES: usize = 4 << 10;
const LARGE_BYTES: usize = 1 << 20;
/// The drive's own time while the path is measured. A path is slower when its threads slept in between, so these are times
/// such as drives have: a short read waits for flash, a short write is done when it is in the buffer.
const SMALL_PACE: Pace = Pace { read_ns: 100_000, write_ns: 30_000 };
const LARGE_PACE: Pace = Pace { read_ns: 300_000, write_ns: 300_000 };
/// The part of the device that is used: small enough for the host's page cache, larger than the processor's caches.
const REGION_BYTES: u64 = 32 << 20;
/// How long each of the four kinds of request is repeated.
const TIME_EACH: Duration = Duration::from_millis(150);
/// At least so many of each, however slow they are.
const LEAST_REPETITIONS: usize = 9;

/// Measures reads and writes of two sizes at queue depth 1 past the page cache, while the emulator, reached by its control
/// socket, takes a known time for each. What is written is what was read just before from the same place; the device must
/// not be in use. Errors say what and how to mend.
pub fn run(device: &Path, control: &Path) -> Result<PathCost, String> {
    let shown = device.display();
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags((OFlags::DIRECT | OFlags::EXCL).bits() as i32)
        .open(device)
        .map_err(|error| format!("{shown} can't be opened for direct I/O ({error}): measure before mounting it"))?;
    let bytes = file.seek(SeekFrom::End(0)).map_err(|error| format!("{shown}: {error}"))?;
    if bytes < REGION_BYTES {
        return Err(format!("{shown} has {bytes} bytes: measuring needs {REGION_BYTES}"));
    }
    let mut emulator =
        Emulator::reach(control).map_err(|error| format!("no emulator listens on {}: {error}", control.display()))?;
    let cost = measure(&file, &mut emulator);
    // Also after a failure: nobody expects a drive that has not begun to take any time.
    let calmed = emulator.pace(Pace::default());
    cost.and_then(|cost| calmed.map(|()| cost)).map_err(|error| format!("measuring {shown}: {error}"))
}

/// The emulator's control socket.
struct Emulator(BufReader<UnixStream>);

impl Emulator {
    fn reach(control: &Path) -> io::Result<Self> {
        UnixStream::connect(control).map(BufReader::new).map(Self)
    }

    fn pace(&mut self, pace: Pace) -> io::Result<()> {
        self.0.get_mut().write_all(format!("pace {}\n", json!(pace)).as_bytes())?;
        let mut answer = String::new();
        self.0.read_line(&mut answer)?;
        let answer: Value = serde_json::from_str(&answer)?;
        answer["error"].as_str().map_or(Ok(()), |message| Err(io::Error::other(message.to_string())))
    }
}

fn measure(file: &File, emulator: &mut Emulator) -> io::Result<PathCost> {
    for at in (0..REGION_BYTES).step_by(LARGE_BYTES) {
        let mut buffer = Buffer::new(LARGE_BYTES);
        file.read_exact_at(&mut buffer, at)?;
        file.write_all_at(&buffer, at)?;
    }
    let small = costs(file, emulator, SMALL_BYTES, SMALL_PACE)?;
    let large = costs(file, emulator, LARGE_BYTES, LARGE_PACE)?;
    let line = |small, large| Line::through((SMALL_BYTES as u64, small), (LARGE_BYTES as u64, large));
    Ok(PathCost { read: line(small.0, large.0), write: line(small.1, large.1) })
}

/// Nanoseconds that a read and a write of that size take beyond the drive's own time.
fn costs(file: &File, emulator: &mut Emulator, bytes: usize, pace: Pace) -> io::Result<(f64, f64)> {
    emulator.pace(pace)?;
    let mut buffer = Buffer::new(bytes);
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let until = Instant::now() + 2 * TIME_EACH;
    for at in scattered(REGION_BYTES / bytes as u64).map(|place| place * bytes as u64) {
        let started = Instant::now();
        file.read_exact_at(&mut buffer, at)?;
        let read = Instant::now();
        file.write_all_at(&buffer, at)?;
        let written = Instant::now();
        reads.push((read - started).as_nanos() as u64);
        writes.push((written - read).as_nanos() as u64);
        if written >= until && reads.len() >= LEAST_REPETITIONS {
            break;
        }
    }
    Ok((typical(reads) - pace.read_ns as f64, typical(writes) - pace.write_ns as f64))
}

/// Places below `count`, without end and without order: a prefetcher would make neighbours too cheap.
pub fn scattered(count: u64) -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    std::iter::repeat_with(move || {
        // A linear congruential generator with Knuth's constants for 64 bits; its high bits are the good ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % count
    })
}

/// The mean of all but the slowest fiftieth, which had to wait for other processes.
fn typical(mut values: Vec<u64>) -> f64 {
    values.sort_unstable();
    values.truncate(values.len() - values.len() / 50);
    values.iter().sum::<u64>() as f64 / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_fiftieth_does_not_count() {
        let mut values = [10, 20].repeat(25);
        values[7] = 9000;
        values[8] = 20;
        assert_eq!(typical(values), 15.102_040_816_326_53);
    }

    #[test]
    fn places_are_spread_over_the_whole_region() {
        let places: std::collections::BTreeSet<u64> = scattered(32).take(1000).collect();
        assert_eq!(places, (0..32).collect());
    }

    #[test]
    fn a_device_that_is_not_there_is_said_so() {
        assert!(run(Path::new("/nowhere"), Path::new("/nowhere/control")).unwrap_err().contains("/nowhere"));
    }
}
