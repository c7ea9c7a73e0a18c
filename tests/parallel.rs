//! Several threads give the bits of one: whatever the pool, the number of scratches, the lengths, and however the threads are
//! scheduled.

mod common;

use common::random::Random;
use constformer::{
    Bert, Classifier, Decoder, DecoderBlock, Encoder, EncoderBlock, Gpt2, HalfSplit, Int4, Int8, Int8Cache, Int8Stream,
    IntegerOnly, Layer, Llama, Macs, Memory, Model, ParallelLayer, ParallelScratch, Plan, PostLn, Scratch, Sequence,
    TextEmbedding, TextEncoder, TokenFormat, Vit, Working, Zero, boxed, forward_batch_parallel, model,
};
use rayon::ThreadPool;
use std::{
    collections::HashSet,
    sync::{Condvar, Mutex, OnceLock},
    thread::ThreadId,
    time::Duration,
};

/// A pool of its own for each number of threads.
fn pools() -> &'static [ThreadPool] {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    POOLS.get_or_init(|| [1, 2, 3, 5, 8].map(pool).into())
}

fn pool(threads: usize) -> ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn random<L: constformer::Parameters>() -> constformer::Boxed<L> {
    let mut model = boxed();
    Random(7).fill(&mut *model);
    model
}

fn values<const D: usize, const L: usize, S: TokenFormat>(x: &Sequence<D, L, S>) -> Vec<[f32; D]> {
    (0..x.len()).map_while(|i| x.get(i)).collect()
}

/// As `assert_eq`, for bits: a zero has a sign, and NaN is NaN.
fn assert_same<const D: usize>(what: &str, found: &[[f32; D]], expected: &[[f32; D]]) {
    let bits = |tokens: &[[f32; D]]| -> Vec<_> { tokens.as_flattened().iter().map(|x| x.to_bits()).collect() };
    assert!(bits(found) == bits(expected), "{what}: other bits");
}

/// The layer gives what one thread does, with `THREADS` scratches in every pool, for all the lengths that there is room for.
fn check<L, const D_MODEL: usize, const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>()
where
    L: ParallelLayer<D_MODEL>,
    L::ParallelScratch<SEQ_LEN, THREADS, TILE>: Send,
{
    let layer = random::<L>();
    let mut scratch = boxed::<L::Scratch<SEQ_LEN, TILE>>();
    let mut parallel_scratch = boxed::<L::ParallelScratch<SEQ_LEN, THREADS, TILE>>();
    let mut x = boxed::<Sequence<D_MODEL, SEQ_LEN, L::Stream>>();
    let mut y = boxed::<Sequence<D_MODEL, SEQ_LEN, L::Stream>>();
    let mut run = |x: &mut Sequence<D_MODEL, SEQ_LEN, L::Stream>, pool: &ThreadPool| {
        pool.install(|| layer.forward_parallel(x, &mut *parallel_scratch));
    };
    for len in [0, 1, 7, 8, 9, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 95, 96, 97, 101] {
        if len > SEQ_LEN {
            continue;
        }
        let tokens = Random(len as u64).tokens(len);
        x.assign(&tokens).unwrap();
        layer.forward(&mut x, &mut scratch);
        for pool in pools() {
            // What the scratch holds does not matter.
            y.resize(SEQ_LEN).unwrap();
            y.update(|_, tokens| tokens.fill([f32::NAN; D_MODEL]));
            run(&mut y, pool);
            y.assign(&tokens).unwrap();
            run(&mut y, pool);
            let threads = pool.current_num_threads();
            let what = format!("{len} of {SEQ_LEN} tokens, {TILE} at a time, {THREADS} scratches, {threads} threads");
            assert_same(&what, &values(&y), &values(&x));
        }
    }
}

#[test]
fn encoders() {
    check::<Encoder<Bert, 2, 21, 35, 3>, 21, 101, 3, 48>();
    check::<[EncoderBlock<Vit, 21, 35, 3>; 2], 21, 101, 8, 16>();
}

