//! An io_uring whose submissions have room for a driver's commands (128 bytes), as FUSE's ring needs it.
//!
//! Source: the kernel's `include/uapi/linux/io_uring.h`. One thread makes the ring, submits and takes completions.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::io_uring::{
    IORING_OFF_SQ_RING, IORING_OFF_SQES, IoringEnterFlags, IoringFeatureFlags, IoringOp, IoringSetupFlags,
    IoringSqFlags, io_uring_enter_arg, io_uring_getevents_arg, io_uring_params, io_uring_ptr, io_uring_setup,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Submissions that fit before they must be handed to the kernel.
const SUBMISSIONS: u32 = 256;
/// `IORING_POLL_ADD_MULTI`: report every time that the file becomes readable, not only the first.
const POLL_MULTIPLE: u32 = 1;
/// `IORING_CQE_F_MORE`: the same submission will complete again.
const MORE: u32 = 1 << 1;

/// A submission: `struct io_uring_sqe` of 128 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Submission {
    operation: u8,
    flags: u8,
    priority: u16,
    file: i32,
    /// Of a driver's command: its number.
    command: u64,
    address: u64,
    length: u32,
    operation_flags: u32,
    user_data: u64,
    buffer: u16,
    personality: u16,
    file_index: i32,
    /// A driver's own 80 bytes.
    arguments: [u64; 10],
}

/// A completion: `struct io_uring_cqe`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Completion {
    /// The submission's.
    pub user_data: u64,
    /// What it gave; an error as a negative number.
    pub result: i32,
    flags: u32,
}

impl Completion {
    /// Whether the same submission will complete again.
    #[must_use]
    pub fn more(&self) -> bool {
        self.flags & MORE != 0
    }

    /// Its error, if it is one.
    #[must_use]
    pub fn error(&self) -> Option<Errno> {
        (self.result < 0).then(|| Errno::from_raw_os_error(-self.result))
    }
}

impl Submission {
    /// A driver's command. What `address` points to must be there until the submission completes.
    #[must_use]
    pub fn command(file: BorrowedFd<'_>, command: u32, user_data: u64, arguments: [u64; 3]) -> Self {
        let mut submission = Self::new(IoringOp::UringCmd, file, user_data);
        submission.command = u64::from(command);
        submission.arguments[..3].copy_from_slice(&arguments);
        submission
    }

    /// The same with memory that the command is about: `length` items at an address.
    #[must_use]
    pub fn with_memory<T>(mut self, items: &'static [T]) -> Self {
        self.address = items.as_ptr() as u64;
        self.length = items.len() as u32;
        self
    }

    /// Completes whenever the file becomes readable.
    #[must_use]
    pub fn poll(file: BorrowedFd<'_>, user_data: u64) -> Self {
        let mut submission = Self::new(IoringOp::PollAdd, file, user_data);
        submission.operation_flags = libc::POLLIN as u32;
        submission.length = POLL_MULTIPLE;
        submission
    }

    fn new(operation: IoringOp, file: BorrowedFd<'_>, user_data: u64) -> Self {
        Self {
            operation: operation as u8,
            flags: 0,
            priority: 0,
            file: file.as_raw_fd(),
            command: 0,
            address: 0,
            length: 0,
            operation_flags: 0,
            user_data,
            buffer: 0,
            personality: 0,
            file_index: 0,
            arguments: [0; 10],
        }
    }
}

/// Memory that the kernel shares with us.
struct Shared {
    start: NonNull<c_void>,
    bytes: usize,
}

impl Shared {
    fn map(ring: &OwnedFd, bytes: usize, offset: u64) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start =
            unsafe { mmap(null_mut(), bytes, protection, MapFlags::SHARED | MapFlags::POPULATE, ring, offset)? };
        Ok(Self { start: NonNull::new(start).expect("a mapping is not at address 0"), bytes })
    }

    fn at<T>(&self, offset: u32) -> *mut T {
        // SAFETY: the kernel's offsets lie within the mapping.
        unsafe { self.start.as_ptr().byte_add(offset as usize).cast() }
    }

    fn counter(&self, offset: u32) -> &AtomicU32 {
        // SAFETY: an aligned counter, there as long as the mapping, which the kernel changes atomically too.
        unsafe { AtomicU32::from_ptr(self.at(offset)) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped in `map`; nothing keeps a reference into it for longer than a call.
        let _ = unsafe { munmap(self.start.as_ptr(), self.bytes) };
    }
}

