//! The laws in words.

/// A law: where its function is, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Module and function, `attention::prefix`.
    pub law: &'static str,
    /// What holds.
    pub formula: &'static str,
}

macro_rules! statements {
    ($($law:literal: $formula:literal;)*) => {
        /// Every law of this module.
        pub const STATEMENTS: &[Statement] = &[$(Statement { law: $law, formula: $formula }),*];
    };
}

statements! {
    "activation::gate": "min(x, 0) ≤ f(x) ≤ max(x, 0); f(0) = 0; f(NaN) is NaN";
    "activation::reflection": "f(x) - f(-x) = x";
    "activation::limits": "f(x) = x and f(-x) = 0 for x ≥ 20; f rises from 0 on";
    "activation::lanes": "vectors of lanes are the numbers one by one";
    "attention::permutation": "f(P x) = P f(x) for every permutation P of the tokens";
    "attention::prefix": "f(x₁ … xₘ) are the first m of f(x₁ … xₙ), for every m ≤ n: no token sees a later one";
    "attention::convexity": "least xⱼ ≤ yᵢ ≤ greatest xⱼ of the tokens seen, feature by feature, if W_V and W_O are the identity";
    "attention::one_token": "y = W_O (W_V x + b_V) + b_O for a token alone";
    "feed_forward::every_token_alone": "fᵢ(x₁ … xₙ) = f(xᵢ)";
    "image::damaged": "a damaged image is refused, a whole one is not, nothing panics";
    "image::round_trip": "what is read is what was written";
    "layer_norm::idempotence": "n(n(x)) = n(x) / √(v + ε), v = Var[x] / (Var[x] + ε)";
    "layer_norm::moments": "E[n] = 0 and Var[n] = Var[x] / (Var[x] + ε)";
    "layer_norm::scale": "n(s x) = n(x) √((Var[x] + ε) / (Var[x] + ε/s²))";
    "layer_norm::shift": "y(x + c) = y(x)";
    "norm::affine": "y = γ ⊙ n(x) + β";
    "norm::bounded": "|nᵢ(x)| ≤ √D_MODEL";
    "norm::every_token_alone": "yᵢ(x₁ … xₙ) = y(xᵢ)";
    "norm::odd": "n(-x) = -n(x)";
    "residual::composition": "y = after(z + feed_forward(before(z))), z = after(x + attention(before(x)))";
    "residual::normalised": "n(y) = y under Post-LN, if the last norm is plain";
    "residual::only_norms": "y = n(n(x)) under Post-LN, if attention and feed_forward are 0 and norms are plain";
    "residual::zero_branches": "y = x under Pre-LN, if attention and feed_forward are 0";
    "rms_norm::mean_square": "E[n²] = E[x²] / (E[x²] + ε)";
    "rms_norm::scale": "n(s x) = n(x) √((E[x²] + ε) / (E[x²] + ε/s²))";
    "sequence::batch": "f of a batch is f of its sequences one by one";
    "sequence::capacity": "f does not depend on SEQ_LEN";
    "sequence::junk": "f does not depend on what lies beyond the tokens";
    "sequence::padding": "f does not depend on NaN beyond the tokens or in the scratch; as many tokens come out as went in";
    "sequence::repetition": "f(x) again is f(x), in new memory and in used";
    "sequence::tiles": "f does not depend on TILE";
    "softmax::distribution": "0 ≤ yⱼ ≤ 1 and Σⱼ yⱼ = 1; all 0 if all are masked";
    "softmax::masked": "xⱼ = -∞ makes yⱼ = 0 and changes no other";
    "softmax::monotone": "xᵢ ≤ xⱼ makes yᵢ ≤ yⱼ";
    "softmax::shift": "y(x + c) = y(x)";
    "stack::encoder": "an encoder is its blocks and the final norm, one after the other";
    "stack::layers": "a stack is its layers, one after the other";
}
