//! PyTorch's own transformers. It writes no `config.json`, so the keys are the arguments of its classes.

use super::{Design, Keys, hugging_face::stack};
use crate::{
    Activation, Relu,
    blueprint::{Expression, family::Parts},
    load::{TorchDecoder, TorchEncoder, TorchTransformer},
};

/// `nn.TransformerEncoder`
pub(super) fn encoder(keys: &mut Keys<'_>) -> Design {
    let causal = keys.flag("causal", false);
    let family = Parts { causal, ..family(keys, false) };
    Design::new::<TorchEncoder>(torch_stack(keys, "Encoder", family, "num_layers"))
}

/// `nn.TransformerDecoder`
pub(super) fn decoder(keys: &mut Keys<'_>) -> Design {
    let family = family(keys, false);
    Design::new::<TorchDecoder>(torch_stack(keys, "CrossDecoder", family, "num_layers"))
}

/// `nn.Transformer`, whose encoder and decoder have final norms.
pub(super) fn transformer(keys: &mut Keys<'_>) -> Design {
    let family = family(keys, true);
    let encoder = torch_stack(keys, "Encoder", family, "num_encoder_layers");
    let decoder = torch_stack(keys, "CrossDecoder", family, "num_decoder_layers");
    let fields = [("encoder", encoder), ("decoder", decoder)];
    Design::new::<TorchTransformer>(Expression::Own("Transformer", fields.into()))
}

fn family(keys: &mut Keys<'_>, final_norm: bool) -> Parts {
    let (norm_first, activation) = (keys.flag("norm_first", false), keys.activation("activation", Relu::NAME));
    let (last, bias) = (keys.flag("final_norm", final_norm), keys.flag("bias", true));
    Parts::custom(norm_first, activation, last, keys.exponent("layer_norm_eps", 5), bias)
}

fn torch_stack(keys: &mut Keys<'_>, name: &str, family: Parts, layers: &'static str) -> Expression {
    let d_ff = keys.number_if("dim_feedforward").unwrap_or(2048);
    stack(name, family, [keys.number(layers), keys.number("d_model"), d_ff, keys.number("nhead")])
}
