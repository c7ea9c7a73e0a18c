//! constformer against other frameworks: see `--help`.

fn main() -> std::process::ExitCode {
    peers::program::run()
}
