//! Layers: linear maps, norms, attention, feed-forward layers, blocks, stacks.

use super::{
    BlueprintError, Expression, MOST,
    arguments::{Arguments, Result, wrong},
    family::{BIASES, EXPONENT, NormKind, Parts},
    memory::Memory,
    node::{Format, Node, START},
};
use crate::{Hyperparameters, cost::Macs, integer4::MOST_INPUTS, norm::epsilon_of, rotation};
use std::{boxed::Box, format, vec};

/// A [`Layer`](crate::Layer).
pub(super) struct Layer {
    pub(super) node: Node,
    pub(super) memory: Memory,
    pub(super) macs: Macs,
    pub(super) hyperparameters: Hyperparameters,
}

fn bias(n: usize, there: bool) -> Node {
    if there { Node::Vector(n) } else { Node::NOTHING }
}

pub(super) fn linear(format: Format, inputs: usize, outputs: usize, with_bias: bool) -> Node {
    Node::Struct(START, vec![("weight", Node::Matrix(format, inputs, outputs)), ("bias", bias(outputs, with_bias))])
}

pub(super) fn norm(kind: NormKind, n: usize) -> Node {
    match kind {
        NormKind::None => Node::NOTHING,
        NormKind::Layer { exponent, bias: with_bias } => Node::Struct(
            START.name("layer norm").number(exponent as usize),
            vec![("weight", Node::Vector(n)), ("bias", bias(n, with_bias)), ("epsilon", Node::Phantom)],
        ),
        NormKind::Rms { exponent } => Node::Struct(
            START.name("rms norm").number(exponent as usize),
            vec![("weight", Node::Vector(n)), ("epsilon", Node::Phantom)],
        ),
    }
}

/// The widths of a block, and the format of its weights.
#[derive(Clone, Copy)]
struct Widths {
    format: Format,
    d_model: usize,
    d_ff: usize,
    heads: usize,
    kv_heads: usize,
    d_kv: usize,
}

fn attention(family: &Parts, widths: Widths) -> Node {
    let Widths { format, d_model, heads, d_kv, .. } = widths;
    let start = START.name("attention").number(heads).number(usize::from(family.causal));
    let start = match family.rotation {
        Some((pairing, theta)) => rotation::mix(start, Some(pairing), theta as f64),
        None => start,
    };
    let fields = vec![
        ("query", linear(format, d_model, d_model, family.input_bias)),
        ("key", linear(format, d_model, d_kv, family.input_bias)),
        ("value", linear(format, d_model, d_kv, family.input_bias)),
        ("output", linear(format, d_model, d_model, family.output_bias)),
        ("family", Node::Phantom),
    ];
    Node::Struct(start, fields)
}

fn feed_forward(family: &Parts, widths: Widths) -> Node {
    let Widths { format, d_model, d_ff, .. } = widths;
    let inner = || linear(format, d_model, d_ff, family.feed_forward_bias);
    let (name, gate) =
        if family.gated { ("gated feed-forward", Some(("gate", inner()))) } else { ("feed-forward", None) };
    let outer = linear(format, d_ff, d_model, family.feed_forward_bias);
    let fields = gate.into_iter().chain([("inner", inner()), ("outer", outer), ("activation", Node::Phantom)]);
    Node::Struct(START.name(name).name(family.activation), fields.collect())
}

fn block(family: &Parts, widths: Widths) -> Node {
    let norm = || norm(family.norm, widths.d_model);
    let fields = vec![
        ("attention", attention(family, widths)),
        ("attention_norm", norm()),
        ("feed_forward", feed_forward(family, widths)),
        ("feed_forward_norm", norm()),
    ];
    Node::Struct(START.name("block").number(usize::from(family.norm_first)), fields)
}

fn cross_block(family: &Parts, widths: Widths) -> Node {
    let norm = || norm(family.norm, widths.d_model);
    let fields = vec![
        ("self_attention", attention(&Parts { causal: true, ..*family }, widths)),
        ("self_attention_norm", norm()),
        ("cross_attention", attention(&Parts { causal: false, ..*family }, widths)),
        ("cross_attention_norm", norm()),
        ("feed_forward", feed_forward(family, widths)),
        ("feed_forward_norm", norm()),
    ];
    Node::Struct(START.name("cross block").number(usize::from(family.norm_first)), fields)
}

fn stack(family: &Parts, layers: usize, block: Node, d_model: usize) -> Node {
    let norm = norm(family.final_norm, d_model);
    Node::Struct(START, vec![("blocks", Node::Stack(Box::new(block), layers)), ("norm", norm)])
}

