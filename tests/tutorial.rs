//! Everything in `docs/tutorial.md` is executed: files written, commands run, outputs found.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A fenced block of the document.
struct Fence<'a> {
    line: usize,
    /// `sh`, `rust title="..."`
    info: &'a str,
    text: String,
}

fn fences(document: &str) -> Vec<Fence<'_>> {
    let (mut fences, mut open): (Vec<Fence<'_>>, Option<Fence<'_>>) = (vec![], None);
    for (i, line) in document.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => open = Some(Fence { line: i + 1, info, text: String::new() }),
            (Some(_), Some(_)) => fences.extend(open.take()),
            (None, Some(fence)) => fence.text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block of code has no end");
    fences
}

/// What the commands print, both streams; they must succeed.
fn run(commands: &str, folder: &Path, target: &Path) -> String {
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &format!("{{ {commands} }} 2>&1")])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUSTFLAGS")
        .output()
        .expect("bash");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "these commands failed:\n{commands}\nand said:\n{text}");
    text
}

#[test]
#[ignore = "builds a package and a program for a microcontroller, and needs qemu-system-arm: minutes"]
fn the_tutorial_works_as_it_is_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tutorial");
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(root, folder.join("constformer")).unwrap();

    let document = fs::read_to_string(root.join("docs/tutorial.md")).unwrap();
    let (mut said, mut commands) = (String::new(), 0);
    for Fence { line, info, text } in fences(&document) {
        match info.split_once(" title=") {
            Some((_, file)) => {
                let file = folder.join(file.trim_matches('"'));
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            None if info == "sh" => {
                said = run(&text, &folder, &root.join("target/tutorial"));
                println!("line {line}:\n{said}");
                commands += 1;
            }
            None if info == "text" => {
                for expected in text.lines() {
                    assert!(
                        said.contains(expected),
                        "line {line}: `{expected}` expected, the commands before it said:\n{said}"
                    );
                }
            }
            None => panic!("line {line}: what is a block of `{info}`?"),
        }
    }
    assert!(commands > 5, "{commands} blocks of commands");
}
