//! The command line: `constformer inspect`, `import`, `quantize`, `verify`.

mod failure;
mod import;
mod inspect;
mod module;
mod name;
mod progress;
mod quantize;
mod samples;
mod source;
mod table;
mod verify;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::{
    env,
    ffi::OsString,
    format,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    string::String,
    vec::Vec,
};

const EXIT_CODES: &str = "Exit codes:
  0  it is good, it is done
  1  a file is not good or does not fit: what was expected and what was found is on stderr
  2  the command is not understood";

const EXAMPLES: &str = "Examples:
  constformer inspect model.safetensors
  constformer import all-MiniLM-L6-v2 --out src
  constformer quantize src/kws.cfm --out src
  constformer verify src/all_minilm_l6_v2.cfm";

const CONFIG: &str = "What config.json says, by its \"model_type\":
  bert, roberta, xlm-roberta, camembert, gpt2, llama
      as Hugging Face writes it; the vector of a text is the mean of its tokens, or what the 1_Pooling/config.json of
      sentence-transformers beside it says
  nanogpt (\"bias\" may be false), mingpt
      {\"model_type\": \"nanogpt\", \"n_layer\": 6, \"n_head\": 6, \"n_embd\": 384, \"vocab_size\": 65, \"block_size\": 256}
  torch_transformer_encoder (nn.TransformerEncoder), torch_transformer_decoder
      {\"model_type\": \"torch_transformer_encoder\", \"d_model\": 512, \"nhead\": 8, \"dim_feedforward\": 2048,
       \"num_layers\": 6, \"norm_first\": false, \"activation\": \"relu\", \"layer_norm_eps\": 1e-5,
       \"final_norm\": false, \"bias\": true, \"causal\": false}
      the defaults are PyTorch's; a decoder has no \"causal\"
  torch_transformer (nn.Transformer)
      the same with \"num_encoder_layers\" and \"num_decoder_layers\"; \"final_norm\" is true
  kwt (the keyword transformer)
      {\"model_type\": \"kwt\", \"features\": 40, \"positions\": 99, \"d_model\": 64, \"dim_feedforward\": 256,
       \"num_layers\": 12, \"nhead\": 1, \"classes\": 12}
What it says and no type can, is an error. A llama2.c .bin needs no config.json.";

const INSPECT: &str = "Examples:
  constformer inspect model.safetensors                  its tensors
  constformer inspect all-MiniLM-L6-v2                   a folder with config.json: its type, what it costs
  constformer inspect stories260K.bin --tokens 1,64,256  llama2.c
  constformer inspect kws.cfm --tokens 99 --tile 4       an image, on a microcontroller";

const IMPORT: &str = "Examples:
  constformer import all-MiniLM-L6-v2 --out src
  constformer import gpt.safetensors --config gpt.json --out src --name gpt
  constformer import stories260K.bin --out src --force

and then in src/main.rs: `mod stories260k;`, `stories260k::MODEL`.";

const QUANTIZE: &str = "Examples:
  constformer quantize kws.cfm --out src --name kws_small
  constformer quantize kws.cfm --out src --samples clips.safetensors

Says for each matrix how large its largest weight is, by how much the worst weight is off, and how far the sum of squares of the errors lies
below that of the weights.";

const VERIFY: &str = "Examples:
  constformer verify kws.cfm

Looks at the header, the length, the checksum, whether all weights are finite; and whether the fingerprint is that of the
type that the image names, if it is one of this library.";

/// Models of constformer: what they are, what they cost, and from checkpoints to Rust.
#[derive(Parser)]
#[command(name = "constformer", version, after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Says what a file is, its type in Rust, and what the model costs.
    #[command(after_help = INSPECT, after_long_help = format!("{INSPECT}\n\n{CONFIG}\n\n{EXIT_CODES}"))]
    Inspect(Inspect),
    /// Makes an image and a Rust module of a checkpoint.
    #[command(after_help = IMPORT, after_long_help = format!("{IMPORT}\n\n{CONFIG}\n\n{EXIT_CODES}"))]
    Import(Import),
    /// Makes an image of integers of an image of floating-point numbers.
    #[command(after_help = QUANTIZE, after_long_help = format!("{QUANTIZE}\n\n{EXIT_CODES}"))]
    Quantize(Quantize),
    /// Checks an image.
    #[command(after_help = format!("{VERIFY}\n\n{EXIT_CODES}"))]
    Verify(Verify),
}

/// The longest sequence that costs are computed for: products of lengths stay numbers.
const LONGEST: u64 = 1 << 17;

#[derive(clap::Args)]
struct Inspect {
    /// safetensors, a folder or an index of them; an image (.cfm); a llama2.c checkpoint (.bin).
    file: PathBuf,
    /// The config.json of safetensors; without it, the one beside them.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Lengths of sequences whose costs are shown, 16, 128 and 512 by default as far as the model has positions.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=LONGEST))]
    tokens: Vec<u64>,
    /// Tokens that pass through the layers together: many on a host, 4 on a microcontroller.
    #[arg(long, default_value_t = crate::TILE as u64, value_parser = clap::value_parser!(u64).range(1..=LONGEST))]
    tile: u64,
}

#[derive(clap::Args)]
struct Import {
    /// safetensors, a folder or an index of them; a llama2.c checkpoint (.bin).
    file: PathBuf,
    /// The config.json of safetensors; without it, the one beside them.
    #[arg(long)]
    config: Option<PathBuf>,
    /// The folder for NAME.cfm and NAME.rs; it is made if it is not there.
    #[arg(long)]
    out: PathBuf,
    /// The name of the module; without it, that of the file.
    #[arg(long)]
    name: Option<String>,
    /// Replaces what is there.
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args)]
struct Quantize {
    /// An image (.cfm) of a model of this library.
    image: PathBuf,
    /// The format of the weights.
    #[arg(long, default_value = "Int8", value_parser = clap::builder::PossibleValuesParser::new(quantize::formats()))]
    format: String,
    /// The folder for NAME.cfm and NAME.rs; it is made if it is not there.
    #[arg(long)]
    out: PathBuf,
    /// Samples of a classifier, safetensors: a tensor [samples, inputs, features] and perhaps one [samples] of classes. Both models answer
    /// them, and how often they agree and are right is said.
    #[arg(long)]
    samples: Option<PathBuf>,
    /// The name of the module; without it, that of the image and the format.
    #[arg(long)]
    name: Option<String>,
    /// Replaces what is there.
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args)]
struct Verify {
    /// An image (.cfm).
    image: PathBuf,
}

/// The program.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(run(env::args_os(), &mut io::stdout().lock(), &mut io::stderr().lock()))
}

/// The program with these arguments, the first of which is its name; the exit code.
#[must_use]
pub fn run(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let command = match Arguments::try_parse_from(arguments) {
        Ok(Arguments { command }) => command,
        Err(error) => {
            let text = error.render();
            let _ = if error.use_stderr() { write!(err, "{text}") } else { write!(out, "{text}") };
            return error.exit_code() as u8;
        }
    };
    let done = match command {
        Command::Inspect(arguments) => inspect::inspect(&arguments, out, err),
        Command::Import(arguments) => import::import(&arguments, out, err),
        Command::Quantize(arguments) => quantize::quantize(&arguments, out),
        Command::Verify(arguments) => verify::verify(&arguments, out),
    };
    let (code, text) = match done.and_then(|()| Ok(out.flush()?)) {
        Ok(()) | Err(Failure::Closed) => return 0,
        Err(Failure::File(text)) => (1, text),
        Err(Failure::Usage(text)) => (2, text),
    };
    let _ = writeln!(err, "error: {text}"); // if it cannot be said, the code says it
    code
}
