//! The serving thread: takes requests from the kernel, has their real work done, and answers when the schedule says so.
//!
//! One thread does all that needs no waiting, because on a small machine a hand-over between threads costs more than the
//! work itself. What would wait for the host's disk goes to the workers.

use std::io::{self, Write};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::thread;

use assay_model::{Device, Kind, Nanos};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use crate::backing::{AtOnce, Backing};
use crate::buffers::{Buffer, Pool};
use crate::channel::{Channel, Received};
use crate::inbox::{Inbox, Note, Outcome};
use crate::pace::{Pace, Paced};
use crate::path_cost::PathCost;
use crate::protocol::{
    self, Call, DISK_NAME, DISK_NODE, FALLOCATE_PUNCH_HOLE, FALLOCATE_ZERO_RANGE, LARGEST_BYTES, Operation, ROOT_NODE,
    WRITE_PREFIX_BYTES,
};
use crate::report;
use crate::rest::Rest;
use crate::schedule::{Ready, Schedule};
use crate::sys;
use crate::trace::Log;
use crate::workers::{Job, Workers};
use crate::{control::Command, schedule::Slot};

/// A write that took longer has waited for the host's disk: the next ones go to the workers for a while.
const SLOW_WRITE_NS: Nanos = 3_000_000;
/// How long that while is.
const SLOW_WRITES_LAST_NS: Nanos = 200_000_000;
/// After the end was asked for, requests under way get this long.
const FAREWELL_NS: Nanos = 2_000_000_000;

/// Everything a mounted disk consists of.
pub struct Server {
    channel: Channel,
    backing: Arc<Backing>,
    workers: Workers,
    inbox: Arc<Inbox>,
    log: Arc<Log>,
    schedule: Schedule<Outcome>,
    /// The drive, until `begin` puts it into action.
    device: Option<Box<dyn Device>>,
    pool: Pool,
    prefix: [u8; WRITE_PREFIX_BYTES],
    payload: Buffer,
    zeroes: Buffer,
    writes_wait_until: Nanos,
    rest: Rest,
    memory_locked: bool,
    real_time: bool,
    cpu_s_at_reset: f64,
    ends_by: Option<Nanos>,
}

impl Server {
    /// A server of a mounted channel; `memory_locked` is told in the report.
    pub fn new(
        channel: Channel,
        backing: Arc<Backing>,
        device: Box<dyn Device>,
        inbox: Arc<Inbox>,
        log: Arc<Log>,
        memory_locked: bool,
    ) -> io::Result<Self> {
        Ok(Self {
            channel,
            workers: Workers::start(&backing, &inbox)?,
            backing,
            inbox,
            log,
            schedule: Schedule::default(),
            device: Some(device),
            pool: Pool::default(),
            prefix: [0; WRITE_PREFIX_BYTES],
            payload: Buffer::new(LARGEST_BYTES),
            zeroes: Buffer::new(LARGEST_BYTES),
            writes_wait_until: 0,
            rest: Rest::default(),
            memory_locked,
            real_time: false,
            cpu_s_at_reset: 0.0,
            ends_by: None,
        })
    }

