//! Everything that can be imported is imported into one program, which is compiled and run. Its models compute what the same
//! models compute when the library loads them, bit for bit.

use super::{Folder, KWT, NANO_SORT, bad, common, config, constformer, good, real, run, tensors};
use common::golden::{Golden, Values};
use constformer::{
    load::{
        self, Checkpoint, HuggingFaceBert, HuggingFaceGpt2, HuggingFaceLlama, HuggingFaceRoberta, Kwt1, MinGpt,
        NanoGpt, Scheme, TorchDecoder, TorchEncoder, TorchTransformer,
    },
    typenum::{Prod, U5, U6, U500, U1000},
    *,
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

common::families! {
    Roberta: PostLn, LayerNorm<D_MODEL, U5>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final NoNorm;
    PostRelu: PostLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Relu, T>, final NoNorm;
    PreGelu: PreLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final LayerNorm<D_MODEL>;
    PostGeluNorm: PostLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final LayerNorm<D_MODEL>;
    PreReluNorm: PreLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Relu, T>, final LayerNorm<D_MODEL>;
    Unbiased: PreLn, LayerNorm<D_MODEL, U5, NoBias>, Bidirectional, NoBias, FeedForward<D_MODEL, D_FF, Gelu, T, NoBias>,
        final NoNorm;
    CausalGelu: PreLn, LayerNorm<D_MODEL>, Causal, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final LayerNorm<D_MODEL>;
    CausalEpsilon: PreLn, LayerNorm<D_MODEL, U6>, Causal, WithBias, FeedForward<D_MODEL, D_FF, GeluTanh, T>,
        final LayerNorm<D_MODEL, U6>;
}

type Bert22 = TextEncoder<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22>;
type MiniLm = TextEncoder<BertEmbedding<30_522, 384, 512>, Encoder<Bert, 6, 384, 1536, 12>, 384>;
type Gpt<F> = LanguageModel<TextEmbedding<53, 21, 17>, Decoder<F, 2, 21, 84, 3>, 21, 53>;
type Llama24<R, E, H> = LanguageModel<TokenEmbedding<53, 24>, Decoder<Llama<R, E>, 2, 24, 37, 6, f32, 2, 8>, 24, 53, H>;
type Untied = Linear<24, 53, f32, NoBias>;
type NanoSort =
    LanguageModel<TextEmbedding<3, 48, 11>, Decoder<Gpt2, 3, 48, 192, 3>, 48, 3, Linear<48, 3, f32, NoBias>>;
type Kws = Classifier<PatchEmbedding<40, 64, 99>, Encoder<constformer::Kwt, 12, 64, 256, 1>, 64, 12>;
type Stories = LanguageModel<TokenEmbedding<512, 64>, Decoder<Llama, 5, 64, 172, 8, f32, 4, 32>, 64, 512>;

model! {
    /// `nn.Transformer`.
    struct [F: Family] Transformer<F> {
        encoder: Encoder<F, 2, 21, 35, 3>,
        decoder: CrossDecoder<F, 2, 21, 35, 3>,
    }
}

/// A checkpoint to be imported under a name, a call in the program, and what the call gives.
struct Case {
    name: &'static str,
    file: PathBuf,
    call: &'static str,
    expected: Vec<f32>,
    /// Arguments besides `import FILE --out DIR`.
    arguments: Vec<String>,
}

/// The models, and the folder where their checkpoints are.
struct Cases {
    folder: Folder,
    cases: Vec<Case>,
}

impl Cases {
    fn new() -> Self {
        Self { folder: Folder::new("imports"), cases: vec![] }
    }

    /// A checkpoint with its `config.json` in a folder.
    fn add<S: Scheme, M: Parameters>(
        &mut self,
        name: &'static str,
        tensors: &BTreeMap<String, Values>,
        config: &serde_json::Value,
        call: &'static str,
        run: impl Fn(&M) -> Vec<f32>,
    ) {
        let file = self.folder.checkpoint(name, tensors, &config.to_string());
        let mut model = boxed::<M>();
        Checkpoint::open(&file).unwrap().load::<S>(&mut *model).unwrap();
        self.cases.push(Case { name, file, call, expected: run(&model), arguments: vec![] });
    }

    fn transformers(&mut self) {
        let add = "transformers_models.safetensors";
        let of = |name| (tensors(add, name), config(name));
        let with = |name, key: &str, value: serde_json::Value| {
            let mut config = config(name);
            config[key] = value;
            config
        };
        let (bert, says) = of("bert");
        self.add::<HuggingFaceBert, Bert22>("bert", &bert, &says, "text_encoder(bert::MODEL)", run::text_encoder);
        let (mlm, says) = of("bert_mlm");
        self.add::<HuggingFaceBert, Bert22>("mlm", &mlm, &says, "text_encoder(mlm::MODEL)", run::text_encoder);
        let (roberta, says) = of("roberta");
        self.add::<HuggingFaceRoberta, TextEncoder<BertEmbedding<53, 21, 17, 1, U5>, Encoder<Roberta, 2, 21, 35, 3>, 21>>(
            "roberta",
            &roberta,
            &says,
            "text_encoder(roberta::MODEL)",
            run::text_encoder,
        );
        let (gpt2, says) = of("gpt2");
        self.add::<HuggingFaceGpt2, Gpt<Gpt2>>(
            "gpt2",
            &gpt2,
            &says,
            "language_model(gpt2::MODEL)",
            run::language_model,
        );
        let says = with("gpt2", "layer_norm_epsilon", json!(1e-6));
        self.add::<HuggingFaceGpt2, Gpt<CausalEpsilon>>(
            "gpt2_epsilon",
            &gpt2,
            &says,
            "language_model(gpt2_epsilon::MODEL)",
            run::language_model,
        );
        let (llama, says) = of("llama");
        self.add::<HuggingFaceLlama, Llama24<HalfSplit, U5, Untied>>(
            "llama",
            &llama,
            &says,
            "language_model(llama::MODEL)",
            run::language_model,
        );
        let says = with("llama", "rope_parameters", json!({"rope_theta": 500_000.0, "rope_type": "default"}));
        self.add::<HuggingFaceLlama, Llama24<HalfSplit<Prod<U500, U1000>>, U5, Untied>>(
            "llama_theta",
            &llama,
            &says,
            "language_model(llama_theta::MODEL)",
            run::language_model,
        );
        let (tied, says) = of("llama_tied");
        self.add::<HuggingFaceLlama, Llama24<HalfSplit, U6, Tied>>(
            "llama_tied",
            &tied,
            &says,
            "language_model(llama_tied::MODEL)",
            run::language_model,
        );
    }

    fn torch(&mut self) {
        let says = |model_type: &str, layers: &str, (norm_first, activation, last): (bool, &str, bool)| {
            json!({
                "model_type": model_type, "d_model": 21, "nhead": 3, "dim_feedforward": 35, layers: 2,
                "norm_first": norm_first, "activation": activation, "layer_norm_eps": 1e-5,
                "final_norm": last
            })
        };
        let file = "torch_transformer.safetensors";
        let transformer = |kind| {
            let mut config = says("torch_transformer", "num_encoder_layers", kind);
            config["num_decoder_layers"] = json!(2);
            config
        };
        self.add::<TorchTransformer, Transformer<PostGeluNorm>>(
            "post",
            &tensors(file, "transformer_post"),
            &transformer((false, "gelu", true)),
            "transformer(&post::MODEL.encoder, &post::MODEL.decoder)",
            |model| run::transformer(&model.encoder, &model.decoder),
        );
        self.add::<TorchTransformer, Transformer<PreReluNorm>>(
            "pre",
            &tensors(file, "transformer_pre"),
            &transformer((true, "relu", true)),
            "transformer(&pre::MODEL.encoder, &pre::MODEL.decoder)",
            |model| run::transformer(&model.encoder, &model.decoder),
        );
        self.add::<TorchDecoder, CrossDecoder<PostRelu, 2, 21, 35, 3>>(
            "decoder_post",
            &tensors(file, "decoder_post"),
            &says("torch_transformer_decoder", "num_layers", (false, "relu", false)),
            "cross_decoder(decoder_post::MODEL)",
            run::cross_decoder,
        );
        let file = "torch_encoder.safetensors";
        let encoder = |kind| says("torch_transformer_encoder", "num_layers", kind);
        self.add::<TorchEncoder, Encoder<PreGelu, 2, 21, 35, 3>>(
            "pre_gelu",
            &tensors(file, "pre_gelu"),
            &encoder((true, "gelu", true)),
            "layer(pre_gelu::MODEL)",
            run::layer,
        );
        let mut causal = encoder((true, "gelu", true));
        causal["causal"] = json!(true);
        self.add::<TorchEncoder, Encoder<CausalGelu, 2, 21, 35, 3>>(
            "causal",
            &tensors(file, "causal"),
            &causal,
            "layer(causal::MODEL)",
            run::layer,
        );
        let mut unbiased = encoder((true, "gelu", false));
        for (key, value) in
            [("bias", json!(false)), ("d_model", json!(13)), ("dim_feedforward", json!(29)), ("nhead", json!(1))]
        {
            unbiased[key] = value;
        }
        self.add::<TorchEncoder, Encoder<Unbiased, 2, 13, 29, 1>>(
            "unbiased",
            &tensors(file, "no_bias"),
            &unbiased,
            "layer(unbiased::MODEL)",
            run::layer,
        );
    }

    /// What nanoGPT would have written: GPT-2 with matrices `[out, in]`. Its GELU is the other one.
    fn nano_gpt(&mut self) {
        let mut theirs = tensors("transformers_models.safetensors", "gpt2");
        for (name, values) in &mut theirs {
            if let [rows, columns] = values.shape[..]
                && name.contains(".h.")
            {
                values.numbers = (0..rows * columns).map(|i| values.numbers[i % rows * columns + i / rows]).collect();
                values.shape.reverse();
            }
        }
        let says = json!({
            "model_type": "nanogpt", "n_layer": 2, "n_head": 3, "n_embd": 21, "vocab_size": 53, "block_size": 17
        });
        self.add::<NanoGpt, Gpt<CausalGelu>>(
            "nano_gpt",
            &theirs,
            &says,
            "language_model(nano_gpt::MODEL)",
            run::language_model,
        );
    }

    /// minGPT's sorter. Its file lacks biases; `tests/reference/gpt_nano_sort.py` tells how they were found.
    fn nano_sort(&mut self) {
        let Some(file) = real("gpt_nano_sort/gpt_nano_sort.safetensors") else { return };
        let says = self.folder.write("sort.json", NANO_SORT);
        let out = self.folder.0.join("sort");
        let mut tensors = Golden::read(file.to_str().unwrap()).tensors;
        if tensors.keys().all(|name| !name.ends_with("c_attn.bias")) {
            let error = bad(1, &[&"import", &file, &"--config", &says, &"--out", &out]);
            assert!(error.contains("missing: "), "{error}");
            assert_eq!(error.matches("c_attn.bias, for decoder.blocks.").count(), 9, "{error}");
            assert!(!out.exists());
            tensors.extend(Golden::open("gpt_nano_sort_biases.safetensors").tensors);
        }
        let says = serde_json::from_str(NANO_SORT).unwrap();
        self.add::<MinGpt, NanoSort>(
            "nano_sort",
            &tensors,
            &says,
            "language_model(nano_sort::MODEL)",
            run::language_model,
        );
    }

    fn kwt(&mut self) {
        let Some(file) = real("kwt1/kwt1.safetensors") else { return };
        let mut model = boxed::<Kws>();
        Checkpoint::open(&file).unwrap().load::<Kwt1>(&mut *model).unwrap();
        let arguments = vec!["--config".into(), self.folder.write("kwt.json", KWT).to_str().unwrap().into()];
        let expected = run::classifier(&*model);
        self.cases.push(Case { name: "kwt", file, call: "classifier(kwt::MODEL)", expected, arguments });
    }

    fn stories(&mut self) {
        let Some(file) = real("stories260K/stories260K.bin") else { return };
        let mut model = boxed::<Stories>();
        load::llama2c(&fs::read(&file).unwrap(), &mut *model).unwrap();
        let (call, expected) = ("language_model(stories::MODEL)", run::language_model(&*model));
        self.cases.push(Case { name: "stories", file, call, expected, arguments: vec![] });
    }

    fn mini_lm(&mut self) {
        let Some(file) = common::mini_lm() else { return };
        let mut model = boxed::<MiniLm>();
        Checkpoint::open(&file).unwrap().load::<HuggingFaceBert>(&mut *model).unwrap();
        let (call, expected) = ("text_encoder(mini_lm::MODEL)", run::text_encoder(&*model));
        self.cases.push(Case { name: "mini_lm", file, call, expected, arguments: vec![] });
    }
}

/// A package whose dependencies are built once, since it stays in the target folder. It is unoptimised but for the library: to
/// optimise all these models would take most of the time, and change no bit.
fn package() -> PathBuf {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("imported");
    let _ = fs::remove_dir_all(package.join("src")); // what an older run imported
    fs::create_dir_all(package.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"imported\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nconstformer = {{ path = {:?} }}\n\n\
         [profile.dev]\ndebug = false\n\n\
         [profile.dev.package.constformer]\nopt-level = 2\n\n[workspace]\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::write(package.join("src/run.rs"), include_str!("run.rs")).unwrap();
    if !package.join("Cargo.lock").exists() {
        // The versions that are here already.
        let _ = fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"), package.join("Cargo.lock"));
    }
    package
}

/// What the program prints: for each model a line with its name and the bits of its outputs.
fn output(package: &Path) -> String {
    let cargo = |offline: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "--target-dir", "target"]).args(offline).current_dir(package).output().unwrap()
    };
    let mut output = cargo(&["--offline"]);
    if !output.status.success() {
        output = cargo(&[]); // a dependency that was never here
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn is_formatted(module: &Path) {
    for edition in ["2021", "2024"] {
        let mut rustfmt = Command::new("rustfmt");
        rustfmt.args(["--check", "--edition", edition, "--style-edition", edition]);
        // The defaults, and not those of this repository.
        rustfmt.args(["--config", "max_width=100,use_small_heuristics=Default"]).arg(module);
        match rustfmt.output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
            Err(error) => println!("skipped: rustfmt: {error}"),
        }
    }
}

