//! Which state of the index something was made from: four numbers, which what is kept beside the index stores with itself.

/// A state of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::search) struct Stamp {
    /// Which making of the index it is of.
    pub epoch: i64,
    pub generation: u64,
    pub committed: i64,
    pub docs: u64,
}

impl Stamp {
    /// As the saved corpus has it.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut out = [0; 32];
        let numbers =
            [self.epoch.cast_unsigned(), self.generation, self.committed.cast_unsigned(), self.docs];
        for (to, number) in out.chunks_exact_mut(8).zip(numbers) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        out
    }

    /// From [`Stamp::to_bytes`].
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let (numbers, _) = bytes.as_chunks::<8>();
        let number = |at: usize| u64::from_le_bytes(numbers[at]);
        Self {
            epoch: number(0).cast_signed(),
            generation: number(1),
            committed: number(2).cast_signed(),
            docs: number(3),
        }
    }
}