/// Multiplications and additions of a block.
fn macs(family: &Parts, widths: Widths) -> Macs {
    let [d_model, d_ff, d_kv] = [widths.d_model, widths.d_ff, widths.d_kv].map(|n| n as u64);
    let matrices = if family.gated { 3 } else { 2 };
    Macs::per_token(2 * d_model * (d_model + d_kv) + matrices * d_model * d_ff)
        .and(Macs::per_pair(2 * d_model, family.causal))
}

fn hyperparameters(family: &Parts, widths: Widths, layers: Option<usize>) -> Hyperparameters {
    let (rms_norm, epsilon) = match family.norm {
        NormKind::None => (None, None),
        NormKind::Layer { exponent, .. } => (Some(false), Some(epsilon_of(exponent as u32))),
        NormKind::Rms { exponent } => (Some(true), Some(epsilon_of(exponent as u32))),
    };
    Hyperparameters {
        layers,
        d_model: Some(widths.d_model),
        d_ff: Some(widths.d_ff),
        heads: Some(widths.heads),
        kv_heads: Some(widths.kv_heads),
        norm_first: Some(family.norm_first),
        rms_norm,
        epsilon,
        causal: Some(family.causal),
        activation: Some(family.activation),
        gated: Some(family.gated),
        pairing: family.rotation.map(|(pairing, _)| pairing),
        theta: family.rotation.map(|(_, theta)| theta as f64),
        ..Hyperparameters::NONE
    }
}

/// A block or a stack; `None` if it is something else.
pub(super) fn layer(expression: &Expression) -> Result<Option<Layer>> {
    let (name, mut arguments) = match expression {
        Expression::Array(part, n @ 1..=0xffff) => {
            let Some(part) = layer(part)? else { return Ok(None) };
            if part.node.count().saturating_mul(*n) > MOST {
                return wrong(format!("`{expression}` has more parameters than any machine holds"));
            }
            let n = *n as usize;
            let hyperparameters = Hyperparameters::NONE;
            let macs = part.macs.times(n);
            let memory = Memory { cached_layers: None, ..part.memory };
            return Ok(Some(Layer { node: Node::Stack(Box::new(part.node), n), memory, macs, hyperparameters }));
        }
        Expression::Type(name, arguments) => (name.as_str(), Arguments::new(name, arguments)),
        _ => return Ok(None),
    };
    let (is_stack, is_decoder) = match name {
        "EncoderBlock" => (false, false),
        "Encoder" => (true, false),
        "DecoderBlock" => (false, true),
        "Decoder" => (true, true),
        _ => return Ok(None),
    };
    let family = Parts::parse(arguments.expression("F")?)?;
    let layers = if is_stack { Some(arguments.number("LAYERS")?) } else { None };
    let widths = widths(&mut arguments, is_decoder)?;
    arguments.end()?;
    if is_decoder && !family.causal {
        return wrong(format!("`{name}` wants a causal family, found `{expression}`"));
    }
    let (block, macs) = (block(&family, widths), macs(&family, widths));
    let (node, macs) = match layers {
        Some(layers) => (stack(&family, layers, block, widths.d_model), macs.times(layers)),
        None => (block, macs),
    };
    let Widths { d_model, d_ff, d_kv, .. } = widths;
    let hyperparameters = hyperparameters(&family, widths, layers);
    let cached_layers = layers.filter(|_| is_decoder);
    let memory = Memory { d_model, d_ff, d_kv, cross_layers: None, cached_layers };
    Ok(Some(Layer { node, memory, macs, hyperparameters }))
}

/// The encoder and the decoder of a `Transformer`, whose family is bidirectional, and its vocabulary and positions.
pub(super) fn transformer(arguments: &mut Arguments<'_>) -> Result<(Layer, Node, [usize; 2])> {
    let argument = arguments.expression("F")?;
    let family = Parts::parse(argument)?;
    if family.causal {
        return wrong(format!("`Transformer` wants a bidirectional family, found `{argument}`"));
    }
    let layers = arguments.number("LAYERS")?;
    let (d_model, d_ff) = (arguments.number("D_MODEL")?, arguments.number("D_FF")?);
    let (heads, d_kv) = (arguments.number("HEADS")?, d_model);
    let vocabulary_and_positions = [arguments.number("VOCABULARY")?, arguments.number("POSITIONS")?];
    let format = arguments.format()?;
    let widths = Widths { format, d_model, d_ff, heads, kv_heads: heads, d_kv }.checked()?;
    let square = (d_model * d_model) as u64;
    let cross = Macs::per_token(4 * square).and(Macs::per_pair(2 * d_model as u64, false));
    let decoder = macs(&Parts { causal: true, ..family }, widths).and(cross);
    let encoder = Layer {
        node: stack(&family, layers, block(&family, widths), d_model),
        memory: Memory { d_model, d_ff, d_kv, cross_layers: Some(layers), cached_layers: None },
        macs: macs(&family, widths).and(decoder).times(layers),
        hyperparameters: hyperparameters(&family, widths, Some(layers)),
    };
    Ok((encoder, stack(&family, layers, cross_block(&family, widths), d_model), vocabulary_and_positions))
}