/// The ring.
pub struct Ring {
    file: OwnedFd,
    queues: Shared,
    submissions: Shared,
    parameters: io_uring_params,
    /// Written to the queue, not yet handed to the kernel.
    waiting: u32,
}

impl Ring {
    /// A ring with room for that many completions. The thread that makes it must be the one that uses it.
    pub fn new(completions: u32) -> io::Result<Self> {
        let mut parameters = io_uring_params::default();
        // With deferred task work this thread is woken once, not interrupted, for what others complete.
        parameters.flags = IoringSetupFlags::SQE128
            | IoringSetupFlags::CQSIZE
            | IoringSetupFlags::SINGLE_ISSUER
            | IoringSetupFlags::DEFER_TASKRUN
            | IoringSetupFlags::TASKRUN_FLAG;
        parameters.cq_entries = completions;
        // SAFETY: the parameters name no memory and no file of ours.
        let file = unsafe { io_uring_setup(SUBMISSIONS, &mut parameters)? };
        if !parameters.features.contains(IoringFeatureFlags::SINGLE_MMAP | IoringFeatureFlags::EXT_ARG) {
            return Err(Errno::NOSYS.into());
        }
        let offsets = (&parameters.sq_off, &parameters.cq_off);
        let bytes = (offsets.0.array as usize + parameters.sq_entries as usize * 4)
            .max(offsets.1.cqes as usize + parameters.cq_entries as usize * size_of::<Completion>());
        let queues = Shared::map(&file, bytes, IORING_OFF_SQ_RING)?;
        let bytes = parameters.sq_entries as usize * size_of::<Submission>();
        let submissions = Shared::map(&file, bytes, IORING_OFF_SQES)?;
        for index in 0..parameters.sq_entries {
            // Submissions are always used in their order.
            // SAFETY: within the array of that many numbers.
            unsafe { queues.at::<u32>(parameters.sq_off.array).add(index as usize).write(index) };
        }
        Ok(Self { file, queues, submissions, parameters, waiting: 0 })
    }

    /// Puts a submission into the queue, and hands the queue to the kernel when it is full.
    pub fn push(&mut self, submission: Submission) -> io::Result<()> {
        if self.waiting == self.parameters.sq_entries {
            self.submit()?;
        }
        let tail = self.queues.counter(self.parameters.sq_off.tail);
        let at = tail.load(Ordering::Relaxed);
        let place = at & (self.parameters.sq_entries - 1);
        // SAFETY: the place lies within the array, and the kernel has taken what was there before.
        unsafe { self.submissions.at::<Submission>(0).add(place as usize).write(submission) };
        tail.store(at.wrapping_add(1), Ordering::Release);
        self.waiting += 1;
        Ok(())
    }

    /// How many submissions the kernel has not been handed yet.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The next completion that is there; makes no system call.
    pub fn take(&mut self) -> Option<Completion> {
        let head = self.queues.counter(self.parameters.cq_off.head);
        let at = head.load(Ordering::Relaxed);
        if at == self.queues.counter(self.parameters.cq_off.tail).load(Ordering::Acquire) {
            return None;
        }
        let completion = self.completion(at);
        head.store(at.wrapping_add(1), Ordering::Release);
        Some(completion)
    }

    /// The completions that are there, without taking them.
    pub fn pending(&self) -> impl Iterator<Item = Completion> {
        let offsets = &self.parameters.cq_off;
        let head = self.queues.counter(offsets.head).load(Ordering::Relaxed);
        (0..self.distance(offsets.head, offsets.tail)).map(move |index| self.completion(head.wrapping_add(index)))
    }

    fn completion(&self, at: u32) -> Completion {
        let place = at & (self.parameters.cq_entries - 1);
        // SAFETY: the place lies within the array, and the kernel has written what is there.
        unsafe { self.queues.at::<Completion>(self.parameters.cq_off.cqes).add(place as usize).read() }
    }

