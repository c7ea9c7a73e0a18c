//! Messages of compile errors with numbers and names in them.

/// A text put together in a `const`, where `format!` is not to be had. What does not fit is cut off.
pub(crate) struct Message {
    bytes: [u8; 512],
    len: usize,
}

impl Message {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; 512], len: 0 }
    }

    pub(crate) const fn text(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() && self.len < self.bytes.len() {
            self.bytes[self.len] = text[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    pub(crate) const fn number(self, n: usize) -> Self {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        if n < 10 { self.text(DIGITS[n]) } else { self.number(n / 10).text(DIGITS[n % 10]) }
    }

    /// 16 digits.
    pub(crate) const fn hexadecimal(mut self, n: u64) -> Self {
        const DIGITS: [&str; 16] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"];
        let mut shift = 64;
        while shift > 0 {
            shift -= 4;
            self = self.text(DIGITS[(n >> shift & 15) as usize]);
        }
        self
    }

    /// Panics with the text: in a constant, where that is a compile error. (At run time only if someone calls
    /// [`Plan::assert_fits`](crate::Plan::assert_fits) there, which says so.)
    #[track_caller]
    pub(crate) const fn panic(&self) -> ! {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("a message that was cut off"), // inside of a character, since it was too long
        }
    }
}
