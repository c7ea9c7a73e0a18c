//! Names of a model's tensors, taken apart.

/// What a tensor of a model is, by its name.
#[derive(Clone, Copy)]
pub(super) enum Name<'a> {
    /// `stack.blocks.BLOCK.REST`
    Block { stack: &'a str, block: &'a str, rest: &'a str },
    /// `embedding.REST`
    Embedding(&'a str),
    /// `head.REST`
    Head(&'a str),
    /// `stack.norm.REST`
    Norm { stack: &'a str, rest: &'a str },
    /// Any other: that of a block on its own.
    Other(&'a str),
}

impl<'a> Name<'a> {
    pub(super) fn parse(name: &'a str) -> Self {
        let below = |part: &str| {
            let (before, after) = name.split_once(part)?;
            let stack = if before.is_empty() { before } else { before.strip_suffix('.')? };
            Some((stack, after))
        };
        if let Some(rest) = name.strip_prefix("embedding.") {
            Self::Embedding(rest)
        } else if let Some(rest) = name.strip_prefix("head.") {
            Self::Head(rest)
        } else if let Some((stack, rest)) = below("blocks.")
            && let Some((block, rest)) = rest.split_once('.')
        {
            Self::Block { stack, block, rest }
        } else if let Some((stack, rest)) = below("norm.") {
            Self::Norm { stack, rest }
        } else {
            Self::Other(name)
        }
    }
}

/// `name` without what wrappers of PyTorch (`torch.compile`, `DataParallel`) put before it or into it, and without `prefix`.
pub(super) fn unwrapped(name: &str, prefix: &str) -> std::string::String {
    let name = name.replace("_orig_mod.", "");
    let name = name.strip_prefix("module.").unwrap_or(&name);
    name.strip_prefix(prefix).unwrap_or(name).into()
}
