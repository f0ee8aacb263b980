//! Requests are read as the kernel lays them out, and answers have the sizes that the kernel insists on.

use super::*;

fn request(opcode: u32, body: &[u8]) -> Vec<u8> {
    Printer::default()
        .u32((REQUEST_HEADER_BYTES + body.len()) as u32)
        .u32(opcode)
        .u64(77)
        .u64(DISK_NODE)
        .zeroes(16)
        .bytes(body)
        .0
}

#[test]
fn a_read_and_a_write_give_their_range() {
    let body = Printer::default().u64(0).u64(8192).u32(4096).u32(0).zeroes(16).0;
    let call = parse(&request(15, &body)).unwrap();
    assert_eq!(call.operation, Operation::Read { offset: 8192, size: 4096 });
    assert_eq!((call.unique, call.node), (77, DISK_NODE));
    let message = request(16, &body);
    assert!(is_write(&message) && !is_write(&request(15, &body)));
    assert_eq!(message.len(), WRITE_PREFIX_BYTES);
    assert_eq!(parse(&message).unwrap().operation, Operation::Write { offset: 8192, size: 4096 });
}

#[test]
fn a_discard_gives_its_range_and_mode() {
    let body = Printer::default().u64(0).u64(1 << 20).u64(1 << 30).u32(3).u32(0).0;
    let expected = Operation::Fallocate { offset: 1 << 20, length: 1 << 30, mode: 0x01 | FALLOCATE_PUNCH_HOLE };
    assert_eq!(parse(&request(43, &body)).unwrap().operation, expected);
}

#[test]
fn only_a_change_of_size_is_a_resize() {
    let times = Printer::default().u32(1 << 4).u32(0).u64(0).u64(5).zeroes(64).0;
    assert_eq!(parse(&request(4, &times)).unwrap().operation, Operation::GetAttr);
    let size = Printer::default().u32(1 << 3).u32(0).u64(0).u64(5).zeroes(64).0;
    assert_eq!(parse(&request(4, &size)).unwrap().operation, Operation::Resize(5));
}

#[test]
fn a_name_ends_at_its_zero_byte() {
    assert_eq!(parse(&request(1, b"disk\0")).unwrap().operation, Operation::Lookup(b"disk".to_vec()));
}

#[test]
fn a_truncated_request_is_refused() {
    let body = Printer::default().u64(0).u64(8192).u32(4096).u32(0).zeroes(16).0;
    let whole = request(15, &body);
    for length in 0..REQUEST_HEADER_BYTES + 20 {
        assert_eq!(parse(&whole[..length]), None, "{length} bytes");
    }
}

#[test]
fn an_operation_that_is_not_offered_is_unknown() {
    assert_eq!(parse(&request(22, &[0; 8])).unwrap().operation, Operation::Unknown);
}

#[test]
fn answers_have_the_kernels_sizes() {
    assert_eq!(init_reply(131_072, u32::MAX, true).len(), 64);
    assert_eq!(attributes_reply(ROOT_NODE, 4096).len(), 104);
    assert_eq!(entry_reply(4096).len(), 128);
    assert_eq!(open_reply().len(), 16);
    assert_eq!(statfs_reply(4096).len(), 80);
}

#[test]
fn the_kernel_is_asked_for_nothing_it_does_not_offer() {
    let reply = init_reply(0, INIT_ASYNC_DIO, false);
    assert_eq!(u32_at(&reply, 12), Some(INIT_ASYNC_DIO));
    assert_eq!(u32_at(&reply, 20), Some(32 * 4096), "without larger requests: 32 pages");
    assert_eq!(u32_at(&init_reply(0, u32::MAX, false), 20), Some(LARGEST_BYTES as u32));
}

#[test]
fn the_ring_is_offered_and_taken_by_further_flags() {
    let offer = |flags: u32, further: u32| {
        let body = Printer::default().u32(MAJOR).u32(42).u32(0).u32(flags).u32(further).zeroes(44).0;
        match parse(&request(26, &body)).unwrap().operation {
            Operation::Init { ring, .. } => ring,
            other => panic!("{other:?}"),
        }
    };
    assert!(offer(INIT_EXTENDED, INIT_OVER_IO_URING));
    assert!(!offer(0, INIT_OVER_IO_URING) && !offer(INIT_EXTENDED, !INIT_OVER_IO_URING));
    let (with, without) = (init_reply(0, u32::MAX, true), init_reply(0, u32::MAX, false));
    assert_eq!((u32_at(&with, 32), u32_at(&without, 32)), (Some(INIT_OVER_IO_URING), Some(0)));
    assert_eq!(u32_at(&with, 12).unwrap() ^ u32_at(&without, 12).unwrap(), INIT_EXTENDED);
}

#[test]
fn a_request_of_the_ring_is_read_from_its_parts() {
    let header = |opcode: u32| *request(opcode, &[]).first_chunk().unwrap();
    let mut operation = [0; RING_PART_BYTES];
    operation[8..16].copy_from_slice(&8192_u64.to_ne_bytes());
    operation[16..20].copy_from_slice(&4096_u32.to_ne_bytes());
    let call = parse_ring(&header(15), &operation, b"ignored").unwrap();
    assert_eq!((call.unique, call.operation), (77, Operation::Read { offset: 8192, size: 4096 }));
    let call = parse_ring(&header(1), &operation, b"disk\0").unwrap();
    assert_eq!(call.operation, Operation::Lookup(b"disk".to_vec()));
}

#[test]
fn an_error_is_sent_as_a_negative_number() {
    let header = reply_header(9, 5, 0);
    assert_eq!(u32_at(&header, 0), Some(16));
    assert_eq!(u32_at(&header, 4), Some((-5_i32) as u32));
    assert_eq!(u64_at(&header, 8), Some(9));
}

#[test]
fn the_directory_lists_what_fits_and_goes_on_from_there() {
    assert_eq!(directory_reply(0, 4096).len(), 3 * 32);
    assert_eq!(directory_reply(0, 40).len(), 32);
    assert_eq!(directory_reply(2, 4096)[24..28], *DISK_NAME);
    assert!(directory_reply(3, 4096).is_empty());
}
