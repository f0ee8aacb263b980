//! Which parts of the drive hold data that the host still needs.

use std::collections::HashMap;

const GRANULE_BYTES: u64 = 4096;
const CHUNK_GRANULES: u64 = 16384;
const CHUNK_WORDS: usize = (CHUNK_GRANULES / 64) as usize;

/// A set of granules of 4 KiB. Memory is used for the chunks of 64 MiB that hold any.
#[derive(Debug, Default)]
pub struct Live {
    chunks: HashMap<u64, Box<[u64; CHUNK_WORDS]>>,
    granules: u64,
}

impl Live {
    /// How much is live.
    pub fn bytes(&self) -> u64 {
        self.granules * GRANULE_BYTES
    }

    /// A write makes every granule live that it touches.
    pub fn write(&mut self, offset: u64, bytes: u64) {
        let last = (offset + bytes).div_ceil(GRANULE_BYTES);
        for_words(offset / GRANULE_BYTES, last, |chunk, word, mask| {
            let words = self.chunks.entry(chunk).or_insert_with(|| Box::new([0; CHUNK_WORDS]));
            self.granules += u64::from((mask & !words[word]).count_ones());
            words[word] |= mask;
        });
    }

    /// A discard frees the granules that lie wholly within it.
    pub fn discard(&mut self, offset: u64, bytes: u64) {
        let first = offset.div_ceil(GRANULE_BYTES);
        let last = (offset.saturating_add(bytes)) / GRANULE_BYTES;
        let touched: Vec<u64> = if (last.saturating_sub(first)) / CHUNK_GRANULES > self.chunks.len() as u64 {
            self.chunks.keys().copied().collect()
        } else {
            (first / CHUNK_GRANULES..=last / CHUNK_GRANULES).collect()
        };
        for chunk in touched {
            let Some(words) = self.chunks.get_mut(&chunk) else { continue };
            let (start, end) = (chunk * CHUNK_GRANULES, (chunk + 1) * CHUNK_GRANULES);
            for_words(first.max(start), last.min(end), |_, word, mask| {
                self.granules -= u64::from((mask & words[word]).count_ones());
                words[word] &= !mask;
            });
        }
    }
}

/// Calls `each` with chunk, word and mask for every word of the granules `first..last`.
fn for_words(first: u64, last: u64, mut each: impl FnMut(u64, usize, u64)) {
    let mut granule = first;
    while granule < last {
        let bit = granule % 64;
        let count = (64 - bit).min(last - granule);
        let mask = (u64::MAX >> (64 - count)) << bit;
        each(granule / CHUNK_GRANULES, (granule % CHUNK_GRANULES / 64) as usize, mask);
        granule += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_granule_once_and_frees_only_whole_ones() {
        let mut live = Live::default();
        live.write(0, 1 << 20);
        live.write(4096, 8192);
        assert_eq!(live.bytes(), 1 << 20);
        live.write(CHUNK_GRANULES * GRANULE_BYTES - 4096, 8192);
        assert_eq!(live.bytes(), (1 << 20) + 8192);
        live.discard(100, 8192);
        assert_eq!(live.bytes(), (1 << 20) + 4096);
        live.discard(0, u64::MAX);
        assert_eq!(live.bytes(), 0);
    }
}
