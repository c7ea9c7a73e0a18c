//! Checkpoints in several files.

use super::{Checkpoint, LoadError, checkpoint::read};
use std::{
    collections::BTreeMap,
    format,
    path::{Component, Path},
    string::String,
};

/// Reads the files that an index names; they lie beside it.
pub(super) fn open(path: &Path) -> Result<Checkpoint<'static>, LoadError> {
    let wrong = |text: &str| LoadError::Index(format!("{}: {text}", path.display()));
    let json = serde_json::from_slice::<serde_json::Value>(&read(path)?).map_err(|error| wrong(&format!("{error}")))?;
    let map = json.get("weight_map").and_then(|map| map.as_object());
    let map = map.ok_or_else(|| wrong("`weight_map`, names of tensors with those of files, expected, found none"))?;

    let mut files = BTreeMap::<&str, usize>::new();
    let mut checkpoint = Checkpoint::default();
    for (tensor, file) in map {
        let Some(file) = file.as_str() else {
            return Err(wrong(&format!("the name of a file expected for {tensor}, found {file}")));
        };
        let mut parts = Path::new(file).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            return Err(wrong(&format!("the name of a file expected for {tensor}, found `{file}`")));
        }
        if !files.contains_key(file) {
            let shard = path.with_file_name(file);
            checkpoint.add(&format!("{}", shard.display()), read(&shard)?.into())?;
            files.insert(file, files.len());
        }
    }
    for (tensor, file) in map {
        let expected = file.as_str().unwrap_or_default();
        let found = checkpoint.tensors.get(tensor).map(|stored| stored.file);
        if found != files.get(expected).copied() && !checkpoint.twice.contains(tensor) {
            let names = |index| files.iter().find(|(_, i)| Some(**i) == index).map_or("no file", |(name, _)| *name);
            return Err(wrong(&format!("{tensor} expected in {expected}, found in {}", names(found))));
        }
    }
    let listed = |name: &String| map.contains_key(name);
    if let Some(name) = checkpoint.tensors.keys().find(|name| !listed(name)) {
        return Err(wrong(&format!("{name} is in a file, but not in the index")));
    }
    Ok(checkpoint)
}
