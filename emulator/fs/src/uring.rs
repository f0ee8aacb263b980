//! FUSE over io_uring (Linux 6.14 and newer): a request is written into memory of ours, and its answer and the fetching of
//! the next request are one submission, many of which share a system call.
//!
//! The kernel has a queue for each processor and sends a request to that of the processor it is made on. A queue has
//! *entries*, each with memory for one request; entries that are with the kernel wait for requests. Here all queues are
//! on one io_uring, which the serving thread alone uses.
//!
//! Source: the kernel's `include/uapi/linux/fuse.h` from `fuse_uring_ent_in_out` on, and `fs/fuse/dev_uring.c`.

use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::time::Duration;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use crate::buffers::Buffer;
use crate::protocol::{self, Call, LARGEST_BYTES, REQUEST_HEADER_BYTES, RING_PART_BYTES};
use crate::ring::{Completion, Ring, Submission};

/// Whether the kernel offers it; by default it does not.
const SWITCH: &str = "/sys/module/fuse/parameters/enable_uring";
/// The processors that there may ever be, for each of which the kernel has a queue.
const PROCESSORS: &str = "/sys/devices/system/cpu/possible";
/// As many requests as a loop device gives its file at once, and all of them may be made on one processor.
const ENTRIES_PER_QUEUE: usize = 128;
/// On machines with very many processors queues are shorter.
const MOST_ENTRIES: usize = 8192;
/// A longer request leaves an entry with memory that is worth giving back.
const LONG_BYTES: usize = 128 << 10;
/// Entries that keep their memory after a long request; beyond that it goes back.
const KEPT: usize = 64;
/// Answers that wait for each other, to share a system call, while there are further requests to take.
const MOST_WAITING: u32 = 8;

const REGISTER: u32 = 1;
const COMMIT_AND_FETCH: u32 = 2;
/// User data of what is no entry.
const DEVICE: u64 = u64::MAX;
const INBOX: u64 = u64::MAX - 1;

/// `struct fuse_uring_req_header`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Header {
    /// The request's header, then the answer's.
    message: [u8; RING_PART_BYTES],
    /// The operation's own header.
    operation: [u8; RING_PART_BYTES],
    flags: u64,
    commit_id: u64,
    payload_bytes: u32,
    padding: u32,
    reserved: u64,
}

/// An entry that holds a request, until it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry(u32);

/// What there is to take.
pub enum Taken {
    /// A request, now in that entry.
    Request(Entry),
    /// The FUSE device may have something.
    Device,
    /// The inbox may have something.
    Inbox,
    /// Nothing now.
    Nothing,
    /// The file system is no longer mounted.
    Unmounted,
}

/// Memory of the entries. It stays until the process ends: the kernel may write to it for as long.
struct Memory {
    headers: NonNull<Header>,
    payloads: NonNull<u8>,
}

/// All queues.
pub struct Uring {
    ring: Ring,
    /// How to wait for the device and the inbox.
    watches: [Submission; 2],
    memory: Memory,
    queues: usize,
    entries: usize,
    /// Which entries have had a long request since their memory went back, and how many.
    long: Vec<bool>,
    long_count: usize,
}

/// The kernel offers its ring to the file systems that are mounted while this lives; then it is as it was. A mount that
/// has the ring keeps it.
pub struct Offer {
    was_off: bool,
}

impl Offer {
    /// Asks the kernel. The error is the reason why not.
    pub fn new() -> Result<Self, String> {
        let state = fs::read_to_string(SWITCH)
            .map_err(|error| format!("this kernel has no FUSE over io_uring ({SWITCH}: {error})"))?;
        let was_off = state.trim() != "Y";
        if was_off {
            fs::write(SWITCH, "Y").map_err(|error| format!("{SWITCH} does not take Y ({error})"))?;
        }
        Ok(Self { was_off })
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        if self.was_off {
            let _ = fs::write(SWITCH, "N");
        }
    }
}

/// How many queues the kernel has: the processors in a list such as `0-3,8`.
fn count(processors: &str) -> Option<usize> {
    let ranges = processors.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        (last.parse::<usize>().ok()? + 1).checked_sub(first.parse().ok()?)
    });
    ranges.sum::<Option<usize>>().filter(|count| *count > 0)
}

