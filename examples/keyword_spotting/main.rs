//! `cargo run --release --example keyword_spotting -- CLIP.wav`: a keyword transformer hears one of ten words.
//!
//! A clip is one second, or a longer recording, of which every half second is looked at. Only this file prints.

mod clip;
mod mfcc;
mod model;
mod spotter;

use spotter::Spotter;
use std::{
    env,
    ffi::OsString,
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
    process::ExitCode,
};

const USAGE: &str = "\
usage: keyword_spotting [--weights kwt1.safetensors] [CLIP.wav ...]

Without --weights, the weights are `kwt1/kwt1.safetensors` in the folder that the environment variable CONSTFORMER_MODELS
names; without clips, the clips are those in `kwt1/wav` there. The weights are those of KWT-1 of ARM
(https://github.com/ARM-software/keyword-transformer, Apache-2.0) as a safetensors file with the names in `model.rs`.
Clips are wav files: one channel, 16,000 samples of 16 bits a second.";

struct Arguments {
    weights: PathBuf,
    clips: Vec<PathBuf>,
}

/// `None`: only the usage is wanted.
fn arguments(mut rest: impl Iterator<Item = OsString>) -> Result<Option<Arguments>, String> {
    let (mut weights, mut clips) = (None, vec![]);
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(None),
            Some("--weights") => weights = Some(PathBuf::from(rest.next().ok_or("--weights wants a file")?)),
            Some(option) if option.starts_with('-') => return Err(format!("unknown option {option}\n\n{USAGE}")),
            _ => clips.push(argument.into()),
        }
    }
    let models = env::var_os("CONSTFORMER_MODELS").map(|folder| PathBuf::from(folder).join("kwt1"));
    if clips.is_empty() {
        let folder = models.as_ref().ok_or(format!("no clips\n\n{USAGE}"))?.join("wav");
        let entries = folder.read_dir().map_err(|error| format!("{}: {error}", folder.display()))?;
        clips = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        clips.sort();
    }
    let weights = weights.or_else(|| models.map(|folder| folder.join("kwt1.safetensors")));
    Ok(Some(Arguments { weights: weights.ok_or(format!("no weights\n\n{USAGE}"))?, clips }))
}

/// Prints what is heard in each second.
fn hear(spotter: &mut Spotter, path: &Path) -> Result<(), String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let samples = clip::read(BufReader::new(file)).map_err(|error| error.to_string())?;
    for (start, second) in clip::seconds(&samples) {
        let heard = spotter.hear(second).map_err(|error| error.to_string())?;
        println!(
            "{:<20} from {:>5.2} s  {:<10} {:>5.1} %   front end {:>6.3} ms, model {:>6.3} ms",
            path.file_name().unwrap_or_default().to_string_lossy(),
            start as f64 / mfcc::SAMPLES as f64,
            heard.label,
            100.0 * heard.probability,
            heard.front_end.as_secs_f64() * 1e3,
            heard.model.as_secs_f64() * 1e3,
        );
    }
    Ok(())
}

fn run() -> Result<bool, String> {
    let Some(Arguments { weights, clips }) = arguments(env::args_os().skip(1))? else {
        println!("{USAGE}");
        return Ok(true);
    };
    let mut spotter = Spotter::open(&weights).map_err(|error| error.to_string())?;
    let mut all = true;
    for path in clips {
        if let Err(error) = hear(&mut spotter, &path) {
            eprintln!("{}: {error}", path.display());
            all = false;
        }
    }
    Ok(all)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
