//! docs/refused.md says what rustc says: its lines are those of `tests/refused`, and no message of the library is missing.

use std::{fs, path::Path};

const PAGE: &str = include_str!("../docs/refused.md");
/// From here on the page has messages as they stand in the sources.
const TEMPLATES: &str = "## The other messages";
const LEFT_OUT: &str = "[...]";

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The files of a folder and those below with this extension, as paths from the root.
fn files(folder: &str, extension: &str) -> Vec<String> {
    let mut found = vec![];
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(files(&path, extension));
        } else if entry.path().extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A block of the page: its language, its lines, the programs that the text before it names.
struct Block {
    language: &'static str,
    lines: Vec<&'static str>,
    programs: Vec<&'static str>,
}

fn blocks(page: &'static str) -> Vec<Block> {
    let (mut blocks, mut inside, mut programs) = (Vec::<Block>::new(), false, vec![]);
    let mut in_text = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(language) => {
                blocks.push(Block { language, lines: vec![], programs: programs.clone() });
                (inside, in_text) = (true, false);
            }
            None if inside => blocks.last_mut().unwrap().lines.push(line),
            None if line.is_empty() => {}
            None => {
                if !in_text {
                    programs.clear(); // what was named belongs to the blocks above
                }
                in_text = true;
                let links = line.split("](../").skip(1).filter_map(|rest| rest.split(')').next());
                programs.extend(links.filter_map(|link| link.strip_suffix(".rs")));
            }
        }
    }
    blocks
}

/// Whether runs of `lines`, which `[...]` separates, stand in `all` in this order.
fn runs_are_in(lines: &[&str], all: &[&str]) -> bool {
    let mut rest = all;
    lines.split(|line| *line == LEFT_OUT).all(|run| {
        let Some(at) = rest.windows(run.len()).position(|window| window == run) else { return false };
        rest = &rest[at + run.len()..];
        true
    })
}

#[test]
fn the_page_has_the_words_of_the_programs() {
    let (page, _) = PAGE.split_once(TEMPLATES).unwrap();
    let mut checked = 0;
    for Block { language, lines, programs } in blocks(page) {
        let [.., last] = programs[..] else { panic!("{lines:?}: of which program?") };
        if language == "rust" {
            let source = read(format!("{last}.rs"));
            let all: Vec<_> = source.lines().map(str::trim).collect();
            for line in lines {
                assert!(all.contains(&line.trim()), "{last}.rs lacks `{line}`");
                checked += 1;
            }
            continue;
        }
        let words: Vec<_> = programs.iter().map(|program| read(format!("{program}.stderr"))).collect();
        let first_lines: Vec<_> = words.iter().map(|words| words.lines().next().unwrap()).collect();
        let all: Vec<_> = words.last().unwrap().lines().filter(|line| !line.trim_start().starts_with("-->")).collect();
        assert!(lines == first_lines || runs_are_in(&lines, &all), "{programs:?} do not say\n{}", lines.join("\n"));
        checked += lines.len();
    }
    assert!(checked > 150, "{checked} lines checked");
}

#[test]
fn every_program_is_on_the_page() {
    let programs = files("tests/refused", "stderr");
    assert!(programs.len() > 30);
    for program in programs {
        let words = read(&program);
        let first = words.lines().next().unwrap();
        assert!(PAGE.lines().any(|line| line == first), "docs/refused.md lacks what {program} says: {first}");
        let link = format!("](../{})", program.replace(".stderr", ".rs"));
        assert!(PAGE.contains(&link), "docs/refused.md does not name {program}");
    }
}

/// The literal that begins after the first quotation mark. None of them has an escape.
fn literal(text: &str) -> Option<&str> {
    text.split('"').nth(1)
}

/// What a call is given, from behind its opening parenthesis on, and what follows.
fn argument(text: &str) -> (&str, &str) {
    let (mut depth, mut quoted) = (1, false);
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (&text[..i], &text[i + 1..]);
        }
    }
    panic!("a call without an end: {text}");
}

/// What a chain of `Message::new()` says, with its numbers in braces.
fn said(mut chain: &str) -> String {
    let mut said = String::new();
    while let Some((method, rest)) = chain.trim_start().strip_prefix('.').and_then(|call| call.split_once('(')) {
        let (value, after) = argument(rest);
        match (method, literal(value)) {
            ("panic", _) => break,
            ("text", Some(text)) => said += text,
            _ => said.extend(["{", value, "}"]),
        }
        chain = after;
    }
    said
}

/// All that the library has rustc say, as it stands in the sources.
fn templates() -> Vec<String> {
    let mut found = vec![];
    for path in files("src", "rs") {
        let source = read(path);
        for (at, name) in source.match_indices("#[diagnostic::on_unimplemented(") {
            let attribute = argument(&source[at + name.len()..]).0;
            let parts =
                ["message = ", "label = ", "note = "].into_iter().flat_map(|part| attribute.split(part).skip(1));
            found.extend(parts.map(|part| literal(part).unwrap().to_string()));
        }
        found.extend(source.split("Message::new()").skip(1).map(said));
        let assertions = source.split("const { assert!(").skip(1).filter_map(|rest| literal(argument(rest).0));
        found.extend(assertions.map(str::to_string));
    }
    found.retain(|template| !template.is_empty());
    found
}

/// Whether the page has a line with the words of `template`, whatever it has for what is in braces.
fn is_on_the_page(template: &str) -> bool {
    let words = template.split('{').enumerate().map(|(i, part)| match part.split_once('}') {
        Some((_, words)) if i > 0 => words,
        _ => part,
    });
    PAGE.lines().any(|line| words.clone().try_fold(line, |rest, words| Some(rest.split_once(words)?.1)).is_some())
}

#[test]
fn every_message_of_the_library_is_on_the_page() {
    let templates = templates();
    assert!(templates.len() > 70, "{} found", templates.len());
    let missing: Vec<_> = templates.iter().filter(|template| !is_on_the_page(template)).collect();
    assert!(missing.is_empty(), "docs/refused.md lacks {missing:#?}");
}

#[test]
fn the_other_messages_are_in_the_sources() {
    let (_, rest) = PAGE.split_once(TEMPLATES).unwrap();
    let (templates, sources) = (templates(), files("src", "rs").into_iter().map(read).collect::<String>());
    for line in blocks(rest).iter().flat_map(|block| &block.lines) {
        let quoted = sources.contains(&format!("\"{line}\""));
        assert!(quoted || templates.iter().any(|template| template == line), "the sources lack `{line}`");
    }
}
