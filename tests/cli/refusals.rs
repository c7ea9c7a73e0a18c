//! What is refused, with which code, and what is left behind: nothing.

use super::{Folder, bad, config, constformer, good, names, safetensors, tensors};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/digits.cfm");

fn checkpoint(folder: &Folder, name: &str) -> PathBuf {
    folder.checkpoint(name, &tensors("transformers_models.safetensors", name), &config(name).to_string())
}

#[test]
fn help_has_examples_and_exit_codes() {
    for command in [&[] as &[&str], &["inspect"], &["import"], &["verify"]] {
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = command.iter().map(|argument| argument as _).collect();
        arguments.push(&"--help");
        let help = good(&arguments);
        assert!(help.contains("Examples:\n  constformer ") && help.contains("\nExit codes:\n"), "{help}");
        for code in ["\n  0  ", "\n  1  ", "\n  2  "] {
            assert!(help.contains(code), "{help}");
        }
    }
    assert!(good(&[&"import", &"--help"]).contains("nanogpt (\"bias\" may be false), mingpt"));
    assert_eq!(good(&[&"--version"]), format!("constformer {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn commands_that_are_not_understood() {
    let folder = Folder::new("usage");
    let (bert, out) = (checkpoint(&folder, "bert"), folder.0.join("out"));
    let bare =
        folder.write("bare/weights.safetensors", safetensors(&tensors("transformers_models.safetensors", "bert")));
    bad(2, &[]);
    bad(2, &[&"frobnicate"]);
    bad(2, &[&"verify"]);
    bad(2, &[&"import", &bert]);
    for tokens in ["0", "x", "131073", "1,,2"] {
        assert!(bad(2, &[&"inspect", &bert, &"--tokens", &tokens]).contains("--tokens"));
    }
    assert!(bad(2, &[&"inspect", &bert, &"--tile", &"0"]).contains("--tile"));
    for name in ["", "1st", "a b", "Bert", "fn", "self", "_", "a-b", "../a", "lib"] {
        let error = bad(2, &[&"import", &bert, &"--out", &out, &"--name", &name]);
        assert!(error.contains(&format!("such as `my_model`, found `{name}`")), "{error}");
    }
    assert!(bad(2, &[&"import", &DIGITS, &"--out", &out]).contains("a checkpoint expected, found an image"));
    assert!(bad(2, &[&"inspect", &DIGITS, &"--config", &DIGITS]).contains("--config is for safetensors"));
    let error = bad(2, &[&"import", &bare, &"--out", &out]);
    assert!(error.contains("expected beside it or by --config, found none"), "{error}");
    assert!(!out.exists());
}

#[test]
fn files_that_are_not_good() {
    let folder = Folder::new("files");
    let out = folder.0.join("out");
    let absent = folder.0.join("absent");
    for command in ["inspect", "verify"] {
        assert!(bad(1, &[&command, &absent]).starts_with(&format!("error: {}: ", absent.display())));
    }
    for (name, bytes, expected) in [
        ("cut.safetensors", &b"\x10\0\0\0\0\0\0\0{}"[..], "not a safetensors file, or damaged"),
        ("empty.safetensors", b"", "not a safetensors file, or damaged"),
        ("pytorch_model.bin", b"PK\x03\x04rest", "found a pickle of PyTorch"),
        ("old.pt", b"\x80\x02rest", "found a pickle of PyTorch"),
        ("cut.bin", b"\x01\0\0\0", "not a llama2.c checkpoint, or damaged: 28 bytes expected, found 4"),
        ("cut.cfm", b"\x89CFM", "not an image of a model: the first bytes are not those of one"),
        ("index.json", b"{}", "`weight_map`"),
    ] {
        let file = folder.write(name, bytes);
        let error = bad(1, &[&"inspect", &file]);
        assert!(error.contains(expected) && error.contains(name), "{error}");
        if !name.ends_with("cfm") {
            assert!(bad(1, &[&"import", &file, &"--out", &out]).contains(expected));
        }
    }
    assert!(!out.exists());
}

/// What no type says is an error, with all of it at once.
#[test]
fn configs_of_no_type() {
    let folder = Folder::new("configs");
    let out = folder.0.join("out");
    let error_of = |case: &str, changes: &[(&str, Value)]| {
        let mut says = config(case);
        changes.iter().for_each(|(key, value)| says[*key] = value.clone());
        checkpoint(&folder, case);
        let says = folder.write(&format!("{case}/config.json"), says.to_string());
        let error = bad(1, &[&"import", &folder.0.join(case), &"--out", &out]);
        assert!(!out.exists());
        assert!(error.starts_with(&format!("error: {}", folder.0.join(case).display())), "{error} {says:?}");
        error.lines().skip(1).map(|line| line.trim().to_string()).collect::<Vec<_>>().join("\n")
    };
    let scaling = json!({"rope_type": "llama3", "factor": 8.0});
    for (case, key, value, expected) in [
        ("bert", "hidden_act", json!("tanh"), "hidden_act: relu, gelu, gelu_new or silu expected, found \"tanh\""),
        ("bert", "layer_norm_eps", json!(3e-6), "layer_norm_eps: a power of ten, 1e-16 to 1 expected, found 3e-6"),
        ("bert", "is_decoder", json!(true), "is_decoder: false expected, found true"),
        ("bert", "add_cross_attention", json!(true), "add_cross_attention: false expected, found true"),
        (
            "bert",
            "position_embedding_type",
            json!("relative_key"),
            "position_embedding_type: absolute expected, found relative_key",
        ),
        ("bert", "hidden_size", json!(-22), "hidden_size: a number above 0 expected, found -22"),
        ("bert", "vocab_size", json!(null), "vocab_size: a number above 0 expected, found null"),
        ("gpt2", "scale_attn_weights", json!(false), "scale_attn_weights: true expected, found false"),
        (
            "gpt2",
            "scale_attn_by_inverse_layer_idx",
            json!(true),
            "scale_attn_by_inverse_layer_idx: false expected, found true",
        ),
        ("llama", "hidden_act", json!("gelu"), "hidden_act: silu expected, found \"gelu\""),
        ("llama", "attention_bias", json!(true), "attention_bias: false expected, found true"),
        ("llama", "mlp_bias", json!(true), "mlp_bias: false expected, found true"),
        ("llama", "head_dim", json!(8), "head_dim: 4 expected, found 8"),
        ("llama", "rope_scaling", scaling, "rope_type: default expected, found llama3"),
        (
            "llama",
            "rope_theta",
            json!(12345.5),
            "rope_theta: a whole number of at most four digits and zeros expected, found 12345.5",
        ),
    ] {
        assert_eq!(error_of(case, &[(key, value)]), expected);
    }
    let all = error_of("bert", &[("hidden_act", json!("x")), ("num_hidden_layers", json!(0))]);
    assert_eq!(
        all.lines().map(|line| line.split(':').next().unwrap()).collect::<Vec<_>>(),
        ["hidden_act", "num_hidden_layers"]
    );

    // The type can be, but the file is not of it.
    let faults = error_of("bert", &[("num_hidden_layers", json!(3)), ("intermediate_size", json!(41))]);
    assert!(faults.contains("missing: encoder.layer.2.attention.self.query.weight, for encoder.blocks.2."), "{faults}");
    assert!(faults.contains("shape: encoder.layer.1.intermediate.dense.weight: [41, 22] expected for"), "{faults}");
    let faults = error_of("llama", &[("tie_word_embeddings", json!(true))]);
    assert_eq!(
        faults,
        "not tied: lm_head.weight differs from model.embed_tokens.weight, but the model has one matrix for both"
    );

    // No type can be so.
    let says = folder.write("heads.json", {
        let mut says = config("bert");
        says["num_attention_heads"] = json!(4);
        says.to_string()
    });
    let error = bad(1, &[&"import", &checkpoint(&folder, "bert"), &"--out", &out, &"--config", &says]);
    assert!(error.ends_with("4 heads do not divide a model width (`D_MODEL`) of 22\n"), "{error}");
    for text in ["", "[]", "{\"model_type\": 7}", "{}", "{\"model_type\": \"llama4\"}"] {
        let says = folder.write("other.json", text);
        bad(1, &[&"import", &folder.0.join("bert"), &"--out", &out, &"--config", &says]);
        bad(1, &[&"inspect", &folder.0.join("bert"), &"--config", &says]);
    }
    assert!(!out.exists());
}

#[test]
fn what_is_there_stays_but_by_force() {
    let folder = Folder::new("force");
    let (bert, out) = (checkpoint(&folder, "bert"), folder.0.join("out"));
    let import = |more: &[&str]| {
        let more = more.iter().map(|argument| argument as &dyn AsRef<std::ffi::OsStr>);
        let import: [&dyn AsRef<std::ffi::OsStr>; 4] = [&"import", &bert, &"--out", &out];
        constformer(&import.into_iter().chain(more).collect::<Vec<_>>())
    };
    assert_eq!(import(&[]).0, 0);
    assert_eq!(names(&out), ["bert.cfm", "bert.rs"]);
    let [image, module] = ["bert.cfm", "bert.rs"].map(|name| fs::read(out.join(name)).unwrap());

    fs::write(out.join("bert.cfm"), "mine").unwrap();
    let (code, said, error) = import(&[]);
    assert_eq!((code, said.as_str()), (1, ""));
    assert!(error.contains("bert.cfm: is there already: replace it with --force"), "{error}");
    fs::remove_file(out.join("bert.cfm")).unwrap();
    assert!(import(&[]).2.contains("bert.rs: is there already"), "one of them is enough");
    assert_eq!(names(&out), ["bert.rs"]);

    fs::write(out.join("bert.rs"), "mine").unwrap();
    assert_eq!(import(&["--force"]).0, 0);
    assert_eq!(names(&out), ["bert.cfm", "bert.rs"]);
    assert!(fs::read(out.join("bert.cfm")).unwrap() == image && fs::read(out.join("bert.rs")).unwrap() == module);

    // By another name.
    assert_eq!(import(&["--name", "other"]).0, 0);
    assert_eq!(names(&out), ["bert.cfm", "bert.rs", "other.cfm", "other.rs"]);
}

#[test]
fn nothing_is_left_of_what_fails() {
    let folder = Folder::new("left");
    let bert = checkpoint(&folder, "bert");

    // A folder where the module should be: the image is written, and goes again.
    let out = folder.0.join("out");
    fs::create_dir_all(out.join("bert.rs")).unwrap();
    let error = bad(1, &[&"import", &bert, &"--out", &out, &"--force"]);
    assert!(error.contains("bert.rs: "), "{error}");
    assert_eq!(names(&out), ["bert.rs"]);

    // A file where the folder should be.
    let file = folder.write("file", "mine");
    assert!(bad(1, &[&"import", &bert, &"--out", &file]).contains("file"));
    assert_eq!(fs::read(file).unwrap(), b"mine");

    // A checkpoint that does not fit, into a folder that is not there.
    let out = folder.0.join("new");
    let mut broken = tensors("transformers_models.safetensors", "bert");
    broken.get_mut("encoder.layer.1.output.dense.bias").unwrap().numbers[3] = f64::NAN;
    let broken = folder.checkpoint("broken", &broken, &config("bert").to_string());
    let error = bad(1, &[&"import", &broken, &"--out", &out]);
    assert!(error.contains("not finite: encoder.layer.1.output.dense.bias: NaN at place 3"), "{error}");
    assert!(!out.exists());
}

/// Names of modules after those of files.
#[test]
fn names_of_modules() {
    let folder = Folder::new("names");
    let bytes = safetensors(&tensors("transformers_models.safetensors", "bert"));
    let says = folder.write("config.json", config("bert").to_string());
    for (file, name) in [
        ("Mini-LM.L6/model.safetensors", "mini_lm_l6"),
        ("x/My Bert.safetensors", "my_bert"),
        ("x/7b.safetensors", "model_7b"),
        ("x/loop.safetensors", "model_loop"),
    ] {
        let file = folder.write(file, &bytes);
        let out = folder.0.join(format!("out_{name}"));
        good(&[&"import", &file, &"--config", &says, &"--out", &out]);
        assert_eq!(names(&out), [format!("{name}.cfm"), format!("{name}.rs")]);
    }
}