/// `CrossDecoder` or `CrossBlock`, and the width; `None` if it is something else.
pub(super) fn cross(expression: &Expression) -> Result<Option<Node>> {
    let Expression::Type(name, arguments) = expression else { return Ok(None) };
    if !matches!(name.as_str(), "CrossDecoder" | "CrossBlock") {
        return Ok(None);
    }
    let mut arguments = Arguments::new(name, arguments);
    let family = Parts::parse(arguments.expression("F")?)?;
    let layers = if name == "CrossDecoder" { Some(arguments.number("LAYERS")?) } else { None };
    let widths = widths(&mut arguments, false)?;
    arguments.end()?;
    let block = cross_block(&family, widths);
    Ok(Some(match layers {
        Some(layers) => stack(&family, layers, block, widths.d_model),
        None => block,
    }))
}

/// `D_MODEL, D_FF, HEADS, T` and, of decoders, `KV_HEADS, D_KV`.
fn widths(arguments: &mut Arguments<'_>, is_decoder: bool) -> Result<Widths> {
    let (d_model, d_ff) = (arguments.number("D_MODEL")?, arguments.number("D_FF")?);
    let heads = arguments.number("HEADS")?;
    let format = arguments.format()?;
    let (kv_heads, d_kv) = if is_decoder {
        (arguments.number_or("KV_HEADS", heads)?, arguments.number_or("D_KV", d_model)?)
    } else {
        (heads, d_model)
    };
    Widths { format, d_model, d_ff, heads, kv_heads, d_kv }.checked()
}

impl Widths {
    /// These, if rustc would not refuse them.
    fn checked(self) -> Result<Self> {
        let Self { d_model, heads, kv_heads, d_kv, .. } = self;
        [d_model, heads, kv_heads, d_kv].into_iter().try_for_each(known_width)?;
        if d_model % heads != 0 {
            return wrong(format!("{heads} heads do not divide a model width (`D_MODEL`) of {d_model}"));
        }
        if heads % kv_heads != 0 {
            return wrong(format!("{kv_heads} heads of key and value do not divide {heads} heads of the query"));
        }
        if d_model / heads * kv_heads != d_kv {
            return wrong(format!(
                "{kv_heads} heads of key and value, of {d_model} / {heads} columns each, do not make `D_KV` = {d_kv} columns"
            ));
        }
        Ok(self)
    }
}

/// Whether it is one, for rustc.
fn known_width(n: usize) -> Result<()> {
    match n {
        1..=2048 => Ok(()),
        2049..=16384 if n.is_multiple_of(16) => Ok(()),
        _ => wrong(format!("widths are 1 to 2048, then the multiples of 16 up to 16384, found {n}")),
    }
}

/// Whether a matrix of this format may have so many inputs.
pub(super) fn known_inputs(format: Format, n: usize) -> Result<()> {
    known_width(n)?;
    if matches!(format, Format::Int4) && n > MOST_INPUTS {
        return wrong(format!("a matrix in `Int4` has up to {MOST_INPUTS} inputs, found {n}"));
    }
    Ok(())
}

/// `Linear` and its widths; `None` if it is something else.
pub(super) fn any_linear(expression: &Expression) -> Result<Option<(Node, [usize; 2])>> {
    let Expression::Type(name, arguments) = expression else { return Ok(None) };
    if name != "Linear" {
        return Ok(None);
    }
    let mut arguments = Arguments::new(name, arguments);
    let [inputs, outputs] = [arguments.number("IN")?, arguments.number("OUT")?];
    let format = arguments.format()?;
    let with_bias = arguments.one_of(&BIASES)? == 0;
    arguments.end()?;
    Ok(Some((linear(format, inputs, outputs, with_bias), [inputs, outputs])))
}

/// A norm.
pub(super) fn any_norm(expression: &Expression) -> Result<Node> {
    let own = || BlueprintError::Own(format!("{expression}"));
    let Expression::Type(name, arguments) = expression else { return Err(own()) };
    let mut arguments = Arguments::new(name, arguments);
    let node = match name.as_str() {
        "NoNorm" => Node::NOTHING,
        "LayerNorm" => {
            let (n, exponent) = (arguments.number("D_MODEL")?, arguments.unsigned_or("E", 5, EXPONENT)?);
            norm(NormKind::Layer { exponent, bias: arguments.one_of(&BIASES)? == 0 }, n)
        }
        "RmsNorm" => {
            let (n, exponent) = (arguments.number("D_MODEL")?, arguments.unsigned_or("E", 6, EXPONENT)?);
            norm(NormKind::Rms { exponent }, n)
        }
        _ => return Err(own()),
    };
    arguments.end()?;
    Ok(node)
}
