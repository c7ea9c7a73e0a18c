//! Sampling against Hugging Face's processors, against a reference that sorts, and by its frequencies.

mod common;

use common::golden::Golden;
use constformer::{
    Empty, UnknownToken,
    sampling::{Sampler, SamplingError, SettingError, argmax, rand_core::TryRng},
};
use proptest::{prelude::*, test_runner::RngSeed};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::convert::Infallible;

const MASKED: f32 = f32::NEG_INFINITY;

fn seeded(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// A generator that gives the same number always.
struct Always(u64);

impl TryRng for Always {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0 as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0 as u8);
        Ok(())
    }
}

/// The probabilities that a sampler draws with.
fn probabilities(sampler: Sampler, logits: &[f32], seen: &[u32]) -> Vec<f32> {
    let mut p = logits.to_vec();
    sampler.probabilities(&mut p, seen).unwrap();
    p
}

/// Settings as numbers: temperature, top-k (0 for none), top-p, repetition penalty.
fn sampler([temperature, top_k, top_p, penalty]: [f32; 4]) -> Sampler {
    let sampler = Sampler::new().temperature(temperature).unwrap().top_p(top_p).unwrap();
    let sampler = if top_k == 0.0 { sampler } else { sampler.top_k(top_k as usize).unwrap() };
    sampler.repetition_penalty(penalty).unwrap()
}

/// The same tokens are kept, and they are as probable to 1e-6 and `rounding`.
fn assert_same(found: &[f32], expected: impl IntoIterator<Item = f64>, rounding: f64, of: &str) {
    for (id, (found, expected)) in found.iter().zip(expected).enumerate() {
        let found = f64::from(*found);
        // Of what is less probable than 2⁻³¹, nothing is left.
        let same = (found > 0.0) == (expected > 0.0) || expected < 1e-9;
        assert!(same && (found - expected).abs() < 1e-6 + rounding, "{of}: token {id} has {found} and not {expected}");
    }
}

#[test]
fn hugging_face_keeps_the_same_tokens() {
    let mut golden = Golden::open("transformers_sampling.safetensors");
    let [settings, logits, seen, expected] =
        ["settings", "logits", "seen", "probabilities"].map(|name| golden.take(name));
    let (settings, logits) = (settings.rows::<4>(), logits.rows::<61>());
    let (seen, expected) = (seen.rows::<13>(), expected.rows::<61>());
    assert!(settings.len() == 150 && golden.tensors.is_empty());
    for (case, settings) in settings.into_iter().enumerate() {
        let found = probabilities(sampler(settings), &logits[case], &seen[case].map(|id| id as u32));
        assert_same(&found, expected[case].map(f64::from), 0.0, &format!("case {case} with {settings:?}"));
    }
}

/// Hugging Face's definition, in `f64` and with a stable sort. `None` if a sum is so near to the end of the nucleus that
/// rounding decides.
fn reference(logits: &[f32], seen: &[u32], [temperature, top_k, top_p, penalty]: [f64; 4]) -> Option<Vec<f64>> {
    let mut x: Vec<f64> = logits.iter().map(|x| f64::from(*x)).collect();
    for (id, x) in (0..).zip(&mut x) {
        if seen.contains(&id) {
            *x = if *x < 0.0 { *x * penalty } else { *x / penalty };
        }
        *x /= temperature;
    }
    let mut ascending: Vec<usize> = (0..x.len()).collect();
    ascending.sort_by(|a, b| x[*a].partial_cmp(&x[*b]).unwrap());
    if top_k > 0.0 {
        let kth = x[ascending[x.len().saturating_sub(top_k as usize)]];
        x.iter_mut().filter(|x| **x < kth).for_each(|x| *x = f64::NEG_INFINITY);
    }
    let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut p: Vec<f64> = x.iter().map(|x| (x - max).exp()).collect();
    let total: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= total);
    if top_p < 1.0 {
        let mut sum = 0.0;
        for id in &ascending[..x.len() - 1] {
            sum += p[*id];
            if (sum - (1.0 - top_p)).abs() < 1e-6 {
                return None;
            }
            if sum <= 1.0 - top_p {
                p[*id] = 0.0;
            }
        }
        let total: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= total);
    }
    Some(p)
}

/// Logits of which many are equal, some masked, one at least not.
fn logits() -> impl Strategy<Value = Vec<f32>> {
    let logit = prop_oneof![4 => (-20..20i8).prop_map(|x| f32::from(x) / 4.0), 3 => -9.0..9.0f32, 1 => Just(MASKED)];
    prop::collection::vec(logit, 1..80).prop_filter("all masked", |x| x.iter().any(|x| *x > MASKED))
}

