//! What other threads have to tell the one that serves: work done, commands, the end.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use crate::buffers::Buffer;
use crate::control::Command;
use crate::mapping::Part;
use crate::schedule::Slot;
use crate::sys;

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
    /// An error number.
    Failed(i32),
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
        Ok(Self { notes: Mutex::default(), filled: AtomicBool::new(false), counter: sys::event_counter()? })
    }

    /// To wait with.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.counter.as_raw_fd()
    }

    /// Puts a note in and wakes the serving thread.
    pub fn post(&self, note: Note) {
        self.notes.lock().expect("no holder of this lock panics").push_back(note);
        self.filled.store(true, Ordering::Release);
        sys::signal(&self.counter);
    }

    /// All notes there are.
    #[must_use]
    pub fn take(&self) -> VecDeque<Note> {
        if !self.filled.swap(false, Ordering::Acquire) {
            return VecDeque::new();
        }
        sys::clear(&self.counter);
        std::mem::take(&mut *self.notes.lock().expect("no holder of this lock panics"))
    }
}
