//! The log of requests: what was asked of the disk, when, and how long the answer took.
//!
//! The serving thread must never wait for a log. It puts each answered request into a ring of fixed size, in locked memory,
//! without any lock or system call; a thread of the log's own looks ten times a second and writes what it finds to a file.
//! What finds no room, in the ring or in the file, is counted as dropped, and the file's header tells how many.
//!
//! The file, all numbers little-endian: a header of 64 bytes, then records of 32 bytes in the order of the answers.
//!
//! | header, byte | what |
//! | --- | --- |
//! | 0 | `ASSAYLOG` |
//! | 8, 12 | version (1) and bytes of a record (32), 4 bytes each |
//! | 16, 24 | nanoseconds of `CLOCK_REALTIME` and `CLOCK_MONOTONIC` at one moment, the log's beginning |
//! | 32 | records in the file |
//! | 40 | records dropped |
//! | 48 | `CLOCK_MONOTONIC`: what was answered before is in the file, or dropped |
//! | 56 | 0 |
//!
//! | record, byte | what |
//! | --- | --- |
//! | 0 | arrival, nanoseconds of `CLOCK_MONOTONIC`, the path's cost taken off |
//! | 8 | first byte on the disk |
//! | 16 | nanoseconds from arrival to answer |
//! | 24 | bytes, 4 bytes long; longer discards are cut at its largest number |
//! | 28 | kind: 0 read, 1 write, 2 flush, 3 discard; then three bytes of 0 |

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use assay_model::{Kind, Nanos};
use serde::Serialize;

use crate::schedule::Served;
use crate::sys;

/// Records that the ring holds: three seconds of the fastest drive, should the writing thread have to wait for its disk.
const RING_RECORDS: u64 = 1 << 16;
/// Records that a file holds: half a GiB, many hours of a busy hard disk.
const FILE_RECORDS: u64 = 1 << 24;
/// Pause between two looks at the ring.
const PAUSE: Duration = Duration::from_millis(100);
const STACK_BYTES: usize = 128 << 10;

const HEADER_BYTES: u64 = 64;
pub const RECORD_BYTES: u64 = 32;
const RECORD_WORDS: usize = RECORD_BYTES as usize / 8;

type Record = [u64; RECORD_WORDS];

/// What became of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Records in the file.
    pub records: u64,
    /// Records that found no room.
    pub dropped: u64,
    /// Why no more could be written.
    pub trouble: Option<String>,
}

/// A log that is written, or could be.
pub struct Log {
    on: AtomicBool,
    ring: Ring,
    /// Taken by those who begin and end it only.
    writer: Mutex<Option<Writer>>,
}

struct Writer {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Written>,
}

impl Default for Log {
    fn default() -> Self {
        Self { on: AtomicBool::new(false), ring: Ring::new(RING_RECORDS), writer: Mutex::default() }
    }
}

impl Log {
    /// Notes an answer. To be called by one thread only.
    pub fn note(&self, served: &Served, answered: Nanos) {
        if self.on.load(Ordering::Relaxed) {
            self.ring.put(record(served, answered));
        }
    }

    /// Writes what is answered from now on to a new file. The error is a sentence.
    pub fn begin(self: &Arc<Self>, path: &Path) -> Result<(), String> {
        let mut writer = self.writer.lock().expect("no holder of this lock panics");
        if let Some(writer) = &*writer {
            return Err(format!("a log is being written to {}: send trace off first", writer.path.display()));
        }
        let begun = || {
            let file = LogFile::create(path)?;
            let (log, stop) = (Arc::clone(self), Arc::new(AtomicBool::new(false)));
            self.ring.clear();
            let stopped = Arc::clone(&stop);
            let builder = thread::Builder::new().name("log".into()).stack_size(STACK_BYTES);
            let thread = builder.spawn(move || log.ring.empty_into(file, &stopped))?;
            Ok(Writer { path: path.to_path_buf(), stop, thread })
        };
        *writer = Some(begun().map_err(|error: io::Error| format!("the log {}: {error}", path.display()))?);
        self.on.store(true, Ordering::Release);
        Ok(())
    }

    /// Ends the log, with all that was noted so far in its file. None where there is none.
    pub fn end(&self) -> Option<Written> {
        let writer = self.writer.lock().expect("no holder of this lock panics").take()?;
        self.on.store(false, Ordering::Release);
        writer.stop.store(true, Ordering::Release);
        writer.thread.thread().unpark();
        writer.thread.join().ok()
    }
}