impl Uring {
    /// Makes queues that the kernel does not know yet. The error is the reason why there can be none.
    pub fn new(device: BorrowedFd<'_>, inbox: BorrowedFd<'_>) -> Result<Self, String> {
        let processors = fs::read_to_string(PROCESSORS).map_err(|error| format!("{PROCESSORS}: {error}"))?;
        let queues = count(&processors).ok_or(format!("{PROCESSORS} is not understood: {processors:?}"))?;
        let entries = queues * ENTRIES_PER_QUEUE.min(MOST_ENTRIES / queues).max(1);
        // Twice as many completions as there can be at once.
        let ring = Ring::new(((entries + 2) * 2).next_power_of_two() as u32)
            .map_err(|error| format!("no io_uring can be made ({error})"))?;
        let memory = Memory::new(entries).map_err(|error| format!("no memory for {entries} requests ({error})"))?;
        let watches = [Submission::poll(device, DEVICE), Submission::poll(inbox, INBOX)];
        Ok(Self { ring, watches, memory, queues, entries, long: vec![false; entries], long_count: 0 })
    }

    /// Waits for the device and the inbox, too. To be called once the device is mounted.
    pub fn watch(&mut self) -> io::Result<()> {
        self.watches.into_iter().try_for_each(|watch| self.ring.push(watch))
    }

    /// Gives all entries to the kernel, which then sends its requests here. To be called once it has taken the answer to
    /// `Init`. False when it refuses; requests then come from the device.
    pub fn register(&mut self, device: BorrowedFd<'_>) -> io::Result<Result<(), Errno>> {
        let vectors: Vec<[libc::iovec; 2]> = (0..self.entries).map(|entry| self.memory.vectors(entry)).collect();
        // Once for the life of the process; the kernel reads it when it takes the submission.
        for (entry, vectors) in vectors.leak().iter().enumerate() {
            let arguments = self.arguments(entry, 0);
            self.ring.push(Submission::command(device, REGISTER, entry as u64, arguments).with_memory(vectors))?;
        }
        self.ring.submit()?;
        // A request may be there already; refusals are there at once, and come first.
        let entries = self.ring.pending().filter(|completion| completion.user_data < self.entries as u64);
        Ok(entries.map(|completion| completion.error()).find_map(|error| error).map_or(Ok(()), Err))
    }

    fn arguments(&self, entry: usize, commit_id: u64) -> [u64; 3] {
        let queue = (entry % self.queues) as u16;
        let mut last = [0; 8];
        last[..2].copy_from_slice(&queue.to_ne_bytes());
        [0, commit_id, u64::from_ne_bytes(last)]
    }

    /// Takes what there is; makes a system call only when the kernel has something.
    pub fn take(&mut self) -> io::Result<Taken> {
        loop {
            if let Some(completion) = self.ring.take() {
                return self.taken(completion);
            }
            if !self.ring.has_work() {
                return Ok(Taken::Nothing);
            }
            self.ring.submit()?;
        }
    }

    fn taken(&mut self, completion: Completion) -> io::Result<Taken> {
        match completion.user_data {
            DEVICE | INBOX => {
                let is_device = completion.user_data == DEVICE;
                if !completion.more() {
                    self.ring.push(self.watches[usize::from(!is_device)])?;
                }
                Ok(if is_device { Taken::Device } else { Taken::Inbox })
            }
            entry => match completion.error() {
                None => Ok(Taken::Request(Entry(entry as u32))),
                Some(Errno::NOTCONN | Errno::CONNABORTED | Errno::CANCELED) => Ok(Taken::Unmounted),
                // Nobody waits for that answer any more.
                Some(Errno::NOENT) => Ok(Taken::Device),
                Some(error) => Err(error.into()),
            },
        }
    }

    /// The request in an entry; None when it is not understood.
    #[must_use]
    pub fn call(&self, entry: Entry) -> Option<Call> {
        let header = self.memory.header(entry);
        let message = header.message.first_chunk::<REQUEST_HEADER_BYTES>()?;
        let named = (header.payload_bytes as usize).min(512);
        protocol::parse_ring(message, &header.operation, &self.payload(entry)[..named])
    }

    /// An entry's memory for bytes: a write's payload, or room for the answer. To be had once at a time, until the
    /// request is answered.
    #[must_use]
    pub fn payload(&self, entry: Entry) -> Buffer {
        // SAFETY: from the request's arrival to its answer the memory is ours; the server takes it for one use at a time.
        unsafe { Buffer::lent(self.memory.payload(entry), LARGEST_BYTES) }
    }

