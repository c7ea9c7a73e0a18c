//! `constformer inspect`

use super::{Folder, KWT, config, constformer, good, real, tensors};
use constformer::*;

fn grouped(n: u64) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1000), n % 1000) }
}

/// A line of the table, by the constants of the type.
macro_rules! row {
    ($model:ty, $len:literal, $tile:expr) => {{
        type P = Plan<$model, $len, { $tile }>;
        [$len.to_string(), ($tile).to_string(), grouped(P::RAM as u64), grouped(P::MACS), grouped(P::MACS / $len)]
    }};
}

/// The rows of the table of costs.
fn rows(said: &str) -> Vec<Vec<&str>> {
    let (_, table) = said.split_once("\n\n").unwrap();
    let mut lines = table.lines();
    let titles: Vec<_> = lines.next().unwrap().split("  ").filter(|title| !title.is_empty()).map(str::trim).collect();
    let all = ["tokens", "tile", "working memory, bytes", "with a cache, bytes", "multiply-adds", "a token"];
    let has_cache = titles.len() == all.len();
    assert!(titles.iter().eq(all.iter().filter(|title| has_cache || !title.starts_with("with"))), "{said}");
    let shown = |column: usize| !has_cache || column != 3;
    let cells = lines.map(|line| line.split_whitespace().enumerate());
    cells.map(|cells| cells.filter(|(i, _)| shown(*i)).map(|(_, cell)| cell).collect()).collect()
}

/// The column of models that can go on where they stopped.
fn with_cache(said: &str) -> Vec<&str> {
    let (_, table) = said.split_once("with a cache, bytes").unwrap();
    table.lines().skip(1).map(|line| line.split_whitespace().nth(3).unwrap()).collect()
}

/// The constants of the type are those that are printed.
fn check<M: Parameters>(said: &str) {
    for line in [
        format!("fingerprint  {}", M::FINGERPRINT),
        format!("parameters   {}", grouped(M::COUNT as u64)),
        format!("flash        {} bytes", grouped(size_of::<M>() as u64)),
    ] {
        assert!(said.lines().any(|found| found == line), "{line} expected, found\n{said}");
    }
}

#[test]
fn an_image() {
    type Digits = Classifier<PatchEmbedding<4, 32, 17>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>;

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/digits.cfm");
    let said = good(&[&"inspect", &path, &"--tokens", &"3,17,18", &"--tile", &"4"]);
    assert!(said.starts_with(&format!("{path}: an image\n")), "{said}");
    check::<Digits>(&said);
    let found = rows(&said);
    assert_eq!(found[..2], [row!(Digits, 3, 4), row!(Digits, 17, 4)]);
    assert_eq!(found[2].join(" "), "18 4 there are 17 positions");
    assert_eq!(found[1][2], "9,380", "as the README has it");

    // Without being asked: as far as there are positions.
    let said = good(&[&"inspect", &path]);
    assert_eq!(rows(&said), [row!(Digits, 16, TILE), row!(Digits, 17, TILE)]);
}

