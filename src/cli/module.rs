//! The Rust module of an imported model, as rustfmt would have it.

use super::table::grouped;
use crate::blueprint::{Blueprint, Expression, theta_in_rust};
use std::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec::Vec,
};

/// The longest line of rustfmt.
const WIDTH: usize = 100;

/// The module `name` of a model that came from the file `from`.
pub(super) fn render(blueprint: &Blueprint, name: &str, from: &str) -> String {
    let mut module = Module::default();
    module.model(blueprint.expression());
    let Module { imports, items } = module;

    let from: String = from.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let (parameters, flash) = (grouped(blueprint.count(), ","), grouped(blueprint.bytes(), "_"));
    let usage = usage(blueprint.expression());
    let import = import(imports.iter());
    let items = items.join("\n");
    format!(
        "//! The model of `{from}`: {parameters} parameters.
//!
//! ```ignore
{usage}//! ```
//!
//! Made by `constformer`, with `{name}.cfm` beside it.

{import}
{items}
/// Bytes of the weights.
pub const FLASH: usize = {flash};

const _: () = assert!(core::mem::size_of::<Model>() == FLASH);

/// The model, in flash.
pub static MODEL: &Model = constformer::include_model!(Model, \"{name}.cfm\");
"
    )
}

/// How the model is run.
fn usage(model: &Expression) -> String {
    let memory = |most: u64| {
        let tokens = positions(model).map_or(most, |positions| positions.min(most));
        format!("let mut memory = constformer::boxed::<constformer::Memory<Model, {tokens}>>(); // {tokens} tokens")
    };
    let (texts, inputs) = (memory(128), memory(99));
    let lines: &[&str] = match model {
        Expression::Type(name, _) if name == "TextEncoder" => {
            &[&texts, "let vector = MODEL.forward(&token_ids, &mut memory)?;"]
        }
        Expression::Type(name, _) if name == "LanguageModel" => {
            &[&texts, "MODEL.forward(&token_ids, &mut memory, &mut logits)?;"]
        }
        Expression::Type(name, _) if name == "Classifier" => {
            &[&inputs, "let logits = MODEL.forward(&inputs, &mut memory)?;"]
        }
        Expression::Own(..) => &[
            "MODEL.encoder.forward(stream, scratch);",
            "MODEL.decoder.attend_to(stream, &mut source);",
            "MODEL.decoder.extend(&mut x, &source, &mut cache, &mut cross_scratch)?;",
        ],
        Expression::Type(name, _) if name == "CrossDecoder" => &[
            "MODEL.attend_to(&encoded, &mut source);",
            "MODEL.extend(&mut x, &source, &mut cache, &mut cross_scratch)?;",
        ],
        _ => &[&texts, "memory.stream.assign(&tokens)?;", "MODEL.forward(&mut memory.stream, &mut memory.scratch);"],
    };
    lines.iter().flat_map(|line| ["//! ", line, "\n"]).collect()
}

/// How many positions the embedding of a model has, if it has so many: the third argument of its type.
fn positions(model: &Expression) -> Option<u64> {
    let Expression::Type(_, arguments) = model else { return None };
    let Some(Expression::Type(name, arguments)) = arguments.first() else { return None };
    match (name.ends_with("Embedding"), arguments.get(2)) {
        (true, Some(Expression::Number(positions))) => Some(*positions),
        _ => None,
    }
}

/// `use constformer::{...};`
fn import<'n>(names: impl Iterator<Item = &'n String> + Clone) -> String {
    let all = names.clone().cloned().collect::<Vec<_>>().join(", ");
    if !all.contains(',') {
        return format!("use constformer::{all};\n");
    }
    let one_line = format!("use constformer::{{{all}}};\n");
    if one_line.len() <= WIDTH + 1 {
        return one_line;
    }
    let mut lines = Vec::from([String::from("   ")]);
    for name in names {
        match lines.last_mut() {
            Some(line) if line.len() + name.len() + 2 <= WIDTH => line.extend([" ", name, ","]),
            _ => lines.push(format!("    {name},")),
        }
    }
    format!("use constformer::{{\n{}\n}};\n", lines.join("\n"))
}

/// What a module has besides what all have.
#[derive(Default)]
struct Module {
    imports: BTreeSet<String>,
    items: Vec<String>,
}

