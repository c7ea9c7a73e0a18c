//! Tokens in the order of their texts, made by constants too.

/// Score and length of the token that begins here, and what follows them.
pub(super) const fn record(bytes: &[u8]) -> Option<(f32, i32, &[u8])> {
    let Some((score, rest)) = bytes.split_first_chunk() else { return None };
    let Some((length, rest)) = rest.split_first_chunk() else { return None };
    Some((f32::from_le_bytes(*score), i32::from_le_bytes(*length), rest))
}

/// The ids in the order of their texts, equal ones in their own: a heapsort, which needs no memory and is never quadratic.
pub(super) const fn sorted<const SIZE: usize>(file: &[u8], records: &[u32; SIZE]) -> [u16; SIZE] {
    let mut ids = [0; SIZE];
    let mut i = 0;
    while i < SIZE {
        ids[i] = i as u16;
        i += 1;
    }
    // First a heap is made, from the last parent to the first; then the largest goes to the end, again and again.
    let (mut parent, mut end) = (SIZE / 2, SIZE);
    while end > 1 {
        if parent > 0 {
            parent -= 1;
        } else {
            end -= 1;
            let (first, last) = (get(&ids, 0), get(&ids, end));
            set(&mut ids, 0, last);
            set(&mut ids, end, first);
        }
        sift_down(file, records, &mut ids, parent, end);
    }
    ids
}

/// The id at `parent` goes down in the heap of the first `end` ids until none below it is larger.
const fn sift_down(file: &[u8], records: &[u32], ids: &mut [u16], mut parent: usize, end: usize) {
    let id = get(ids, parent);
    loop {
        let mut child = 2 * parent + 1;
        if child >= end {
            break;
        }
        if child + 1 < end && is_before(file, records, get(ids, child), get(ids, child + 1)) {
            child += 1;
        }
        let larger = get(ids, child);
        if !is_before(file, records, id, larger) {
            break;
        }
        set(ids, parent, larger);
        parent = child;
    }
    set(ids, parent, id);
}

/// Whether the text of token `a` is before that of `b`, or the same and `a` < `b`.
const fn is_before(file: &[u8], records: &[u32], a: u16, b: u16) -> bool {
    let ((mut left, left_end), (mut right, right_end)) = (text(file, records, a), text(file, records, b));
    while left < left_end && right < right_end {
        let (x, y) = (byte(file, left), byte(file, right));
        if x != y {
            return x < y;
        }
        left += 1;
        right += 1;
    }
    if left < left_end || right < right_end { right < right_end } else { a < b }
}

/// Where the text of a token begins and ends in the file.
const fn text(file: &[u8], records: &[u32], id: u16) -> (usize, usize) {
    let id = id as usize;
    let start = if id < records.len() { records[id] as usize } else { 0 };
    let length = [byte(file, start + 4), byte(file, start + 5), byte(file, start + 6), byte(file, start + 7)];
    (start + 8, start + 8 + u32::from_le_bytes(length) as usize)
}

// What is not there is 0: no index here can panic, or firmware would have to carry that. And few steps each, since rustc
// wonders about constants that take 2,000,000.

const fn byte(file: &[u8], i: usize) -> u8 {
    if i < file.len() { file[i] } else { 0 }
}

const fn get(ids: &[u16], i: usize) -> u16 {
    if i < ids.len() { ids[i] } else { 0 }
}

const fn set(ids: &mut [u16], i: usize, id: u16) {
    if i < ids.len() {
        ids[i] = id;
    }
}
