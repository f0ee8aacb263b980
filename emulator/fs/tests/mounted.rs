//! The whole program on a real mount: bytes, space, time, failures and deaths. Needs root and /dev/fuse; says so otherwise.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Pid, Signal, geteuid, kill_process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_assay-emulator");
const DISK_BYTES: u64 = 64 << 20;
const NULL_PROFILE: &str = r#"{"name": "null", "kind": "null", "figures": {"capacity_bytes": 67108864}}"#;

/// A served disk, and its unmounting and deletion.
struct Served {
    home: PathBuf,
    program: Child,
}

impl Served {
    /// None, with the reason printed, where disks can't be mounted.
    fn start(name: &str) -> Option<Self> {
        if !geteuid().is_root() || !PathBuf::from("/dev/fuse").exists() {
            println!("skipped: mounting needs root and /dev/fuse");
            return None;
        }
        let home = std::env::temp_dir().join(format!("assay-mounted-{}-{name}", std::process::id()));
        fs::create_dir_all(home.join("mount")).unwrap();
        fs::write(home.join("profile.json"), NULL_PROFILE).unwrap();
        File::create(home.join("backing")).unwrap().set_len(DISK_BYTES).unwrap();
        let program = Self::serve(&home);
        Some(Self { home, program })
    }

    fn serve(home: &PathBuf) -> Child {
        let arguments = "serve --profile profile.json --backing backing --mount mount --control control";
        let mut program = Command::new(PROGRAM)
            .args(arguments.split(' '))
            .current_dir(home)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        BufReader::new(program.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        program
    }

    fn disk(&self) -> File {
        File::options().read(true).write(true).open(self.home.join("mount/disk")).unwrap()
    }

    fn ask(&self, line: &str) -> serde_json::Value {
        let mut stream = UnixStream::connect(self.home.join("control")).unwrap();
        writeln!(stream, "{line}").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn is_mounted(&self) -> bool {
        let mount = self.home.join("mount");
        fs::read_to_string("/proc/mounts").unwrap().contains(mount.to_str().unwrap())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program), signal).unwrap();
    }

    fn unmount(&self) {
        // It may be gone already.
        let _ = unmount(self.home.join("mount"), UnmountFlags::DETACH);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
        self.unmount();
        let _ = fs::remove_dir_all(&self.home);
    }
}

fn pattern(at: u64) -> Vec<u8> {
    (0..1024_u64).flat_map(|word| (at ^ word.wrapping_mul(0x9e37_79b9)).to_ne_bytes()[..4].to_vec()).collect()
}

#[test]
fn bytes_come_back_and_space_is_freed() {
    let Some(served) = Served::start("bytes") else { return };
    let disk = served.disk();
    assert_eq!(disk.metadata().unwrap().len(), DISK_BYTES);
    let written: Vec<u8> = (0..3 << 20).map(|index: u32| (index / 7) as u8).collect();
    disk.write_all_at(&written, 12_800).unwrap();
    let mut read = vec![1; written.len()];
    disk.read_exact_at(&mut read, 12_800).unwrap();
    assert!(read == written, "what was read is not what was written");
    assert_eq!(fs::read_dir(served.home.join("mount")).unwrap().count(), 1);

    let blocks = || fs::metadata(served.home.join("backing")).unwrap().blocks();
    let before = blocks();
    fallocate(&disk, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 1 << 20, 2 << 20).unwrap();
    assert!(blocks() + 4000 < before, "{before} blocks have become {}", blocks());
    disk.read_exact_at(&mut read[..4096], 1 << 20).unwrap();
    assert_eq!(read[..4096], [0; 4096]);
    disk.read_exact_at(&mut read[..4096], 0).unwrap();
    assert!(disk.set_len(1 << 20).is_err(), "a disk does not change its size");
}