#[test]
fn decoders() {
    check::<Encoder<Gpt2, 2, 21, 35, 3>, 21, 101, 2, 48>();
    check::<Decoder<Llama, 2, 42, 67, 3, f32, 1, 14>, 42, 101, 8, 32>();
    check::<[DecoderBlock<Llama<HalfSplit>, 42, 67, 3, f32, 1, 14>; 2], 42, 101, 3, 5>();
}

#[test]
fn memory_of_8_bits() {
    check::<Encoder<Bert, 2, 21, 35, 3, Int8Stream<Int8Cache<f32>>>, 21, 101, 3, 48>();
    check::<Encoder<Gpt2, 2, 21, 35, 3, Int8Stream<f32>>, 21, 101, 8, 5>();
    check::<Decoder<Llama, 2, 42, 67, 3, Int8Cache<f32>, 1, 14>, 42, 101, 5, 32>();
    check::<Encoder<Bert, 2, 21, 35, 3, Int8Stream<IntegerOnly<Int8>>>, 21, 101, 3, 48>();
    check::<Decoder<Llama, 2, 42, 67, 3, IntegerOnly<Int8>, 1, 14>, 42, 101, 5, 5>();
}

#[test]
fn weights_of_integers() {
    check::<Encoder<Bert, 2, 21, 35, 3, Int8>, 21, 101, 3, 48>();
    check::<Encoder<Bert, 2, 21, 35, 3, Int4>, 21, 101, 3, 48>();
    check::<Encoder<Gpt2, 2, 21, 67, 3, Int8Stream<Int8Cache<Int4>>>, 21, 101, 8, 5>();
    check::<Decoder<Llama, 2, 42, 67, 3, Int4, 1, 14>, 42, 101, 5, 32>();
}

#[test]
fn tiles_and_capacities() {
    check::<EncoderBlock<Bert, 13, 11, 1>, 13, 33, 8, 1>();
    check::<EncoderBlock<Bert, 13, 11, 1>, 13, 33, 5, 200>();
    check::<EncoderBlock<Gpt2, 13, 11, 1>, 13, 96, 3, 32>();
    check::<EncoderBlock<Gpt2, 13, 11, 1>, 13, 96, 1, 9>();
    check::<EncoderBlock<Gpt2, 13, 11, 1>, 13, 0, 2, 4>();
}

/// Keys and values of all tokens are there before the first token looks, and still none looks at later ones.
#[test]
fn nan_is_not_seen_by_tokens_before_it() {
    let block = random::<EncoderBlock<Gpt2, 13, 11, 1>>();
    let mut scratch = boxed::<ParallelScratch<13, 11, 96, 5, 1>>();
    let mut x = Sequence::<13, 96>::new();
    x.assign(&Random(11).tokens(96)).unwrap();
    let mut expected = x.clone();
    block.forward(&mut expected, &mut boxed::<Scratch<13, 11, 96, 1>>());
    x.tokens_mut()[67][2] = f32::NAN;
    pool(5).install(|| block.forward_parallel(&mut x, &mut scratch));
    assert_same("before it", &x.tokens()[..67], &expected.tokens()[..67]);
    assert!(x.tokens()[67..].as_flattened().iter().all(|x| x.is_nan()));
}

/// The same again and again, while other work keeps the threads busy at other times.
#[test]
fn races() {
    let encoder = random::<Encoder<Vit, 2, 21, 35, 3>>();
    let mut scratch = boxed::<ParallelScratch<21, 35, 101, 5, 16>>();
    let mut x = Sequence::<21, 101>::new();
    let mut random = Random(3);
    let tokens = random.tokens(101);
    x.assign(&tokens).unwrap();
    encoder.forward(&mut x, &mut boxed::<Scratch<21, 35, 101, 16>>());
    let pool = pool(5);
    for round in 0..300 {
        let mut y = Sequence::<21, 101>::new();
        y.assign(&tokens).unwrap();
        let disturbances: Vec<u32> = (0..8).map(|_| (random.number().abs() * 3000.0) as u32).collect();
        pool.scope(|scope| {
            for spins in disturbances {
                scope.spawn(move |_| (0..spins).for_each(|_| std::hint::spin_loop()));
            }
            encoder.forward_parallel(&mut y, &mut scratch);
        });
        assert_same(&format!("round {round}"), y.tokens(), x.tokens());
    }
}