proptest! {
    // The same cases every time: there are some, very rare, in which rounding decides what is kept.
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn as_a_reference_that_sorts(
        logits in logits(),
        seen in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        temperature in prop_oneof![Just(1.0f32), 0.05..5.0f32],
        top_k in 0..90usize,
        top_p in prop_oneof![Just(1.0f32), 0.001..1.0f32],
        penalty in prop_oneof![Just(1.0f32), 0.5..3.0f32],
        random: u64,
    ) {
        let seen: Vec<u32> = seen.iter().map(|i| i.index(logits.len()) as u32).collect();
        let settings = [temperature, top_k as f32, top_p, penalty];
        let found = probabilities(sampler(settings), &logits, &seen);
        if let Some(expected) = reference(&logits, &seen, settings.map(f64::from)) {
            // A logit is rounded when it is penalised, and what was rounded is divided by the temperature.
            let largest = logits.iter().filter(|x| **x > MASKED).fold(0.0, |largest: f64, x| largest.max(x.abs().into()));
            let penalised = largest * f64::from(penalty.max(1.0 / penalty));
            let rounding = penalised * f64::from(f32::EPSILON) / f64::from(temperature);
            assert_same(&found, expected, rounding, "a random case");
        }
        prop_assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        // What is drawn is what has a probability, at the ends of the generator too.
        for random in [0, random, u64::MAX] {
            let id = sampler(settings).sample(&mut logits.clone(), &seen, &mut Always(random)).unwrap();
            prop_assert!(found[id as usize] > 0.0);
        }
    }

    /// Whatever the logits are: an error and all of them as before, or a token that is not masked.
    #[test]
    fn any_logits(
        logits in prop::collection::vec(any::<u32>().prop_map(f32::from_bits), 0..40),
        seen in prop::collection::vec(0..44u32, 0..9),
        temperature in any::<f32>(),
        top_k: usize,
        top_p in any::<f32>(),
        penalty in any::<f32>(),
        random: u64,
    ) {
        let settings = Sampler::new().temperature(temperature).and_then(|s| s.top_k(top_k % 50));
        let Ok(sampler) = settings.and_then(|s| s.top_p(top_p)).and_then(|s| s.repetition_penalty(penalty)) else {
            return Ok(());
        };
        let mut x = logits.clone();
        match sampler.sample(&mut x, &seen, &mut Always(random)) {
            Ok(id) => prop_assert!(logits[id as usize] > MASKED && x.iter().all(|x| (0.0..=1.0).contains(x))),
            Err(_) => prop_assert!(x.iter().zip(&logits).all(|(a, b)| a.to_bits() == b.to_bits())),
        }
    }
}

/// Pearson's χ² of 200,000 draws, with 1 in 1,000 as the limit.
#[test]
fn frequencies_are_the_probabilities() {
    let logits = [1.5, -0.5, 0.25, MASKED, 2.0, -3.0, 1.5, 0.0, -1.0];
    let plain = Sampler::new();
    for (sampler, kept, limit) in [
        (plain, 8, 24.32),                                                    // 7 degrees of freedom
        (plain.temperature(2.5).unwrap(), 8, 24.32),                          // 7
        (plain.top_k(3).unwrap(), 3, 13.82),                                  // 2
        (plain.top_p(0.9).unwrap(), 5, 18.47),                                // 4
        (plain.repetition_penalty(2.0).unwrap().top_k(4).unwrap(), 4, 16.27), // 3
    ] {
        const DRAWS: usize = 200_000;
        let seen = [4, 4, 1];
        let p = probabilities(sampler, &logits, &seen);
        assert_eq!(p.iter().filter(|p| **p > 0.0).count(), kept);
        let mut rng = seeded(7);
        let mut counts = [0; 9];
        for _ in 0..DRAWS {
            counts[sampler.sample(&mut logits.clone(), &seen, &mut rng).unwrap() as usize] += 1;
        }
        let mut chi_squared = 0.0;
        for (p, count) in p.iter().zip(counts) {
            let expected = f64::from(*p) * DRAWS as f64;
            if *p > 0.0 {
                chi_squared += (f64::from(count) - expected).powi(2) / expected;
            } else {
                assert_eq!(count, 0);
            }
        }
        println!("{sampler:?}: χ² = {chi_squared:.2}, limit {limit}");
        assert!(chi_squared < limit);
    }
}

