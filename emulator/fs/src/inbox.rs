//! What other threads have to tell the one that serves: work done, commands, the end.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::buffers::Buffer;
use crate::control::Command;
use crate::mapping::Part;
use crate::schedule::Slot;

/// What a request's real work gave.
pub enum Outcome {
    /// Bytes in the host's page cache.
    Mapped(Part),
    /// That many zeroes.
    Zeroes(usize),
    /// That many bytes at the start of the buffer.
    Data(Buffer, usize),
    /// That many bytes were written.
    Written(u32),
    /// Done, and nothing to say about it.
    Done,
    /// An error.
    Failed(Errno),
}

/// A message to the serving thread.
pub enum Note {
    /// A worker has done a request's work; the buffer is no longer needed.
    Worked(Slot, Outcome, Option<Buffer>),
    /// Someone on the control socket waits for an answer.
    Command(Command, Sender<String>),
    /// The process shall end.
    End,
    /// The file system is unmounted, or out of the tree.
    Unmounted,
}

/// A queue of notes that can be waited for together with the kernel's requests.
pub struct Inbox {
    notes: Mutex<VecDeque<Note>>,
    /// Saves the serving thread a lock per request while nobody has anything to say.
    filled: AtomicBool,
    counter: OwnedFd,
}

impl Inbox {
    /// An empty inbox.
    pub fn new() -> io::Result<Self> {
        let counter = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { notes: Mutex::default(), filled: AtomicBool::new(false), counter })
    }

    /// To wait with.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.counter.as_fd()
    }

    /// Puts a note in and wakes the serving thread.
    pub fn post(&self, note: Note) {
        self.notes.lock().expect("no holder of this lock panics").push_back(note);
        self.filled.store(true, Ordering::Release);
        // It can only fail when the counter is full, and then it is readable.
        let _ = rustix::io::write(&self.counter, &1_u64.to_ne_bytes());
    }

    /// All notes there are.
    #[must_use]
    pub fn take(&self) -> VecDeque<Note> {
        if !self.filled.swap(false, Ordering::Acquire) {
            return VecDeque::new();
        }
        // It can only fail when the counter is empty already.
        let _ = rustix::io::read(&self.counter, &mut [0; 8]);
        std::mem::take(&mut *self.notes.lock().expect("no holder of this lock panics"))
    }
}
