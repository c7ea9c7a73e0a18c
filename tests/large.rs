//! Large models: where they lie, and that they get there without the stack.

use constformer::{Bert, CachedMemory, Decoder, Encoder, Gpt2, LanguageModel, Memory, TextEmbedding, Working, boxed};

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

/// Bytes in pages of 2 MiB and bytes in all, of the part of the memory that `address` lies in.
#[cfg(target_os = "linux")]
fn huge_pages(address: usize) -> (usize, usize) {
    let kilobytes = |line: &str| 1024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap();
    let (mut inside, mut size) = (false, 0);
    for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let (first, _) = line.split_once(' ').unwrap();
        if let Some((start, end)) = first.split_once('-') {
            let [start, end] = [start, end].map(|number| usize::from_str_radix(number, 16).unwrap());
            inside = (start..end).contains(&address);
            size = end - start;
        } else if inside && first == "AnonHugePages:" {
            return (kilobytes(line), size);
        }
    }
    panic!("{address:x} is in no part of the memory");
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
    let (huge, size) = huge_pages((&raw const model.blocks[3]).addr());
    eprintln!("{huge} of {} bytes on huge pages", size_of::<Large>());
    assert!(size_of::<Large>() / 2 < huge && huge <= size, "{huge} of {size}");
    assert!((&raw const *model).addr().is_multiple_of(2 << 20));
}
