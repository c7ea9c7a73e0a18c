//! The law kit catches the faulty blocks of `examples/law_kit`, passes what the library has, and is documented.

#[path = "../examples/law_kit/epsilon_outside.rs"]
mod epsilon_outside;
#[path = "../examples/law_kit/leak.rs"]
mod leak;
#[path = "../examples/law_kit/no_residual.rs"]
mod no_residual;

use constformer::{
    laws::{Counterexample, STATEMENTS, check, models, search},
    *,
};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use std::{collections::BTreeSet, fs, panic, path::Path};
use typenum::{U1, U5};

/// Which law was broken, with how many tokens and parameters.
fn size(found: Option<Counterexample>) -> (&'static str, usize, usize) {
    let found = found.expect("a counterexample");
    let words = found.inputs.split([' ', '\n']);
    let parameters = found.inputs.split_once("parameters: gains 1, all others 0").expect("plain parameters").1;
    let tokens = words.clone().next().and_then(|count| count.parse().ok()).expect("tokens come first");
    (found.law, tokens, parameters.matches(" = ").count())
}

#[test]
fn faults_are_caught() {
    assert_eq!(size(search::block::<epsilon_outside::Block, 6, 5>()), ("layer_norm::moments", 1, 0));
    assert_eq!(size(search::block::<no_residual::NoResidual, 6, 5>()), ("residual::zero_branches", 1, 0));
    assert_eq!(size(search::block::<leak::Leak, 6, 5>()), ("attention::prefix", 2, 2)); // a weight of the value, and one of the output
}

#[test]
fn the_leak_mended_passes() {
    check::block::<leak::Ahead<0>, 6, 5>();
}

