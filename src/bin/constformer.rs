//! The program: see `constformer --help`.

fn main() -> std::process::ExitCode {
    constformer::cli::main()
}
