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

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options =
            Self { model: String::new(), prompt: String::new(), steps: 200, sampler: Sampler::greedy(), seed: 1 };
        while let Some(name) = arguments.next() {
            if !name.starts_with("--") {
                options.model = name;
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("{name}: a value expected, found none"))?;
            let sampler = options.sampler;
            match name.as_str() {
                "--prompt" => options.prompt = value,
                "--steps" => options.steps = number(&name, &value)?,
                "--seed" => options.seed = number(&name, &value)?,
                "--temperature" if number::<f32>(&name, &value)? == 0.0 => {}
                "--temperature" => options.sampler = told(&name, sampler.temperature(number(&name, &value)?))?,
                "--top-k" => options.sampler = told(&name, sampler.top_k(number(&name, &value)?))?,
                "--top-p" => options.sampler = told(&name, sampler.top_p(number(&name, &value)?))?,
                "--repetition-penalty" => {
                    options.sampler = told(&name, sampler.repetition_penalty(number(&name, &value)?))?;
                }
                _ => return Err(format!("{name}: not an option")),
            }
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