/// In a job of the pool, and from several jobs at once.
#[test]
fn a_pool_in_use_is_no_deadlock() {
    let encoder = random::<Encoder<Bert, 2, 21, 35, 3>>();
    let tokens = Random(5).tokens(101);
    let mut expected = Sequence::<21, 101>::new();
    expected.assign(&tokens).unwrap();
    encoder.forward(&mut expected, &mut boxed::<Scratch<21, 35, 101>>());
    let job = || {
        let mut y = Sequence::<21, 101>::new();
        y.assign(&tokens).unwrap();
        encoder.forward_parallel(&mut y, &mut boxed::<ParallelScratch<21, 35, 101, 3, 48>>());
        assert_same("in a job", y.tokens(), expected.tokens());
    };
    for pool in pools() {
        pool.scope(|scope| (0..16).for_each(|_| scope.spawn(|_| job())));
    }
}

fn check_batch<L, const D_MODEL: usize, const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>(lens: &[usize])
where
    L: Layer<D_MODEL>,
    L::Scratch<SEQ_LEN, TILE>: Send,
{
    let layer = random::<L>();
    let mut random = Random(5);
    let batch: Vec<Sequence<D_MODEL, SEQ_LEN, L::Stream>> = lens
        .iter()
        .map(|len| {
            let mut x = Sequence::new();
            x.assign(&random.tokens(*len)).unwrap();
            x
        })
        .collect();
    let mut expected = batch.clone();
    layer.forward_batch(&mut expected, &mut boxed::<L::Scratch<SEQ_LEN, TILE>>());
    let mut scratches = boxed::<[L::Scratch<SEQ_LEN, TILE>; THREADS]>();
    for pool in pools() {
        let mut found = batch.clone();
        pool.install(|| {
            forward_batch_parallel::<L, D_MODEL, SEQ_LEN, TILE, THREADS>(&layer, &mut found, &mut scratches);
        });
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_same(&format!("sequence {i} of {lens:?}, {THREADS} scratches"), &values(found), &values(expected));
        }
    }
}

#[test]
fn batches() {
    for lens in
        [&[][..], &[0], &[33], &[0, 0, 0], &[101, 1, 0, 64], &[1; 17], &[5, 0, 33, 32, 31, 97, 2, 48, 49, 101, 8]]
    {
        check_batch::<Encoder<Bert, 2, 21, 35, 3>, 21, 101, 2, 48>(lens);
        check_batch::<Encoder<Vit, 2, 21, 35, 3>, 21, 101, 8, 16>(lens);
        check_batch::<Decoder<Llama, 2, 42, 67, 3, f32, 1, 14>, 42, 101, 3, 32>(lens);
    }
}

#[test]
fn models() {
    type Texts = TextEncoder<TextEmbedding<31, 21, 101>, Encoder<Vit, 2, 21, 35, 3>, 21>;
    type Classes = Classifier<TextEmbedding<31, 21, 101>, Encoder<Bert, 2, 21, 35, 3>, 21, 5>;
    let ids: Vec<u32> = (0..101).map(|i| i * 7 % 31).collect();
    let mut memory = boxed::<Working<21, 101, ParallelScratch<21, 35, 101, 3>>>();
    for pool in pools() {
        let model = random::<Texts>();
        let mut expected = boxed::<Memory<Texts, 101>>();
        let expected = model.forward(&ids, &mut expected).unwrap();
        assert_same("text", &[pool.install(|| model.forward_parallel(&ids, &mut *memory)).unwrap()], &[expected]);

        let model = random::<Classes>();
        let expected = model.forward(&ids, &mut boxed::<Memory<Classes, 101>>()).unwrap();
        assert_same("class", &[pool.install(|| model.forward_parallel(&ids, &mut *memory)).unwrap()], &[expected]);
        assert!(pool.install(|| model.forward_parallel(&[31], &mut *memory)).is_err());
    }
}