#[test]
fn what_is_imported_compiles_and_runs() {
    let mut all = Cases::new();
    all.transformers();
    all.torch();
    all.nano_gpt();
    all.nano_sort();
    all.kwt();
    all.stories();
    all.mini_lm();
    assert!(all.cases.len() >= 15);

    let package = package();
    let (mut modules, mut calls) = (String::new(), String::new());
    for Case { name, file, call, arguments, .. } in &all.cases {
        let sources = package.join("src");
        let arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = arguments.iter().map(|argument| argument as _).collect();
        let import: [&dyn AsRef<std::ffi::OsStr>; 6] = [&"import", file, &"--out", &sources, &"--name", name];
        let (code, out, err) = constformer(&[&import[..], &arguments].concat());
        assert_eq!((code, err.as_str()), (0, ""), "{name}: every key of these config.json is known");
        assert!(out.contains(&format!("`mod {name};`")), "{out}");
        is_formatted(&sources.join(format!("{name}.rs")));

        let verified = good(&[&"verify", &sources.join(format!("{name}.cfm"))]);
        let is_own = call.starts_with("transformer(");
        assert!(verified.contains("an undamaged image") && verified.contains("all finite") != is_own, "{verified}");
        assert_eq!(verified.contains("The type is none of this library"), is_own, "{verified}");

        writeln!(modules, "mod {name};").unwrap();
        writeln!(calls, "    print({name:?}, &run::{call});").unwrap();
    }
    let program = format!(
        "//! Imported models.\n#![deny(warnings, missing_docs)]\n\n{modules}#[allow(dead_code)] // without the real models\nmod run;\n\n\
         fn print(name: &str, numbers: &[f32]) {{\n    print!(\"{{name}}\");\n    \
         numbers.iter().for_each(|x| print!(\" {{:08x}}\", x.to_bits()));\n    println!();\n}}\n\n\
         fn main() {{\n{calls}}}\n"
    );
    fs::write(package.join("src/main.rs"), program).unwrap();

    let found = output(&package);
    assert_eq!(found.lines().count(), all.cases.len());
    for (line, Case { name, expected, .. }) in found.lines().zip(&all.cases) {
        let bits: Vec<_> = expected.iter().map(|x| format!("{:08x}", x.to_bits())).collect();
        assert!(expected.iter().all(|x| x.is_finite()) && expected.iter().any(|x| *x != expected[0]), "{name}");
        assert!(line == format!("{name} {}", bits.join(" ")), "{name} computes something else:\n{line}\n{expected:?}");
    }
}
