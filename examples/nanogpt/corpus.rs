//! What is learnt: a text, or sums.

use constformer::{sampling::Rng, training::IGNORE};
use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
use std::{error::Error, fmt::Write, fs, path::Path};

/// What is learnt of a text.
#[derive(Clone, Copy)]
enum Lines {
    /// Each character, from anywhere on.
    Any,
    /// Lines of so many characters, of which the first cannot be foretold.
    Of { length: usize, given: usize },
}

pub(crate) struct Corpus {
    pub(crate) name: String,
    lines: Lines,
    /// The characters, in order; the id of one is its place.
    pub(crate) alphabet: Vec<char>,
    pub(crate) training: Vec<u32>,
    pub(crate) validation: Vec<u32>,
    /// What samples begin with.
    pub(crate) prompt: String,
    /// Sums that are not in the training, as a prompt and what is to follow.
    pub(crate) problems: Vec<(String, String)>,
}

impl Corpus {
    /// The text of a file: the first nine tenths to learn, the last to validate.
    pub(crate) fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let ids = text.chars().count();
        if ids < 1000 {
            return Err(format!("{}: a text of 1000 characters at least expected, found {ids}", path.display()).into());
        }
        let first = text.chars().take(ids * 9 / 10).map(char::len_utf8).sum();
        let (training, validation) = text.split_at(first);
        Ok(Self::new(path.display().to_string(), Lines::Any, training, validation, "\n", vec![]))
    }

    /// Sums of two numbers below 100, `27+85=211` with the digits of the sum the other way round, so that each follows from what is there.
    /// A tenth of all sums is for validation only. What is to be added is no target, since nothing foretells it.
    pub(crate) fn additions() -> Self {
        let mut rng = SplitMix64::seed_from_u64(99);
        let (mut training, mut validation, mut problems) = (String::new(), String::new(), vec![]);
        let mut sums: Vec<(u32, u32)> = (0..100).flat_map(|a| (0..100).map(move |b| (a, b))).collect();
        for i in (1..sums.len()).rev() {
            sums.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
        }
        for (i, (a, b)) in sums.into_iter().enumerate() {
            let answer: String = format!("{:03}", a + b).chars().rev().collect();
            let problem = format!("{a:02}+{b:02}=");
            let text = if i % 10 == 0 { &mut validation } else { &mut training };
            let _ = writeln!(text, "{problem}{answer}"); // a `String` takes all
            if i % 10 == 0 {
                problems.push((problem, answer));
            }
        }
        let lines = Lines::Of { length: "27+85=211\n".len(), given: "27+85=".len() };
        Self::new("sums of two numbers below 100".into(), lines, &training, &validation, "27+85=", problems)
    }

    fn new(
        name: String,
        lines: Lines,
        training: &str,
        validation: &str,
        prompt: &str,
        problems: Vec<(String, String)>,
    ) -> Self {
        let mut alphabet: Vec<char> = training.chars().chain(validation.chars()).collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let mut corpus =
            Self { name, lines, alphabet, training: vec![], validation: vec![], prompt: prompt.into(), problems };
        corpus.training = corpus.encode(training);
        corpus.validation = corpus.encode(validation);
        if !corpus.alphabet.contains(&'\n') {
            corpus.prompt = corpus.decode(&corpus.training[..1]);
        }
        corpus
    }

    /// Texts of a batch, and characters of a text: `block` of them, or a line.
    pub(crate) fn batch(&self, block: usize) -> [usize; 2] {
        match self.lines {
            Lines::Any => [12, block],
            Lines::Of { length, .. } => [12 * block / length, length - 1],
        }
    }

    /// Where a text may begin that is one of `ids`.
    pub(crate) fn start(&self, ids: &[u32], len: usize, number: u64) -> usize {
        match self.lines {
            Lines::Any => (number % (ids.len() - len) as u64) as usize,
            Lines::Of { length, .. } => (number % (ids.len() / length) as u64) as usize * length,
        }
    }

    /// The targets of a text of `len` characters that begins there: the next characters, but for those that nothing foretells.
    pub(crate) fn targets(&self, ids: &[u32], start: usize, len: usize) -> Vec<u32> {
        let target = |i: usize| match self.lines {
            Lines::Of { given, .. } if i + 1 < given => IGNORE,
            _ => ids[start + i + 1],
        };
        (0..len).map(target).collect()
    }

    /// The ids of a text, all of whose characters are in the alphabet.
    pub(crate) fn encode(&self, text: &str) -> Vec<u32> {
        text.chars().filter_map(|c| self.alphabet.binary_search(&c).ok()).map(|id| id as u32).collect()
    }

    pub(crate) fn decode(&self, ids: &[u32]) -> String {
        ids.iter().filter_map(|id| self.alphabet.get(*id as usize)).collect()
    }
}
