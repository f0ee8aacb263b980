//! The connection to the kernel's FUSE: mounting, taking requests, answering them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

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
    device: File,
    directory: PathBuf,
}

impl Channel {
    /// Mounts an empty channel on a directory. Errors say why it can't be, and how to mend that.
    pub fn mount(directory: &Path) -> Result<Self, String> {
        if !sys::is_root() {
            return Err("only root can mount the emulated disk: run as root".into());
        }
        let device =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/fuse").map_err(
                |error| format!("/dev/fuse can't be opened ({error}): load the kernel's fuse module (modprobe fuse)"),
            )?;
        let directory =
            directory.canonicalize().map_err(|error| format!("the mount point {}: {error}", directory.display()))?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
        sys::mount(NAME, &directory, &format!("fuse.{NAME}"), &options)
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
    pub fn fd(&self) -> RawFd {
        self.device.as_raw_fd()
    }

    /// Takes the next request without waiting. A write's payload begins at the start of `payload`.
    pub fn receive(&self, prefix: &mut [u8; WRITE_PREFIX_BYTES], payload: &mut [u8]) -> io::Result<Received> {
        match sys::read_two(self.fd(), prefix, payload) {
            Ok(count) => Ok(Received::Message(count)),
            Err(error) => match error.raw_os_error() {
                // Nothing there, a signal, or a request that was withdrawn while we took it.
                Some(libc::EAGAIN | libc::EINTR | libc::ENOENT) => Ok(Received::Nothing),
                Some(libc::ENODEV) => Ok(Received::Unmounted),
                _ => Err(error),
            },
        }
    }

    /// Answers a request with bytes. An answer that nobody waits for any more is dropped.
    pub fn answer(&self, unique: u64, payload: &[u8]) -> io::Result<()> {
        self.send(&protocol::reply_header(unique, 0, payload.len()), payload)
    }

    /// Answers a request with bytes of the page cache. An error means that the client got an I/O error.
    pub fn answer_mapped(&self, unique: u64, part: Part) -> io::Result<()> {
        let header = protocol::reply_header(unique, 0, part.bytes());
        told(sys::write_mapped(self.fd(), &header, part))
    }

    /// Answers a request with an error number.
    pub fn refuse(&self, unique: u64, error: i32) -> io::Result<()> {
        self.send(&protocol::reply_header(unique, error, 0), &[])
    }

    fn send(&self, header: &[u8], payload: &[u8]) -> io::Result<()> {
        told(sys::write_two(self.fd(), header, payload))
    }
}

fn told(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV | libc::EINTR)) => Ok(()),
        other => other.map(drop),
    }
}
