//! The program `constformer`: what it imports compiles and computes what the library computes, what it says is so, and what
//! it refuses it refuses with a code and a reason.

#[path = "../common/mod.rs"]
mod common;

mod images;
mod imports;
mod inspection;
mod quantization;
mod refusals;
mod run;

use common::golden::{Golden, Values};
use safetensors::{Dtype, tensor::TensorView};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What the program says: its exit code, stdout and stderr.
fn constformer(arguments: &[&dyn AsRef<OsStr>]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_constformer")).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// The same with code 0 and nothing on stderr; stdout.
fn good(arguments: &[&dyn AsRef<OsStr>]) -> String {
    let (code, out, err) = constformer(arguments);
    assert!(code == 0 && err.is_empty(), "code {code}: {err}");
    out
}

/// The same with this code and nothing on stdout; stderr.
fn bad(code: i32, arguments: &[&dyn AsRef<OsStr>]) -> String {
    let (found, out, err) = constformer(arguments);
    assert!(found == code && out.is_empty(), "code {found}: {out}{err}");
    err
}

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("constformer-cli-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn write(&self, file: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// A checkpoint in a folder of its own, as Hugging Face has it; the folder.
    fn checkpoint(&self, name: &str, tensors: &BTreeMap<String, Values>, config: &str) -> PathBuf {
        self.write(&format!("{name}/config.json"), config);
        self.write(&format!("{name}/model.safetensors"), safetensors(tensors));
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A safetensors file.
fn safetensors(tensors: &BTreeMap<String, Values>) -> Vec<u8> {
    let bytes = |values: &Values| values.to_f32().into_iter().flat_map(f32::to_le_bytes).collect::<Vec<_>>();
    let stored: Vec<_> = tensors.iter().map(|(name, values)| (name, bytes(values), values)).collect();
    let views = stored.iter().map(|(name, bytes, values)| {
        (name.as_str(), TensorView::new(Dtype::F32, values.shape.clone(), bytes).unwrap())
    });
    safetensors::serialize(views, None).unwrap()
}

/// The tensors of a case of a golden file, without its inputs and outputs.
fn tensors(file: &str, case: &str) -> BTreeMap<String, Values> {
    let mut golden = Golden::open(file).part(&format!("{case}."));
    for other in ["input.", "output.", "hidden.", "logits.", "src.", "tgt.", "memory."] {
        golden.part(other);
    }
    golden.tensors
}

/// The `config.json` of a model of transformers.
fn config(case: &str) -> serde_json::Value {
    let golden = Golden::open("transformers_models.safetensors");
    let reference: serde_json::Value = serde_json::from_str(&golden.reference).unwrap();
    reference["cases"][case]["config"].clone()
}

/// The names of what is in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file or folder of the real models, `None` and a word on it if it is not here.
fn real(path: &str) -> Option<PathBuf> {
    let path = std::env::var("CONSTFORMER_MODELS").ok().map(|models| Path::new(&models).join(path));
    let found = path.filter(|path| path.exists());
    if found.is_none() {
        println!("skipped: CONSTFORMER_MODELS does not say where a real model is");
    }
    found
}

const KWT: &str = r#"{"model_type": "kwt", "features": 40, "positions": 99, "d_model": 64, "dim_feedforward": 256,
    "num_layers": 12, "nhead": 1, "classes": 12}"#;
const NANO_SORT: &str =
    r#"{"model_type": "mingpt", "n_layer": 3, "n_head": 3, "n_embd": 48, "vocab_size": 3, "block_size": 11}"#;
