//! The connection to the kernel's FUSE: mounting, taking requests, answering them.

use std::ffi::CString;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountFlags;

use crate::buffers::{Buffer, Pool};
use crate::inbox::Inbox;
use crate::mapping::Part;
use crate::protocol::{self, Call, LARGEST_BYTES, WRITE_PREFIX_BYTES};
use crate::sys;
use crate::uring::{Entry, Offer, Taken, Uring};

/// The source and the subtype that /proc/mounts shows, by which left-overs are recognised.
const NAME: &str = "assay-emulator";

/// What there is to take.
#[derive(Debug)]
pub enum Received {
    /// A request.
    Call(Call, Ticket),
    /// Someone may have something to say: look again.
    News,
    /// Nothing now.
    Nothing,
    /// The file system is no longer mounted.
    Unmounted,
}

/// What the kernel knows a request by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticket {
    /// Its number: it came from the device.
    Device(u64),
    /// It came through the ring.
    Ring(Entry),
}

/// How requests come and answers go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// By io_uring.
    Ring,
    /// By reading and writing the FUSE device, and why.
    Device(String),
}

/// A mounted file system, seen from below.
pub struct Channel {
    device: OwnedFd,
    directory: PathBuf,
    inbox: Arc<Inbox>,
    /// The last message that was read from the device; of a write, its payload lies apart.
    prefix: [u8; WRITE_PREFIX_BYTES],
    payload: Buffer,
    /// Whether requests come through it is for `transport` to say: until the kernel has agreed, they come from the device.
    ring: Option<Uring>,
    /// Until the kernel has agreed: a mount that has its ring keeps it.
    offer: Option<Offer>,
    /// With a ring: whether the device may have a message.
    device_filled: bool,
    transport: Transport,
}