/// The same on all machines: these ids were written down once.
#[test]
fn a_seed_makes_a_text_again() {
    let text = |seed| {
        let mut rng = seeded(seed);
        let sampler = Sampler::new().temperature(0.8).unwrap().top_p(0.95).unwrap();
        let draw = |_| {
            let mut logits: [f32; 50] = std::array::from_fn(|i| (i * i % 17) as f32 / 4.0);
            sampler.sample(&mut logits, &[], &mut rng).unwrap()
        };
        (0..12).map(draw).collect::<Vec<_>>()
    };
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
    assert_eq!(text(1), TEXT_1);
}

const TEXT_1: [u32; 12] = [42, 41, 7, 41, 9, 30, 47, 26, 7, 7, 47, 21];

#[test]
fn greedy_is_the_limit_of_temperature() {
    let logits = [0.25, 3.0, -1.0, 2.999_999_8, MASKED, 3.0 - 1e-3];
    let greedy = Sampler::greedy().sample(&mut logits.clone(), &[], &mut Always(0)).unwrap();
    assert_eq!((greedy, argmax(&logits)), (1, Ok(1)));
    assert_eq!(probabilities(Sampler::greedy(), &logits, &[]), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    // The smallest numbers there are, and those of which no quotient is finite.
    for temperature in [1e-9, 1e-30, f32::MIN_POSITIVE, f32::from_bits(1)] {
        let cold = Sampler::new().temperature(temperature).unwrap();
        for cold in [cold, cold.top_k(3).unwrap(), cold.top_p(0.5).unwrap()] {
            assert_eq!(probabilities(cold, &logits, &[]), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        }
    }
    // Where two are the highest, greedy takes the first, and the limit either.
    let cold = Sampler::new().temperature(1e-30).unwrap();
    assert_eq!(probabilities(cold, &[1.0, 2.0, 2.0], &[]), [0.0, 0.5, 0.5]);
    assert_eq!(argmax(&[1.0, 2.0, 2.0]), Ok(1));
    // And the other limit is uniform.
    let hot = Sampler::new().temperature(f32::MAX).unwrap();
    assert_eq!(probabilities(hot, &[1.0, -9.0, MASKED, 700.0, 5.0], &[]), [0.25, 0.25, 0.0, 0.25, 0.25]);
}

#[test]
fn greedy_takes_nothing_from_the_generator() {
    let mut rng = seeded(3);
    Sampler::greedy().sample(&mut [1.0, 2.0], &[], &mut rng).unwrap();
    assert_eq!(rng, seeded(3));
    // Only the penalty matters to it.
    let greedy = Sampler::greedy().repetition_penalty(2.0).unwrap().top_p(0.5).unwrap();
    assert_eq!(greedy.sample(&mut [1.5, 2.0], &[1, 1], &mut rng), Ok(0));
}

#[test]
fn ties() {
    let sampler = Sampler::new();
    // Top-k keeps all that are equal to the k-th, +0 and -0 too.
    let p = probabilities(sampler.top_k(2).unwrap(), &[1.0, 0.0, 1.0, 1.0], &[]);
    assert!(p[0] == p[2] && p[2] == p[3] && p[1] == 0.0);
    for k in [2, 3] {
        let p = probabilities(sampler.top_k(k).unwrap(), &[-0.0, 0.0, 1.0, -1.0], &[]);
        assert!(p[0] > 0.0 && p[0] == p[1] && p[3] == 0.0);
    }
    // Two that are one number after the division: Hugging Face keeps both.
    let down = |x: &f32| x.next_down();
    let a = std::iter::successors(Some(7.0f32), |x| Some(down(x))).find(|x| x / 3.0 == down(x) / 3.0).unwrap();
    let p = probabilities(sampler.temperature(3.0).unwrap().top_k(1).unwrap(), &[a, down(&a), 1.0], &[]);
    assert!(p[0] > 0.4 && p[1] > 0.4 && p[2] == 0.0);
    // Top-p keeps no more than are needed, those with the highest ids; a sum that is just enough is enough.
    let of_four = |p| probabilities(sampler.top_p(p).unwrap(), &[2.0; 4], &[]);
    assert_eq!(of_four(0.5), [0.0, 0.0, 0.5, 0.5]);
    assert_eq!(of_four(0.500_001)[0], 0.0);
    assert!(of_four(0.500_001)[1] > 0.3);
    assert_eq!(of_four(1e-45), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(of_four(1.0), [0.25; 4]);
}

#[test]
fn the_penalty_is_once_a_token() {
    let penalty = |theta| Sampler::new().repetition_penalty(theta).unwrap();
    let logits = [2.0, -2.0, 0.0, 1.0];
    let expected = probabilities(Sampler::new(), &[1.0, -4.0, 0.0, 1.0], &[]);
    for seen in [&[0, 1, 2][..], &[2, 1, 0, 0, 0, 1, 2, 2, 1]] {
        assert_eq!(probabilities(penalty(2.0), &logits, seen), expected);
    }
    // Masked stays masked, and what is finite stays finite.
    assert_eq!(probabilities(penalty(2.0), &[MASKED, 1.0], &[0]), [0.0, 1.0]);
    assert_eq!(probabilities(penalty(0.5), &[f32::MAX, f32::MAX], &[0, 1]), [0.5, 0.5]);
    assert_eq!(probabilities(penalty(2.0), &[f32::MIN, f32::MIN], &[0, 1]), [0.5, 0.5]);
    assert_eq!(probabilities(penalty(f32::MAX), &[f32::MIN, f32::MAX], &[0, 1]), [0.0, 1.0]);
}

#[test]
fn what_cannot_be_sampled_is_an_error() {
    let samplers = [
        Sampler::new(),
        Sampler::greedy(),
        Sampler::new().top_k(2).unwrap().top_p(0.5).unwrap().repetition_penalty(1.5).unwrap(),
    ];
    let unknown = UnknownToken { id: 2, vocabulary: 2 }.into();
    for (logits, seen, error, text) in [
        (&[][..], &[][..], SamplingError::Empty(Empty), "no logits, where there must be one at least"),
        (
            &[1.0, f32::NAN],
            &[],
            SamplingError::NotANumber { id: 1 },
            "a number expected as the logit of token 1, found NaN",
        ),
        (
            &[f32::INFINITY, f32::NAN],
            &[],
            SamplingError::NotANumber { id: 1 },
            "a number expected as the logit of token 1, found NaN",
        ),
        (
            &[MASKED, f32::INFINITY],
            &[],
            SamplingError::Infinite { id: 1 },
            "a finite logit of token 1 expected, found +∞",
        ),
        (&[MASKED; 2], &[], SamplingError::Masked, "a logit above -∞ expected, found none: all tokens are masked"),
        (&[1.0, 2.0], &[1, 2], unknown, "token id 2 in a vocabulary of 2"),
    ] {
        for sampler in samplers {
            let mut x = logits.to_vec();
            let found = sampler.sample(&mut x, seen, &mut Always(0)).unwrap_err();
            assert_eq!((found, found.to_string().as_str()), (error, text));
            assert_eq!(sampler.probabilities(&mut x, seen), Err(error));
            assert!(x.iter().zip(logits).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
    // One that is not masked is drawn, whatever is left of it.
    for sampler in samplers {
        assert_eq!(sampler.sample(&mut [MASKED, f32::MIN, MASKED], &[1], &mut Always(u64::MAX)), Ok(1));
    }
}

#[test]
fn settings_out_of_range_are_errors() {
    let text = |error: SettingError| error.to_string();
    for bad in [f32::NAN, 0.0, -0.0, -1.0, f32::INFINITY, MASKED] {
        assert!(matches!(Sampler::new().temperature(bad), Err(SettingError::Temperature { .. })));
        assert!(matches!(Sampler::new().repetition_penalty(bad), Err(SettingError::RepetitionPenalty { .. })));
        assert!(matches!(Sampler::new().top_p(bad), Err(SettingError::TopP { .. })));
    }
    assert_eq!(Sampler::new().top_p(1.0f32.next_up()), Err(SettingError::TopP { found: 1.0f32.next_up() }));
    assert_eq!(Sampler::new().top_k(0), Err(SettingError::TopK { found: 0 }));
    assert_eq!(
        text(Sampler::new().temperature(f32::NAN).unwrap_err()),
        "a finite temperature above 0 expected, found NaN"
    );
    assert_eq!(text(SettingError::TopK { found: 0 }), "a top-k of at least 1 expected, found 0");
    assert_eq!(text(SettingError::TopP { found: 1.5 }), "a top-p above 0 and at most 1 expected, found 1.5");
    assert_eq!(
        text(SettingError::RepetitionPenalty { found: -1.0 }),
        "a finite repetition penalty above 0 expected, found -1"
    );
    assert_eq!(Sampler::default(), Sampler::new());
}

/// Settings are for constants too.
#[test]
fn constants() {
    const SAMPLER: Sampler = match Sampler::new().temperature(0.5) {
        Ok(sampler) => sampler,
        Err(_) => panic!("not a temperature"),
    };
    assert_eq!(Ok(SAMPLER), Sampler::new().temperature(0.5));
}
