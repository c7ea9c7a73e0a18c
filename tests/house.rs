//! The house as docs/design.md draws it: floors, file sizes, links.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    let mut folders = vec![Path::new(ROOT).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(ROOT).unwrap().display().to_string().replace('\\', "/")
}

/// The floor of each module, as the document has it.
fn floors() -> BTreeMap<String, usize> {
    let design = read("docs/design.md");
    let mut floors = BTreeMap::new();
    for row in design.lines().filter_map(|line| line.strip_prefix("| ")) {
        let mut cells = row.split(" | ");
        let (Some(Ok(floor)), Some(modules)) = (cells.next().map(str::parse), cells.next()) else { continue };
        for module in modules.split(", ") {
            floors.insert(module.trim_matches('`').to_string(), floor);
        }
    }
    floors
}

/// A format names how keys and values are remembered.
const EXCEPTION: (&str, &str) = ("src/format/mod.rs", "attention");

/// What the library is made of: no comments, no tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    text.split_inclusive('\n').filter(|line| !line.trim_start().starts_with("//")).collect()
}

/// The first segments of what follows `crate::`, braces opened.
fn imports(code: &str) -> Vec<String> {
    let mut found = vec![];
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(list) = rest.strip_prefix('{') else {
            found.push(name(rest));
            continue;
        };
        let (mut depth, mut start) = (1, true);
        for (i, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => start = true,
                _ if start && !c.is_whitespace() => {
                    found.push(name(&list[i..]));
                    start = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The module of each item of the crate's root.
fn items() -> BTreeMap<String, String> {
    let root = code(&read("src/lib.rs"));
    let mut items = BTreeMap::new();
    for statement in root.split("pub use ").skip(1) {
        let statement = statement.split(';').next().unwrap();
        let Some((module, names)) = statement.split_once("::") else { continue };
        for name in names.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| !name.is_empty()) {
            items.insert(name.to_string(), module.to_string());
        }
    }
    items
}

#[test]
fn no_file_imports_from_a_floor_above() {
    let (floors, items) = (floors(), items());
    let (mut faults, mut checked) = (vec![], 0);
    for path in files("src", "rs") {
        let shown = shown(&path);
        let module = shown.strip_prefix("src/").unwrap().split('/').next().unwrap().trim_end_matches(".rs").to_string();
        if module == "lib" || module == "bin" {
            continue;
        }
        let Some(floor) = floors.get(&module) else {
            faults.push(format!("{shown}: docs/design.md does not say on which floor `{module}` is"));
            continue;
        };
        for name in imports(&code(&read(&path))) {
            let target = items.get(&name).unwrap_or(&name);
            match floors.get(target) {
                Some(of_target) if of_target > floor && (shown.as_str(), target.as_str()) != EXCEPTION => {
                    faults.push(format!("{shown}, on floor {floor}, imports from `{target}`, on floor {of_target}"));
                }
                Some(_) => checked += 1,
                None => {} // a macro
            }
        }
    }
    faults.sort();
    faults.dedup();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked > 500, "{checked} imports found");
}

#[test]
fn files_are_short() {
    let long: Vec<_> = files("src", "rs")
        .into_iter()
        .filter(|path| read(path).lines().count() > 400)
        .map(|path| shown(&path))
        .collect();
    assert!(long.is_empty(), "more than 400 lines: {long:?}");
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect::<String>().replace(' ', "-")
}

/// Links between documents lead to files, and to headings, that are there.
#[test]
fn links_lead_somewhere() {
    let mut documents = files("docs", "md");
    documents.extend(files("examples", "md"));
    documents.extend(files("tests", "md"));
    documents.extend(["README.md", "CHANGELOG.md"].map(|name| Path::new(ROOT).join(name)));
    let (mut faults, mut checked) = (vec![], 0);
    for path in documents {
        let text = read(&path);
        for (at, _) in text.match_indices("](") {
            let link = text[at + 2..].split([')', '\n']).next().unwrap();
            if link.contains("://") || link.starts_with("crate::") || link.is_empty() {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            checked += 1;
            if !target.exists() {
                faults.push(format!("{}: there is no {link}", shown(&path)));
            } else if !heading.is_empty()
                && !read(&target).lines().any(|line| line.starts_with('#') && anchor(line) == heading)
            {
                faults.push(format!("{}: {link} has no such heading", shown(&path)));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked > 10, "{checked} links found");
}

/// The names that a file of modules shows: what it uses publicly, and its own public items.
fn public(text: &str) -> Vec<String> {
    let mut names = vec![];
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    // Attributes belong to what follows.
    for (at, _) in text.match_indices("\npub ") {
        let before: String = text[..at].lines().rev().take_while(|line| line.starts_with("#[")).collect();
        if before.contains("doc(hidden)") || before.contains("\"cli\"") {
            continue;
        }
        let item = &text[at + "\npub ".len()..];
        if let Some(uses) = item.strip_prefix("use ") {
            let uses = uses.split(';').next().unwrap();
            let paths = uses.rsplit_once("::{").map_or(uses, |_| uses.split_once("::{").unwrap().1);
            for path in paths.split([',', '{', '}']).map(str::trim) {
                let path = if path == "self" { uses.split("::{").next().unwrap() } else { path };
                names.push(name(path.rsplit("::").next().unwrap()));
            }
        } else {
            let words = item
                .split_whitespace()
                .find(|word| !["const", "unsafe", "fn", "struct", "enum", "trait", "type", "mod"].contains(word));
            names.extend(words.map(name));
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Every public name stands in docs/api.md, with what would be missed without it; and what stands there is public.
#[test]
fn every_public_name_is_defended() {
    let page = read("docs/api.md");
    let rows = page.lines().filter(|line| line.starts_with('|'));
    // All cells but the last, which says what would be missed.
    let cells = rows.filter_map(|row| row.rsplitn(3, '|').last());
    let defended: Vec<&str> = cells.flat_map(|cells| cells.split('`').skip(1).step_by(2)).collect();
    let modules = ["image", "load", "sampling", "tokenizer", "training", "parameters", "machine", "math", "number"];
    let mut names = public(&code(&read("src/lib.rs")));
    names.extend(modules.iter().flat_map(|module| public(&code(&read(format!("src/{module}/mod.rs"))))));
    names.sort();
    names.dedup();
    let missing: Vec<_> = names.iter().filter(|name| !defended.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "docs/api.md does not defend {missing:?}");
    let gone: Vec<_> = defended.iter().filter(|name| !names.iter().any(|other| other == *name)).collect();
    assert!(gone.is_empty(), "docs/api.md defends what is not public: {gone:?}");
    assert!(names.len() > 200, "{} names", names.len());
}
