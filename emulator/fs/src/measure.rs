//! Measures what a request costs on its way to the emulated disk, so that it can be taken off the modelled times.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::buffers::Buffer;
use crate::path_cost::{Line, PathCost};

/// The two request sizes that the line goes through.
const SMALL_BYTES: usize = 4 << 10;
const LARGE_BYTES: usize = 1 << 20;
/// The part of the device that is used: read and written again and again, so that the host's page cache holds it.
const REGION_BYTES: u64 = 4 << 20;
/// How long each of the four kinds of request is repeated.
const TIME_EACH: Duration = Duration::from_millis(60);
/// At least so many of each, however slow they are.
const LEAST_REPETITIONS: usize = 9;

/// Measures reads and writes of two sizes at queue depth 1 past the page cache. What it writes is what it has read just
/// before from the same place; the device must not be in use. Errors say what and how to mend.
pub fn run(device: &Path) -> Result<PathCost, String> {
    let shown = device.display();
    let mut file =
        OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_DIRECT | libc::O_EXCL)
            .open(device)
            .map_err(|error| format!("{shown} can't be opened for direct I/O ({error}): measure before mounting it"))?;
    let bytes = file.seek(SeekFrom::End(0)).map_err(|error| format!("{shown}: {error}"))?;
    if bytes < REGION_BYTES {
        return Err(format!("{shown} has {bytes} bytes: measuring needs {REGION_BYTES}"));
    }
    measure(&file).map_err(|error| format!("measuring {shown}: {error}"))
}

fn measure(file: &File) -> std::io::Result<PathCost> {
    for at in (0..REGION_BYTES).step_by(LARGE_BYTES) {
        let mut buffer = Buffer::new(LARGE_BYTES);
        file.read_exact_at(&mut buffer, at)?;
        file.write_all_at(&buffer, at)?;
    }
    let small = direction_medians(file, SMALL_BYTES)?;
    let large = direction_medians(file, LARGE_BYTES)?;
    let line = |small, large| Line::through((SMALL_BYTES as u64, small), (LARGE_BYTES as u64, large));
    Ok(PathCost { read: line(small.0, large.0), write: line(small.1, large.1) })
}

/// Median nanoseconds of a read and of a write of that size.
fn direction_medians(file: &File, bytes: usize) -> std::io::Result<(f64, f64)> {
    let mut buffer = Buffer::new(bytes);
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let until = Instant::now() + 2 * TIME_EACH;
    for at in (0..REGION_BYTES).step_by(bytes).cycle() {
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
    Ok((median(reads), median(writes)))
}

fn median(mut values: Vec<u64>) -> f64 {
    values.sort_unstable();
    values[values.len() / 2] as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_value_is_taken() {
        assert_eq!(median(vec![900, 10, 20]), 20.0);
    }

    #[test]
    fn a_device_that_is_not_there_is_said_so() {
        assert!(run(Path::new("/nowhere")).unwrap_err().contains("/nowhere"));
    }
}
