//! The FUSE wire protocol, as far as one fixed file in one directory needs it.
//!
//! Source: the kernel's `include/uapi/linux/fuse.h`, protocol 7.28 to 7.42. All numbers are in the machine's byte order.
//! Parsing and printing only: nothing here does I/O.

/// The protocol's major number, and the newest minor number this file was written against.
pub const MAJOR: u32 = 7;
/// Newer kernels speak this older minor number to us.
pub const MINOR: u32 = 38;
/// Node of the mount's root directory.
pub const ROOT_NODE: u64 = 1;
/// Node of the one file, the disk.
pub const DISK_NODE: u64 = 2;
/// Name of the one file.
pub const DISK_NAME: &[u8] = b"disk";
/// Bytes of the header that every request starts with.
pub const REQUEST_HEADER_BYTES: usize = 40;
/// Bytes before a write's payload: the header and `fuse_write_in`.
pub const WRITE_PREFIX_BYTES: usize = REQUEST_HEADER_BYTES + 40;
/// Bytes of each of the two headers of a request that comes through the ring (`FUSE_URING_IN_OUT_HEADER_SZ`).
pub const RING_PART_BYTES: usize = 128;
/// Largest read or write that is asked for: 256 pages, the kernel's own limit.
pub const LARGEST_BYTES: usize = 1 << 20;
/// Requests the kernel may have under way here; its default, 12, would cap the queue depth of every drive.
pub const QUEUE_LIMIT: u16 = 1024;

/// `fallocate`: free the range.
pub const FALLOCATE_PUNCH_HOLE: u32 = 0x02;
/// `fallocate`: the range shall read as zeroes.
pub const FALLOCATE_ZERO_RANGE: u32 = 0x10;

const INIT_ASYNC_READ: u32 = 1 << 0;
const INIT_BIG_WRITES: u32 = 1 << 5;
const INIT_ASYNC_DIO: u32 = 1 << 15;
const INIT_PARALLEL_DIROPS: u32 = 1 << 18;
const INIT_MAX_PAGES: u32 = 1 << 22;
const INIT_NO_OPENDIR: u32 = 1 << 24;
const INIT_HANDLE_KILLPRIV_V2: u32 = 1 << 28;
/// There are 32 further flags.
const INIT_EXTENDED: u32 = 1 << 30;
/// Of the further flags: requests come through io_uring.
const INIT_OVER_IO_URING: u32 = 1 << (41 - 32);
const WANTED: u32 = INIT_ASYNC_READ
    | INIT_BIG_WRITES
    | INIT_ASYNC_DIO
    | INIT_PARALLEL_DIROPS
    | INIT_MAX_PAGES
    | INIT_NO_OPENDIR
    | INIT_HANDLE_KILLPRIV_V2;

const OPEN_DIRECT_IO: u32 = 1 << 0;
const OPEN_PARALLEL_DIRECT_WRITES: u32 = 1 << 6;

const PAGE_BYTES: u64 = 4096;
const DIRECTORY_MODE: u32 = 0o040_700;
const FILE_MODE: u32 = 0o100_600;
/// Names and attributes never change while mounted: a year is for ever.
const VALID_S: u64 = 365 * 24 * 3600;

/// What the kernel asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Agree on version, flags and limits.
    Init {
        /// The kernel's major number.
        major: u32,
        /// Its minor number.
        minor: u32,
        /// Its largest read-ahead, bytes.
        max_readahead: u32,
        /// What it can do.
        flags: u32,
        /// Whether it can send requests through io_uring.
        ring: bool,
    },
    /// Look a name up in the root directory.
    Lookup(Vec<u8>),
    /// Attributes of a node; also the answer to an attempt to set attributes other than the size.
    GetAttr,
    /// An attempt to change the size.
    Resize(u64),
    /// Open the disk.
    Open,
    /// List the root directory from this position.
    ReadDir {
        /// Position in the listing.
        offset: u64,
        /// Room for the answer, bytes.
        size: u32,
    },
    /// Read from the disk.
    Read {
        /// First byte.
        offset: u64,
        /// How many.
        size: u32,
    },
    /// Write to the disk; the payload follows the first `WRITE_PREFIX_BYTES`.
    Write {
        /// First byte.
        offset: u64,
        /// How many.
        size: u32,
    },
    /// Flush the drive's write cache.
    Fsync,
    /// Free or zero a range.
    Fallocate {
        /// First byte.
        offset: u64,
        /// How many.
        length: u64,
        /// The `FALLOCATE_` bits.
        mode: u32,
    },
    /// Size and free space of the file system.
    StatFs,
    /// Asks for nothing but an empty answer (close, access check, end).
    Nothing,
    /// Wants no answer at all (forget, interrupt).
    Silent,
    /// Something this file system does not have.
    Unknown,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The kernel's number for it, to be repeated in the answer.
    pub unique: u64,
    /// The node it is about.
    pub node: u64,
    /// What it asks for.
    pub operation: Operation,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The operation's number in a request's first bytes, when they are there.