    /// Answers the request in an entry with an error or none, and so many bytes of its payload.
    pub fn commit(&mut self, device: BorrowedFd<'_>, entry: Entry, error: i32, bytes: usize) -> io::Result<()> {
        let mut header = self.memory.header(entry);
        let unique = header.commit_id;
        self.give_back(entry, header.payload_bytes as usize, bytes);
        header.message[..16].copy_from_slice(&protocol::reply_header(unique, error, bytes));
        header.payload_bytes = bytes as u32;
        self.memory.set_header(entry, header);
        let arguments = self.arguments(entry.0 as usize, unique);
        self.ring.push(Submission::command(device, COMMIT_AND_FETCH, u64::from(entry.0), arguments))
    }

    /// Bounds the memory that long requests leave behind: a request of so many bytes is answered with so many.
    fn give_back(&mut self, entry: Entry, asked: usize, answered: usize) {
        let long = &mut self.long[entry.0 as usize];
        if asked.max(answered) > LONG_BYTES && !*long {
            *long = true;
            self.long_count += 1;
        }
        if *long && answered <= LONG_BYTES && self.long_count > KEPT {
            *long = false;
            self.long_count -= 1;
            self.memory.give_back(entry);
        }
    }

    /// Hands answers to the kernel; unless `all`, only if many wait.
    pub fn flush(&mut self, all: bool) -> io::Result<()> {
        let waiting = self.ring.waiting();
        if waiting >= MOST_WAITING || all && waiting > 0 { self.ring.submit() } else { Ok(()) }
    }

    /// Hands answers to the kernel and waits until there is something to take, which is true, or the time is over.
    pub fn wait(&mut self, time: Option<Duration>) -> io::Result<bool> {
        self.ring.wait(time)
    }
}

impl Memory {
    fn new(entries: usize) -> io::Result<Self> {
        let map = |bytes| {
            let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
            // SAFETY: a new mapping at an address of the kernel's choice.
            let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, flags) }?;
            Ok::<_, io::Error>(NonNull::new(start).expect("a mapping is not at address 0"))
        };
        Ok(Self { headers: map(entries * size_of::<Header>())?.cast(), payloads: map(entries * LARGEST_BYTES)?.cast() })
    }

    fn vectors(&self, entry: usize) -> [libc::iovec; 2] {
        let entry = Entry(entry as u32);
        let vector = |start: *mut u8, bytes| libc::iovec { iov_base: start.cast(), iov_len: bytes };
        [vector(self.header_at(entry).cast(), size_of::<Header>()), vector(self.payload(entry).as_ptr(), LARGEST_BYTES)]
    }

    /// What lies beyond a short answer reads as zeroes from now on, and takes no memory until it is used.
    fn give_back(&self, entry: Entry) {
        // SAFETY: within the entry's payload, which nobody uses beyond its answer.
        let result = unsafe {
            let start = self.payload(entry).add(LONG_BYTES).as_ptr();
            libc::madvise(start.cast(), LARGEST_BYTES - LONG_BYTES, libc::MADV_DONTNEED_LOCKED)
        };
        // It can only fail where the kernel is older than its ring.
        debug_assert_eq!(result, 0);
    }

    fn header_at(&self, entry: Entry) -> *mut Header {
        // SAFETY: entries are those that there is memory for.
        unsafe { self.headers.as_ptr().add(entry.0 as usize) }
    }

    fn header(&self, entry: Entry) -> Header {
        // SAFETY: any bytes are a header, and the kernel does not write to it while the entry is with us.
        unsafe { self.header_at(entry).read() }
    }

    fn set_header(&self, entry: Entry, header: Header) {
        // SAFETY: as above; the kernel reads it once it has the answer.
        unsafe { self.header_at(entry).write(header) }
    }

    fn payload(&self, entry: Entry) -> NonNull<u8> {
        // SAFETY: as for the header.
        unsafe { self.payloads.add(entry.0 as usize * LARGEST_BYTES) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_kernels_layout() {
        assert_eq!((size_of::<Header>(), std::mem::offset_of!(Header, commit_id)), (288, 264));
    }

    #[test]
    fn each_processor_of_the_list_has_a_queue() {
        assert_eq!(["0\n", "0-1\n", "0-3,8,10-11\n"].map(count), [Some(1), Some(2), Some(7)]);
        assert_eq!(["", "\n", "3-1", "x"].map(count), [None; 4]);
    }
}
