//! Sequences as data of serde: a list of tokens, each of which is a tuple of numbers.

use crate::Sequence;
use core::fmt;
use serde_core::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error, Expected, IgnoredAny, SeqAccess, Visitor},
    ser::{SerializeSeq, SerializeTuple},
};

struct Token<'a, const D_MODEL: usize>(&'a [f32; D_MODEL]);

impl<const D_MODEL: usize> Serialize for Token<'_, D_MODEL> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(D_MODEL)?;
        self.0.iter().try_for_each(|number| tuple.serialize_element(number))?;
        tuple.end()
    }
}

impl<const D_MODEL: usize, const SEQ_LEN: usize> Serialize for Sequence<D_MODEL, SEQ_LEN> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        self.tokens().iter().try_for_each(|token| list.serialize_element(&Token(token)))?;
        list.end()
    }
}

/// Where a token goes.
struct Place<'a, const D_MODEL: usize>(&'a mut [f32; D_MODEL]);

impl<'de, const D_MODEL: usize> DeserializeSeed<'de> for Place<'_, D_MODEL> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_tuple(D_MODEL, self)
    }
}

impl<'de, const D_MODEL: usize> Visitor<'de> for Place<'_, D_MODEL> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Numbers(D_MODEL).fmt(f)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<(), A::Error> {
        for (i, place) in self.0.iter_mut().enumerate() {
            *place = numbers.next_element()?.ok_or_else(|| A::Error::invalid_length(i, &Numbers(D_MODEL)))?;
        }
        match numbers.next_element::<IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(A::Error::invalid_length(D_MODEL + 1, &Numbers(D_MODEL))),
        }
    }
}

/// What a token is, for errors.
struct Numbers(usize);

impl Expected for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a token of {} numbers", self.0)
    }
}

struct List<'a, const D_MODEL: usize, const SEQ_LEN: usize>(&'a mut Sequence<D_MODEL, SEQ_LEN>);

impl<'de, const D_MODEL: usize, const SEQ_LEN: usize> Visitor<'de> for List<'_, D_MODEL, SEQ_LEN> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {SEQ_LEN} tokens of {D_MODEL} numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut tokens: A) -> Result<(), A::Error> {
        self.0.clear();
        let mut token = [0.0; D_MODEL];
        while tokens.next_element_seed(Place(&mut token))?.is_some() {
            self.0.push(&token).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

impl<'de, const D_MODEL: usize, const SEQ_LEN: usize> Deserialize<'de> for Sequence<D_MODEL, SEQ_LEN> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut sequence = Self::new();
        Self::deserialize_in_place(deserializer, &mut sequence)?;
        Ok(sequence)
    }

    fn deserialize_in_place<D: Deserializer<'de>>(deserializer: D, place: &mut Self) -> Result<(), D::Error> {
        deserializer.deserialize_seq(List(place))
    }
}
