//! The control socket: one line in, one line of JSON out, as many as one likes.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::{fs, io, thread};

use serde::Deserialize;
use serde_json::json;

use crate::inbox::{Inbox, Note};
use crate::pace::Pace;
use crate::path_cost::PathCost;
use crate::trace::Log;

/// All memory is locked, stacks too: they are kept small.
const STACK_BYTES: usize = 256 << 10;

/// What can be asked.
#[derive(Debug, Clone, PartialEq)]
enum Order {
    /// Something of the drive, to be done by the serving thread.
    Drive(Command),
    /// To log requests to this file.
    Trace(PathBuf),
    /// To log them no longer.
    TraceOff,
    /// To unmount and end.
    Stop,
}

/// What can be asked of the drive.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Put the drive into action, taking the path's cost off its times.
    Begin(Start),
    /// Until `begin`, take this time for every request; none at all where both times are 0.
    Pace(Pace),
    /// Tell what the drive saw.
    Report,
    /// Start counting anew.
    Reset,
    /// Empty the drive's caches.
    Settle,
    /// Take the drive out of action for good; its report stays as it was.
    Release,
}

/// How a drive begins.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// What the path to it costs.
    #[serde(default)]
    pub path: PathCost,
    /// The loop device on it.
    #[serde(default)]
    pub device: Option<LoopDevice>,
}

/// Where the kernel tells of the drive's requests.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopDevice {
    /// Such as `loop3`.
    pub name: String,
}

/// Reads one line. The error is a sentence for its sender.
fn parse(line: &str) -> Result<Order, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match (word, rest.trim()) {
        ("trace", "") => Err("trace takes the path of a file, or the word off".into()),
        ("trace", "off") => Ok(Order::TraceOff),
        ("trace", path) => Ok(Order::Trace(path.into())),
        ("stop", _) => Ok(Order::Stop),
        (word, rest) => command(word, rest).map(Order::Drive),
    }
}

fn command(word: &str, rest: &str) -> Result<Command, String> {
    match word {
        "begin" => {
            let rest = if rest.is_empty() { "{}" } else { rest };
            let start: Start =
                serde_json::from_str(rest).map_err(|error| format!("begin takes {{\"path\": ...}}: {error}"))?;
            if !start.path.is_sound() {
                return Err("begin: the path's cost has a negative part: measure it again".into());
            }
            Ok(Command::Begin(start))
        }
        "pace" => serde_json::from_str(rest)
            .map(Command::Pace)
            .map_err(|error| format!("pace takes {{\"read_ns\": ..., \"write_ns\": ...}}: {error}")),
        "report" => Ok(Command::Report),
        "reset" => Ok(Command::Reset),
        "settle" => Ok(Command::Settle),
        "release" => Ok(Command::Release),
        _ => {
            Err(format!("'{word}' is not a command: write begin, pace, report, reset, settle, release, trace or stop"))
        }
    }
}

/// Listens on a socket made at `path`, in place of a left-over one, in threads that end with the process.
pub fn listen(path: &Path, inbox: &Arc<Inbox>, log: &Arc<Log>) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    let (inbox, log) = (Arc::clone(inbox), Arc::clone(log));
    spawn(move || {
        for stream in listener.incoming().flatten() {
            let (inbox, log) = (Arc::clone(&inbox), Arc::clone(&log));
            // A connection that can't get a thread is closed; its client sees that.
            let _ = spawn(move || drop(serve(&stream, &inbox, &log)));
        }
    })
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("control".into()).stack_size(STACK_BYTES).spawn(work).map(drop)
}

fn serve(stream: &UnixStream, inbox: &Inbox, log: &Arc<Log>) -> io::Result<()> {
    let mut answers = stream.try_clone()?;
    for line in BufReader::new(stream).lines() {
        let answer = match parse(&line?) {
            Err(message) => json!({ "error": message }).to_string(),
            // Files are opened and waited for here, never in the serving thread.
            Ok(Order::Trace(path)) => match log.begin(&path) {
                Err(message) => json!({ "error": message }).to_string(),
                Ok(()) => json!({ "ok": true }).to_string(),
            },
            Ok(Order::TraceOff) => match log.end() {
                None => json!({ "error": "no log is being written" }).to_string(),
                Some(written) => json!(written).to_string(),
            },
            Ok(Order::Drive(command)) => {
                let (sender, receiver) = mpsc::channel();
                inbox.post(Note::Command(command, sender));
                receiver.recv().map_err(io::Error::other)?
            }
            Ok(Order::Stop) => {
                // The answer first: this thread ends with the process.
                let told = answers.write_all(format!("{}\n", json!({ "ok": true })).as_bytes());
                inbox.post(Note::End);
                return told;
            }
        };
        answers.write_all(format!("{answer}\n").as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begin_takes_the_paths_cost_or_none() {
        assert_eq!(parse("begin"), Ok(Order::Drive(Command::Begin(Start::default()))));
        assert_eq!(parse("begin {}"), Ok(Order::Drive(Command::Begin(Start::default()))));
        let line = r#"begin {"path": {"read": {"base_ns": 40000, "ns_per_byte": 0.3}, "write": {"base_ns": 50000, "ns_per_byte": 0.4}}, "device": {"name": "loop3"}}"#;
        let Ok(Order::Drive(Command::Begin(Start { path, device }))) = parse(line) else { panic!("not understood") };
        assert_eq!(device, Some(LoopDevice { name: "loop3".into() }));
        assert_eq!((path.read.base_ns, path.write.ns_per_byte), (40_000.0, 0.4));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        assert!(parse("dance").unwrap_err().contains("'dance' is not a command"));
        assert!(parse("begin {\"road\": 1}").unwrap_err().contains("road"));
        let negative =
            r#"begin {"path": {"read": {"base_ns": -1, "ns_per_byte": 0}, "write": {"base_ns": 0, "ns_per_byte": 0}}}"#;
        assert!(parse(negative).unwrap_err().contains("negative"));
    }

    #[test]
    fn pace_takes_both_times() {
        let pace = Pace { read_ns: 120_000, write_ns: 30_000 };
        assert_eq!(parse(r#"pace {"read_ns": 120000, "write_ns": 30000}"#), Ok(Order::Drive(Command::Pace(pace))));
        assert!(parse("pace").is_err());
    }

    #[test]
    fn words_alone_are_commands() {
        let commands = ["report", " reset\n", "settle", "release", "stop"].map(|line| parse(line).unwrap());
        let known = [Command::Report, Command::Reset, Command::Settle, Command::Release].map(Order::Drive);
        assert_eq!(commands[..4], known);
        assert_eq!(commands[4], Order::Stop);
    }

    #[test]
    fn trace_takes_a_path_or_off() {
        assert_eq!(parse("trace  /a place/log \n"), Ok(Order::Trace("/a place/log".into())));
        assert_eq!(parse("trace off"), Ok(Order::TraceOff));
        assert!(parse("trace").unwrap_err().contains("path"));
    }
}
