//! Threads for the work that waits for the host's disk, so that the serving thread never does.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use crate::backing::Backing;
use crate::buffers::Buffer;
use crate::inbox::{Inbox, Note, Outcome};
use crate::schedule::Slot;

/// Enough to keep a host's disk busy; they cost nothing while they sleep.
const THREADS: usize = 8;
/// All memory is locked, stacks too: they are kept small.
const STACK_BYTES: usize = 128 << 10;

/// Work on the backing file.
pub enum Job {
    /// Fill the buffer's first bytes.
    Read(Buffer, usize, u64),
    /// Write the buffer's first bytes.
    Write(Buffer, usize, u64),
    /// Free a range: offset, length.
    Punch(u64, u64),
}

#[derive(Default)]
struct Queue {
    jobs: Mutex<VecDeque<(Slot, Job)>>,
    filled: Condvar,
}

/// The threads' queue.
pub struct Workers(Arc<Queue>);

impl Workers {
    /// Starts the threads; they end with the process.
    pub fn start(backing: &Arc<Backing>, inbox: &Arc<Inbox>) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        for _ in 0..THREADS {
            let (queue, backing, inbox) = (Arc::clone(&queue), Arc::clone(backing), Arc::clone(inbox));
            thread::Builder::new().name("backing".into()).stack_size(STACK_BYTES).spawn(move || {
                loop {
                    let (slot, job) = next(&queue);
                    let (outcome, spare) = work(&backing, job);
                    inbox.post(Note::Worked(slot, outcome, spare));
                }
            })?;
        }
        Ok(Self(queue))
    }

    /// Hands a job in; a note comes back when it is done.
    pub fn give(&self, slot: Slot, job: Job) {
        self.0.jobs.lock().expect("no holder of this lock panics").push_back((slot, job));
        self.0.filled.notify_one();
    }
}

fn next(queue: &Queue) -> (Slot, Job) {
    let mut jobs = queue.jobs.lock().expect("no holder of this lock panics");
    loop {
        if let Some(job) = jobs.pop_front() {
            return job;
        }
        jobs = queue.filled.wait(jobs).expect("no holder of this lock panics");
    }
}

fn work(backing: &Backing, job: Job) -> (Outcome, Option<Buffer>) {
    match job {
        Job::Read(mut buffer, bytes, offset) => match backing.read(&mut buffer[..bytes], offset) {
            Ok(()) => (Outcome::Data(buffer, bytes), None),
            Err(error) => (Outcome::Failed(error), Some(buffer)),
        },
        Job::Write(buffer, bytes, offset) => {
            let outcome = backing.write(&buffer[..bytes], offset);
            (outcome.map_or_else(Outcome::Failed, |()| Outcome::Written(bytes as u32)), Some(buffer))
        }
        Job::Punch(offset, length) => {
            (backing.punch(offset, length).map_or_else(Outcome::Failed, |()| Outcome::Done), None)
        }
    }
}
