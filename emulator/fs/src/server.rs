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
use serde_json::json;

use crate::backing::{AtOnce, Backing, ReadAtOnce};
use crate::buffers::{Buffer, Pool};
use crate::channel::{Channel, Received, Ticket, Transport};
use crate::control::{Command, Start};
use crate::inbox::{Inbox, Note, Outcome};
use crate::kernel_view::KernelView;
use crate::pace::{Pace, Paced};
use crate::path_cost::PathCost;
use crate::protocol::{
    self, Call, DISK_NAME, DISK_NODE, FALLOCATE_PUNCH_HOLE, FALLOCATE_ZERO_RANGE, LARGEST_BYTES, Operation, ROOT_NODE,
};
use crate::report;
use crate::rest::Rest;
use crate::schedule::Slot;
use crate::schedule::{Ready, Schedule};
use crate::sys;
use crate::trace::Log;
use crate::workers::{Job, Workers};

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
    schedule: Schedule<Ticket, Outcome>,
    /// The drive, until `begin` puts it into action.
    device: Option<Box<dyn Device>>,
    view: Option<Arc<KernelView>>,
    pool: Pool,
    zeroes: Buffer,
    writes_wait_until: Nanos,
    rest: Rest,
    flush_alone: bool,
    memory_locked: bool,
    real_time: bool,
    cpu_s_at_reset: f64,
    /// The last report of a drive that was taken out of action.
    released: Option<serde_json::Value>,
    ends_by: Option<Nanos>,
}