/// The test of a user fails, and says why.
#[test]
fn a_check_panics_with_the_counterexample() {
    let panic = panic::catch_unwind(check::block::<leak::Leak, 6, 5>).expect_err("it leaks");
    let text = panic.downcast_ref::<String>().expect("a text");
    for part in
        ["Ahead<1>", "attention::prefix", "no token sees a later one", "token 1: feature", "attention.value.weight[row"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn every_check_catches_something() {
    let epsilon = LayerNorm::<6>::EPSILON;
    let caught = [
        search::causal::<EncoderBlock<Bert, 6, 10, 2>, 6, 5>(),
        search::bidirectional::<EncoderBlock<Gpt2, 6, 10, 2>, 6, 5>(),
        search::layer_norm::<RmsNorm<6, U5>, 6>(epsilon),
        search::layer_norm::<LayerNorm<6, U1>, 6>(epsilon),
        search::rms_norm::<RmsNorm<6, U1>, 6>(epsilon),
        search::rms_norm::<NoNorm, 6>(epsilon),
        search::gate::<Identity>(),
        search::softmax(|x: &mut [f32]| x.fill(1.0 / x.len() as f32)),
    ];
    let laws = caught.map(|found| found.map(|found| found.law));
    assert_eq!(
        laws,
        [
            "attention::prefix",
            "attention::permutation",
            "layer_norm::moments",
            "layer_norm::moments",
            "rms_norm::mean_square",
            "norm::bounded",
            "activation::reflection",
            "softmax::distribution"
        ]
        .map(Some)
    );
}

/// Of 2·7·7 numbers that a model has, one is left, and it is 1.
#[test]
fn parameters_shrink() {
    let outcome = TestRunner::deterministic().run(&models::<[Linear<7, 7>; 2]>(), |model| {
        let mut greatest = 0.0_f32;
        model[1].for_each_tensor(|_, tensor| greatest = tensor.row_major().fold(greatest, f32::max));
        if greatest > 0.3 { Err(TestCaseError::fail("it is great")) } else { Ok(()) }
    });
    let Err(TestError::Fail(_, model)) = outcome else { panic!("{outcome:?}") };
    let mut nonzero = vec![];
    model.for_each_tensor(|name, tensor| {
        nonzero.extend(tensor.row_major().filter(|x| *x != 0.0).map(|x| (name.to_string(), x)));
    });
    assert_eq!(nonzero, [("1.weight".to_string(), 1.0)], "{model:?}");
    assert_eq!(format!("{model:?}").matches("1.weight[row").count(), 1);
}

/// Without shrinking, the parameters are told by their seed.
#[test]
fn a_seed_is_enough() {
    let config = Config { max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&models::<Linear<3, 2>>(), |_| Err(TestCaseError::fail("always")));
    let Err(TestError::Fail(_, random)) = outcome else { panic!("{outcome:?}") };
    let text = format!("{random:?}");
    let seed = text.strip_prefix("parameters: laws::model(0x").and_then(|text| text.strip_suffix(')'));
    let again = laws::model::<Linear<3, 2>>(u64::from_str_radix(seed.expect("a seed"), 16).expect("a number"));
    assert_eq!(again.bias, random.bias);
}

macro_rules! families {
    ($($name:ident: $family:ty, $d_model:literal, $heads:literal;)*) => { $(
        #[test]
        fn $name() {
            check::family::<$family, $d_model, 10, $heads, 7>();
        }
    )* };
}

families! {
    vaswani: Vaswani, 15, 5;
    bert: Bert, 15, 5;
    gpt2: Gpt2, 15, 5;
    llama: Llama, 12, 3;
    vit: Vit, 15, 5;
    kwt: Kwt, 15, 3;
}

#[test]
fn decoders() {
    check::block::<DecoderBlock<Llama, 12, 10, 6, f32, 2, 4>, 12, 7>();
    check::block::<Decoder<Gpt2, 2, 15, 10, 5>, 15, 7>();
}

#[test]
fn formats() {
    check::block::<EncoderBlock<Bert, 15, 10, 5, Int8>, 15, 7>();
    check::block::<EncoderBlock<Gpt2, 15, 10, 5, Int8Stream<Int8Cache<Int4>>>, 15, 7>();
}

#[test]
fn functions() {
    check::gate::<Relu>();
    check::gate::<Gelu>();
    check::gate::<GeluTanh>();
    check::gate::<Silu>();
    check::activation::<Identity>();
    check::softmax(math::softmax);
}

#[test]
fn images() {
    check::image::<Classifier<PatchEmbedding<4, 6, 5>, Encoder<Vit, 1, 6, 10, 2>, 6, 3>>();
    check::image::<EncoderBlock<Kwt, 15, 10, 3, Int8>>();
    check::image::<EncoderBlock<Kwt, 15, 10, 3, Int4>>();
    check::image::<no_residual::NoResidual>();
}

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &str) -> Vec<(String, String)> {
    let all = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("the sources are there");
    let names = all.map(|file| file.expect("a file").file_name().into_string().expect("a name in UTF-8"));
    let modules = names.filter_map(|name| name.strip_suffix(".rs").map(str::to_string));
    modules.map(|module| (module.clone(), text(&format!("{folder}/{module}.rs")))).collect()
}

/// What is a `pub fn` that returns a `Law` in `src/laws`.
fn laws_in_the_source() -> BTreeSet<String> {
    let mut laws = BTreeSet::new();
    for (module, source) in files("src/laws") {
        for function in source.split("\npub fn ").skip(1) {
            let signature = function.split_once('{').map_or(function, |(signature, _)| signature);
            if signature.contains("-> Law") {
                let name = signature.split(['<', '(']).next().unwrap_or_default();
                laws.insert(format!("{module}::{name}"));
            }
        }
    }
    laws
}

#[test]
fn every_law_is_stated_checked_and_documented() {
    let stated: BTreeSet<_> = STATEMENTS.iter().map(|statement| statement.law.to_string()).collect();
    assert_eq!(stated, laws_in_the_source());

    let checks: String = files("src/laws/search").into_iter().map(|(_, source)| source).collect();
    let checks = checks + &text("src/laws/member.rs");
    let document = text("docs/property-testing.md");
    for statement in STATEMENTS {
        let (module, _) = statement.law.split_once("::").expect("a module and a function");
        assert!(checks.contains(&format!("\"{}\"", statement.law)), "no check asks {}", statement.law);
        let row =
            format!("| [`{}`](../src/laws/{module}.rs) | {} |", statement.law, statement.formula.replace('|', "\\|"));
        assert!(document.contains(&row), "docs/property-testing.md lacks the row {row}");
    }
}

/// What the document shows is what the kit says.
#[test]
fn the_counterexample_in_the_document() {
    let found = search::block::<leak::Leak, 6, 5>().expect("a counterexample");
    let document = text("docs/property-testing.md");
    // The digits of what is found depend on the instruction set.
    for line in found.to_string().lines().filter(|line| !line.starts_with("found:")) {
        assert!(document.contains(line), "docs/property-testing.md lacks {line}");
    }
}
