//! The whole program on a real mount: bytes, space, time, failures and deaths, with each way by which requests can come.
//! Needs root and /dev/fuse; says so otherwise.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
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
    /// None, with the reason printed, where disks can't be mounted, or requests can't come that way.
    fn start(name: &str, transport: &str) -> Option<Self> {
        if !geteuid().is_root() || !PathBuf::from("/dev/fuse").exists() {
            println!("skipped: mounting needs root and /dev/fuse");
            return None;
        }
        let home = std::env::temp_dir().join(format!("assay-mounted-{}-{name}-{transport}", std::process::id()));
        fs::create_dir_all(home.join("mount")).unwrap();
        fs::write(home.join("profile.json"), NULL_PROFILE).unwrap();
        File::create(home.join("backing")).unwrap().set_len(DISK_BYTES).unwrap();
        let program = Self::serve(&home, transport);
        let served = Self { home, program };
        let report = served.ask("report");
        if report["transport"] == transport {
            return Some(served);
        }
        println!("skipped: {}", report["transport_reason"]);
        None
    }

    fn serve(home: &PathBuf, transport: &str) -> Child {
        let arguments = "serve --profile profile.json --backing backing --mount mount --control control --transport";
        let mut program = Command::new(PROGRAM)
            .args(arguments.split(' ').chain([transport]))
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

fn bytes_come_back_and_space_is_freed(transport: &str) {
    let Some(served) = Served::start("bytes", transport) else { return };
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

fn commands_are_obeyed_and_a_signal_ends_it(transport: &str) {
    let Some(mut served) = Served::start("commands", transport) else { return };
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

fn the_log_tells_every_request(transport: &str) {
    let Some(mut served) = Served::start("log", transport) else { return };
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

fn the_end_unmounts(transport: &str) {
    let Some(mut served) = Served::start("end", transport) else { return };
    assert_eq!(served.ask("stop")["ok"], true);
    assert!(served.program.wait().unwrap().success());
    assert!(!served.is_mounted() && !served.home.join("control").exists());
}

fn a_kill_loses_nothing_that_was_answered(transport: &str) {
    let Some(mut served) = Served::start("kill", transport) else { return };
    served.ask("begin {}");
    let disk = served.disk();
    let victim = Pid::from_child(&served.program);
    let killer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
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

    served.program = Served::serve(&served.home, transport);
    let disk = served.disk();
    let mut read = vec![0; 4096];
    for at in answered {
        disk.read_exact_at(&mut read, at).unwrap();
        assert!(read == pattern(at), "byte {at}");
    }
}

fn a_full_host_is_an_io_error_with_its_reason(transport: &str) {
    let Some(served) = Served::start("full", transport) else { return };
    // A full file system of our own: 1 MiB of memory.
    let small = served.home.join("small");
    fs::create_dir(&small).unwrap();
    mount("tmpfs", &small, "tmpfs", MountFlags::empty(), c"size=1m").unwrap();
    let home = small.join("home");
    fs::create_dir_all(home.join("mount")).unwrap();
    fs::write(home.join("profile.json"), NULL_PROFILE).unwrap();
    File::create(home.join("backing")).unwrap().set_len(DISK_BYTES).unwrap();
    let inner = Served { program: Served::serve(&home, transport), home };
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

fn many_requests_at_once_get_their_own_bytes(transport: &str) {
    let Some(served) = Served::start("many", transport) else { return };
    // More than the kernel can have with us at once, so that some wait for the others' answers.
    assert_eq!(served.ask(r#"pace {"read_ns": 20000000, "write_ns": 20000000}"#)["ok"], true);
    let disk = &served.disk();
    thread::scope(|scope| {
        for number in 0..400_u64 {
            scope.spawn(move || {
                let (at, mut read) = (number * 4096, [0; 4096]);
                disk.write_all_at(&pattern(at), at).unwrap();
                disk.read_exact_at(&mut read, at).unwrap();
                assert!(read[..] == pattern(at), "byte {at}");
            });
        }
    });
}

fn long_requests_leave_little_memory_behind(transport: &str) {
    let Some(served) = Served::start("long", transport) else { return };
    assert_eq!(served.ask(r#"pace {"read_ns": 100000000, "write_ns": 100000000}"#)["ok"], true);
    let disk = &served.disk();
    let long = |number: u64| (0..256).flat_map(|page| pattern((number << 20) + page * 4096)).collect::<Vec<u8>>();
    thread::scope(|scope| {
        for number in 0..DISK_BYTES >> 20 {
            scope.spawn(move || disk.write_all_at(&long(number), number << 20).unwrap());
            scope.spawn(move || disk.read_exact_at(&mut vec![0; 1 << 20], number << 20).unwrap());
        }
    });
    assert_eq!(served.ask(r#"pace {"read_ns": 0, "write_ns": 0}"#)["ok"], true);
    for number in 0..DISK_BYTES >> 20 {
        let mut read = vec![0; 1 << 20];
        disk.read_exact_at(&mut read, number << 20).unwrap();
        assert!(read == long(number), "MiB {number}");
    }
    let status = fs::read_to_string(format!("/proc/{}/status", served.program.id())).unwrap();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.strip_suffix("kB")).unwrap();
    assert!(kilobytes.trim().parse::<u64>().unwrap() < 150 << 10, "{status}");
}

/// Readers that wait for an answer for a minute, unless something happens to them; and then within seconds.
fn waiting_readers<T>(served: &mut Served, happens: impl FnOnce(&mut Served) -> T) -> T {
    assert_eq!(served.ask(r#"pace {"read_ns": 60000000000, "write_ns": 0}"#)["ok"], true);
    let disk = served.disk();
    let started = Instant::now();
    let result = thread::scope(|scope| {
        let readers = [0, 1, 2, 3].map(|number| {
            let disk = &disk;
            scope.spawn(move || disk.read_exact_at(&mut [0; 4096], number * 4096))
        });
        thread::sleep(Duration::from_millis(100));
        let result = happens(served);
        for reader in readers {
            assert!(reader.join().unwrap().is_err());
        }
        result
    });
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    result
}

fn a_kill_leaves_nobody_waiting(transport: &str) {
    let Some(mut served) = Served::start("waiting", transport) else { return };
    waiting_readers(&mut served, |served| {
        served.signal(Signal::KILL);
        served.program.wait().unwrap()
    });
    served.unmount();
    assert!(!served.is_mounted());
}

fn a_forced_unmount_leaves_nobody_waiting(transport: &str) {
    let Some(mut served) = Served::start("forced", transport) else { return };
    let ended = waiting_readers(&mut served, |served| {
        // It says that the disk is in use, and has ended the connection all the same.
        let _ = unmount(served.home.join("mount"), UnmountFlags::FORCE);
        served.program.wait().unwrap()
    });
    assert!(ended.success());
}

fn a_client_that_is_killed_does_not_disturb_the_others(transport: &str) {
    let Some(served) = Served::start("client", transport) else { return };
    assert_eq!(served.ask(r#"pace {"read_ns": 300000000, "write_ns": 0}"#)["ok"], true);
    let file = served.home.join("mount/disk");
    for _ in 0..3 {
        let mut client = Command::new("dd")
            .arg(format!("if={}", file.display()))
            .args(["of=/dev/null", "bs=4096"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(100));
        kill_process(Pid::from_child(&client), Signal::KILL).unwrap();
        assert!(!client.wait().unwrap().success());
        served.disk().read_exact_at(&mut [0; 4096], 4096).unwrap();
    }
}

macro_rules! with_each_transport {
    ($($test:ident)*) => {
        mod dev_fuse {
            $(#[test]
            fn $test() {
                super::$test("dev_fuse");
            })*
        }
        mod io_uring {
            $(#[test]
            fn $test() {
                super::$test("io_uring");
            })*
        }
    };
}

with_each_transport! {
    bytes_come_back_and_space_is_freed
    commands_are_obeyed_and_a_signal_ends_it
    the_log_tells_every_request
    the_end_unmounts
    a_kill_loses_nothing_that_was_answered
    a_full_host_is_an_io_error_with_its_reason
    many_requests_at_once_get_their_own_bytes
    long_requests_leave_little_memory_behind
    a_kill_leaves_nobody_waiting
    a_forced_unmount_leaves_nobody_waiting
    a_client_that_is_killed_does_not_disturb_the_others
}

#[test]
fn the_report_says_why_requests_come_from_the_device() {
    let Some(served) = Served::start("why", "dev_fuse") else { return };
    assert_eq!(served.ask("report")["transport_reason"], "io_uring was not asked for");
}