impl Module {
    /// `pub type Model`, and what it is made of.
    fn model(&mut self, model: &Expression) {
        let rust = match model {
            Expression::Own(name, fields) => {
                self.own(name, fields);
                (*name).into()
            }
            Expression::Type(name, arguments) if arguments.iter().any(is_layers) => {
                let parts = arguments.iter().map(|part| match part {
                    Expression::Type(name, _) if name.ends_with("Embedding") => {
                        self.alias("Embedding", "Makes tokens of inputs.", part)
                    }
                    Expression::Type(name, _) if name == "Linear" => {
                        self.alias("Head", "Makes scores of a token.", part)
                    }
                    part if is_layers(part) => self.layers("Blocks", "Makes tokens of tokens.", part),
                    part => self.rust(part),
                });
                let parts = parts.collect::<Vec<_>>().join(", ");
                self.imports.insert(name.clone());
                format!("{name}<{parts}>")
            }
            layers => self.with_family(layers),
        };
        self.item("Model", "The model.", &rust);
    }

    /// A struct, whose fields are stacks of blocks.
    fn own(&mut self, name: &str, fields: &[(&'static str, Expression)]) {
        let lines = fields.iter().map(|(field, layers)| {
            let (alias, doc) =
                if *field == "encoder" { ("Source", "Reads the source.") } else { ("Target", "Writes the target.") };
            let rust = self.layers(alias, doc, layers);
            format!("        /// {doc}\n        pub {field}: {rust},\n")
        });
        let lines: String = lines.collect();
        self.items.push(format!(
            "constformer::model! {{\n    /// `nn.{name}`.\n    pub struct {name} {{\n{lines}    }}\n}}\n"
        ));
    }

    fn layers(&mut self, name: &str, doc: &str, layers: &Expression) -> String {
        let rust = self.with_family(layers);
        self.item(name, doc, &rust)
    }

    /// A stack of blocks, whose family has a name of its own if it has arguments.
    fn with_family(&mut self, layers: &Expression) -> String {
        let Expression::Type(name, arguments) = layers else { return self.rust(layers) };
        let parts = arguments.iter().enumerate().map(|(i, part)| match part {
            Expression::Type(_, arguments) if i == 0 && !arguments.is_empty() => {
                self.alias("Family", "What the blocks are made of.", part)
            }
            part => self.rust(part),
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        self.imports.insert(name.clone());
        format!("{name}<{parts}>")
    }

    fn alias(&mut self, name: &str, doc: &str, of: &Expression) -> String {
        let rust = self.rust(of);
        self.item(name, doc, &rust)
    }

    /// `pub type name = rust;`, once.
    fn item(&mut self, name: &str, doc: &str, rust: &str) -> String {
        let line = format!("pub type {name} = {rust};");
        let item = if line.len() <= WIDTH { line } else { format!("pub type {name} =\n    {rust};") };
        let item = format!("/// {doc}\n{item}\n");
        if !self.items.contains(&item) {
            self.items.push(item);
        }
        name.into()
    }

    /// The text of a type; what it names is imported.
    fn rust(&mut self, expression: &Expression) -> String {
        match expression {
            Expression::Number(n) if *n < 10_000 => n.to_string(),
            Expression::Number(n) => grouped(*n, "_"),
            Expression::Array(part, n) => format!("[{}; {n}]", self.rust(part)),
            Expression::Own(name, _) => (*name).into(),
            Expression::Type(name, arguments) => {
                if let Some(n) = expression.as_unsigned() {
                    return self.unsigned(n);
                }
                if name != "f32" {
                    self.imports.insert(name.clone());
                }
                let arguments = arguments.iter().map(|argument| self.rust(argument)).collect::<Vec<_>>().join(", ");
                if arguments.is_empty() { name.clone() } else { format!("{name}<{arguments}>") }
            }
        }
    }

    /// A number of typenum.
    fn unsigned(&mut self, n: u64) -> String {
        let in_typenum = |name: &str| format!("constformer::typenum::{name}");
        match theta_in_rust(n) {
            Some(factors) if factors.starts_with("Prod") => {
                let rust = factors.replace("Prod", &in_typenum("Prod")).replace('U', &in_typenum("U"));
                self.item("Theta", "The base of rotary positions.", &rust)
            }
            _ => in_typenum(&format!("U{n}")),
        }
    }
}

/// Whether it is a stack of blocks.
fn is_layers(part: &Expression) -> bool {
    matches!(part, Expression::Type(name, _) if matches!(name.as_str(), "Encoder" | "Decoder" | "CrossDecoder"))
}
