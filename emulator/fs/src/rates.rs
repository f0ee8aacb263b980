//! Measures what a block device carries: short random and long sequential requests past the page cache.
//!
//! On a drive without delays this is the ceiling of the path: no emulated drive can be faster on this machine. The figures
//! have the names of a profile's `expected`. Requests are made through Linux's native asynchronous I/O (`io_submit(2)`) by a
//! single thread, as fio does with libaio: a thread for each request would measure the scheduler.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::ptr;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::buffers::Buffer;
use crate::measure::scattered;

/// The part of the device that is used. It is written before, so that its blocks are there and in the page cache.
const REGION_BYTES: u64 = 256 << 20;
const SHORT_BYTES: usize = 4 << 10;
const LONG_BYTES: usize = 1 << 20;
/// A ceiling is the best of this many turns: what disturbs can only take something away.
const TURNS: u32 = 4;
const TURN: Duration = Duration::from_millis(300);

/// A kind of load.
struct Load {
    figure: &'static str,
    write: bool,
    bytes: usize,
    depth: usize,
}

const LOADS: [Load; 6] = [
    Load { figure: "random_read_4k_iops_depth1", write: false, bytes: SHORT_BYTES, depth: 1 },
    Load { figure: "random_write_4k_iops_depth1", write: true, bytes: SHORT_BYTES, depth: 1 },
    Load { figure: "random_read_4k_iops_depth32", write: false, bytes: SHORT_BYTES, depth: 32 },
    Load { figure: "random_write_4k_iops_depth32", write: true, bytes: SHORT_BYTES, depth: 32 },
    Load { figure: "sequential_read_mb_s", write: false, bytes: LONG_BYTES, depth: 8 },
    Load { figure: "sequential_write_mb_s", write: true, bytes: LONG_BYTES, depth: 8 },
];

/// Overwrites the first 256 MiB of a device or file that nothing else uses. Errors say what and how to mend.
pub fn run(place: &Path) -> Result<BTreeMap<&'static str, f64>, String> {
    let shown = place.display();
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags((OFlags::DIRECT | OFlags::EXCL).bits() as i32)
        .open(place)
        .map_err(|error| format!("{shown} can't be opened for direct I/O ({error}): measure before mounting it"))?;
    let bytes = file.seek(SeekFrom::End(0)).map_err(|error| format!("{shown}: {error}"))?;
    if bytes < REGION_BYTES {
        return Err(format!("{shown} has {bytes} bytes: measuring needs {REGION_BYTES}"));
    }
    best(&file).map_err(|error| format!("measuring {shown}: {error}"))
}

/// The best rate of each load, which take turns.
fn best(file: &File) -> io::Result<BTreeMap<&'static str, f64>> {
    let mut buffer = Buffer::new(LONG_BYTES);
    buffer.fill(0xa5);
    for at in (0..REGION_BYTES).step_by(LONG_BYTES) {
        file.write_all_at(&buffer, at)?;
    }
    let mut rates = BTreeMap::new();
    for _ in 0..TURNS {
        for load in &LOADS {
            let done = repeat(file, load, TURN)?;
            let rate = if load.bytes == LONG_BYTES { done * load.bytes as f64 / 1e6 } else { done };
            rates.entry(load.figure).and_modify(|best: &mut f64| *best = best.max(rate)).or_insert(rate);
        }
    }
    Ok(rates)
}

/// Requests per second of one load.
fn repeat(file: &File, load: &Load, time: Duration) -> io::Result<f64> {
    let mut queue = Queue::new(file, load)?;
    let count = REGION_BYTES / load.bytes as u64;
    let mut places: Box<dyn Iterator<Item = u64>> =
        if load.bytes == LONG_BYTES { Box::new((0..count).cycle()) } else { Box::new(scattered(count)) };
    let mut place = || places.next().expect("places have no end") * load.bytes as u64;
    for slot in 0..load.depth {
        queue.prepare(slot, place());
    }
    queue.submit()?;
    let (started, mut done) = (Instant::now(), 0_u64);
    while started.elapsed() < time {
        for slot in queue.wait(1)? {
            queue.prepare(slot, place());
            done += 1;
        }
        queue.submit()?;
    }
    let seconds = started.elapsed().as_secs_f64();
    queue.drain()?;
    Ok(done as f64 / seconds)
}

