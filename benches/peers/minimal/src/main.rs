//! The least program that runs a model: of an image or an ONNX file where the framework reads one, else a layer of each kind
//! that a block needs.

fn main() {
    #[cfg(feature = "constformer")]
    constformer::run();
    #[cfg(feature = "nalgebra")]
    nalgebra::run();
    #[cfg(feature = "rten")]
    rten::run();
    #[cfg(feature = "candle")]
    candle::run().expect("a forward pass");
    #[cfg(feature = "burn")]
    burn::run();
    #[cfg(feature = "tract")]
    tract::run().expect("a forward pass");
}

#[cfg(feature = "constformer")]
mod constformer {
    use ::constformer::{Bert, Encoder, Layer, Memory, Working, boxed, image};

    type Model = Encoder<Bert, 6, 384, 1536, 12>;

    pub(super) fn run() {
        let model = image::read::<Model>(std::env::args().nth(1).expect("an image")).expect("an image of this model");
        let mut memory = boxed::<Memory<Model, 128>>();
        let Working { stream, scratch } = &mut *memory;
        stream.push(&[1.0; 384]).expect("room");
        model.forward(stream, scratch);
        println!("{:?}", stream.tokens());
    }
}

#[cfg(feature = "nalgebra")]
mod nalgebra {
    use ::nalgebra::DMatrix;

    pub(super) fn run() {
        let x = DMatrix::<f32>::repeat(384, 128, 1.0);
        let mut y = DMatrix::zeros(1536, 128);
        y.gemm(1.0, &DMatrix::repeat(1536, 384, 1.0), &x, 0.0);
        y.apply(|x| *x = x.exp());
        println!("{y}");
    }
}

#[cfg(feature = "rten")]
mod rten {
    use ::rten::Model;
    use ::rten_tensor::{AsView, Tensor};

    pub(super) fn run() {
        let model = Model::load_file(std::env::args().nth(1).expect("an ONNX file")).expect("a model");
        let x = Tensor::<f32>::zeros(&[1, 128, 384]);
        println!("{:?}", model.run_one(x.view().into(), None).expect("a forward pass"));
    }
}

#[cfg(feature = "candle")]
mod candle {
    use ::candle_core::{Device, Result, Tensor};
    use ::candle_nn::{LayerNorm, Linear, Module, ops::softmax_last_dim};

    pub(super) fn run() -> Result<()> {
        let ones = |shape: &[usize]| Tensor::ones(shape, ::candle_core::DType::F32, &Device::Cpu);
        let x = LayerNorm::new(ones(&[384])?, ones(&[384])?, 1e-5).forward(&ones(&[1, 128, 384])?)?;
        let x = Linear::new(ones(&[384, 384])?, Some(ones(&[384])?)).forward(&x)?.gelu_erf()?;
        println!("{}", softmax_last_dim(&x)?);
        Ok(())
    }
}

#[cfg(feature = "burn")]
mod burn {
    use ::burn::tensor::{Device, Tensor, activation, module};

    pub(super) fn run() {
        let device = Device::flex();
        let x = Tensor::<3>::ones([1, 128, 384], &device);
        let x = module::layer_norm(x, Tensor::ones([384], &device), None, 1e-5);
        let x = module::linear(x, Tensor::ones([384, 384], &device), None);
        let heads = activation::gelu(x).reshape([1, 12, 128, 32]);
        println!("{}", module::attention(heads.clone(), heads.clone(), heads, None, None, Default::default()));
    }
}

#[cfg(feature = "tract")]
mod tract {
    use tract_onnx::prelude::*;

    pub(super) fn run() -> TractResult<()> {
        let path = std::env::args().nth(1).expect("an ONNX file");
        let model = tract_onnx::onnx().model_for_path(path)?.into_optimized()?.into_runnable()?;
        let x = Tensor::zero::<f32>(&[1, 128, 384])?;
        println!("{:?}", model.run(tvec![x.into_tvalue()])?);
        Ok(())
    }
}
