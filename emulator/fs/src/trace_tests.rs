//! What is noted comes out, in order, byte for byte; what finds no room is counted.

use super::*;

const READ: Served = Served { kind: Kind::Read, offset: 4096, bytes: 512, arrived: 1_000 };

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("assay-log-{}-{name}", std::process::id()))
}

fn word(content: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(content[at..at + 8].try_into().unwrap())
}

#[test]
fn a_record_is_as_the_table_says() {
    assert_eq!(record(&READ, 1_500), [1_000, 4096, 500, 512]);
    let discard = Served { kind: Kind::Discard, offset: 0, bytes: 1 << 40, arrived: 1_000 };
    assert_eq!(record(&discard, 900), [1_000, 0, 0, (3 << 32) | u64::from(u32::MAX)]);
}

#[test]
fn a_log_holds_what_was_answered_between_its_beginning_and_its_end() {
    let (path, log) = (file("whole"), Arc::new(Log::default()));
    log.note(&READ, 1_100);
    log.begin(&path).unwrap();
    for number in 0..1000 {
        log.note(&Served { offset: number, ..READ }, 2_000);
    }
    assert_eq!(log.end(), Some(Written { records: 1000, dropped: 0, trouble: None }));
    log.note(&READ, 3_000);
    assert_eq!(log.end(), None);
    let content = std::fs::read(&path).unwrap();
    assert_eq!((&content[..8], word(&content, 8)), (&b"ASSAYLOG"[..], (32 << 32) | 1));
    assert!(word(&content, 16) > 1_700_000_000_000_000_000 && word(&content, 24) > 0);
    assert_eq!([word(&content, 32), word(&content, 40)], [1000, 0]);
    assert!(word(&content, 48) >= word(&content, 24));
    assert_eq!(content.len(), 64 + 1000 * 32);
    let offsets: Vec<u64> = (0..1000).map(|number| word(&content, 64 + number * 32 + 8)).collect();
    assert_eq!(offsets, (0..1000).collect::<Vec<_>>());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn one_log_at_a_time_and_the_next_one_begins_anew() {
    let (path, log) = (file("again"), Arc::new(Log::default()));
    log.begin(&path).unwrap();
    assert!(log.begin(&path).unwrap_err().contains("send trace off first"));
    log.note(&READ, 2_000);
    log.end();
    log.begin(&path).unwrap();
    assert_eq!(log.end(), Some(Written::default()));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 64);
    std::fs::remove_file(path).unwrap();
    assert!(log.begin(Path::new("/nowhere/log")).unwrap_err().starts_with("the log /nowhere/log: No such file"));
}

#[test]
fn a_full_ring_drops_and_counts() {
    let ring = Ring::new(4);
    for number in 0..6 {
        ring.put([number; RECORD_WORDS]);
    }
    let mut bytes = Vec::new();
    ring.take(&mut bytes);
    ring.put([6; RECORD_WORDS]);
    ring.take(&mut bytes);
    let firsts: Vec<u64> = bytes.chunks(32).map(|record| word(record, 0)).collect();
    assert_eq!((firsts, ring.dropped.load(Ordering::Relaxed)), (vec![0, 1, 2, 3, 6], 2));
}

#[test]
fn nothing_is_lost_or_mixed_between_two_threads() {
    let ring = Ring::new(64);
    let mut bytes = Vec::new();
    thread::scope(|scope| {
        let putting = scope.spawn(|| {
            for number in 0..20_000 {
                ring.put([number; RECORD_WORDS]);
            }
        });
        while !putting.is_finished() {
            ring.take(&mut bytes);
        }
    });
    ring.take(&mut bytes);
    let records: Vec<&[u8]> = bytes.chunks(32).collect();
    assert!(records.iter().all(|record| (0..4).all(|at| word(record, at * 8) == word(record, 0))));
    assert!(records.windows(2).all(|pair| word(pair[0], 0) < word(pair[1], 0)));
    assert_eq!(records.len() as u64 + ring.dropped.load(Ordering::Relaxed), 20_000);
}

#[test]
fn a_file_that_can_grow_no_more_is_told() {
    let full = LogFile::create(Path::new("/dev/full")).err();
    assert!(full.is_some_and(|error| error.kind() == io::ErrorKind::StorageFull));
    let path = file("bound");
    let mut file = LogFile::create(&path).unwrap();
    file.written.records = FILE_RECORDS - 1;
    file.add(&[0; 96], 3, 0);
    assert_eq!((file.written.records, file.written.dropped), (FILE_RECORDS, 5));
    std::fs::remove_file(path).unwrap();
}