#[test]
fn checkpoints_with_their_config() {
    type Grouped = Decoder<Llama<HalfSplit>, 2, 24, 37, 6, f32, 2, 8>;
    type Tiny = LanguageModel<TokenEmbedding<53, 24>, Grouped, 24, 53, Linear<24, 53, f32, NoBias>>;

    let folder = Folder::new("inspect");
    let llama = tensors("transformers_models.safetensors", "llama");
    let checkpoint = folder.checkpoint("llama", &llama, &config("llama").to_string());
    for file in [&checkpoint, &checkpoint.join("model.safetensors")] {
        let said = good(&[&"inspect", file]);
        let line = "type         LanguageModel<TokenEmbedding<53, 24>, Decoder<Llama<HalfSplit>, 2, 24, 37, 6, f32, 2, 8>, 24, 53, \
                    Linear<24, 53, f32, NoBias>>";
        assert_eq!(said.lines().nth(1), Some(line));
        check::<Tiny>(&said);
        assert_eq!(rows(&said), [row!(Tiny, 16, TILE), row!(Tiny, 128, TILE), row!(Tiny, 512, TILE)]);
        let sizes = [
            size_of::<CachedMemory<Tiny, 16>>(),
            size_of::<CachedMemory<Tiny, 128>>(),
            size_of::<CachedMemory<Tiny, 512>>(),
        ];
        assert_eq!(with_cache(&said), sizes.map(|n| grouped(n as u64)));
    }

    // Without a config: the tensors.
    std::fs::remove_file(checkpoint.join("config.json")).unwrap();
    let said = good(&[&"inspect", &checkpoint]);
    let lines: Vec<Vec<_>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(lines.contains(&vec!["lm_head.weight", "F32", "[53,", "24]", "1,272"]), "{said}");
    assert!(lines.contains(&vec!["total", &grouped(Tiny::COUNT as u64)]), "{said}");
    assert!(said.contains(&format!("safetensors, {} tensors\n", llama.len())) && said.contains("--config"), "{said}");

    // With one that is of no type here: why, and the tensors.
    folder.write("llama/config.json", r#"{"model_type": "t5"}"#);
    let said = good(&[&"inspect", &checkpoint]);
    assert!(said.contains("lm_head.weight"), "{said}");
    assert!(said.contains("model_type: bert, ") && said.contains("found \"t5\""), "{said}");
}

#[test]
fn unknown_keys_are_named() {
    let folder = Folder::new("keys");
    let mut says = config("bert");
    says["frobnicate"] = true.into();
    let bert = folder.checkpoint("bert", &tensors("transformers_models.safetensors", "bert"), &says.to_string());
    let (code, out, err) = constformer(&[&"inspect", &bert]);
    assert!(code == 0 && out.contains("type         TextEncoder<"), "{out}");
    assert_eq!(err, "note: config.json also says, and it was not looked at: frobnicate\n");
}

/// What sentence-transformers says of a model.
#[test]
fn poolings() {
    let folder = Folder::new("poolings");
    let weights = tensors("transformers_models.safetensors", "bert");
    let bert = folder.checkpoint("bert", &weights, &config("bert").to_string());
    let of = |says: &str| {
        folder.write("bert/1_Pooling/config.json", says);
        constformer(&[&"inspect", &bert, &"--config", &bert.join("config.json")])
    };
    let mean = r#"{"word_embedding_dimension": 22, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}"#;
    let (_, out, _) = of(mean);
    assert!(out.contains(", Encoder<Bert, 2, 22, 37, 2>, 22>\n"), "{out}");
    let first = mean.replace("false", "x").replace("true", "false").replace('x', "true");
    let (_, out, _) = of(&first);
    check::<TextEncoder<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22, FirstToken>>(&out);
    for says in [mean.replace("false", "true"), mean.replace("mean", "max"), "{}".into(), "[]".into()] {
        assert_eq!(of(&says).0, 1, "{says}");
    }
    let (_, _, error) = of(&mean.replace("mean", "max"));
    let line = "1_Pooling/config.json: pooling_mode_mean_tokens or pooling_mode_cls_token expected, found pooling_mode_max_tokens: true";
    assert!(error.contains(line), "{error}");
}

#[test]
fn real_models() {
    type Kws = Classifier<PatchEmbedding<40, 64, 99>, Encoder<Kwt, 12, 64, 256, 1>, 64, 12>;
    type Stories = LanguageModel<TokenEmbedding<512, 64>, Decoder<Llama, 5, 64, 172, 8, f32, 4, 32>, 64, 512>;

    let folder = Folder::new("real");
    if let Some(kwt) = real("kwt1/kwt1.safetensors") {
        let says = folder.write("kwt.json", KWT);
        let said = good(&[&"inspect", &kwt, &"--config", &says, &"--tokens", &"99", &"--tile", &"4"]);
        check::<Kws>(&said);
        assert_eq!(rows(&said), [row!(Kws, 99, 4)]);
    }
    if let Some(stories) = real("stories260K/stories260K.bin") {
        let said = good(&[&"inspect", &stories, &"--tokens", &"1,200", &"--tile", &"1"]);
        check::<Stories>(&said);
        assert_eq!(rows(&said), [row!(Stories, 1, 1), row!(Stories, 200, 1)]);
    }
}