#[must_use]
pub fn is_write(message: &[u8]) -> bool {
    u32_at(message, 4) == Some(16)
}

/// Reads a request. `message` holds all of it, save a write's payload, which may be left out.
/// None when it is too short for what it says it is.
#[must_use]
pub fn parse(message: &[u8]) -> Option<Call> {
    let opcode = u32_at(message, 4)?;
    let unique = u64_at(message, 8)?;
    let node = u64_at(message, 16)?;
    let body = message.get(REQUEST_HEADER_BYTES..)?;
    let operation = match opcode {
        1 => Operation::Lookup(body.split(|byte| *byte == 0).next()?.to_vec()),
        2 | 36 | 42 => Operation::Silent,
        3 => Operation::GetAttr,
        4 if u32_at(body, 0)? & (1 << 3) != 0 => Operation::Resize(u64_at(body, 16)?),
        4 => Operation::GetAttr,
        14 => Operation::Open,
        15 => Operation::Read { offset: u64_at(body, 8)?, size: u32_at(body, 16)? },
        16 => Operation::Write { offset: u64_at(body, 8)?, size: u32_at(body, 16)? },
        17 => Operation::StatFs,
        18 | 25 | 29 | 34 | 38 => Operation::Nothing,
        20 | 30 => Operation::Fsync,
        26 => Operation::Init {
            major: u32_at(body, 0)?,
            minor: u32_at(body, 4)?,
            max_readahead: u32_at(body, 8)?,
            flags: u32_at(body, 12)?,
            ring: u32_at(body, 12)? & INIT_EXTENDED != 0
                && u32_at(body, 16).is_some_and(|further| further & INIT_OVER_IO_URING != 0),
        },
        28 => Operation::ReadDir { offset: u64_at(body, 8)?, size: u32_at(body, 16)? },
        43 => Operation::Fallocate { offset: u64_at(body, 8)?, length: u64_at(body, 16)?, mode: u32_at(body, 24)? },
        _ => Operation::Unknown,
    };
    Some(Call { unique, node, operation })
}

/// Reads a request that came through the ring: its header, its operation's own header, and what further bytes it has, of
/// which a write's payload may be left out.
#[must_use]
pub fn parse_ring(
    header: &[u8; REQUEST_HEADER_BYTES],
    operation: &[u8; RING_PART_BYTES],
    further: &[u8],
) -> Option<Call> {
    // Operations that name a file have no header of their own.
    if u32_at(header, 4) == Some(1) {
        return parse(&[header, further].concat());
    }
    let mut message = [0_u8; REQUEST_HEADER_BYTES + RING_PART_BYTES];
    message[..REQUEST_HEADER_BYTES].copy_from_slice(header);
    message[REQUEST_HEADER_BYTES..].copy_from_slice(operation);
    parse(&message)
}

/// The 16 bytes before every answer: its whole length, the error as a negative number or 0, the request's number.
#[must_use]
pub fn reply_header(unique: u64, error: i32, payload_bytes: usize) -> [u8; 16] {
    let mut header = [0_u8; 16];
    let length = u32::try_from(16 + payload_bytes).expect("an answer is smaller than 4 GiB");
    header[..4].copy_from_slice(&length.to_ne_bytes());
    header[4..8].copy_from_slice(&(-error).to_ne_bytes());
    header[8..].copy_from_slice(&unique.to_ne_bytes());
    header
}

#[derive(Default)]
struct Printer(Vec<u8>);

