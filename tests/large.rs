//! Large models: where they lie, and that they get there without the stack.
#![expect(unsafe_code, reason = "whoever maps a file promises that nobody changes it")]

use constformer::{
    Bert, Boxed, CachedMemory, Decoder, Encoder, Gpt2, LanguageModel, Layer, Memory, Parameters, TextEmbedding,
    Working, boxed,
    image::{self, Mapped},
    load::{Checkpoint, Native},
};
use safetensors::{Dtype, tensor::TensorView};

/// The encoder of MiniLM: 42 MB.
type Large = Encoder<Bert, 6, 384, 1536, 12>;

/// Models, scratch and cache start at a line of the cache: what a product reads is not cut in two.
#[test]
fn what_products_read_is_aligned() {
    fn aligned<T>(value: &T) -> bool {
        (&raw const *value).addr().is_multiple_of(64)
    }
    type Text = LanguageModel<TextEmbedding<7, 32, 5>, Decoder<Gpt2, 1, 32, 64, 2>, 32, 7>;
    let (model, memory) = (boxed::<Large>(), boxed::<Memory<Large, 16, 16>>());
    let Working { scratch, .. } = &*memory;
    let cached = boxed::<CachedMemory<Text, 16, 16>>();
    assert!(aligned(&*model) && aligned(scratch) && aligned(&cached.cache));
}

/// What the kernel says of the part of the memory that `value` lies in, in bytes.
#[cfg(target_os = "linux")]
fn memory_of<T>(value: &T, what: &str) -> usize {
    let address = (&raw const *value).addr();
    let mut inside = false;
    for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap();
        if let Some((start, end)) = first.split_once('-') {
            let [start, end] = [start, end].map(|number| usize::from_str_radix(number, 16).unwrap());
            inside = (start..end).contains(&address);
        } else if inside && first.strip_suffix(':') == Some(what) {
            return 1024 * words.next().unwrap().parse::<usize>().unwrap();
        }
    }
    panic!("{address:x} is in no part of the memory, or nothing is said of its {what}");
}

/// Most of the model, that is: memory may lie in pieces.
#[cfg(target_os = "linux")]
#[test]
fn a_large_model_lies_on_huge_pages() {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let system = read("/sys/kernel/mm/transparent_hugepage/enabled");
    let process = read("/proc/self/status");
    if !system.contains("[madvise]") && !system.contains("[always]") {
        return eprintln!("SKIPPED: the system has no huge pages for those who ask: {system:?}");
    }
    if !process.contains("THP_enabled:\t1") {
        return eprintln!("SKIPPED: huge pages are switched off for this process");
    }
    let model = boxed::<Large>();
    let huge = memory_of(&model.blocks[3], "AnonHugePages");
    eprintln!("{huge} bytes on huge pages, for a model of {}", size_of::<Large>());
    assert!(huge > size_of::<Large>() / 2, "{huge}");
    assert!((&raw const *model).addr().is_multiple_of(2 << 20));
}

// --- without the stack -----------------------------------------------------------------------------------------------

/// The model with weights that a forward pass can live with.
fn filled() -> Boxed<Large> {
    let mut model = boxed::<Large>();
    let mut n = 0u32;
    model.for_each_tensor_mut(|_, mut tensor| {
        for number in tensor.stored_mut() {
            n = n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *number = (n >> 8) as f32 / (1 << 28) as f32;
        }
    });
    model
}

/// The model as a checkpoint with the names of this library.
fn checkpoint(model: &Large) -> Vec<u8> {
    let mut tensors = vec![];
    model.for_each_tensor(|name, tensor| {
        let mut numbers = vec![];
        tensor.row_major().for_each(|number| numbers.extend_from_slice(&number.to_le_bytes()));
        tensors.push((name.to_string(), tensor.shape().dimensions().to_vec(), numbers));
    });
    let views =
        tensors.iter().map(|(name, shape, bytes)| (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    safetensors::serialize(views, None).unwrap()
}

/// The tokens after the model, of a text of three.
fn forward(model: &Large) -> Vec<f32> {
    let mut memory = boxed::<Memory<Large, 3>>();
    let Working { stream, scratch } = &mut *memory;
    (0..3).for_each(|token| stream.push(&[token as f32 - 1.0; 384]).unwrap());
    model.forward(stream, scratch);
    stream.tokens().as_flattened().to_vec()
}

/// All ways into a model of 42 MB, and one through it, on a stack of 64 KiB. What passed over it would end the process.
#[test]
fn nothing_large_passes_over_the_stack() {
    let folder = std::env::temp_dir().join(format!("constformer-{}-large", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [image, weights] = ["large.cfm", "large.safetensors"].map(|name| folder.join(name));
    let model = filled();
    std::fs::write(&weights, checkpoint(&model)).unwrap();
    let expected = forward(&model);
    assert!(expected.iter().all(|x| x.is_finite()) && expected[0] != expected[384]);
    let outputs = std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(move || {
            image::write(&image, &*model).unwrap();
            drop(model);
            let read = forward(&image::read::<Large>(&image).unwrap());
            // SAFETY: the test has the file for itself.
            let mapped = forward(&unsafe { Mapped::<Large>::open(&image) }.unwrap());
            let mut model = boxed::<Large>();
            Checkpoint::open(&weights).unwrap().load::<Native>(&mut *model).unwrap();
            [read, mapped, forward(&model)]
        })
        .unwrap()
        .join()
        .unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert!(outputs.iter().all(|output| *output == expected));
}

// --- mapped ----------------------------------------------------------------------------------------------------------

/// What is not used is not read: of a model of 42 MB, one block of 7 MB.
#[cfg(target_os = "linux")]
#[test]
fn of_a_mapped_model_only_what_is_used_is_read() {
    let path = std::env::temp_dir().join(format!("constformer-{}-resident.cfm", std::process::id()));
    image::write(&path, &*filled()).unwrap();
    // SAFETY: the test has the file for itself.
    let model = unsafe { Mapped::<Large>::open_without_checksum(&path) }.unwrap();
    let resident = || memory_of(&model.blocks[0], "Rss");
    let before = resident();
    let mut memory = boxed::<Memory<Large, 3>>();
    let Working { stream, scratch } = &mut *memory;
    stream.push(&[1.0; 384]).unwrap();
    model.blocks[3].forward(stream, scratch);
    let after = resident();
    let mut sum = 0.0;
    model.for_each_tensor(|_, tensor| sum += tensor.stored().iter().sum::<f32>());
    let whole = resident();
    std::fs::remove_file(path).unwrap();
    eprintln!("resident: {before} bytes, {after} after one block, {whole} after all, of {}", size_of::<Large>());
    let block = size_of_val(&model.blocks[3]);
    assert!(before < block && (block..2 * block).contains(&after), "{before}, {after}");
    assert!(sum.is_finite() && whole >= size_of::<Large>());
}
