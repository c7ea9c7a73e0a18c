//! `cargo run --release --features import --bin import -- MODELS FOLDER`: writes the images of KWT-1 and stories260K and what the
//! programs `kws` and `stories` are given into `FOLDER`. Runs on a host.

#[allow(dead_code, reason = "only the names of its tensors and classes are wanted")]
#[path = "../../../keyword_spotting/model.rs"]
mod model;

use constformer::{
    boxed, image,
    load::{Checkpoint, llama2c},
    quantize,
};
use firmware::models::{Kws, KwsInput, KwsInt4, KwsInt8, Stories, YES};
use safetensors::SafeTensors;
use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut folders = env::args_os().skip(1).map(PathBuf::from);
    let (Some(models), Some(out)) = (folders.next(), folders.next()) else {
        return Err("import MODELS FOLDER".into());
    };
    fs::create_dir_all(&out)?;

    let mut kws = boxed::<Kws>();
    Checkpoint::open(models.join("kwt1/kwt1.safetensors"))?.load::<model::Kwt1>(&mut *kws)?;
    image::write(out.join("kws.cfm"), &*kws)?;
    image::write(out.join("kws_int8.cfm"), &*quantize::<KwsInt8>(&*kws))?;
    image::write(out.join("kws_int4.cfm"), &*quantize::<KwsInt4>(&*kws))?;
    let golden = fs::read(models.join("kwt1/kwt1_golden.safetensors"))?;
    let golden = SafeTensors::deserialize(&golden)?;
    fs::write(out.join("kws_input.f32"), golden.tensor("yes.mfcc")?.data())?;
    fs::write(out.join("kws_logits.f32"), golden.tensor("yes.logits_f64ref")?.data())?;
    assert_eq!((model::LABELS[YES], model::TOKENS), ("yes", size_of::<KwsInput>() / 160 + 1));

    let mut stories = boxed::<Stories>();
    llama2c(&fs::read(models.join("stories260K/stories260K.bin"))?, &mut *stories)?;
    image::write(out.join("stories.cfm"), &*stories)?;
    fs::copy(models.join("stories260K/tok512.bin"), out.join("stories_vocabulary.bin"))?;
    fs::copy(models.join("stories260K/golden_greedy_200.txt"), out.join("stories.txt"))?;
    Ok(())
}
