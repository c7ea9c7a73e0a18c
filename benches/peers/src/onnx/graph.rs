//! The nodes of a stack.

use super::proto::{
    Attribute, Dimension, Graph, Model, Node, OperatorSet, Tensor, TensorShape, TensorType, Type, Value,
};
use crate::{
    shape::{Activation, Shape},
    weights::{Linear, Norm, Weights},
};
use prost::Message;

const FLOAT: i32 = 1;
const INT32: i32 = 6;
const INT64: i32 = 7;
const CONTRIBUTED: &str = "com.microsoft";
/// The input that says how many tokens are remembered.
const BEFORE: &str = "before";
/// Tokens that a cache has room for, if it is written to in place.
const CAPACITY: usize = 512;

/// How attention is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As exporters do: standard operators, products and transpositions.
    Plain,
    /// As the optimizer of ONNX Runtime does: `MultiHeadAttention` of its own domain.
    Fused,
}

/// The model: `x` of `[1, tokens, d_model]` to `y`; with a past, `key.0`, `value.0`, ... of `[1, heads, past, d_head]` to
/// `new_key.0`, `new_value.0`, ..., which are one token longer. [`Style::Fused`] has them of `[1, heads, 512, d_head]` instead, and
/// an input `before`: how many of the 512 there are.
#[must_use]
pub fn model(shape: &Shape, style: Style) -> Vec<u8> {
    let mut builder = Builder { shape: *shape, style, graph: Graph::default(), names: 0 };
    builder.graph.name = Some("stack".into());
    builder.input("x", &[1, shape.tokens, shape.d_model]);
    builder.output("y", &[1, shape.tokens, shape.d_model]);
    if shape.past > 0 && style == Style::Fused {
        builder.graph.inputs.push(value(BEFORE, INT32, &[1]));
    }
    builder.stack();
    let set = |domain: &str, version| OperatorSet { domain: Some(domain.into()), version: Some(version) };
    let operator_sets = vec![set("", 20), set(CONTRIBUTED, 1)];
    Model { ir_version: Some(9), graph: Some(builder.graph), operator_sets }.encode_to_vec()
}

struct Builder {
    shape: Shape,
    style: Style,
    graph: Graph,
    names: usize,
}

impl Builder {
    fn stack(&mut self) {
        let mut weights = Weights::new(&self.shape);
        let mut x = "x".to_owned();
        for layer in 0..self.shape.layers {
            let block = weights.next().expect("as many blocks as layers");
            let [attention_norm, feed_forward_norm] = [block.attention_norm, block.feed_forward_norm]
                .map(|norm| (self.vector(&norm.weight), self.vector(&norm.bias)));
            let first = self.shape.norm_first;
            let normed = if first { self.norm(&x, &attention_norm) } else { x.clone() };
            let query = self.linear(&normed, &block.query);
            let key = self.linear(&normed, &block.key);
            let value = self.linear(&normed, &block.value);
            let context = self.attention(layer, &query, &key, &value);
            let output = self.linear(&context, &block.output);
            x = self.node("Add", &[&x, &output], vec![]);
            if !first {
                x = self.norm(&x, &attention_norm);
            }
            let normed = if first { self.norm(&x, &feed_forward_norm) } else { x.clone() };
            let inner = self.linear(&normed, &block.inner);
            let inner = self.activation(&inner);
            let outer = self.linear(&inner, &block.outer);
            x = self.node("Add", &[&x, &outer], vec![]);
            if !first {
                x = self.norm(&x, &feed_forward_norm);
            }
        }
        if let Some(Norm { weight, bias }) = weights.final_norm() {
            let norm = (self.vector(&weight), self.vector(&bias));
            x = self.norm(&x, &norm);
        }
        // The last node is the output.
        let last = self.graph.nodes.iter_mut().find(|node| node.outputs[0] == x).expect("a node that gives it");
        last.outputs[0] = "y".into();
    }

    fn attention(&mut self, layer: usize, query: &str, key: &str, value: &str) -> String {
        let Shape { heads, tokens, past, d_model, .. } = self.shape;
        let d_head = self.shape.d_head();
        let names = ["key", "value"].map(|kind| (format!("{kind}.{layer}"), format!("new_{kind}.{layer}")));
        if past > 0 {
            let [before, after] = if self.style == Style::Fused { [CAPACITY; 2] } else { [past, past + tokens] };
            for (old, new) in &names {
                self.input(old, &[1, heads, before, d_head]);
                self.output(new, &[1, heads, after, d_head]);
            }
        }
        if self.style == Style::Fused {
            return self.fused_attention(past, &names, [query, key, value]);
        }
        let mut split = |x: &str, order: [i64; 4]| {
            let shape = self.integers(&[1, tokens, heads, d_head]);
            let x = self.node("Reshape", &[x, &shape], vec![]);
            self.node("Transpose", &[&x], vec![ints("perm", &order)])
        };
        let rows = [0, 2, 1, 3];
        let query = split(query, rows);
        let mut value = split(value, rows);
        let key = if past == 0 {
            split(key, [0, 2, 3, 1])
        } else {
            let key = split(key, rows);
            let [(old_key, new_key), (old_value, new_value)] = &names;
            self.push("Concat", &[old_key, &key], &[new_key], vec![int("axis", 2)]);
            self.push("Concat", &[old_value, &value], &[new_value], vec![int("axis", 2)]);
            value.clone_from(new_value);
            self.node("Transpose", &[new_key], vec![ints("perm", &[0, 1, 3, 2])])
        };
        let scores = self.node("MatMul", &[&query, &key], vec![]);
        let scale = self.tensor(&[], FLOAT, bytes(&[self.shape.scale()]));
        let scores = self.node("Mul", &[&scores, &scale], vec![]);
        let scores = self.node("Softmax", &[&scores], vec![int("axis", -1)]);
        let context = self.node("MatMul", &[&scores, &value], vec![]);
        let context = self.node("Transpose", &[&context], vec![ints("perm", &rows)]);
        let shape = self.integers(&[1, tokens, d_model]);
        self.node("Reshape", &[&context, &shape], vec![])
    }

