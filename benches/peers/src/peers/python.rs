//! ONNX Runtime and PyTorch, in an interpreter that answers questions: `python.py`.

use crate::{measure::Contender, shape::Shape, weights::Weights, workload::Workload};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    rc::Rc,
};

/// The interpreter; it ends with this.
pub struct Python {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
}

impl Python {
    /// Starts it; with all frameworks or only one.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    ///
    /// # Panics
    ///
    /// Never: its output is a pipe.
    pub fn start(interpreter: &Path, only: Option<&str>) -> io::Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = here.join("target/workloads");
        std::fs::create_dir_all(&folder)?;
        let mut child = Command::new(interpreter)
            .arg(here.join("python.py"))
            .arg(&folder)
            .args(only)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let questions = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Ok(Self { child, questions, answers, folder })
    }

    fn ask<T: DeserializeOwned>(&mut self, question: &Value) -> T {
        let questions = self.questions.as_mut().expect("a pipe");
        let mut answer = String::new();
        let asked = writeln!(questions, "{question}").and_then(|()| self.answers.read_line(&mut answer));
        asked.expect("python.py answers");
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("python.py to {question}: {error}"))
    }

    /// Loads a workload; returns the outputs of the frameworks that are installed.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn load(&mut self, workload: &Workload, past: &super::Past) -> BTreeMap<String, Vec<f32>> {
        write(&self.folder, workload, past).expect("the workload's files");
        self.ask(&json!({ "load": workload.name }))
    }

    /// The MiB that a forward pass has at most in memory.
    pub fn peak(&mut self, name: &str) -> f64 {
        self.ask(&json!({ "rss": name }))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        drop(self.questions.take()); // the end of its input
        let _ = self.child.wait();
    }
}

/// Writes the weights and, for ONNX Runtime, the model.
fn write(folder: &Path, workload: &Workload, past: &super::Past) -> Result<(), Box<dyn std::error::Error>> {
    let Workload { name, shape, .. } = workload;
    #[cfg(feature = "onnx")]
    std::fs::write(folder.join(format!("{name}.onnx")), crate::onnx::model(shape, crate::onnx::Style::Fused))?;
    let tensors = tensors(shape, past);
    let views = tensors.iter().map(|(name, shape, bytes)| {
        Ok((name, safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape.clone(), bytes)?))
    });
    let views: Vec<_> = views.collect::<Result<_, safetensors::SafeTensorError>>()?;
    let metadata = [("shape".to_owned(), serde_json::to_string(shape)?)].into();
    safetensors::serialize_to_file(views, Some(metadata), &folder.join(format!("{name}.safetensors")))?;
    Ok(())
}

fn tensors(shape: &Shape, past: &super::Past) -> Vec<(String, Vec<usize>, Vec<u8>)> {
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let mut tensors: Vec<_> =
        Weights::tensors(shape).map(|(name, shape, values)| (name, shape, bytes(&values))).collect();
    tensors.push(("x".into(), vec![shape.tokens, shape.d_model], bytes(&Weights::tokens(shape))));
    for (layer, key_values) in past.iter().enumerate() {
        for (kind, values) in ["key", "value"].into_iter().zip(key_values) {
            tensors.push((format!("past.{layer}.{kind}"), vec![shape.past, shape.d_model], bytes(values)));
        }
    }
    tensors
}

/// A framework of the interpreter.
pub struct Remote {
    name: String,
    python: Rc<RefCell<Python>>,
    output: Vec<f32>,
    repeats: u32,
}

impl Remote {
    /// A framework that returned this output when the workload was loaded.
    #[must_use]
    pub fn new(name: String, python: &Rc<RefCell<Python>>, output: Vec<f32>) -> Self {
        let mut remote = Self { name, python: python.clone(), output, repeats: 1 };
        remote.sample();
        remote.repeats = crate::measure::repeats(remote.sample());
        remote
    }
}

impl Contender for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn output(&mut self) -> Vec<f32> {
        self.output.clone()
    }

    fn sample(&mut self) -> f64 {
        self.python.borrow_mut().ask(&json!({ "sample": self.name, "repeats": self.repeats }))
    }
}
