//! The sparse file that holds the disk's bytes, read and written through the host's page cache.
//!
//! What was written survives the end of this process by any signal, because the page cache is the kernel's. It does not
//! survive a power cut of the host: the emulated drive's flush takes its time, but does not flush the host's disk.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, fstatfs, seek};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use serde::Serialize;

use crate::mapping::{Mapping, Part};

/// Sectors that every operating system counts in.
const SECTOR_BYTES: u64 = 512;

/// The longest part in which bytes go to the page cache.
const MOST_PART_BYTES: usize = 1 << 20;

/// In what parts long writes go to the page cache. File systems size a page cache's folio by the write that makes it, and
/// ext4 walks through every block of a folio at every later write: random 4 KiB writes into 1 MiB folios took 15 us, into
/// 32 KiB ones 2 us, while the long write costs 25 % more (Linux 6.18). So drives of many random writes take short parts,
/// and hard disks, whose arm allows some hundreds, long ones.
#[must_use]
pub fn part_bytes(kind: &str) -> usize {
    if kind == "hdd" { MOST_PART_BYTES } else { 32 << 10 }
}

/// What went wrong below the emulated disk: its clients saw an I/O error.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Failures {
    /// How many requests failed.
    pub count: u64,
    /// The first reasons, at most eight.
    pub reasons: Vec<String>,
}

/// Where bytes are that can be had without a wait.
#[derive(Debug, Clone, Copy)]
pub enum AtOnce {
    /// In memory.
    Mapped(Part),
    /// Nowhere: nothing was ever written there.
    Zeroes,
    /// They can't; the host's disk must be asked.
    No,
}

/// What became of an attempt to read without a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAtOnce {
    /// The bytes are there.
    Filled,
    /// There would be zeroes: nothing was ever written there.
    Zeroes,
    /// The host's disk must be asked.
    No,
}

/// How it is known that bytes can be read without a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Residence {
    /// A read says that it would have to wait.
    Told,
    /// The mapping is asked beforehand.
    Asked,
    /// The file lies in memory.
    Always,
}

impl Residence {
    fn of(file: &File) -> Self {
        if fstatfs(file).is_ok_and(|system| system.f_type == libc::TMPFS_MAGIC) {
            return Self::Always;
        }
        match preadv2(file, &mut [IoSliceMut::new(&mut [0])], 0, ReadWriteFlags::NOWAIT) {
            Err(Errno::OPNOTSUPP) => Self::Asked,
            _ => Self::Told,
        }
    }
}

/// The disk's bytes.
pub struct Backing {
    file: File,
    mapping: Mapping,
    bytes: u64,
    part_bytes: usize,
    residence: Residence,
    failures: Mutex<Failures>,
}

impl Backing {
    /// Opens an existing file; its size is the disk's. Errors say what and how to mend, in one sentence.
    pub fn open(path: &Path, part_bytes: usize) -> Result<Self, String> {
        let shown = path.display();
        let file = File::options().read(true).write(true).open(path).map_err(|error| {
            format!("the backing file {shown} can't be opened ({error}): make it with truncate -s SIZE")
        })?;
        let bytes = file.metadata().map_err(|error| format!("the backing file {shown}: {error}"))?.len();
        if bytes == 0 || bytes % SECTOR_BYTES != 0 {
            return Err(format!(
                "the backing file {shown} has {bytes} bytes: a disk has a whole number of {SECTOR_BYTES}-byte sectors"
            ));
        }
        let mapping = Mapping::of(&file, bytes)
            .map_err(|error| format!("the backing file {shown} can't be mapped into memory: {error}"))?;
        let residence = Residence::of(&file);
        Ok(Self { file, mapping, bytes, part_bytes, residence, failures: Mutex::default() })
    }