    /// As one operator; with a past, one that appends keys and values in place if its inputs and outputs are the same memory.
    fn fused_attention(&mut self, past: usize, names: &[(String, String); 2], inputs: [&str; 3]) -> String {
        let context = self.name();
        let heads = signed(self.shape.heads);
        if past == 0 {
            self.push("MultiHeadAttention", &inputs, &[&context], vec![int("num_heads", heads)]);
        } else {
            let total = self.tensor(&[], INT32, (past as u32 + 1).to_le_bytes().to_vec());
            let [(old_key, new_key), (old_value, new_value)] = names;
            let inputs = [&inputs[..], &[old_key, old_value, BEFORE, &total]].concat();
            let attributes = vec![int("num_heads", heads), int("kv_num_heads", heads)];
            self.push("GroupQueryAttention", &inputs, &[&context, new_key, new_value], attributes);
        }
        self.graph.nodes.last_mut().expect("just pushed").domain = Some(CONTRIBUTED.into());
        context
    }

    fn activation(&mut self, x: &str) -> String {
        let form = |form: &str| Attribute { string: Some(form.into()), ..attribute("approximate", 3) };
        match self.shape.activation {
            Activation::Relu => self.node("Relu", &[x], vec![]),
            Activation::Gelu => self.node("Gelu", &[x], vec![form("none")]),
            Activation::GeluTanh => self.node("Gelu", &[x], vec![form("tanh")]),
        }
    }

    fn linear(&mut self, x: &str, map: &Linear) -> String {
        let weight = self.tensor(&[map.inputs, map.outputs], FLOAT, bytes(&map.transposed()));
        let bias = self.vector(&map.bias);
        let product = self.node("MatMul", &[x, &weight], vec![]);
        self.node("Add", &[&product, &bias], vec![])
    }

    fn norm(&mut self, x: &str, (weight, bias): &(String, String)) -> String {
        let epsilon = Attribute { float: Some(self.shape.epsilon), ..attribute("epsilon", 1) };
        self.node("LayerNormalization", &[x, weight, bias], vec![int("axis", -1), epsilon])
    }

    fn node(&mut self, operator: &str, inputs: &[&str], attributes: Vec<Attribute>) -> String {
        let output = self.name();
        self.push(operator, inputs, &[&output], attributes);
        output
    }

    fn push(&mut self, operator: &str, inputs: &[&str], outputs: &[&str], attributes: Vec<Attribute>) {
        let strings = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        self.graph.nodes.push(Node {
            inputs: strings(inputs),
            outputs: strings(outputs),
            name: Some(format!("{operator}_of_{}", outputs[0])),
            operator: Some(operator.into()),
            attributes,
            domain: None,
        });
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn vector(&mut self, values: &[f32]) -> String {
        self.tensor(&[values.len()], FLOAT, bytes(values))
    }

    fn integers(&mut self, values: &[usize]) -> String {
        self.tensor(&[values.len()], INT64, values.iter().flat_map(|&value| signed(value).to_le_bytes()).collect())
    }

    fn tensor(&mut self, dimensions: &[usize], data_type: i32, data: Vec<u8>) -> String {
        let name = self.name();
        self.graph.initializers.push(Tensor {
            dimensions: dimensions.iter().map(|&n| signed(n)).collect(),
            data_type: Some(data_type),
            name: Some(name.clone()),
            data: Some(data),
        });
        name
    }

    fn input(&mut self, name: &str, dimensions: &[usize]) {
        self.graph.inputs.push(value(name, FLOAT, dimensions));
    }

    fn output(&mut self, name: &str, dimensions: &[usize]) {
        self.graph.outputs.push(value(name, FLOAT, dimensions));
    }
}

fn value(name: &str, element: i32, dimensions: &[usize]) -> Value {
    let dimensions = dimensions.iter().map(|&n| Dimension { value: Some(signed(n)) }).collect();
    let tensor = TensorType { element: Some(element), shape: Some(TensorShape { dimensions }) };
    Value { name: Some(name.into()), kind: Some(Type { tensor: Some(tensor) }) }
}

fn attribute(name: &str, kind: i32) -> Attribute {
    Attribute { name: Some(name.into()), kind: Some(kind), ..Attribute::default() }
}

fn int(name: &str, value: i64) -> Attribute {
    Attribute { int: Some(value), ..attribute(name, 2) }
}

fn ints(name: &str, values: &[i64]) -> Attribute {
    Attribute { ints: values.to_vec(), ..attribute(name, 7) }
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn signed(n: usize) -> i64 {
    n.cast_signed() as i64
}