    /// Serves until the file system is unmounted or the end is asked for.
    pub fn run(mut self) -> io::Result<()> {
        // Timers fire when they are due, not up to 50 us later; where that is refused, the report shows it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        self.real_time = sys::real_time_priority();
        loop {
            let now = sys::monotonic_ns();
            self.schedule.advance(now);
            self.answer_ready()?;
            for note in self.inbox.take() {
                self.note(note)?;
            }
            match self.channel.receive(&mut self.prefix, &mut self.payload)? {
                Received::Message(length) => self.message(length)?,
                Received::Unmounted => return Ok(()),
                Received::Nothing if self.is_over() => return Ok(()),
                Received::Nothing => {
                    let files = [self.channel.fd(), self.inbox.fd()];
                    let until = [self.schedule.next_event(), self.ends_by].into_iter().flatten().min();
                    self.rest.until(files, until, self.schedule.under_way())?;
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.ends_by.is_some_and(|limit| self.schedule.under_way() == 0 || sys::monotonic_ns() >= limit)
    }

    fn answer_ready(&mut self) -> io::Result<()> {
        loop {
            let now = sys::monotonic_ns();
            let Some(Ready { unique, outcome, served }) = self.schedule.take_ready(now) else { return Ok(()) };
            match outcome {
                Outcome::Data(buffer, bytes) => {
                    self.channel.answer(unique, &buffer[..bytes])?;
                    self.pool.give(buffer);
                }
                Outcome::Mapped(part) => {
                    if let Err(error) = self.channel.answer_mapped(unique, part) {
                        self.backing.mapping_failed(&error);
                    }
                }
                Outcome::Zeroes(bytes) => self.channel.answer(unique, &self.zeroes[..bytes])?,
                Outcome::Written(bytes) => self.channel.answer(unique, &protocol::write_reply(bytes))?,
                Outcome::Done => self.channel.answer(unique, &[])?,
                Outcome::Failed(error) => self.channel.refuse(unique, error)?,
            }
            self.log.note(&served, now);
        }
    }

    fn message(&mut self, length: usize) -> io::Result<()> {
        let head = &self.prefix[..length.min(WRITE_PREFIX_BYTES)];
        let call = if length <= WRITE_PREFIX_BYTES || protocol::is_write(head) {
            protocol::parse(head)
        } else {
            protocol::parse(&[head, &self.payload[..length - WRITE_PREFIX_BYTES]].concat())
        };
        call.map_or_else(
            || Err(io::Error::other("the kernel sent a request that is too short")),
            |call| self.call(&call),
        )
    }

    fn call(&mut self, call: &Call) -> io::Result<()> {
        let (unique, disk_bytes) = (call.unique, self.backing.bytes());
        match call.operation {
            Operation::Read { offset, size } => self.read(unique, offset, size),
            Operation::Write { offset, size } => self.write(unique, offset, size),
            Operation::Fsync => self.arrive(unique, Kind::Flush, 0, 0, |_, _| Some(Outcome::Done)),
            Operation::Fallocate { offset, length, mode } => self.free(unique, offset, length, mode),
            Operation::Silent => Ok(()),
            Operation::Nothing => self.channel.answer(unique, &[]),
            Operation::Open => self.channel.answer(unique, &protocol::open_reply()),
            Operation::GetAttr => self.channel.answer(unique, &protocol::attributes_reply(call.node, disk_bytes)),
            Operation::Resize(bytes) if bytes == disk_bytes => {
                self.channel.answer(unique, &protocol::attributes_reply(DISK_NODE, disk_bytes))
            }
            Operation::Resize(_) => self.channel.refuse(unique, Errno::PERM),
            Operation::Lookup(ref name) if call.node == ROOT_NODE && name == DISK_NAME => {
                self.channel.answer(unique, &protocol::entry_reply(disk_bytes))
            }
            Operation::Lookup(_) => self.channel.refuse(unique, Errno::NOENT),
            Operation::ReadDir { offset, size } => {
                self.channel.answer(unique, &protocol::directory_reply(offset, size))
            }
            Operation::StatFs => self.channel.answer(unique, &protocol::statfs_reply(disk_bytes)),
            Operation::Init { major, max_readahead, flags, .. } => self.init(unique, major, max_readahead, flags),
            Operation::Unknown => self.channel.refuse(unique, Errno::NOSYS),
        }
    }

    fn init(&self, unique: u64, major: u32, max_readahead: u32, flags: u32) -> io::Result<()> {
        if major != protocol::MAJOR {
            return Err(io::Error::other(format!("the kernel speaks FUSE {major}, not {}", protocol::MAJOR)));
        }
        self.channel.answer(unique, &protocol::init_reply(max_readahead, flags))?;
        let mut output = io::stdout().lock();
        writeln!(output, "ready").and_then(|()| output.flush())
    }

    /// Tells the schedule of a request and starts its work, which is over when it gives an outcome at once.
    fn arrive(
        &mut self,
        unique: u64,
        kind: Kind,
        offset: u64,
        bytes: u64,
        work: impl FnOnce(&mut Self, Slot) -> Option<Outcome>,
    ) -> io::Result<()> {
        let slot = self.schedule.arrive(sys::monotonic_ns(), unique, kind, offset, bytes);
        if let Some(outcome) = work(self, slot) {
            self.schedule.worked(slot, outcome);
        }
        Ok(())
    }

    fn read(&mut self, unique: u64, offset: u64, size: u32) -> io::Result<()> {
        let bytes = self.backing.within(offset, u64::from(size));
        self.arrive(unique, Kind::Read, offset, bytes, |server, slot| {
            let length = bytes as usize;
            match server.backing.at_once(offset, length) {
                AtOnce::Mapped(part) => return Some(Outcome::Mapped(part)),
                AtOnce::Zeroes => return Some(Outcome::Zeroes(length)),
                AtOnce::No => server.workers.give(slot, Job::Read(server.pool.take(length), length, offset)),
            }
            None
        })
    }

    fn write(&mut self, unique: u64, offset: u64, size: u32) -> io::Result<()> {
        if self.backing.within(offset, u64::from(size)) < u64::from(size) {
            return self.channel.refuse(unique, Errno::FBIG);
        }
        self.arrive(unique, Kind::Write, offset, u64::from(size), |server, slot| {
            let (length, started) = (size as usize, sys::monotonic_ns());
            if started < server.writes_wait_until {
                let next = server.pool.take(LARGEST_BYTES);
                let payload = std::mem::replace(&mut server.payload, next);
                server.workers.give(slot, Job::Write(payload, length, offset));
                return None;
            }
            let result = server.backing.write(&server.payload[..length], offset);
            let ended = sys::monotonic_ns();
            if ended - started > SLOW_WRITE_NS {
                server.writes_wait_until = ended + SLOW_WRITES_LAST_NS;
            }
            Some(result.map_or_else(Outcome::Failed, |()| Outcome::Written(size)))
        })
    }

    /// Discards and zeroed ranges both free the backing file's space. For the drive a discard is its own kind of request;
    /// zeroes would have had to be written.
    fn free(&mut self, unique: u64, offset: u64, length: u64, mode: u32) -> io::Result<()> {
        let kind = if mode & FALLOCATE_PUNCH_HOLE != 0 {
            Kind::Discard
        } else if mode & FALLOCATE_ZERO_RANGE != 0 {
            Kind::Write
        } else {
            return self.channel.refuse(unique, Errno::OPNOTSUPP);
        };
        let bytes = self.backing.within(offset, length);
        self.arrive(unique, kind, offset, bytes, |server, slot| {
            server.workers.give(slot, Job::Punch(offset, bytes));
            None
        })
    }

    fn note(&mut self, note: Note) -> io::Result<()> {
        match note {
            Note::Worked(slot, outcome, spare) => {
                self.schedule.worked(slot, outcome);
                if let Some(buffer) = spare {
                    self.pool.give(buffer);
                }
                self.answer_ready()?;
            }
            Note::Command(command, sender) => {
                // Whoever asked may have gone; that is theirs to decide.
                let _ = sender.send(self.command(command).to_string());
            }
            Note::End => self.end()?,
            Note::Unmounted => self.ends_by = Some(sys::monotonic_ns() + FAREWELL_NS),
        }
        Ok(())
    }

    /// Unmounts from another thread, because the kernel may ask us something while it does.
    fn end(&mut self) -> io::Result<()> {
        let (inbox, directory) = (Arc::clone(&self.inbox), self.channel.directory().to_path_buf());
        let leave = move || {
            // When it is refused there is nothing left to do but to go; the mount then answers with errors.
            let _ = unmount(&directory, UnmountFlags::empty());
            inbox.post(Note::Unmounted);
        };
        thread::Builder::new().name("unmount".into()).stack_size(128 << 10).spawn(leave).map(drop)
    }

    fn command(&mut self, command: Command) -> serde_json::Value {
        let now = sys::monotonic_ns();
        match command {
            Command::Begin(path) => match self.device.take() {
                Some(device) => {
                    self.schedule.begin(now, device, path);
                    report::done(true)
                }
                None => report::error("the drive has begun already"),
            },
            Command::Pace(_) if self.device.is_none() => report::error("the drive has begun already"),
            Command::Pace(pace) => {
                if pace == Pace::default() {
                    self.schedule.end(now);
                } else {
                    self.schedule.begin(now, Box::new(Paced::new(pace)), PathCost::default());
                }
                report::done(true)
            }
            Command::Settle => report::done(self.schedule.settle(now)),
            Command::Reset => {
                self.cpu_s_at_reset = sys::cpu_s();
                report::done(self.schedule.reset(now))
            }
            Command::Report => {
                let process = report::Process {
                    cpu_s: sys::cpu_s() - self.cpu_s_at_reset,
                    memory_locked: self.memory_locked,
                    real_time_priority: self.real_time,
                    backing_errors: self.backing.failures(),
                };
                report::whole(self.schedule.report(now), &process)
            }
        }
    }
}
