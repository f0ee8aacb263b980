//! The control socket's answers as JSON.

use assay_model::Report;
use serde::Serialize;
use serde_json::{Value, json};

use crate::accounts::Accounts;
use crate::backing::Failures;
use crate::kernel_view::{KernelView, LateBy};

/// What the emulator says of itself.
#[derive(Debug, Clone, Serialize)]
pub struct Process {
    /// Processor seconds of this process since the last reset.
    pub cpu_s: f64,
    /// Whether the drive takes no command while a flush is under way.
    pub flush_alone: bool,
    /// Whether its memory is safe from being swapped out.
    pub memory_locked: bool,
    /// How requests come: `io_uring` or `dev_fuse`.
    pub transport: &'static str,
    /// Why not by `io_uring`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport_reason: Option<String>,
    /// Whether it goes before ordinary processes.
    pub real_time_priority: bool,
    /// What went wrong below the disk.
    pub backing_errors: Failures,
}

/// A refusal, in one sentence.
#[must_use]
pub fn error(message: &str) -> Value {
    json!({ "error": message })
}

/// The answer to a command that needs a drive in action.
#[must_use]
pub fn done(done: bool) -> Value {
    if done { json!({ "ok": true }) } else { error("the drive has not begun yet: send begin first") }
}

/// The drive's report with the emulator's own accounts; without a drive the latter only.
#[must_use]
pub fn whole(drive: Option<(Report, &Accounts)>, view: Option<&KernelView>, process: &Process) -> Value {
    let mut whole = json!({ "begun": drive.is_some() });
    let mut add = |part: Value| {
        if let (Value::Object(whole), Value::Object(part)) = (&mut whole, part) {
            whole.extend(part);
        }
    };
    if let Some((report, accounts)) = drive {
        let (modelled_s, flush_s) = accounts.modelled_s();
        // A drive without any times of its own is never waited for.
        let late = match view {
            Some(view) if modelled_s > 0.0 => view.late(modelled_s, flush_s, report.least_seconds),
            Some(_) => LateBy::of(0.0),
            None => LateBy::of(accounts.late().seconds),
        };
        add(json!({ "late_seconds": late.seconds(process.flush_alone), "kernel_view": view.is_some() }));
        add(json!(late));
        add(json!(report));
        add(json!({ "late": accounts.late(), "overshoot": accounts.overshoot() }));
        add(json!({ "mean_response_us": accounts.mean_response_us() }));
    }
    add(json!(process));
    whole
}
