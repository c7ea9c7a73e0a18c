//! From text to tokens by merging pairs.

use super::{EncodeError, Ids, UnknownCharacter, Vocabulary, vocabulary::byte_of};

impl<const SIZE: usize> Vocabulary<'_, SIZE> {
    /// Writes [`BOS`](Self::BOS) and the ids of `text`; returns how many.
    ///
    /// A space is put before the text, unless it is empty. A character without a token is its bytes. Then, of all pairs of
    /// neighbours whose texts together are a token, the one with the best score, the first of equal ones, becomes that
    /// token, until there is no such pair. llama2.c: `encode(text, bos=1, eos=0)`. Here as in `sentencepiece`, what a text
    /// spells is never a token without a text: neither `<s>` nor `<0x41>`.
    ///
    /// `out` needs room for the text before pairs are merged: `text.len() + 2` are always enough. The time is quadratic in the
    /// number of characters.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] if there is no room, if a character and its bytes have no token, or the space has none; then what is
    /// in `out` is of no use.
    pub fn encode(&self, text: &str, out: &mut [u32]) -> Result<usize, EncodeError> {
        let mut ids = Ids::new(out);
        ids.push(Self::BOS);
        if !text.is_empty() {
            ids.push(self.find(b" ", b"").ok_or(UnknownCharacter { character: ' ', at: 0 })?);
        }
        for (at, character) in text.char_indices() {
            let bytes = text.as_bytes().get(at..at + character.len_utf8()).unwrap_or_default();
            if let Some(id) = self.find(bytes, b"") {
                ids.push(id);
            } else {
                for byte in bytes {
                    ids.push(self.byte(*byte).ok_or(UnknownCharacter { character, at })?);
                }
            }
        }
        let ids = ids.finish()?;
        Ok(self.merge(ids))
    }

    /// Merges pairs; returns how many tokens are left.
    fn merge(&self, ids: &mut [u32]) -> usize {
        let mut len = ids.len();
        while let Some((at, id)) = self.best_pair(ids.get(..len).unwrap_or_default()) {
            match ids.get_mut(at..len) {
                Some([merged, rest @ ..]) if !rest.is_empty() => {
                    *merged = id;
                    rest.copy_within(1.., 0);
                    len -= 1;
                }
                _ => break,
            }
        }
        len
    }

    /// Where the pair with the best score is, and the token of both.
    fn best_pair(&self, ids: &[u32]) -> Option<(usize, u32)> {
        let mut best = (f32::NEG_INFINITY, None);
        for (at, (left, right)) in ids.iter().zip(ids.iter().skip(1)).enumerate() {
            if let Some(id) = self.pair(*left, *right)
                && let Some(score) = self.score(id).filter(|score| *score > best.0)
            {
                best = (score, Some((at, id)));
            }
        }
        best.1
    }

    /// The token whose text is that of these two.
    fn pair(&self, left: u32, right: u32) -> Option<u32> {
        let [left, right] = [self.plain(left)?, self.plain(right)?];
        if left.len() + right.len() <= self.longest { self.find(left, right) } else { None }
    }

    /// The token whose text is `left` and then `right`; of several, the first one.
    fn find(&self, left: &[u8], right: &[u8]) -> Option<u32> {
        let wanted = || left.iter().chain(right);
        let text = |id: &u16| self.text((*id).into()).unwrap_or_default();
        let before = self.sorted.partition_point(|id| text(id).iter().lt(wanted()));
        let equal = self.sorted.get(before..)?.iter().take_while(|id| text(id).iter().eq(wanted()));
        equal.map(|id| u32::from(*id)).find(|id| self.plain(*id).is_some())
    }

    /// The text of a token that is neither a byte nor a sign such as [`BOS`](Self::BOS).
    fn plain(&self, token: u32) -> Option<&[u8]> {
        self.text(token).filter(|text| token > Self::EOS && byte_of(text).is_none())
    }

    /// The token of a byte, which is at its place or nowhere.
    fn byte(&self, byte: u8) -> Option<u32> {
        let id = u32::from(byte) + Self::EOS + 1;
        (byte_of(self.text(id)?)? == byte).then_some(id)
    }
}
