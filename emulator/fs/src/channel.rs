//! The connection to the kernel's FUSE: mounting, taking requests, answering them.

use std::ffi::CString;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountFlags;

use crate::mapping::Part;
use crate::protocol::{self, WRITE_PREFIX_BYTES};
use crate::sys;

/// The source and the subtype that /proc/mounts shows, by which left-overs are recognised.
const NAME: &str = "assay-emulator";

/// What there is to take.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// A request of that many bytes.
    Message(usize),
    /// Nothing now.
    Nothing,
    /// The file system is no longer mounted.
    Unmounted,
}

/// A mounted file system, seen from below.
pub struct Channel {
    device: OwnedFd,
    directory: PathBuf,
}

impl Channel {
    /// Mounts an empty channel on a directory. Errors say why it can't be, and how to mend that.
    pub fn mount(directory: &Path) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can mount the emulated disk: run as root".into());
        }
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let device = rustix::fs::open("/dev/fuse", flags, Mode::empty()).map_err(io::Error::from).map_err(|error| {
            format!("/dev/fuse can't be opened ({error}): load the kernel's fuse module (modprobe fuse)")
        })?;
        let directory =
            directory.canonicalize().map_err(|error| format!("the mount point {}: {error}", directory.display()))?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
        let options = CString::new(options).expect("a number holds no zero byte");
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::NOATIME;
        rustix::mount::mount(NAME, &directory, format!("fuse.{NAME}"), flags, options.as_c_str())
            .map_err(io::Error::from)
            .map_err(|error| format!("mounting FUSE on {} was refused: {error}", directory.display()))?;
        Ok(Self { device, directory })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// To wait for requests with.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Takes the next request without waiting. A write's payload begins at the start of `payload`.
    pub fn receive(&self, prefix: &mut [u8; WRITE_PREFIX_BYTES], payload: &mut [u8]) -> io::Result<Received> {
        match rustix::io::readv(&self.device, &mut [IoSliceMut::new(prefix), IoSliceMut::new(payload)]) {
            Ok(count) => Ok(Received::Message(count)),
            // Nothing there, a signal, or a request that was withdrawn while we took it.
            Err(Errno::AGAIN | Errno::INTR | Errno::NOENT) => Ok(Received::Nothing),
            Err(Errno::NODEV) => Ok(Received::Unmounted),
            Err(error) => Err(error.into()),
        }
    }

    /// Answers a request with bytes. An answer that nobody waits for any more is dropped.
    pub fn answer(&self, unique: u64, payload: &[u8]) -> io::Result<()> {
        self.send(&protocol::reply_header(unique, 0, payload.len()), payload)
    }

    /// Answers a request with bytes of the page cache. An error means that the client got an I/O error.
    pub fn answer_mapped(&self, unique: u64, part: Part) -> io::Result<()> {
        let header = protocol::reply_header(unique, 0, part.bytes());
        told(sys::write_mapped(&self.device, &header, part))
    }

    /// Answers a request with an error.
    pub fn refuse(&self, unique: u64, error: Errno) -> io::Result<()> {
        self.send(&protocol::reply_header(unique, error.raw_os_error(), 0), &[])
    }

    fn send(&self, header: &[u8], payload: &[u8]) -> io::Result<()> {
        let parts = [IoSlice::new(header), IoSlice::new(payload)];
        let count = if payload.is_empty() { 1 } else { 2 };
        told(rustix::io::writev(&self.device, &parts[..count]).map_err(io::Error::from))
    }
}

fn told(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NOENT | Errno::NODEV | Errno::INTR)) => Ok(()),
        other => other.map(drop),
    }
}