    /// The disk's size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// First byte at or after `offset` that has been written; None when there is none up to the end of the file.
    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        match seek(&self.file, SeekFrom::Data(offset)) {
            Err(Errno::NXIO) => Ok(None),
            found => Ok(Some(found?)),
        }
    }

    /// How many bytes of a range lie on the disk.
    #[must_use]
    pub fn within(&self, offset: u64, bytes: u64) -> u64 {
        self.bytes.saturating_sub(offset).min(bytes)
    }

    /// Where a range can be read without a wait.
    #[must_use]
    pub fn at_once(&self, offset: u64, bytes: usize) -> AtOnce {
        if self.mapping.is_resident(offset, bytes) {
            return self.mapping.part(offset, bytes).map_or(AtOnce::No, AtOnce::Mapped);
        }
        match self.next_data(offset) {
            Ok(data) if data.is_none_or(|data| data >= offset + bytes as u64) => AtOnce::Zeroes,
            _ => AtOnce::No,
        }
    }

    /// Fills the buffer where that needs no wait; `No` means that nothing in it counts.
    pub fn read_at_once(&self, buffer: &mut [u8], offset: u64) -> ReadAtOnce {
        let filled = match self.residence {
            Residence::Told => {
                let count = preadv2(&self.file, &mut [IoSliceMut::new(buffer)], offset, ReadWriteFlags::NOWAIT);
                count == Ok(buffer.len())
            }
            Residence::Asked if !self.mapping.is_resident(offset, buffer.len()) => false,
            Residence::Asked | Residence::Always => self.file.read_exact_at(buffer, offset).is_ok(),
        };
        if filled {
            return ReadAtOnce::Filled;
        }
        match self.at_once(offset, buffer.len()) {
            AtOnce::Zeroes => ReadAtOnce::Zeroes,
            _ => ReadAtOnce::No,
        }
    }

    /// Notes that the kernel could not read a mapped part: the host's disk failed.
    pub fn mapping_failed(&self, error: &io::Error) {
        self.note(format!("read: {error}"));
    }

    /// Fills the buffer, however long that takes. The error is the one for the client.
    pub fn read(&self, buffer: &mut [u8], offset: u64) -> Result<(), Errno> {
        self.noted("read", offset, self.file.read_exact_at(buffer, offset))
    }

    /// Writes the bytes. The error is the one for the client.
    pub fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Errno> {
        let parts = bytes.chunks(self.part_bytes).zip((offset..).step_by(self.part_bytes));
        parts.into_iter().try_for_each(|(part, at)| self.noted("write", at, self.file.write_all_at(part, at)))
    }

    /// Gives a range's space back; it reads as zeroes. The error is the one for the client.
    ///
    /// Where the host's file system can't free a range, zeroes are written there. Ignoring it would not do: the kernel's
    /// loop driver asks in the same words for a discard, after which anything may be read, and for zeroes.
    pub fn punch(&self, offset: u64, length: u64) -> Result<(), Errno> {
        let length = self.within(offset, length);
        if length == 0 {
            return Ok(());
        }
        match fallocate(&self.file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length) {
            Err(Errno::OPNOTSUPP) => self.noted("zero", offset, self.zero(offset, offset + length)),
            result => self.noted("discard", offset, result.map_err(io::Error::from)),
        }
    }

    /// Writes zeroes over what was ever written in a range.
    fn zero(&self, offset: u64, end: u64) -> io::Result<()> {
        static ZEROES: [u8; MOST_PART_BYTES] = [0; MOST_PART_BYTES];
        let part = self.part_bytes as u64;
        let mut at = offset;
        while let Some(data) = self.next_data(at)?.filter(|data| *data < end) {
            // Up to a boundary: a part that ended within a block would make data of what follows it.
            let length = (end - data).min(part - data % part);
            self.file.write_all_at(&ZEROES[..length as usize], data)?;
            at = data + length;
        }
        Ok(())
    }

    /// What went wrong so far.
    #[must_use]
    pub fn failures(&self) -> Failures {
        self.failures.lock().expect("no holder of this lock panics").clone()
    }

    /// A drive has no words for "the host's disk is full": every failure is an I/O error, and the reason is kept here.
    fn noted(&self, what: &str, offset: u64, result: io::Result<()>) -> Result<(), Errno> {
        result.map_err(|error| {
            self.note(format!("{what} at byte {offset}: {error}"));
            Errno::IO
        })
    }

    fn note(&self, reason: String) {
        let mut failures = self.failures.lock().expect("no holder of this lock panics");
        failures.count += 1;
        if failures.reasons.len() < 8 {
            failures.reasons.push(reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backing(name: &str, bytes: u64) -> (std::path::PathBuf, Backing) {
        let path = std::env::temp_dir().join(format!("assay-backing-{}-{name}", std::process::id()));
        File::create(&path).unwrap().set_len(bytes).unwrap();
        let backing = Backing::open(&path, part_bytes("ssd")).unwrap();
        (path, backing)
    }

    #[test]
    fn what_was_written_is_read_and_what_was_punched_is_zero() {
        let (path, backing) = backing("roundtrip", 1 << 20);
        backing.write(&[7; 8192], 4096).unwrap();
        let mut buffer = [1; 4096];
        backing.read(&mut buffer, 4096).unwrap();
        assert!(
            buffer == [7; 4096] && matches!(backing.at_once(4096, 8192), AtOnce::Mapped(part) if part.bytes() == 8192)
        );
        assert!(matches!(backing.at_once(512 << 10, 4096), AtOnce::Zeroes), "never written");
        backing.punch(4096, 4096).unwrap();
        backing.read(&mut buffer, 4096).unwrap();
        assert_eq!(buffer, [0; 4096]);
        backing.read(&mut buffer, 8192).unwrap();
        assert_eq!(buffer, [7; 4096]);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_discard_beyond_the_end_is_cut_there() {
        let (path, backing) = backing("end", 8192);
        backing.punch(4096, 1 << 40).unwrap();
        backing.punch(1 << 40, 4096).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 8192);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn zeroes_are_written_over_data_only() {
        let (path, backing) = backing("zero", 64 << 20);
        backing.write(&[7; 100_000], 1 << 20).unwrap();
        backing.write(&[7; 4096], 40 << 20).unwrap();
        let before = blocks(&path);
        backing.zero((1 << 20) + 512, 41 << 20).unwrap();
        let mut buffer = [1; 4096];
        for (offset, edge) in [(1 << 20, 512), ((1 << 20) + 98_304, 0), (40 << 20, 0)] {
            backing.read(&mut buffer, offset).unwrap();
            assert!(buffer[..edge].iter().all(|byte| *byte == 7) && buffer[edge..].iter().all(|byte| *byte == 0));
        }
        let after = blocks(&path);
        assert!(after <= before + 2 * 64, "holes stay holes, but for one part after each range: {before}, {after}");
        std::fs::remove_file(path).unwrap();
    }

    fn blocks(path: &Path) -> u64 {
        std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(path).unwrap())
    }

    #[test]
    fn a_failure_is_an_io_error_with_its_reason_kept() {
        let (path, backing) = backing("failure", 4096);
        assert_eq!(backing.read(&mut [0; 4096], 4096), Err(Errno::IO));
        let failures = backing.failures();
        assert_eq!(failures.count, 1);
        assert!(failures.reasons[0].starts_with("read at byte 4096"), "{failures:?}");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_size_that_no_disk_has_is_refused() {
        let path = std::env::temp_dir().join(format!("assay-backing-{}-odd", std::process::id()));
        File::create(&path).unwrap().set_len(1000).unwrap();
        assert!(Backing::open(&path, 4096).err().unwrap().contains("1000 bytes"));
        std::fs::remove_file(path).unwrap();
        assert!(Backing::open(Path::new("/nowhere/disk"), 4096).err().unwrap().contains("truncate"));
    }
}
