//! Replays requests that one device answered on another: what would that have made of them?

use crate::{Completion, Device, Nanos, Request};

/// A request with the times at which it arrived and was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The request.
    pub request: Request,
    /// When it arrived.
    pub arrived: Nanos,
    /// When it was answered, never before its arrival.
    pub answered: Nanos,
}

/// Gives a device the same requests, in the order of their arrivals, and returns them with the device's own times.
///
/// A log does not say what a request waited for. It is taken to have waited for whatever happened last before it, an
/// arrival or an answer, and to come as long after that as it did in the log: computing between requests takes its time
/// on any drive, and what overlapped overlaps again. The device must have no requests under way.
pub fn replay(device: &mut dyn Device, log: &[Answered]) -> Vec<Answered> {
    let mut by_arrival: Vec<usize> = (0..log.len()).collect();
    by_arrival.sort_by_key(|index| log[*index].arrived);
    let mut by_answer = by_arrival.clone();
    by_answer.sort_by_key(|index| log[*index].answered);
    let mut run = Run { device, submitted: vec![false; log.len()], answers: vec![None; log.len()], done: Vec::new() };
    let mut arrivals: Vec<Nanos> = Vec::with_capacity(log.len());
    let (mut answered_before, mut now) = (0, 0);
    for (place, index) in by_arrival.iter().enumerate() {
        let logged = log[*index];
        while answered_before < log.len() && log[by_answer[answered_before]].answered <= logged.arrived {
            answered_before += 1;
        }
        let last_arrival = place.checked_sub(1).map_or(logged.arrived, |before| log[by_arrival[before]].arrived);
        let last_answer = answered_before.checked_sub(1).map(|before| by_answer[before]);
        let waited_for = last_answer.filter(|answer| log[*answer].answered >= last_arrival && run.submitted[*answer]);
        let arrival = match waited_for {
            Some(answer) => run.until_answered(answer) + (logged.arrived - log[answer].answered),
            None => now + (logged.arrived - last_arrival),
        };
        now = now.max(arrival);
        run.device.submit(now, Request { id: *index as u64, ..logged.request });
        run.submitted[*index] = true;
        arrivals.push(now);
    }
    let times = by_arrival.iter().zip(arrivals);
    times
        .map(|(index, arrived)| Answered {
            request: log[*index].request,
            arrived,
            answered: run.until_answered(*index),
        })
        .collect()
}

struct Run<'a> {
    device: &'a mut dyn Device,
    /// By a request's place in the log, as are the answers.
    submitted: Vec<bool>,
    answers: Vec<Option<Nanos>>,
    done: Vec<Completion>,
}

impl Run<'_> {
    /// Moves time on until a submitted request is answered; returns when that was.
    fn until_answered(&mut self, index: usize) -> Nanos {
        loop {
            if let Some(at) = self.answers[index] {
                return at;
            }
            let next = self.device.next_event().expect("a request under way is answered at some time");
            self.device.advance(next, &mut self.done);
            for completion in self.done.drain(..) {
                self.answers[completion.id as usize] = Some(completion.at);
            }
        }
    }
}
