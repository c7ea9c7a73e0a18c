//! The twins of the programs that rustc refuses: each differs in what the name of its function says, and compiles and runs.

use constformer::{
    Bert, Cache, CachedMemory, Causal, Classifier, Decoder, Encoder, EncoderBlock, Family, KnownWidth, Kwt, LanguageModel, Layer,
    LearnedPositions, Llama, Masked, Memory, PatchEmbedding, Plan, Scratch, Sequence, SplitInto, TokenEmbedding,
    Vaswani, Vit, Width, Zero, boxed, include_model, patches,
};

type Kws = Classifier<PatchEmbedding<40, 64, 99>, Encoder<Kwt, 12, 64, 256, 1>, 64, 12>;
type Block = EncoderBlock<Bert, 32, 128, 4>;
type Flashed = EncoderBlock<Vit, 8, 8, 2>;

static BLOCK: Block = Zero::ZERO;

/// Against `heads_do_not_divide`, `heads_do_not_divide_block`, `zero_heads`.
fn heads_divide() {
    let _ = boxed::<Encoder<Vaswani, 6, 512, 2048, 8>>();
    let _ = boxed::<EncoderBlock<Bert, 384, 1536, 12>>();
    let _ = boxed::<EncoderBlock<Bert, 384, 1536, 1>>();
    let _ = boxed::<EncoderBlock<Bert, 384, 1536, 384>>();
}

/// Against `unknown_width`, `unknown_heads`.
fn known_widths() {
    let _ = boxed::<EncoderBlock<Bert, 2047, 4096, 23>>();
    let _ = boxed::<EncoderBlock<Bert, 2080, 4096, 5>>();
    let _ = boxed::<EncoderBlock<Bert, 4096, 1, 2048>>();
}

/// Against `forgotten_bound`.
fn remembered_bound() {
    fn twice<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize>(
        block: &EncoderBlock<F, D_MODEL, D_FF, HEADS>,
        x: &mut Sequence<D_MODEL, 16>,
        scratch: &mut Scratch<D_MODEL, D_FF, 16>,
    ) where
        Width<D_MODEL>: SplitInto<HEADS>,
        Width<D_FF>: KnownWidth,
    {
        block.forward(x, scratch);
        block.forward(x, scratch);
    }
    twice(&BLOCK, &mut Sequence::new(), &mut *boxed());
}

/// Against `width_into_block`, `token_of_another_width`, `scratch_of_another_length`, `scratch_of_another_width`, `no_tile`.
fn one_width() {
    let mut x = Sequence::<32, 16>::new();
    x.push(&[0.0; 32]).unwrap();
    BLOCK.forward(&mut x, &mut *boxed::<Scratch<32, 128, 16>>());
    BLOCK.forward(&mut x, &mut *boxed::<Scratch<32, 128, 16, 1>>());
}

/// Against `blocks_of_two_widths`, `block_of_another_family`.
fn blocks_of_one_type() {
    let _stack = [Block::ZERO, Block::ZERO];
    let mut encoder = boxed::<Encoder<Bert, 2, 32, 128, 4>>();
    encoder.blocks[1] = Block::ZERO;
}

/// Against `classifier_of_another_width`, `embedding_of_another_width`, `inputs_of_another_width`.
fn classifier_of_one_width() {
    static KWS: Kws = Kws::ZERO;
    let logits = KWS.forward(&[[0.0; 40]; 98], &mut *boxed::<Memory<Kws, 99>>()).unwrap();
    assert_eq!(logits, [0.0; 12]);
}

/// Against `not_a_format`, `not_a_family`.
fn format_and_family() {
    let _ = boxed::<EncoderBlock<Bert, 384, 1536, 12, f32>>();
}

/// Against `over_budget_flash`, `over_budget_ram`.
const _: () = Plan::<Kws, 99, 4>::assert_fits(4_194_304, 131_072);

/// Against `image_truncated`, `image_not_an_image`, `image_of_another_version`, `image_of_other_heads`,
/// `image_of_another_placement`, `image_of_another_width`.
fn the_image() {
    static BLOCK: &Flashed = include_model!(Flashed, "../images/block.cfm");
    assert_eq!(BLOCK.attention_norm.weight, [1.0; 8]);
}

/// Against `positions_too_few`.
fn positions_enough() {
    static POSITIONS: LearnedPositions<4, 9> = Zero::ZERO;
    POSITIONS.forward(&mut Sequence::<4, 9>::new());
    POSITIONS.forward(&mut Sequence::<4, 8>::new());
}

/// Against `patches_of_another_number`.
fn patches_tile_the_image() {
    let _patches = patches::<28, 28, 7, 49, 16>(&[[0.0; 28]; 28]);
}

/// Against `kv_heads_do_not_divide`, `kv_columns`, `bidirectional_decoder`, `cache_of_other_layers`,
/// `head_of_another_vocabulary`, `encoder_cannot_go_on`.
fn decoders_go_on() {
    type Stories = LanguageModel<TokenEmbedding<512, 64>, Decoder<Llama, 5, 64, 172, 8, f32, 4, 32>, 64, 512>;
    let model = boxed::<Stories>();
    let mut memory = boxed::<CachedMemory<Stories, 512>>();
    model.extend(&[1], &mut memory, &mut [0.0; 512]).unwrap();
    let _cache: &Cache<5, 32, 512> = &memory.cache;
    let _causal = boxed::<Decoder<Masked<Bert, Causal>, 2, 32, 64, 4>>();
}

fn main() {
    decoders_go_on();
    heads_divide();
    known_widths();
    remembered_bound();
    one_width();
    blocks_of_one_type();
    classifier_of_one_width();
    format_and_family();
    the_image();
    positions_enough();
    patches_tile_the_image();
}