/// `struct iocb` (linux/aio_abi.h), on machines whose lowest byte comes first.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Control {
    data: u64,
    key: u32,
    flags: u32,
    operation: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    result_flags: u32,
    result_descriptor: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

const READ: u16 = 0;
const WRITE: u16 = 1;

/// Requests of one load that are under way together, each with memory of its own.
struct Queue {
    context: libc::c_ulong,
    controls: Vec<Control>,
    /// What the controls' addresses belong to.
    _buffers: Vec<Buffer>,
    prepared: Vec<usize>,
    under_way: usize,
    bytes: usize,
}

impl Queue {
    fn new(file: &File, load: &Load) -> io::Result<Self> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the place of the context is valid through the call.
        check(unsafe { libc::syscall(libc::SYS_io_setup, load.depth as libc::c_long, &raw mut context) })?;
        let mut buffers: Vec<Buffer> = (0..load.depth).map(|_| Buffer::new(load.bytes)).collect();
        let control = |(slot, buffer): (usize, &mut Buffer)| Control {
            data: slot as u64,
            operation: if load.write { WRITE } else { READ },
            descriptor: file.as_raw_fd() as u32,
            buffer: buffer.as_mut_ptr() as u64,
            bytes: load.bytes as u64,
            ..Control::default()
        };
        let controls = buffers.iter_mut().enumerate().map(control).collect();
        Ok(Self { context, controls, _buffers: buffers, prepared: Vec::new(), under_way: 0, bytes: load.bytes })
    }

    fn prepare(&mut self, slot: usize, offset: u64) {
        self.controls[slot].offset = offset as i64;
        self.prepared.push(slot);
    }

    fn submit(&mut self) -> io::Result<()> {
        let mut all: Vec<*mut Control> = self.prepared.drain(..).map(|slot| &raw mut self.controls[slot]).collect();
        while !all.is_empty() {
            let (count, first) = (all.len() as libc::c_long, all.as_mut_ptr());
            // SAFETY: controls and buffers live until their requests have ended, which `drop` waits for.
            let taken = check(unsafe { libc::syscall(libc::SYS_io_submit, self.context, count, first) })?;
            self.under_way += taken;
            all.drain(..taken);
        }
        Ok(())
    }

    /// Waits for at least so many; the slots of those that have ended.
    fn wait(&mut self, least: usize) -> io::Result<Vec<usize>> {
        let mut events = vec![Event::default(); self.controls.len()];
        let no_limit: *const libc::timespec = ptr::null();
        let (least, most) = (least as libc::c_long, events.len() as libc::c_long);
        // SAFETY: there is room for that many events.
        let ended = check(unsafe {
            libc::syscall(libc::SYS_io_getevents, self.context, least, most, events.as_mut_ptr(), no_limit)
        })?;
        self.under_way -= ended;
        match events[..ended].iter().find(|event| event.result != self.bytes as i64) {
            Some(event) if event.result < 0 => Err(io::Error::from_raw_os_error(-event.result as i32)),
            Some(event) => Err(io::Error::other(format!("{} of {} bytes were moved", event.result, self.bytes))),
            None => Ok(events[..ended].iter().map(|event| event.data as usize).collect()),
        }
    }

    fn drain(&mut self) -> io::Result<()> {
        while self.under_way > 0 {
            self.wait(self.under_way)?;
        }
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the call ends when all requests have; only then their memory is given back.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

fn check(result: libc::c_long) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_measured_and_bytes_are_moved() {
        let path = std::env::temp_dir().join(format!("assay-rates-{}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        file.set_len(REGION_BYTES).unwrap();
        for load in &LOADS {
            assert!(repeat(&file, load, Duration::from_millis(2)).unwrap() > 0.0, "{}", load.figure);
        }
        file.set_len(4096).unwrap();
        let short = repeat(&file, &LOADS[4], Duration::from_millis(2)).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert!(short.to_string().contains("bytes were moved"), "{short}");
    }

    #[test]
    fn a_place_that_is_not_there_is_said_so() {
        assert!(run(Path::new("/nowhere")).unwrap_err().contains("/nowhere"));
    }
}
