//! The command `replay`: records of a log, in the form of the module `trace` and without the header, come in on standard
//! input; on standard output the same requests leave as another drive would have answered them, in the order of arrivals.

use std::io::{Read, Write, stdin, stdout};

use assay_model::{Answered, Nanos, Profile, Request, build, replay};

use crate::trace::{KINDS, RECORD_BYTES};

/// Replays standard input on the drive of a profile. The error is a sentence.
pub fn run(profile: &Profile, seed: u64) -> Result<(), String> {
    let mut device = build(profile, seed).map_err(|error| error.to_string())?;
    let mut content = Vec::new();
    stdin().lock().read_to_end(&mut content).map_err(|error| format!("the records: {error}"))?;
    let log = parse(&content)?;
    let mut out = Vec::with_capacity(content.len());
    for answered in replay(device.as_mut(), &log) {
        append(&mut out, &answered);
    }
    stdout().lock().write_all(&out).map_err(|error| format!("writing the records: {error}"))
}

/// Requests by their place in the file, with times since the first arrival.
fn parse(content: &[u8]) -> Result<Vec<Answered>, String> {
    let records = content.chunks_exact(RECORD_BYTES as usize);
    if !records.remainder().is_empty() {
        return Err(format!("the records end in the middle of one: a record has {RECORD_BYTES} bytes"));
    }
    let number = |bytes: &[u8]| Nanos::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let first = records.clone().map(|record| number(&record[..8])).min().unwrap_or(0);
    let parsed = records.enumerate().map(|(id, record)| {
        let (arrived, latency) = (number(&record[..8]) - first, number(&record[16..24]));
        let kind = KINDS.get(usize::from(record[28])).ok_or(format!("record {id} is of no kind that is known"))?;
        let request = Request {
            id: id as u64,
            kind: *kind,
            offset: number(&record[8..16]),
            bytes: number(&record[24..]) & 0xffff_ffff,
        };
        Ok(Answered { request, arrived, answered: arrived.saturating_add(latency) })
    });
    parsed.collect()
}

fn append(out: &mut Vec<u8>, answered: &Answered) {
    let kind = KINDS.iter().position(|kind| *kind == answered.request.kind).expect("all kinds are there") as u64;
    let latency = answered.answered - answered.arrived;
    for word in [answered.arrived, answered.request.offset, latency, answered.request.bytes | (kind << 32)] {
        out.extend_from_slice(&word.to_le_bytes());
    }
}