impl Server {
    /// A server of a mounted channel; `flush_alone` ([`assay_model::Profile::flush_alone`]) and `memory_locked` are told in
    /// the report.
    pub fn new(
        channel: Channel,
        backing: Arc<Backing>,
        device: Box<dyn Device>,
        inbox: Arc<Inbox>,
        log: Arc<Log>,
        flush_alone: bool,
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
            view: None,
            pool: Pool::default(),
            zeroes: Buffer::new(LARGEST_BYTES),
            writes_wait_until: 0,
            rest: Rest::default(),
            flush_alone,
            memory_locked,
            real_time: false,
            cpu_s_at_reset: 0.0,
            released: None,
            ends_by: None,
        })
    }

    /// Serves until the file system is unmounted or the end is asked for.
    pub fn run(mut self) -> io::Result<()> {
        // Timers fire when they are due, not up to 50 us later; where that is refused, the report shows it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        self.real_time = sys::real_time_priority(1);
        loop {
            let now = sys::monotonic_ns();
            self.schedule.advance(now);
            self.answer_ready()?;
            for note in self.inbox.take() {
                self.note(note)?;
            }
            if let Some(view) = &self.view {
                let flushes = self.schedule.flushes();
                view.holds(flushes, self.schedule.under_way() - flushes);
            }
            self.channel.flush()?;
            match self.channel.receive()? {
                Received::Call(call, ticket) => self.call(&call, ticket)?,
                Received::News => {}
                Received::Unmounted => return Ok(()),
                Received::Nothing if self.is_over() => return Ok(()),
                Received::Nothing => {
                    let until = [self.schedule.next_event(), self.ends_by].into_iter().flatten().min();
                    self.rest.until(|time| self.channel.wait(time), until, self.schedule.under_way())?;
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
            let Some(Ready { ticket, outcome, served }) = self.schedule.take_ready(now) else { return Ok(()) };
            match outcome {
                Outcome::Data(buffer, bytes) => {
                    self.channel.answer(ticket, &buffer[..bytes])?;
                    self.pool.give(buffer);
                }
                Outcome::Mapped(part) => {
                    if let Err(error) = self.channel.answer_mapped(ticket, part) {
                        self.backing.mapping_failed(&error);
                    }
                }
                Outcome::Zeroes(bytes) => self.channel.answer(ticket, &self.zeroes[..bytes])?,
                Outcome::Written(bytes) => self.channel.answer(ticket, &protocol::write_reply(bytes))?,
                Outcome::Done => self.channel.answer(ticket, &[])?,
                Outcome::Failed(error) => self.channel.refuse(ticket, error)?,
            }
            self.log.note(&served, now);
        }
    }

    fn call(&mut self, call: &Call, ticket: Ticket) -> io::Result<()> {
        let disk_bytes = self.backing.bytes();
        match call.operation {
            Operation::Read { offset, size } => self.read(ticket, offset, size),
            Operation::Write { offset, size } => self.write(ticket, offset, size),
            Operation::Fsync => self.arrive(ticket, Kind::Flush, 0, 0, |_, _| Some(Outcome::Done)),
            Operation::Fallocate { offset, length, mode } => self.free(ticket, offset, length, mode),
            Operation::Silent => Ok(()),
            Operation::Nothing => self.channel.answer(ticket, &[]),
            Operation::Open => self.channel.answer(ticket, &protocol::open_reply()),
            Operation::GetAttr => self.channel.answer(ticket, &protocol::attributes_reply(call.node, disk_bytes)),
            Operation::Resize(bytes) if bytes == disk_bytes => {
                self.channel.answer(ticket, &protocol::attributes_reply(DISK_NODE, disk_bytes))
            }
            Operation::Resize(_) => self.channel.refuse(ticket, Errno::PERM),
            Operation::Lookup(ref name) if call.node == ROOT_NODE && name == DISK_NAME => {
                self.channel.answer(ticket, &protocol::entry_reply(disk_bytes))
            }
            Operation::Lookup(_) => self.channel.refuse(ticket, Errno::NOENT),
            Operation::ReadDir { offset, size } => {
                self.channel.answer(ticket, &protocol::directory_reply(offset, size))
            }
            Operation::StatFs => self.channel.answer(ticket, &protocol::statfs_reply(disk_bytes)),
            Operation::Init { major, .. } if major != protocol::MAJOR => {
                Err(io::Error::other(format!("the kernel speaks FUSE {major}, not {}", protocol::MAJOR)))
            }
            Operation::Init { max_readahead, flags, ring, .. } => {
                self.channel.answer_init(ticket, max_readahead, flags, ring)?;
                let mut output = io::stdout().lock();
                writeln!(output, "ready").and_then(|()| output.flush())
            }
            Operation::Unknown => self.channel.refuse(ticket, Errno::NOSYS),
        }
    }

    /// Tells the schedule of a request and starts its work, which is over when it gives an outcome at once.
    fn arrive(
        &mut self,
        ticket: Ticket,
        kind: Kind,
        offset: u64,
        bytes: u64,
        work: impl FnOnce(&mut Self, Slot) -> Option<Outcome>,
    ) -> io::Result<()> {
        let slot = self.schedule.arrive(sys::monotonic_ns(), ticket, kind, offset, bytes);
        if let Some(outcome) = work(self, slot) {
            self.schedule.worked(slot, outcome);
        }
        Ok(())
    }

    fn read(&mut self, ticket: Ticket, offset: u64, size: u32) -> io::Result<()> {
        let bytes = self.backing.within(offset, u64::from(size));
        self.arrive(ticket, Kind::Read, offset, bytes, |server, slot| {
            let length = bytes as usize;
            if let Some(mut room) = server.channel.room(ticket) {
                match server.backing.read_at_once(&mut room[..length], offset) {
                    ReadAtOnce::Filled => return Some(Outcome::Data(room, length)),
                    ReadAtOnce::Zeroes => return Some(Outcome::Zeroes(length)),
                    ReadAtOnce::No => server.workers.give(slot, Job::Read(room, length, offset)),
                }
                return None;
            }
            match server.backing.at_once(offset, length) {
                AtOnce::Mapped(part) => return Some(Outcome::Mapped(part)),
                AtOnce::Zeroes => return Some(Outcome::Zeroes(length)),
                AtOnce::No => server.workers.give(slot, Job::Read(server.pool.take(length), length, offset)),
            }
            None
        })
    }

    fn write(&mut self, ticket: Ticket, offset: u64, size: u32) -> io::Result<()> {
        if self.backing.within(offset, u64::from(size)) < u64::from(size) {
            return self.channel.refuse(ticket, Errno::FBIG);
        }
        self.arrive(ticket, Kind::Write, offset, u64::from(size), |server, slot| {
            let (length, started) = (size as usize, sys::monotonic_ns());
            let payload = server.channel.take_payload(ticket, &mut server.pool);
            if started < server.writes_wait_until {
                server.workers.give(slot, Job::Write(payload, length, offset));
                return None;
            }
            let result = server.backing.write(&payload[..length], offset);
            server.channel.give_payload(ticket, payload, &mut server.pool);
            let ended = sys::monotonic_ns();
            if ended - started > SLOW_WRITE_NS {
                server.writes_wait_until = ended + SLOW_WRITES_LAST_NS;
            }
            Some(result.map_or_else(Outcome::Failed, |()| Outcome::Written(size)))
        })
    }

    /// Discards and zeroed ranges both free the backing file's space. For the drive a discard is its own kind of request;
    /// zeroes would have had to be written.
    fn free(&mut self, ticket: Ticket, offset: u64, length: u64, mode: u32) -> io::Result<()> {
        let kind = if mode & FALLOCATE_PUNCH_HOLE != 0 {
            Kind::Discard
        } else if mode & FALLOCATE_ZERO_RANGE != 0 {
            Kind::Write
        } else {
            return self.channel.refuse(ticket, Errno::OPNOTSUPP);
        };
        let bytes = self.backing.within(offset, length);
        self.arrive(ticket, kind, offset, bytes, |server, slot| {
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
                // A drive that is released has nothing more to wait for, and no event would wake this thread.
                self.answer_ready()?;
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
            Command::Begin(_) if self.device.is_none() => report::error("the drive has begun already"),
            Command::Begin(start) => self.begin(now, start),
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
            Command::Release => {
                if self.device.is_none() && self.released.is_none() {
                    self.released = Some(self.report(now));
                    self.schedule.end(now);
                }
                report::done(self.released.is_some())
            }
            Command::Reset if self.released.is_some() => report::done(true),
            Command::Reset => {
                self.cpu_s_at_reset = sys::cpu_s();
                if let Some(view) = &self.view {
                    view.reset();
                }
                report::done(self.schedule.reset(now))
            }
            Command::Report => self.report(now),
        }
    }

    fn report(&mut self, now: Nanos) -> serde_json::Value {
        let backing_errors = self.backing.failures();
        if let Some(last) = &self.released {
            let mut last = last.clone();
            last["backing_errors"] = json!(backing_errors);
            return last;
        }
        let (transport, transport_reason) = match self.channel.transport() {
            Transport::Ring => ("io_uring", None),
            Transport::Device(reason) => ("dev_fuse", Some(reason.clone())),
        };
        let process = report::Process {
            cpu_s: sys::cpu_s() - self.cpu_s_at_reset,
            flush_alone: self.flush_alone,
            memory_locked: self.memory_locked,
            transport,
            transport_reason,
            real_time_priority: self.real_time,
            backing_errors,
        };
        report::whole(self.schedule.report(now), self.view.as_deref(), &process)
    }

    fn begin(&mut self, now: Nanos, start: Start) -> serde_json::Value {
        match start.device.map(|device| KernelView::of(&device.name)).transpose() {
            Ok(view) => self.view = view,
            Err(error) => {
                return report::error(&format!("begin: the requests of the device can't be looked at: {error}"));
            }
        }
        let device = self.device.take().expect("a drive begins once");
        self.schedule.begin(now, device, start.path);
        report::done(true)
    }
}
