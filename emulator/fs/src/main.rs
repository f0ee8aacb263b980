//! `assay-emulator`: a disk that takes the time that another disk would take.
//!
//! The kernel sees a FUSE file system with one file, `disk`; a loop device with direct I/O on that file is the disk. A pure
//! model says when the drive would have completed each request, and the answer leaves at that moment.

mod accounts;
mod arguments;
mod backing;
mod buffers;
mod channel;
mod control;
mod inbox;
mod kernel_view;
mod mapping;
mod measure;
mod pace;
mod path_cost;
mod protocol;
mod rates;
mod replay;
mod report;
mod rest;
mod ring;
mod schedule;
mod server;
mod sys;
mod trace;
mod uring;
mod workers;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::{fs, thread};

use assay_model::Profile;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::mount::{UnmountFlags, unmount};
use serde_json::json;

use arguments::{Action, ServeArguments};

/// The exit code for a profile that can't be used, and for a command line that can't be read.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments::parse(&arguments) {
        Ok(Action::Serve(arguments)) => serve(&arguments),
        Ok(Action::Measure(device, control)) => measure::run(&device, &control).map(|cost| println!("{}", json!(cost))),
        Ok(Action::Rates(place)) => rates::run(&place).map(|rates| println!("{}", json!(rates))),
        Ok(Action::Replay(of, seed)) => profile(&of).and_then(|profile| replay::run(&profile, seed)),
        Ok(Action::Check(profile)) => return check(&profile),
        Ok(Action::Figures) => {
            println!("{}", json!(assay_model::figures()));
            Ok(())
        }
        Err(message) => {
            eprintln!("assay-emulator: {message}\n{}", arguments::USAGE);
            return BAD_INPUT.into();
        }
    };
    result.map_or_else(
        |message| {
            eprintln!("assay-emulator: {message}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

fn profile(path: &Path) -> Result<Profile, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("the profile {}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("the profile {} can't be read: {error}", path.display()))
}

/// Prints what is wrong with a profile; nothing when it is sound.
fn check(path: &Path) -> ExitCode {
    let errors = match profile(path) {
        Ok(profile) => match profile.validate() {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => json!(error.errors),
        },
        Err(message) => json!([{ "figure": null, "value": null, "least": null, "most": null, "unit": null,
                                 "message": message }]),
    };
    println!("{}", json!({ "errors": errors }));
    BAD_INPUT.into()
}

/// Mounts the disk and serves it until the end.
fn serve(arguments: &ServeArguments) -> Result<(), String> {
    let profile = profile(&arguments.profile)?;
    let device = assay_model::build(&profile, arguments.seed).map_err(|error| error.to_string())?;
    // No memory may be swapped out. Before the backing file is mapped, whose pages must stay the host's to evict.
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let memory_locked = mlockall(all).is_ok();
    let backing = Arc::new(backing::Backing::open(&arguments.backing, backing::part_bytes(&profile.kind))?);
    let inbox = Arc::new(inbox::Inbox::new().map_err(|error| format!("no event counter: {error}"))?);
    let log = Arc::new(trace::Log::default());
    sys::hold_end_signals();
    let channel = channel::Channel::mount(&arguments.mount, &inbox, arguments.wants_ring)?;
    let directory = channel.directory().to_path_buf();
    let served = control::listen(&arguments.control, &inbox, &log)
        .map_err(|error| format!("the control socket {}: {error}", arguments.control.display()))
        .and_then(|()| {
            let (inbox_of, log_of, alone) = (Arc::clone(&inbox), Arc::clone(&log), profile.flush_alone());
            let server = server::Server::new(channel, backing, device, inbox_of, log_of, alone, memory_locked);
            let ender = thread::Builder::new().stack_size(128 << 10).spawn(move || {
                loop {
                    sys::wait_for_end_signal();
                    inbox.post(inbox::Note::End);
                }
            });
            let server = ender.and(server).map_err(|error| format!("no thread could be started: {error}"))?;
            server.run().map_err(|error| format!("serving the disk: {error}"))
        });
    log.end();
    // Whatever happened, leave nothing behind; both may be gone already. A mount that something still uses stays in the tree:
    // taken out of it, a loop device's file would lose its name, and nobody could tell any more whose device that is.
    let _ = unmount(&directory, UnmountFlags::empty());
    let _ = fs::remove_file(&arguments.control);
    served
}
