//! Text to tokens and back, of the three kinds of models.

use constformer::tokenizer::{HuggingFace, Pieces, Utf8, Vocabulary};
use std::error::Error;

/// A tokenizer while a text is written.
pub(crate) trait Text {
    /// The tokens of a prompt: one at least.
    fn prompt(&mut self, text: &str) -> Result<Vec<u32>, Box<dyn Error>>;
    /// What `id` adds to the text after the token `previous`.
    fn piece(&mut self, previous: u32, id: u32) -> Result<String, Box<dyn Error>>;
    /// Whether the text ends with `id`.
    fn is_end(&self, id: u32) -> bool;
    /// What is left at the end.
    fn rest(&mut self) -> String;
}

/// llama2.c's: a text begins with `<s>`, and another one after it is the end, as llama2.c has it.
pub(crate) struct Llama2c<'a, const SIZE: usize> {
    pub(crate) vocabulary: Box<Vocabulary<'a, SIZE>>,
    pub(crate) utf8: Utf8,
}

impl<const SIZE: usize> Text for Llama2c<'_, SIZE> {
    fn prompt(&mut self, text: &str) -> Result<Vec<u32>, Box<dyn Error>> {
        let mut ids = vec![0; text.len() + 2];
        let len = self.vocabulary.encode(text, &mut ids)?;
        ids.truncate(len);
        Ok(ids)
    }

    fn piece(&mut self, previous: u32, id: u32) -> Result<String, Box<dyn Error>> {
        Ok(self.utf8.push(self.vocabulary.decode(previous, id)?).collect())
    }

    fn is_end(&self, id: u32) -> bool {
        id == Vocabulary::<SIZE>::BOS
    }

    fn rest(&mut self) -> String {
        self.utf8.finish().into_iter().collect()
    }
}

/// Hugging Face's.
pub(crate) struct FromJson<'t, const VOCABULARY: usize> {
    pub(crate) tokenizer: &'t HuggingFace<VOCABULARY>,
    pub(crate) pieces: Pieces<'t, VOCABULARY>,
}

/// What texts end with, and begin with.
const END_OF_TEXT: &str = "<|endoftext|>";

impl<const VOCABULARY: usize> Text for FromJson<'_, VOCABULARY> {
    fn prompt(&mut self, text: &str) -> Result<Vec<u32>, Box<dyn Error>> {
        let mut ids = self.tokenizer.encode(text)?;
        if ids.is_empty() {
            ids.push(self.tokenizer.id(END_OF_TEXT).ok_or("a prompt expected: the tokenizer has no <|endoftext|>")?);
        }
        Ok(ids)
    }

    fn piece(&mut self, _: u32, id: u32) -> Result<String, Box<dyn Error>> {
        Ok(self.pieces.push(id)?.unwrap_or_default())
    }

    fn is_end(&self, id: u32) -> bool {
        self.tokenizer.id(END_OF_TEXT) == Some(id)
    }

    fn rest(&mut self) -> String {
        String::new()
    }
}

/// A model without a tokenizer: ids.
pub(crate) struct Ids;

impl Text for Ids {
    fn prompt(&mut self, text: &str) -> Result<Vec<u32>, Box<dyn Error>> {
        let ids: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
        let ids = ids.map_err(|_| format!("ids expected as a prompt, found `{text}`"))?;
        Ok(if ids.is_empty() { vec![0] } else { ids })
    }

    fn piece(&mut self, _: u32, id: u32) -> Result<String, Box<dyn Error>> {
        Ok(format!(" {id}"))
    }

    fn is_end(&self, _: u32) -> bool {
        false
    }

    fn rest(&mut self) -> String {
        String::new()
    }
}
