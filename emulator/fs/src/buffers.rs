//! Page-aligned buffers that are used again and again, so that no request waits for the allocator or a page fault.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

const PAGE_BYTES: usize = 4096;
/// The sizes there are. Small requests get small buffers: they stay in the processor's cache.
const SIZES: [usize; 3] = [16 << 10, 128 << 10, 1 << 20];
/// Buffers of one size that are kept for the next request; beyond that memory goes back.
const KEPT: usize = 64;

/// Page-aligned memory of a fixed size.
pub struct Buffer {
    start: NonNull<u8>,
    layout: Layout,
    /// Whether the memory is another's.
    lent: bool,
}

// SAFETY: the buffer owns its memory alone, like a Box<[u8]>.
unsafe impl Send for Buffer {}

impl Buffer {
    /// Zeroed memory of at least one byte, rounded up to whole pages.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes.max(1).next_multiple_of(PAGE_BYTES), PAGE_BYTES)
            .expect("a buffer's size is far below the address space's");
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) });
        Self { start: start.unwrap_or_else(|| handle_alloc_error(layout)), layout, lent: false }
    }

    /// Memory that is another's, whole pages, and is not freed.
    ///
    /// # Safety
    /// Nobody else, the kernel included, looks at it or changes it while the buffer is there.
    #[must_use]
    pub unsafe fn lent(start: NonNull<u8>, bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes, PAGE_BYTES).expect("memory is smaller than the address space");
        Self { start, layout, lent: true }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.lent {
            return;
        }
        // SAFETY: allocated in `new` with the same layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is initialised, of this size, and ours.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and we are borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

/// The buffers that are free.
#[derive(Default)]
pub struct Pool {
    free: [Vec<Buffer>; SIZES.len()],
}

impl Pool {
    /// A buffer of at least that many bytes; what it holds is left over from earlier use.
    pub fn take(&mut self, bytes: usize) -> Buffer {
        match SIZES.iter().position(|size| bytes <= *size) {
            Some(class) => self.free[class].pop().unwrap_or_else(|| Buffer::new(SIZES[class])),
            None => Buffer::new(bytes),
        }
    }

    /// Takes a buffer back; what was lent goes back to its owner.
    pub fn give(&mut self, buffer: Buffer) {
        if buffer.lent {
            return;
        }
        let class = SIZES.iter().position(|size| buffer.len() == *size);
        if let Some(free) = class.map(|class| &mut self.free[class]).filter(|free| free.len() < KEPT) {
            free.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_to_the_next_request_of_its_size() {
        let mut pool = Pool::default();
        let mut buffer = pool.take(4096);
        buffer[0] = 7;
        let start = buffer.as_ptr();
        pool.give(buffer);
        assert_ne!(pool.take(100_000).as_ptr(), start);
        assert_eq!(pool.take(16 << 10).as_ptr(), start);
    }

    #[test]
    fn what_was_lent_is_neither_freed_nor_kept() {
        let mut owner = Buffer::new(1 << 20);
        let mut pool = Pool::default();
        for _ in 0..2 {
            // SAFETY: the owner is not used while this buffer is there.
            let mut lent = unsafe { Buffer::lent(owner.start, 1 << 20) };
            lent[0] = 7;
            pool.give(lent);
            assert_ne!(pool.take(1 << 20).as_ptr(), owner.as_ptr());
        }
        owner[1] = owner[0];
        assert_eq!(owner[..2], [7, 7]);
    }

    #[test]
    fn every_request_gets_room_and_whole_pages() {
        let mut pool = Pool::default();
        for bytes in [0, 1, 16 << 10, (16 << 10) + 1, 1 << 20, (1 << 20) + 1] {
            let buffer = pool.take(bytes);
            assert!(buffer.len() >= bytes && buffer.as_ptr() as usize % PAGE_BYTES == 0);
            pool.give(buffer);
        }
    }
}
