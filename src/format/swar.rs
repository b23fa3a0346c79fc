//! Eight bytes at a time in one `u64`: the few tests that the hot parsers are made of.
//!
//! Each test marks the high bit of a byte. Sums are made only of bytes below 0x80, where no carry leaves a
//! byte; differences may borrow, so of their marks only the lowest is exact (see "Bit Twiddling Hacks",
//! "Determine if a word has a zero byte").

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGHS: u64 = ONES << 7;

/// The eight bytes at `at`. The caller's array length makes the range good.
#[inline(always)]
pub(crate) fn eight<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    u64::from_le_bytes([
        bytes[at],
        bytes[at + 1],
        bytes[at + 2],
        bytes[at + 3],
        bytes[at + 4],
        bytes[at + 5],
        bytes[at + 6],
        bytes[at + 7],
    ])
}

/// Whether any byte isn't ASCII.
#[inline(always)]
pub(crate) fn high(eight: u64) -> bool {
    eight & HIGHS != 0
}

/// Reads bytes by a template in which `0` stands for any digit and all else for itself. In the answer every
/// byte is ten times its digit plus the next one's, which is a number where a pair of digits begins.
#[inline(always)]
pub(crate) fn by_template(eight: u64, template: &[u8; 8]) -> Option<[u8; 8]> {
    let digits = eight ^ u64::from_le_bytes(*template);
    // What to add so that a byte that is too large reaches its high bit.
    let room = u64::from_le_bytes(template.map(|b| if b == b'0' { 0x80 - 10 } else { 0x80 - 1 }));
    if (digits.wrapping_add(room) | digits) & HIGHS != 0 {
        return None;
    }
    Some((digits * 10 + (digits >> 8)).to_le_bytes())
}

/// Whether all bytes are one of A-Z and 0-9.
#[inline(always)]
pub(crate) fn is_capital_or_digit(eight: u64) -> bool {
    let reaches = |least: u8| eight.wrapping_add(ONES * u64::from(0x80 - least));
    let letter = reaches(b'A') & !reaches(b'Z' + 1);
    let digit = reaches(b'0') & !reaches(b'9' + 1);
    (letter | digit) & !eight & HIGHS == HIGHS
}

/// How many bytes stand before the first that is a quote, a backslash or an ASCII control; none if none is.
#[inline(always)]
pub(crate) fn plain_prefix(eight: u64) -> Option<usize> {
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    // Below a space, or a delete, which the sum lifts to 0x80.
    let control = (eight.wrapping_sub(ONES * 0x20) | (eight & !HIGHS).wrapping_add(ONES)) & !eight;
    let marks = control | zero(eight ^ (ONES * u64::from(b'"'))) | zero(eight ^ (ONES * u64::from(b'\\')));
    if marks & HIGHS == 0 { None } else { Some(((marks & HIGHS).trailing_zeros() / 8) as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn bytes_are_tested_alike(bytes in prop::array::uniform8(prop_oneof![any::<u8>(), prop::sample::select(b"\"\\\x1f \x7f\x80 AZ09@[/:".to_vec())])) {
            let word = u64::from_le_bytes(bytes);
            let odd = |b: &u8| matches!(b, b'"' | b'\\') || b.is_ascii_control();
            prop_assert_eq!(plain_prefix(word), bytes.iter().position(odd));
            prop_assert_eq!(is_capital_or_digit(word), bytes.iter().all(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9')));
            prop_assert_eq!(high(word), !bytes.is_ascii());
        }

        #[test]
        fn templates_take_digits_alone(bytes in prop::array::uniform8(prop_oneof![4 => b'0'..=b'9', 1 => any::<u8>()]), dash in any::<bool>()) {
            let mut bytes = bytes;
            bytes[2] = if dash { b'-' } else { bytes[2] };
            let fits = bytes.iter().enumerate().all(|(at, b)| if at == 2 { *b == b'-' } else { b.is_ascii_digit() });
            let read = by_template(u64::from_le_bytes(bytes), b"00-00000");
            prop_assert_eq!(read.is_some(), fits);
            if let Some(pairs) = read {
                prop_assert_eq!(pairs[3], (bytes[3] - b'0') * 10 + bytes[4] - b'0');
            }
        }
    }
}
