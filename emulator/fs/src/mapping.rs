//! The backing file as memory, so that an answer goes from the host's page cache to the kernel in one copy.

use std::ffi::c_void;
use std::fs::File;
use std::io;

use rustix::mm::{MapFlags, ProtFlags, mmap, munlock};

const PAGE_BYTES: u64 = 4096;
/// Pages of the longest range that is asked for: 1 MiB that begins within a page.
const MOST_PAGES: usize = 257;

/// A file, mapped for reading. Its memory changes under our feet, so it is never a Rust slice: only the kernel looks at it.
pub struct Mapping {
    start: *mut c_void,
    bytes: usize,
}

// SAFETY: the address is only handed to system calls, which any thread may make.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// A part of a mapping, for the kernel to read.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    start: *const c_void,
    bytes: usize,
}

// SAFETY: as for the mapping, which lives as long as the process.
unsafe impl Send for Part {}

impl Mapping {
    /// Maps a whole file. Its pages stay evictable even if all memory of the process is locked.
    pub fn of(file: &File, bytes: u64) -> io::Result<Self> {
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
        // SAFETY: a new mapping, at an address of the kernel's choice, of a file that is open for reading.
        unsafe {
            let start = mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, 0)?;
            munlock(start, bytes)?;
            Ok(Self { start, bytes })
        }
    }

    /// The part at `offset`; None when the file ends before it does.
    #[must_use]
    pub fn part(&self, offset: u64, bytes: usize) -> Option<Part> {
        let end = usize::try_from(offset).ok()?.checked_add(bytes)?;
        // SAFETY: the part lies within the mapping.
        (end <= self.bytes).then(|| Part { start: unsafe { self.start.byte_add(offset as usize) }, bytes })
    }

    /// Whether all pages of a range are in memory, so that reading it needs no wait. False for ranges over 1 MiB.
    #[must_use]
    pub fn is_resident(&self, offset: u64, bytes: usize) -> bool {
        let first = offset / PAGE_BYTES;
        let pages = ((offset + bytes as u64).div_ceil(PAGE_BYTES) - first) as usize;
        let mut present = [0_u8; MOST_PAGES];
        let Some(part) = self.part(first * PAGE_BYTES, 0).filter(|_| pages <= MOST_PAGES) else { return false };
        // SAFETY: the pages lie within the mapping, and `present` has a byte for each of them.
        let known =
            unsafe { libc::mincore(part.start.cast_mut(), pages * PAGE_BYTES as usize, present.as_mut_ptr()) } == 0;
        known && present[..pages].iter().all(|page| page & 1 == 1)
    }
}

impl Part {
    /// For a gathering write.
    #[must_use]
    pub fn vector(self) -> libc::iovec {
        libc::iovec { iov_base: self.start.cast_mut(), iov_len: self.bytes }
    }

    /// How long it is.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.bytes
    }
}