/// All kinds, each at its number in a record.
pub const KINDS: [Kind; 4] = [Kind::Read, Kind::Write, Kind::Flush, Kind::Discard];

fn record(served: &Served, answered: Nanos) -> Record {
    let kind = KINDS.iter().position(|kind| *kind == served.kind).expect("all kinds are there") as u64;
    let bytes = served.bytes.min(u64::from(u32::MAX));
    [served.arrived, served.offset, answered.saturating_sub(served.arrived), bytes | (kind << 32)]
}

/// A queue of records between one thread that puts and one that takes; neither ever waits.
struct Ring {
    words: Box<[AtomicU64]>,
    /// Records ever put.
    put: AtomicU64,
    /// Records ever taken.
    taken: AtomicU64,
    dropped: AtomicU64,
}

impl Ring {
    fn new(records: u64) -> Self {
        let words = (0..records * RECORD_WORDS as u64).map(|_| AtomicU64::new(0)).collect();
        Self { words, put: AtomicU64::new(0), taken: AtomicU64::new(0), dropped: AtomicU64::new(0) }
    }

    fn place(&self, number: u64) -> &[AtomicU64] {
        let start = number as usize * RECORD_WORDS % self.words.len();
        &self.words[start..start + RECORD_WORDS]
    }

    fn put(&self, record: Record) {
        let put = self.put.load(Ordering::Relaxed);
        if (put - self.taken.load(Ordering::Acquire)) as usize * RECORD_WORDS >= self.words.len() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        for (word, value) in self.place(put).iter().zip(record) {
            word.store(value, Ordering::Relaxed);
        }
        self.put.store(put + 1, Ordering::Release);
    }

    /// Appends all records there are.
    fn take(&self, bytes: &mut Vec<u8>) {
        let (taken, put) = (self.taken.load(Ordering::Relaxed), self.put.load(Ordering::Acquire));
        for number in taken..put {
            for word in self.place(number) {
                bytes.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
            }
        }
        self.taken.store(put, Ordering::Release);
    }

    /// Forgets what an earlier log left; nobody may be taking.
    fn clear(&self) {
        self.taken.store(self.put.load(Ordering::Acquire), Ordering::Release);
        self.dropped.store(0, Ordering::Relaxed);
    }

    fn empty_into(&self, mut file: LogFile, stop: &AtomicBool) -> Written {
        let mut bytes = Vec::new();
        loop {
            let (last, now) = (stop.load(Ordering::Acquire), sys::monotonic_ns());
            bytes.clear();
            self.take(&mut bytes);
            file.add(&bytes, self.dropped.load(Ordering::Relaxed), now);
            if last {
                return file.written;
            }
            thread::park_timeout(PAUSE);
        }
    }
}

/// The file of one log.
struct LogFile {
    file: File,
    began: [Nanos; 2],
    /// Records that found no room here.
    refused: u64,
    written: Written,
}

impl LogFile {
    fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        let began = [sys::realtime_ns(), sys::monotonic_ns()];
        let log = Self { file, began, refused: 0, written: Written::default() };
        log.write_header(began[1])?;
        Ok(log)
    }

    /// Adds records, and tells how many the ring has dropped and until when the file is complete.
    fn add(&mut self, bytes: &[u8], dropped: u64, until: Nanos) {
        let room = if self.written.trouble.is_none() { FILE_RECORDS - self.written.records } else { 0 };
        let records = (bytes.len() as u64 / RECORD_BYTES).min(room);
        let at = HEADER_BYTES + self.written.records * RECORD_BYTES;
        let added = self.file.write_all_at(&bytes[..(records * RECORD_BYTES) as usize], at);
        let kept = if added.is_ok() { records } else { 0 };
        self.written.records += kept;
        self.refused += bytes.len() as u64 / RECORD_BYTES - kept;
        self.written.dropped = dropped + self.refused;
        if let Err(error) = added.and_then(|()| self.write_header(until)) {
            self.written.trouble.get_or_insert_with(|| error.to_string());
        }
    }

    fn write_header(&self, until: Nanos) -> io::Result<()> {
        let mut header = b"ASSAYLOG".to_vec();
        header.extend_from_slice(&1_u32.to_le_bytes());
        header.extend_from_slice(&(RECORD_BYTES as u32).to_le_bytes());
        for number in [self.began[0], self.began[1], self.written.records, self.written.dropped, until, 0] {
            header.extend_from_slice(&number.to_le_bytes());
        }
        self.file.write_all_at(&header, 0)
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
