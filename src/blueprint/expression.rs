//! Types as texts and as trees.

use super::BlueprintError;
use core::fmt;
use std::{boxed::Box, string::String, vec::Vec};

/// A type or a number in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A const argument: `384`
    Number(u64),
    /// A type and its arguments: `TokenEmbedding<512, 64>`
    Type(String, Vec<Expression>),
    /// A stack: `[L; 6]`
    Array(Box<Expression>, u64),
    /// A struct that a generated module declares, with its fields.
    Own(&'static str, Vec<(&'static str, Expression)>),
}

/// Deeper than types are: those of typenum have a level for each bit.
const DEEPEST: usize = 100;

impl Expression {
    pub(crate) fn new(name: &str, arguments: impl IntoIterator<Item = Self>) -> Self {
        Self::Type(name.into(), arguments.into_iter().collect())
    }

    /// The type without arguments.
    pub(crate) fn named(name: &str) -> Self {
        Self::new(name, [])
    }

    /// A number of typenum: `U12`
    pub(crate) fn unsigned(n: u64) -> Self {
        Self::named(&std::format!("U{n}"))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, BlueprintError> {
        let mut parser = Parser { rest: text.trim_start() };
        let expression = parser.expression(DEEPEST)?;
        if parser.rest.is_empty() { Ok(expression) } else { Err(parser.expected("the end")) }
    }

    /// The number that a type of typenum is: `U12` or `UInt<UInt<UInt<UInt<UTerm, B1>, B1>, B0>, B0>`.
    pub(crate) fn as_unsigned(&self) -> Option<u64> {
        let Self::Type(name, arguments) = self else { return None };
        match (name.as_str(), arguments.as_slice()) {
            ("UTerm", []) => Some(0),
            ("UInt", [high, Self::Type(bit, none)]) if none.is_empty() => {
                let bit = ["B0", "B1"].iter().position(|name| name == bit)?;
                high.as_unsigned()?.checked_mul(2)?.checked_add(bit as u64)
            }
            (name, []) => name.strip_prefix('U')?.parse().ok(),
            _ => None,
        }
    }
}

/// The types with a format of weights, and which of their arguments it is.
const IN_FORMAT: [(&str, usize); 10] = [
    ("Linear", 2),
    ("PatchEmbedding", 3),
    ("EncoderBlock", 4),
    ("DecoderBlock", 4),
    ("CrossBlock", 4),
    ("Encoder", 5),
    ("Decoder", 5),
    ("CrossDecoder", 5),
    ("Classifier", 5),
    ("Transformer", 7),
];

impl Expression {
    /// The same type with all weights in `format`.
    pub(crate) fn in_format(&self, format: &str) -> Self {
        match self {
            Self::Number(n) => Self::Number(*n),
            Self::Array(part, n) => Self::Array(Box::new(part.in_format(format)), *n),
            Self::Own(name, fields) => {
                Self::Own(name, fields.iter().map(|(field, part)| (*field, part.in_format(format))).collect())
            }
            Self::Type(name, arguments) => {
                let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.in_format(format)).collect();
                if let Some((_, place)) = IN_FORMAT.iter().find(|(of, _)| of == name) {
                    // Only the pooling of a classifier may be left out before it.
                    arguments.resize(arguments.len().max(place + 1), Self::named("FirstToken"));
                    arguments[*place] = Self::named(format);
                }
                Self::Type(name.clone(), arguments)
            }
        }
    }
}

impl From<usize> for Expression {
    fn from(n: usize) -> Self {
        Self::Number(n as u64)
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn expression(&mut self, depth: usize) -> Result<Expression, BlueprintError> {
        let deeper = depth.checked_sub(1).ok_or_else(|| self.expected("a type that ends"))?;
        if self.eat('[') {
            let part = self.expression(deeper)?;
            self.want(';', "`;`")?;
            let Expression::Number(n) = self.expression(deeper)? else { return Err(self.expected("a number")) };
            self.want(']', "`]`")?;
            return Ok(Expression::Array(Box::new(part), n));
        }
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = word.replace('_', "");
            return match digits.strip_suffix("usize").unwrap_or(&digits).parse() {
                Ok(n) => Ok(Expression::Number(n)),
                Err(_) => Err(BlueprintError::Syntax { expected: "a number", found: word.into() }),
            };
        }
        let name = word.rsplit("::").next().unwrap_or(word);
        if name.is_empty() {
            return Err(self.expected("the name of a type"));
        }
        let mut arguments = Vec::new();
        if self.eat('<') {
            while !self.eat('>') {
                arguments.push(self.expression(deeper)?);
                if !self.eat(',') {
                    self.want('>', "`,` or `>`")?;
                    break;
                }
            }
        }
        Ok(Expression::Type(name.into(), arguments))
    }

    /// A path or a number.
    fn word(&mut self) -> &'a str {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn eat(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn want(&mut self, c: char, expected: &'static str) -> Result<(), BlueprintError> {
        if self.eat(c) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn expected(&self, expected: &'static str) -> BlueprintError {
        BlueprintError::Syntax { expected, found: self.rest.chars().take(20).collect() }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => n.fmt(f),
            Self::Array(part, n) => write!(f, "[{part}; {n}]"),
            Self::Own(name, _) => f.write_str(name),
            Self::Type(name, arguments) => {
                // Numbers as people write them.
                match self.as_unsigned() {
                    Some(n) => return write!(f, "U{n}"),
                    None => f.write_str(name)?,
                }
                for (i, argument) in arguments.iter().enumerate() {
                    write!(f, "{}{argument}", if i == 0 { "<" } else { ", " })?;
                }
                if arguments.is_empty() { Ok(()) } else { f.write_str(">") }
            }
        }
    }
}