model! {
    /// A layer that counts its tokens in its scratch, and the norm of a family that waits for company.
    struct Witness { none: [f32; 0] }
}

impl Model for Witness {
    type Memory<const SEQ_LEN: usize, const TILE: usize> = f32;
    const MACS: Macs = Macs::per_token(1);
}

impl Layer<2> for Witness {
    type Stream = f32;
    type Scratch<const SEQ_LEN: usize, const TILE: usize> = f32;

    fn forward<const SEQ_LEN: usize, const TILE: usize>(&self, x: &mut Sequence<2, SEQ_LEN>, tokens: &mut f32) {
        *tokens += x.len() as f32;
    }
}

/// No thread has more than its share and one sequence for each time that the batch was halved.
#[test]
fn shares_are_of_about_as_many_tokens() {
    let mut random = Random(9);
    for round in 0..50 {
        let mut batch = vec![Sequence::<2, 101>::new(); 64];
        for (i, x) in batch.iter_mut().enumerate() {
            // In half of the rounds the long ones come first.
            let len = if round % 2 == 0 { random.number().abs() * 50.0 } else { 100.0 / (1.0 + i as f32) };
            x.resize(len as usize).unwrap();
        }
        let total: usize = batch.iter().map(Sequence::len).sum();
        let longest = batch.iter().map(Sequence::len).max().unwrap();
        let mut tokens = [0.0; 8];
        pool(8).install(|| forward_batch_parallel::<_, 2, 101, 1, 8>(&Witness::ZERO, &mut batch, &mut tokens));
        assert_eq!(tokens.iter().sum::<f32>(), total as f32);
        let most = tokens.into_iter().fold(0.0, f32::max);
        assert!(most <= total as f32 / 8.0 + 1.5 * longest as f32, "{tokens:?} of {total}, the longest is {longest}");
    }
}

static SEEN: Mutex<Option<HashSet<ThreadId>>> = Mutex::new(None);
static COMPANY: Condvar = Condvar::new();

impl<const D_MODEL: usize> constformer::Norm<D_MODEL> for Witness {
    /// Waits until two threads were here.
    fn forward(&self, _: &mut [[f32; D_MODEL]]) {
        let mut seen = SEEN.lock().unwrap();
        seen.get_or_insert_default().insert(std::thread::current().id());
        COMPANY.notify_all();
        let alone = |seen: &mut Option<HashSet<ThreadId>>| seen.as_ref().is_some_and(|seen| seen.len() < 2);
        let _ = COMPANY.wait_timeout_while(seen, Duration::from_secs(20), alone).unwrap();
    }
}

common::families! {
    Witnessed: PostLn, Witness, constformer::Bidirectional, constformer::WithBias,
        constformer::FeedForward<D_MODEL, D_FF, constformer::Relu, T>, final constformer::NoNorm;
}

#[test]
fn two_threads_work_on_one_sequence() {
    let block = random::<EncoderBlock<Witnessed, 6, 10, 2>>();
    let mut x = Sequence::<6, 17>::from(nalgebra::SMatrix::repeat(1.0));
    let mut scratch = boxed::<ParallelScratch<6, 10, 17, 2>>();
    pool(2).install(|| block.forward_parallel(&mut x, &mut scratch));
    assert_eq!(SEEN.lock().unwrap().as_ref().map(HashSet::len), Some(2));
}

/// A thread more is a tile more, and nothing else.
#[test]
fn memory_is_known() {
    type Block = Encoder<Bert, 6, 384, 1536, 12>;
    type Of<const THREADS: usize> = Working<384, 256, ParallelScratch<384, 1536, 256, THREADS, 32>>;
    assert_eq!(size_of::<Of<1>>(), Plan::<Block, 256, 32>::RAM);
    let tile = size_of::<constformer::TileScratch<384, 1536, 256, 32>>();
    assert_eq!(size_of::<Of<8>>() - size_of::<Of<1>>(), 7 * tile);
}
