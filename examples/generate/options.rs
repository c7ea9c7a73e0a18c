//! The command line.

use constformer::sampling::Sampler;

/// What is asked for.
pub(crate) struct Options {
    pub(crate) model: String,
    pub(crate) prompt: String,
    pub(crate) steps: usize,
    pub(crate) sampler: Sampler,
    pub(crate) seed: u64,
}

const OPTIONS: [&str; 7] =
    ["--prompt", "--steps", "--seed", "--temperature", "--top-k", "--top-p", "--repetition-penalty"];

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options =
            Self { model: String::new(), prompt: String::new(), steps: 200, sampler: Sampler::greedy(), seed: 1 };
        let mut temperature = 0.0;
        while let Some(name) = arguments.next() {
            if !name.starts_with('-') {
                options.model = name;
                continue;
            }
            if !OPTIONS.contains(&name.as_str()) {
                return Err(format!("{name}: one of {} expected", OPTIONS.join(", ")));
            }
            let value = arguments.next().ok_or_else(|| format!("{name}: a value expected, found none"))?;
            let sampler = options.sampler;
            match name.as_str() {
                "--prompt" => options.prompt = value,
                "--steps" => options.steps = number(&name, &value)?,
                "--seed" => options.seed = number(&name, &value)?,
                "--temperature" => temperature = number(&name, &value)?,
                "--top-k" => options.sampler = told(&name, sampler.top_k(number(&name, &value)?))?,
                "--top-p" => options.sampler = told(&name, sampler.top_p(number(&name, &value)?))?,
                _ => options.sampler = told(&name, sampler.repetition_penalty(number(&name, &value)?))?,
            }
        }
        if temperature != 0.0 {
            options.sampler = told("--temperature", options.sampler.temperature(temperature))?;
        }
        if options.model.is_empty() {
            return Err("a model expected: a .bin file of llama2.c, a folder of Hugging Face, or shape:gpt2".into());
        }
        Ok(options)
    }
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name}: a number expected, found `{value}`"))
}

fn told<E: std::fmt::Display>(name: &str, sampler: Result<Sampler, E>) -> Result<Sampler, String> {
    sampler.map_err(|error| format!("{name}: {error}"))
}
