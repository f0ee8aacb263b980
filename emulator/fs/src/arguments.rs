//! The command line.

use std::path::PathBuf;

/// How to call the program.
pub const USAGE: &str = "usage:
  assay-emulator serve --profile FILE.json --backing FILE --mount DIRECTORY --control SOCKET [--seed NUMBER]
                       [--transport io_uring|dev_fuse]
  assay-emulator measure DEVICE SOCKET
  assay-emulator rates DEVICE
  assay-emulator replay FILE.json SEED < RECORDS > RECORDS
  assay-emulator check FILE.json
  assay-emulator figures";

/// How requests shall come.
const DEFAULT_TRANSPORT: &str = "dev_fuse";

/// What to serve, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeArguments {
    /// The drive's profile as JSON.
    pub profile: PathBuf,
    /// The file with the disk's bytes.
    pub backing: PathBuf,
    /// The directory to mount on.
    pub mount: PathBuf,
    /// Where to make the control socket.
    pub control: PathBuf,
    /// Settles what a real drive leaves to chance.
    pub seed: u64,
    /// Whether requests shall come through io_uring, where the kernel has that.
    pub wants_ring: bool,
}

/// What the program is called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Serve a disk.
    Serve(ServeArguments),
    /// Measure the path's cost on a block device whose emulator listens on this control socket.
    Measure(PathBuf, PathBuf),
    /// Measure what a block device carries; what is on it is lost.
    Rates(PathBuf),
    /// Give the requests of a log to the drive of this profile, with this seed.
    Replay(PathBuf, u64),
    /// Check a profile.
    Check(PathBuf),
    /// Print the figures of all kinds.
    Figures,
}

/// Reads the arguments after the program's name. The error is a sentence.
pub fn parse(arguments: &[String]) -> Result<Action, String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["serve", options @ ..] => serve(options).map(Action::Serve),
        ["measure", device, control] => Ok(Action::Measure(device.into(), control.into())),
        ["rates", device] => Ok(Action::Rates(device.into())),
        ["replay", profile, seed] => Ok(Action::Replay(profile.into(), seed_of(seed)?)),
        ["check", file] => Ok(Action::Check(file.into())),
        ["figures"] => Ok(Action::Figures),
        [] => Err("say what to do".into()),
        [word, ..] => Err(format!("'{word}' is unknown or has the wrong number of arguments")),
    }
}

fn seed_of(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("the seed is '{text}': write a whole number"))
}

fn serve(options: &[&str]) -> Result<ServeArguments, String> {
    let names = ["--profile", "--backing", "--mount", "--control", "--seed", "--transport"];
    let mut values: [Option<&str>; 6] = [None; 6];
    for pair in options.chunks(2) {
        let [name, value] = pair else { return Err(format!("{} has no value", pair[0])) };
        let index =
            names.iter().position(|known| known == name).ok_or(format!("'{name}' is not an option of serve"))?;
        values[index] = Some(value);
    }
    let path = |index: usize| values[index].map(PathBuf::from).ok_or(format!("serve needs {}", names[index]));
    let seed = values[4].unwrap_or("0");
    Ok(ServeArguments {
        profile: path(0)?,
        backing: path(1)?,
        mount: path(2)?,
        control: path(3)?,
        seed: seed_of(seed)?,
        wants_ring: match values[5].unwrap_or(DEFAULT_TRANSPORT) {
            "io_uring" => true,
            "dev_fuse" => false,
            other => return Err(format!("--transport is '{other}': write io_uring or dev_fuse")),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Action, String> {
        parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn serve_takes_its_options_in_any_order() {
        let Ok(Action::Serve(arguments)) = parsed("serve --mount m --seed 7 --control c --profile p --backing b")
        else {
            panic!("not understood")
        };
        assert_eq!((arguments.mount, arguments.seed), (PathBuf::from("m"), 7));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(parsed("serve --mount m").unwrap_err(), "serve needs --profile");
        assert_eq!(parsed("serve --mount").unwrap_err(), "--mount has no value");
        assert!(parsed("serve --colour red").unwrap_err().contains("--colour"));
        assert!(parsed("serve --profile p --backing b --mount m --control c --seed x").unwrap_err().contains("'x'"));
        let line = "serve --profile p --backing b --mount m --control c --transport pigeon";
        assert!(parsed(line).unwrap_err().contains("'pigeon'"));
        assert!(parsed("replay p").is_err() && parsed("replay p x").unwrap_err().contains("'x'"));
        assert!(parsed("measure").is_err() && parsed("").is_err());
    }
}