    /// Whether the kernel has something for us that a `submit` would make completions of; makes no system call.
    #[must_use]
    pub fn has_work(&self) -> bool {
        let flags = self.queues.counter(self.parameters.sq_off.flags).load(Ordering::Acquire);
        flags & (IoringSqFlags::TASKRUN | IoringSqFlags::CQ_OVERFLOW).bits() != 0
    }

    /// Hands the queue to the kernel, and lets it make completions of what it has for us.
    pub fn submit(&mut self) -> io::Result<()> {
        self.enter(0, None).map(drop)
    }

    /// The same, and waits until there is a completion, which is true, or the time is over or a signal came; None waits
    /// without end.
    pub fn wait(&mut self, time: Option<Duration>) -> io::Result<bool> {
        self.enter(1, time)
    }

    fn enter(&mut self, completions: u32, time: Option<Duration>) -> io::Result<bool> {
        let limit =
            time.map(|time| Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) });
        let mut argument = io_uring_getevents_arg::default();
        if let Some(limit) = &limit {
            argument.ts = io_uring_ptr::new(std::ptr::from_ref(limit).cast_mut().cast());
        }
        let flags = IoringEnterFlags::GETEVENTS | IoringEnterFlags::EXT_ARG;
        // SAFETY: the limit lives through the call; what submissions point to is their makers' promise.
        match unsafe { io_uring_enter_arg(&self.file, self.waiting, completions, flags, Some(&argument)) } {
            // How many were submitted is not said after a wait in vain; the kernel's head says it.
            Ok(_) | Err(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => {}
            Err(error) => return Err(error.into()),
        }
        let (submitted, completed) = (&self.parameters.sq_off, &self.parameters.cq_off);
        self.waiting = self.distance(submitted.head, submitted.tail);
        Ok(self.distance(completed.head, completed.tail) > 0)
    }

    fn distance(&self, head: u32, tail: u32) -> u32 {
        let [head, tail] = [head, tail].map(|counter| self.queues.counter(counter).load(Ordering::Acquire));
        tail.wrapping_sub(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    use rustix::event::{EventfdFlags, eventfd};

    /// None, with the reason printed, where the kernel lends no ring.
    fn ring() -> Option<Ring> {
        Ring::new(16).inspect_err(|error| println!("skipped: no io_uring ({error})")).ok()
    }

    #[test]
    fn a_submission_has_the_kernels_layout() {
        assert_eq!((size_of::<Submission>(), size_of::<Completion>()), (128, 16));
        assert_eq!(std::mem::offset_of!(Submission, user_data), 32);
        assert_eq!(std::mem::offset_of!(Submission, arguments), 48);
    }

    #[test]
    fn a_polled_file_completes_each_time_that_it_is_written_to() {
        let Some(mut ring) = ring() else { return };
        let counter = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        ring.push(Submission::poll(counter.as_fd(), 7)).unwrap();
        assert!(!ring.wait(Some(Duration::from_millis(1))).unwrap() && ring.waiting() == 0);
        for _ in 0..3 {
            rustix::io::write(&counter, &1_u64.to_ne_bytes()).unwrap();
            assert!(ring.has_work() && ring.wait(None).unwrap());
            let completion = ring.take().unwrap();
            assert!(completion.user_data == 7 && completion.more() && completion.error().is_none());
            assert!(ring.take().is_none() && !ring.has_work());
            rustix::io::read(&counter, &mut [0; 8]).unwrap();
        }
    }

    #[test]
    fn more_submissions_than_the_queue_holds_go_to_the_kernel_in_between() {
        let Some(mut ring) = ring() else { return };
        let nothing = std::fs::File::open("/dev/null").unwrap();
        for number in 0..u64::from(SUBMISSIONS) + 1 {
            ring.push(Submission::command(nothing.as_fd(), 0, number, [0; 3])).unwrap();
        }
        assert_eq!(ring.waiting(), 1);
        let completions = std::iter::from_fn(|| {
            if ring.waiting() > 0 || ring.has_work() {
                ring.submit().unwrap();
            }
            ring.take()
        });
        // /dev/null takes any command and does nothing.
        assert!(completions.map(|one| one.user_data).eq(0..u64::from(SUBMISSIONS) + 1));
    }
}