impl Printer {
    fn u16(mut self, value: u16) -> Self {
        self.0.extend_from_slice(&value.to_ne_bytes());
        self
    }
    fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_ne_bytes());
        self
    }
    fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_ne_bytes());
        self
    }
    fn zeroes(mut self, count: usize) -> Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }
    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Answer to `Init`: our version, what we want of what the kernel offers, and the limits. With `ring`, which the kernel
/// must have offered, requests come through io_uring.
#[must_use]
pub fn init_reply(max_readahead: u32, offered: u32, ring: bool) -> Vec<u8> {
    let (extended, further) = if ring { (INIT_EXTENDED, INIT_OVER_IO_URING) } else { (0, 0) };
    let flags = offered & WANTED | extended;
    let large = flags & INIT_MAX_PAGES != 0;
    let pages = if large { LARGEST_BYTES / PAGE_BYTES as usize } else { 32 };
    Printer::default()
        .u32(MAJOR)
        .u32(MINOR)
        .u32(max_readahead)
        .u32(flags)
        .u16(QUEUE_LIMIT)
        .u16(QUEUE_LIMIT)
        .u32((pages * PAGE_BYTES as usize) as u32)
        .u32(1)
        .u16(pages as u16)
        .u16(0)
        .u32(further)
        .zeroes(28)
        .0
}

fn attributes(printer: Printer, node: u64, disk_bytes: u64) -> Printer {
    let (size, mode, links) = if node == ROOT_NODE { (0, DIRECTORY_MODE, 2) } else { (disk_bytes, FILE_MODE, 1) };
    printer
        .u64(node)
        .u64(size)
        .u64(size / 512)
        .zeroes(36)
        .u32(mode)
        .u32(links)
        .zeroes(12)
        .u32(PAGE_BYTES as u32)
        .zeroes(4)
}

/// Answer to `GetAttr`.
#[must_use]
pub fn attributes_reply(node: u64, disk_bytes: u64) -> Vec<u8> {
    attributes(Printer::default().u64(VALID_S).zeroes(8), node, disk_bytes).0
}

/// Answer to a successful `Lookup` of the disk.
#[must_use]
pub fn entry_reply(disk_bytes: u64) -> Vec<u8> {
    let printer = Printer::default().u64(DISK_NODE).u64(0).u64(VALID_S).u64(VALID_S).zeroes(8);
    attributes(printer, DISK_NODE, disk_bytes).0
}

/// Answer to `Open`: no page cache below the loop device, and writes side by side.
#[must_use]
pub fn open_reply() -> Vec<u8> {
    Printer::default().u64(0).u32(OPEN_DIRECT_IO | OPEN_PARALLEL_DIRECT_WRITES).u32(0).0
}

/// Answer to `Write`.
#[must_use]
pub fn write_reply(written_bytes: u32) -> [u8; 8] {
    let mut reply = [0_u8; 8];
    reply[..4].copy_from_slice(&written_bytes.to_ne_bytes());
    reply
}

/// Answer to `StatFs`: one full file of 4 KiB blocks. The loop device takes the block as its discard granularity.
#[must_use]
pub fn statfs_reply(disk_bytes: u64) -> Vec<u8> {
    Printer::default()
        .u64(disk_bytes / PAGE_BYTES)
        .zeroes(16)
        .u64(1)
        .u64(0)
        .u32(PAGE_BYTES as u32)
        .u32(255)
        .u32(PAGE_BYTES as u32)
        .zeroes(28)
        .0
}

/// Answer to `ReadDir`: the three names from `offset` on, as many as fit.
#[must_use]
pub fn directory_reply(offset: u64, size: u32) -> Vec<u8> {
    const DIRECTORY: u32 = 4;
    const REGULAR: u32 = 8;
    let names: [(u64, u32, &[u8]); 3] =
        [(ROOT_NODE, DIRECTORY, b"."), (ROOT_NODE, DIRECTORY, b".."), (DISK_NODE, REGULAR, DISK_NAME)];
    let mut listing = Printer::default();
    for (position, (node, kind, name)) in names.iter().enumerate().skip(offset as usize) {
        let padded = name.len().next_multiple_of(8);
        if listing.0.len() + 24 + padded > size as usize {
            break;
        }
        listing = listing
            .u64(*node)
            .u64(position as u64 + 1)
            .u32(name.len() as u32)
            .u32(*kind)
            .bytes(name)
            .zeroes(padded - name.len());
    }
    listing.0
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
