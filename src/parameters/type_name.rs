//! What a type is called, for people.

use super::Parameters;
use core::fmt;

/// The name of a type without the paths of its modules: `Encoder<Bert, 6, 384, 1536, 12, f32>`.
pub(crate) struct TypeName(&'static str);

impl TypeName {
    pub(crate) fn of<M>() -> Self {
        Self(core::any::type_name::<M>())
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let mut rest = self.0;
        while !rest.is_empty() {
            let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
            let (path, after) = rest.split_at(end);
            f.write_str(path.rsplit("::").next().unwrap_or(path))?;
            let end = after.find(is_path).unwrap_or(after.len());
            let (punctuation, after) = after.split_at(end);
            f.write_str(punctuation)?;
            rest = after;
        }
        Ok(())
    }
}

/// `Debug` of a model: its type, not its million numbers.
///
/// # Errors
///
/// Those of the formatter.
pub fn debug<M: Parameters>(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{} of {} parameters", TypeName::of::<M>(), M::COUNT)
}