impl Channel {
    /// Mounts an empty channel on a directory. Errors say why it can't be, and how to mend that. The ring is used where
    /// it is wanted and the kernel has it.
    pub fn mount(directory: &Path, inbox: &Arc<Inbox>, wants_ring: bool) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can mount the emulated disk: run as root".into());
        }
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let device = rustix::fs::open("/dev/fuse", flags, Mode::empty()).map_err(io::Error::from).map_err(|error| {
            format!("/dev/fuse can't be opened ({error}): load the kernel's fuse module (modprobe fuse)")
        })?;
        // The kernel decides what it offers when it mounts.
        let ring = if wants_ring {
            Offer::new().and_then(|offer| Ok((Uring::new(device.as_fd(), inbox.fd())?, offer)))
        } else {
            Err("io_uring was not asked for".into())
        };
        let directory =
            directory.canonicalize().map_err(|error| format!("the mount point {}: {error}", directory.display()))?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
        let options = CString::new(options).expect("a number holds no zero byte");
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::NOATIME;
        rustix::mount::mount(NAME, &directory, format!("fuse.{NAME}"), flags, options.as_c_str())
            .map_err(io::Error::from)
            .map_err(|error| format!("mounting FUSE on {} was refused: {error}", directory.display()))?;
        let ring = ring.and_then(|(mut ring, offer)| {
            ring.watch().map_err(|error| format!("io_uring can't wait for requests ({error})"))?;
            Ok((ring, offer))
        });
        let (ring, offer, why_not) =
            ring.map_or_else(|why_not| (None, None, why_not), |(ring, offer)| (Some(ring), Some(offer), String::new()));
        Ok(Self {
            device,
            directory,
            inbox: Arc::clone(inbox),
            prefix: [0; WRITE_PREFIX_BYTES],
            payload: Buffer::new(LARGEST_BYTES),
            ring,
            offer,
            device_filled: true,
            transport: Transport::Device(why_not),
        })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// How requests come.
    #[must_use]
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Takes the next request without waiting.
    pub fn receive(&mut self) -> io::Result<Received> {
        let Some(ring) = &mut self.ring else { return self.read() };
        match ring.take()? {
            Taken::Request(entry) => match ring.call(entry) {
                Some(call) => Ok(Received::Call(call, Ticket::Ring(entry))),
                None => Err(too_short()),
            },
            Taken::Device => {
                self.device_filled = true;
                self.read()
            }
            Taken::Inbox => Ok(Received::News),
            Taken::Nothing if self.device_filled => self.read(),
            Taken::Nothing => Ok(Received::Nothing),
            Taken::Unmounted => Ok(Received::Unmounted),
        }
    }

    /// Reads a message from the device. A write's payload begins at the start of `payload`.
    fn read(&mut self) -> io::Result<Received> {
        let mut parts = [IoSliceMut::new(&mut self.prefix), IoSliceMut::new(&mut self.payload)];
        match rustix::io::readv(&self.device, &mut parts) {
            Ok(length) => {
                let head = &self.prefix[..length.min(WRITE_PREFIX_BYTES)];
                let call = if length <= WRITE_PREFIX_BYTES || protocol::is_write(head) {
                    protocol::parse(head)
                } else {
                    protocol::parse(&[head, &self.payload[..length - WRITE_PREFIX_BYTES]].concat())
                };
                let call = call.ok_or_else(too_short)?;
                let ticket = Ticket::Device(call.unique);
                Ok(Received::Call(call, ticket))
            }
            Err(Errno::AGAIN) => {
                self.device_filled = false;
                Ok(Received::Nothing)
            }
            // A signal, or a request that was withdrawn while we took it.
            Err(Errno::INTR | Errno::NOENT) => Ok(Received::News),
            Err(Errno::NODEV) => Ok(Received::Unmounted),
            Err(error) => Err(error.into()),
        }
    }

    /// Answers `Init`, and has requests come through the ring where the kernel agrees.
    pub fn answer_init(&mut self, ticket: Ticket, max_readahead: u32, flags: u32, offers_ring: bool) -> io::Result<()> {
        let with_ring = self.ring.is_some() && offers_ring;
        self.answer(ticket, &protocol::init_reply(max_readahead, flags, with_ring))?;
        if let Some(ring) = &mut self.ring {
            self.transport = if !with_ring {
                Transport::Device("the kernel does not offer io_uring to this mount".into())
            } else if let Err(error) = ring.register(self.device.as_fd())? {
                Transport::Device(format!("the kernel refuses the ring's entries ({error})"))
            } else {
                Transport::Ring
            };
        }
        if !matches!(self.transport, Transport::Ring) {
            self.ring = None; // its refusals are no requests
        }
        self.offer = None;
        Ok(())
    }

    /// Memory into which the answer to a request that came through the ring can be written, so that it need not be copied.
    #[must_use]
    pub fn room(&self, ticket: Ticket) -> Option<Buffer> {
        match (&self.ring, ticket) {
            (Some(ring), Ticket::Ring(entry)) => Some(ring.payload(entry)),
            _ => None,
        }
    }

    /// Takes the payload of a write, which must be the last request that was received.
    pub fn take_payload(&mut self, ticket: Ticket, pool: &mut Pool) -> Buffer {
        self.room(ticket).unwrap_or_else(|| std::mem::replace(&mut self.payload, pool.take(LARGEST_BYTES)))
    }

    /// Gives back what `take_payload` took, unused.
    pub fn give_payload(&mut self, ticket: Ticket, payload: Buffer, pool: &mut Pool) {
        if matches!(ticket, Ticket::Device(_)) {
            pool.give(std::mem::replace(&mut self.payload, payload));
        }
    }

    /// Answers a request with bytes. An answer that nobody waits for any more is dropped.
    pub fn answer(&mut self, ticket: Ticket, payload: &[u8]) -> io::Result<()> {
        match ticket {
            Ticket::Device(unique) => self.send(&protocol::reply_header(unique, 0, payload.len()), payload),
            Ticket::Ring(entry) => {
                if let Some(mut room) = self.room(ticket).filter(|room| room.as_ptr() != payload.as_ptr()) {
                    room[..payload.len()].copy_from_slice(payload);
                }
                self.commit(entry, 0, payload.len())
            }
        }
    }

    /// Answers a request that came from the device with bytes of the page cache. An error means that the client got an
    /// I/O error.
    pub fn answer_mapped(&self, ticket: Ticket, part: Part) -> io::Result<()> {
        let Ticket::Device(unique) = ticket else { return Err(Errno::INVAL.into()) };
        let header = protocol::reply_header(unique, 0, part.bytes());
        told(sys::write_mapped(&self.device, &header, part))
    }

    /// Answers a request with an error.
    pub fn refuse(&mut self, ticket: Ticket, error: Errno) -> io::Result<()> {
        match ticket {
            Ticket::Device(unique) => self.send(&protocol::reply_header(unique, error.raw_os_error(), 0), &[]),
            Ticket::Ring(entry) => self.commit(entry, error.raw_os_error(), 0),
        }
    }

    fn commit(&mut self, entry: Entry, error: i32, bytes: usize) -> io::Result<()> {
        let ring = self.ring.as_mut().expect("what came through the ring is answered through it");
        ring.commit(self.device.as_fd(), entry, error, bytes)
    }

    fn send(&self, header: &[u8], payload: &[u8]) -> io::Result<()> {
        let parts = [IoSlice::new(header), IoSlice::new(payload)];
        let count = if payload.is_empty() { 1 } else { 2 };
        told(rustix::io::writev(&self.device, &parts[..count]).map_err(io::Error::from))
    }

    /// Hands answers to the kernel when so many have been given that they should wait no longer for each other.
    pub fn flush(&mut self) -> io::Result<()> {
        self.ring.as_mut().map_or(Ok(()), |ring| ring.flush(false))
    }

    /// Waits until a request or a note is there, which is true, or the time is over or a signal came; None waits without
    /// end. All answers are handed to the kernel, also in no time.
    pub fn wait(&mut self, time: Option<Duration>) -> io::Result<bool> {
        match &mut self.ring {
            Some(ring) if time == Some(Duration::ZERO) => ring.flush(true).map(|()| false),
            Some(ring) => ring.wait(time),
            None if time == Some(Duration::ZERO) => Ok(false),
            None => wait_readable([self.device.as_fd(), self.inbox.fd()], time),
        }
    }
}

fn too_short() -> io::Error {
    io::Error::other("the kernel sent a request that is too short")
}

fn told(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NOENT | Errno::NODEV | Errno::INTR)) => Ok(()),
        other => other.map(drop),
    }
}

/// Waits until one of the files can be read, which is true, or the time is over or a signal came; None waits without end.
fn wait_readable(files: [BorrowedFd<'_>; 2], time: Option<Duration>) -> io::Result<bool> {
    let mut polls = files.map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
    let limit = time.map(|time| Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) });
    match poll(&mut polls, limit.as_ref()) {
        Err(Errno::INTR) => Ok(false),
        result => Ok(result? > 0),
    }
}
