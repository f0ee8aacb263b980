//! Clocks in the units used here, and the system calls that rustix lacks.
//!
//! `libc` is called for these only: `sched_setscheduler`; `pthread_sigmask` and `sigwait`, which rustix keeps to those who
//! write a C library; `mincore` (in `mapping.rs`); and a gathering write of mapped memory, which may never be the slice that
//! rustix asks for.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::time::{ClockId, clock_gettime};

use crate::mapping::Part;

/// Nanoseconds of the monotonic clock.
#[must_use]
pub fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// Nanoseconds since the epoch.
#[must_use]
pub fn realtime_ns() -> u64 {
    clock_ns(ClockId::Realtime)
}

/// Seconds of processor time that this process has used, in user and kernel mode.
#[must_use]
pub fn cpu_s() -> f64 {
    clock_ns(ClockId::ProcessCPUTime) as f64 / 1e9
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Writes a buffer and a part of a mapping as one message.
pub fn write_mapped(file: impl AsFd, first: &[u8], part: Part) -> io::Result<usize> {
    let parts = [libc::iovec { iov_base: first.as_ptr().cast_mut().cast(), iov_len: first.len() }, part.vector()];
    // SAFETY: `first` lives through the call, the mapping as long as the process; the call only reads them.
    let written = unsafe { libc::writev(file.as_fd().as_raw_fd(), parts.as_ptr(), 2) };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

/// Puts this thread before ordinary ones, so that a busy machine does not delay the disk; 1 is the lowest such
/// priority. False when refused.
#[must_use]
pub fn real_time_priority(priority: i32) -> bool {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: `parameters` lives through the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0 }
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
