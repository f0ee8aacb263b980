//! Thin, safe wrappers of the system calls that the standard library lacks. Each returns the kernel's error as it is.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::time::Duration;

use crate::mapping::Part;

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn counted(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

fn c_path(path: &Path) -> io::Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

/// Nanoseconds of the monotonic clock.
#[must_use]
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since the epoch.
#[must_use]
pub fn realtime_ns() -> u64 {
    clock_ns(libc::CLOCK_REALTIME)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer; these clocks are always there.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Seconds of processor time that this process has used, in user and kernel mode.
#[must_use]
pub fn cpu_s() -> f64 {
    // SAFETY: an all-zero rusage is a valid value, and the call only fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Reads into two buffers, one after the other.
pub fn read_two(fd: RawFd, first: &mut [u8], second: &mut [u8]) -> io::Result<usize> {
    let parts = [
        libc::iovec { iov_base: first.as_mut_ptr().cast(), iov_len: first.len() },
        libc::iovec { iov_base: second.as_mut_ptr().cast(), iov_len: second.len() },
    ];
    // SAFETY: both parts describe memory that we hold exclusively for the length of the call.
    counted(unsafe { libc::readv(fd, parts.as_ptr(), 2) })
}

/// Writes two buffers as one message.
pub fn write_two(fd: RawFd, first: &[u8], second: &[u8]) -> io::Result<usize> {
    let parts = [
        libc::iovec { iov_base: first.as_ptr().cast_mut().cast(), iov_len: first.len() },
        libc::iovec { iov_base: second.as_ptr().cast_mut().cast(), iov_len: second.len() },
    ];
    let count = if second.is_empty() { 1 } else { 2 };
    // SAFETY: both parts describe memory that lives through the call, which only reads it.
    counted(unsafe { libc::writev(fd, parts.as_ptr(), count) })
}

/// Writes a buffer and a part of a mapping as one message.
pub fn write_mapped(fd: RawFd, first: &[u8], part: Part) -> io::Result<usize> {
    let parts = [libc::iovec { iov_base: first.as_ptr().cast_mut().cast(), iov_len: first.len() }, part.vector()];
    // SAFETY: `first` lives through the call, the mapping as long as the process; the call only reads them.
    counted(unsafe { libc::writev(fd, parts.as_ptr(), 2) })
}

/// First byte at or after `offset` that has been written; None when there is none up to the end of the file.
pub fn next_data(fd: RawFd, offset: u64) -> io::Result<Option<u64>> {
    // SAFETY: no memory is involved; nothing else uses this file's position.
    let found = unsafe { libc::lseek(fd, offset as libc::off_t, libc::SEEK_DATA) };
    if found >= 0 {
        return Ok(Some(found as u64));
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::ENXIO) { Ok(None) } else { Err(error) }
}

/// Frees a range of a file; it reads as zeroes afterwards and the size stays.
pub fn punch_hole(fd: RawFd, offset: u64, length: u64) -> io::Result<()> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: no memory is involved.
    checked(unsafe { libc::fallocate(fd, mode, offset as libc::off_t, length as libc::off_t) })
}

/// A new event counter that can be waited for together with other files.
pub fn event_counter() -> io::Result<OwnedFd> {
    // SAFETY: the call makes a new descriptor, which only we own.
    unsafe {
        let fd = libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC);
        checked(fd)?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Waits until one of the files can be read or the time is over; None waits without end. True for those that can be read.
pub fn wait_readable<const N: usize>(files: [RawFd; N], time: Option<Duration>) -> io::Result<[bool; N]> {
    let mut polls = files.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let limit = time.map(|time| libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(time.subsec_nanos()),
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `polls` and `limit` live through the call; no signal mask is given.
    match checked(unsafe { libc::ppoll(polls.as_mut_ptr(), N as libc::nfds_t, limit, std::ptr::null()) }) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok([false; N]),
        Err(error) => Err(error),
        Ok(()) => Ok(polls.map(|poll| poll.revents != 0)),
    }
}

/// Lets this thread's timers fire when they are due, not up to 50 us later.
pub fn exact_timers() {
    // SAFETY: no memory is involved; where it is refused, timers are only less exact, which the report shows.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

/// Puts this thread before ordinary ones, so that a busy machine does not delay the disk. False when refused.
#[must_use]
pub fn real_time_priority() -> bool {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: `parameters` lives through the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0 }
}

/// Keeps all memory of this process, present and future, from being swapped out. False when refused.
#[must_use]
pub fn lock_memory() -> bool {
    // SAFETY: no memory is passed.
    unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) == 0 }
}

/// Keeps the signals that end a process for `wait_for_end_signal`, in this thread and all that it will start.
pub fn hold_end_signals() {
    let set = end_signals();
    // SAFETY: `set` is initialised and lives through the call.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

/// Waits for SIGTERM or SIGINT.
pub fn wait_for_end_signal() {
    let set = end_signals();
    let mut signal = 0;
    // SAFETY: both places are valid for the length of the call.
    while unsafe { libc::sigwait(&raw const set, &raw mut signal) } != 0 {}
}

fn end_signals() -> libc::sigset_t {
    // SAFETY: the set is initialised by sigemptyset before anything else looks at it.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::sigaddset(&raw mut set, libc::SIGINT);
        set
    }
}

/// mount(2) of a file system without a device node.
pub fn mount(source: &str, directory: &Path, kind: &str, options: &str) -> io::Result<()> {
    let source = CString::new(source).map_err(io::Error::other)?;
    let kind = CString::new(kind).map_err(io::Error::other)?;
    let options = CString::new(options).map_err(io::Error::other)?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC | libc::MS_NOATIME;
    let directory = c_path(directory)?;
    // SAFETY: all strings end with a zero byte and live through the call.
    let result =
        unsafe { libc::mount(source.as_ptr(), directory.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) };
    checked(result)
}

/// Unmounts. What something still uses stays in the tree: taken out of it, a loop device's file would lose its name, and
/// nobody could tell any more whose device that is.
pub fn unmount(directory: &Path) -> io::Result<()> {
    let directory = c_path(directory)?;
    // SAFETY: the string ends with a zero byte and lives through the call.
    checked(unsafe { libc::umount2(directory.as_ptr(), 0) })
}

/// True for the superuser.
#[must_use]
pub fn is_root() -> bool {
    // SAFETY: always succeeds.
    unsafe { libc::geteuid() == 0 }
}

/// Makes an event counter readable.
pub fn signal(counter: &OwnedFd) {
    let one = 1_u64.to_ne_bytes();
    // SAFETY: eight bytes that live through the call. It can only fail when the counter is full, and then it is readable.
    unsafe { libc::write(counter.as_raw_fd(), one.as_ptr().cast(), one.len()) };
}

/// Empties an event counter.
pub fn clear(counter: &OwnedFd) {
    let mut count = [0_u8; 8];
    // SAFETY: eight bytes of our own. It can only fail when the counter is empty already.
    unsafe { libc::read(counter.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
}