#[test]
fn commands_are_obeyed_and_a_signal_ends_it() {
    let Some(mut served) = Served::start("commands") else { return };
    let disk = served.disk();
    assert!(served.ask("settle")["error"].is_string());
    assert_eq!(served.ask("report")["begun"], false);
    assert_eq!(served.ask(r#"pace {"read_ns": 30000000, "write_ns": 0}"#)["ok"], true);
    let started = Instant::now();
    disk.read_exact_at(&mut [0; 512], 0).unwrap();
    assert!(started.elapsed() >= Duration::from_millis(30), "{:?}", started.elapsed());

    assert_eq!(served.ask("begin {}")["ok"], true);
    assert!(served.ask("begin {}")["error"].is_string() && served.ask("pace {\"read_ns\": 1}")["error"].is_string());
    disk.write_all_at(&[7; 4096], 4096).unwrap();
    disk.sync_all().unwrap();
    let report = served.ask("report");
    assert_eq!((&report["writes"]["bytes"], &report["flushes"]), (&4096.into(), &1.into()));
    assert_eq!((&report["late"]["requests"], &report["backing_errors"]["count"]), (&0.into(), &0.into()));
    assert_eq!(served.ask("reset")["ok"], true);
    assert_eq!(served.ask("report")["writes"]["bytes"], 0);

    served.signal(Signal::TERM);
    assert!(served.program.wait().unwrap().success(), "also while the disk is open");
    assert!(served.is_mounted(), "a file that is open keeps its name, by which its users are found");
    assert!(!served.home.join("control").exists());
}

#[test]
fn the_log_tells_every_request() {
    let Some(mut served) = Served::start("log") else { return };
    let disk = served.disk();
    served.ask("begin {}");
    assert!(served.ask("trace off")["error"].is_string());
    assert_eq!(served.ask("trace requests.log")["ok"], true);
    for number in 0..100 {
        disk.write_all_at(&[7; 8192], number * 8192).unwrap();
    }
    disk.sync_all().unwrap();
    disk.read_exact_at(&mut [0; 4096], 8192).unwrap();
    let written = served.ask("trace off");
    assert_eq!((&written["records"], &written["dropped"]), (&102.into(), &0.into()), "{written}");

    let content = fs::read(served.home.join("requests.log")).unwrap();
    let word = |at: usize| u64::from_le_bytes(content[at..at + 8].try_into().unwrap());
    let began = word(24);
    for number in 0..100 {
        let at = 64 + number * 32;
        assert_eq!([word(at + 8), word(at + 24)], [number as u64 * 8192, (1 << 32) | 8192]);
        assert!(word(at) >= began && word(at + 16) < 5_000_000_000);
    }
    assert_eq!(word(64 + 100 * 32 + 24) >> 32, 2, "a flush");
    assert_eq!([word(64 + 101 * 32 + 8), word(64 + 101 * 32 + 24)], [8192, 4096]);

    served.ask("trace again.log");
    disk.read_exact_at(&mut [0; 4096], 0).unwrap();
    drop(disk);
    assert_eq!(served.ask("stop")["ok"], true);
    assert!(served.program.wait().unwrap().success());
    assert_eq!(fs::metadata(served.home.join("again.log")).unwrap().len(), 96, "the end writes what is left");
}

#[test]
fn the_end_unmounts() {
    let Some(mut served) = Served::start("end") else { return };
    assert_eq!(served.ask("stop")["ok"], true);
    assert!(served.program.wait().unwrap().success());
    assert!(!served.is_mounted() && !served.home.join("control").exists());
}

#[test]
fn a_kill_loses_nothing_that_was_answered() {
    let Some(mut served) = Served::start("kill") else { return };
    served.ask("begin {}");
    let disk = served.disk();
    let victim = Pid::from_child(&served.program);
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        kill_process(victim, Signal::KILL).unwrap();
    });
    let places = (0..DISK_BYTES).step_by(4096).cycle();
    let answered = places.take_while(|at| disk.write_all_at(&pattern(*at), *at).is_ok() && disk.sync_data().is_ok());
    let answered: std::collections::BTreeSet<u64> = answered.collect();
    killer.join().unwrap();
    assert!(!answered.is_empty());
    drop(disk);
    served.program.wait().unwrap();
    served.unmount();

    served.program = Served::serve(&served.home);
    let disk = served.disk();
    let mut read = vec![0; 4096];
    for at in answered {
        disk.read_exact_at(&mut read, at).unwrap();
        assert!(read == pattern(at), "byte {at}");
    }
}

#[test]
fn a_full_host_is_an_io_error_with_its_reason() {
    let Some(served) = Served::start("full") else { return };
    // A full file system of our own: 1 MiB of memory.
    let small = served.home.join("small");
    fs::create_dir(&small).unwrap();
    mount("tmpfs", &small, "tmpfs", MountFlags::empty(), c"size=1m").unwrap();
    let home = small.join("home");
    fs::create_dir_all(home.join("mount")).unwrap();
    fs::write(home.join("profile.json"), NULL_PROFILE).unwrap();
    File::create(home.join("backing")).unwrap().set_len(DISK_BYTES).unwrap();
    let inner = Served { program: Served::serve(&home), home };
    let error = inner.disk().write_all_at(&vec![7; 2 << 20], 0).unwrap_err();
    let report = inner.ask("report");
    drop(inner);
    unmount(&small, UnmountFlags::DETACH).unwrap();
    assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::IO.raw_os_error()));
    let reason = report["backing_errors"]["reasons"][0].as_str().unwrap();
    assert!(reason.contains("write at byte") && reason.contains("No space left"), "{reason}");
}

#[test]
fn a_bad_profile_is_told_figure_by_figure() {
    let file = std::env::temp_dir().join(format!("assay-bad-{}.json", std::process::id()));
    fs::write(&file, NULL_PROFILE.replace("67108864", "1")).unwrap();
    let told = Command::new(PROGRAM).arg("check").arg(&file).output().unwrap();
    fs::remove_file(&file).unwrap();
    assert_eq!(told.status.code(), Some(2));
    let errors: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(errors["errors"][0]["figure"], "capacity_bytes");
    let figures: serde_json::Value =
        serde_json::from_slice(&Command::new(PROGRAM).arg("figures").output().unwrap().stdout).unwrap();
    assert_eq!(figures[0]["kind"], "null");
}
