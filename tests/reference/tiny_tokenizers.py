"""Make two small tokenizers and the golden data of what they do.

Writes, next to this folder:

* ../golden/wordpiece.json, ../golden/byte_pairs.json: a `tokenizer.json` each, WordPiece as BERT
  has it and byte pairs as RoBERTa has it, made of CORPUS; both ask for padding and truncation;
* ../golden/tokenizers.json: for each of them and each of TEXTS the ids without special tokens and
  with them, the bytes that each id stands for, the text that the ids give, at once and in pieces,
  and what is left under truncation, of one text and of two.

Run: python tiny_tokenizers.py

Truncation of one text is that of transformers, all else is of the package tokenizers. Nothing is downloaded.
Versions: see requirements.txt.
"""

import collections
import json
import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizers
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers.decoders import DecodeStream
from transformers import PreTrainedTokenizerFast

from torch_encoder import GOLDEN

CORPUS = [
    "A lighthouse keeper counts the ships that pass in the night, and the nights without a ship.",
    "The keeper's daughter counts the stars; she has counted them since she was three years old.",
    "When the fog comes in, neither of them counts anything, and they play chess by the stove.",
    "In 1987 a ship ran aground, and 214 crates of oranges were washed ashore before the morning.",
    "They ate oranges for a month: oranges with bread, oranges with fish, and oranges on their own.",
    "Im Winter friert die Bucht zu, und die Möwen gehen zu Fuß über das Eis.",
    "L'été, les voiliers reviennent, et la fille du gardien les compte aussi.",
]
TEXTS = [
    "", " ", "a", "the", "The ships, the stars!", "Uncountable oranges in the fog.",
    "  two  spaces\tand\nlines \r\n", "[CLS] and <s>, [MASK] or </s>", "naïve café über Straße",
    "你好,世界", "東京は日本の首都です", "مرحبا بالعالم", "Привет, мир", "नमस्ते", "👍🏽 👩‍👩‍👧‍👦 🇫🇷 ok",
    "nul\x00 bell\x07 \ufffd \u200b \ufeff", "don't we'll they've I'm", "1987 3.14 1,000,000", "x" * 120,
    "counts the ships " * 12,
]
LENGTHS = [2, 3, 4, 7, 16, 32]
PAIR_LENGTHS = [4, 5, 8, 9, 21, 64]


def wordpiece():
    normalizer = normalizers.BertNormalizer(lowercase=True)
    pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words = collections.Counter(
        word for line in CORPUS for word, _ in pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(line))
    )
    # Not the trainer of WordPiece, whose results differ from run to run.
    characters = sorted(set("".join(words)))
    suffixes = collections.Counter(word[-n:] for word in words for n in (2, 3, 4) if len(word) > n + 1)
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]
    vocab += ["##" + character for character in characters]
    vocab += ["##" + suffix for suffix in sorted(suffixes) if suffixes[suffix] > 2]
    vocab += [word for word in sorted(words) if words[word] > 1 and len(word) > 1]
    tokenizer = tokenizers.Tokenizer(
        models.WordPiece(vocab={token: i for i, token in enumerate(vocab)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.add_special_tokens(vocab[:5])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer, "[PAD]"


def byte_pairs():
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=331, special_tokens=special, show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return tokenizer, "<pad>"


def bytes_of(text, offsets):
    """Places in characters as places in bytes."""
    return [[len(text[:place].encode()) for place in pair] for pair in offsets]


def pieces(tokenizer, ids, skip):
    """The pieces of the stream; null for an error, with which it ends."""
    stream, out = DecodeStream(skip_special_tokens=skip), []
    for token in ids:
        try:
            out.append(stream.step(tokenizer, token) or "")
        except Exception:
            return out + [None]
    return out


def case(tokenizer, fast, text, other):
    bare = tokenizer.encode(text, add_special_tokens=False)
    ids = tokenizer.encode(text).ids
    pairs = {}
    for length in PAIR_LENGTHS:
        # Not by transformers, to which a second text that is empty is none.
        tokenizer.enable_truncation(length, strategy="longest_first")
        pair = tokenizer.encode(text, other)
        pairs[length] = [pair.ids, pair.type_ids]
    tokenizer.no_truncation()
    return {
        "text": text,
        "bare": bare.ids,
        "places": bytes_of(text, bare.offsets),
        "ids": ids,
        "truncated": {n: fast(text, truncation=True, max_length=n)["input_ids"] for n in LENGTHS},
        "other": other,
        "pairs": pairs,
        "decoded": tokenizer.decode(ids, skip_special_tokens=True),
        "decoded_all": tokenizer.decode(ids, skip_special_tokens=False),
        "pieces": pieces(tokenizer, ids, True),
        "pieces_all": pieces(tokenizer, ids, False),
    }


def main():
    transformers.logging.set_verbosity_error()
    cases = {}
    for make in (wordpiece, byte_pairs):
        tokenizer, pad = make()
        others = TEXTS[5:] + TEXTS[:5]
        fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=pad)
        cases[make.__name__] = {
            "size": tokenizer.get_vocab_size(),
            "texts": [case(tokenizer, fast, *texts) for texts in zip(TEXTS, others)],
        }
        # What a user of the file must not meet.
        tokenizer.enable_padding(length=24, pad_id=tokenizer.token_to_id(pad), pad_token=pad)
        tokenizer.enable_truncation(6)
        (GOLDEN / f"{make.__name__}.json").write_text(tokenizer.to_str(pretty=False))
    versions = {"tokenizers": tokenizers.__version__, "transformers": transformers.__version__}
    text = json.dumps({"versions": versions, "cases": cases}, ensure_ascii=True, separators=(",", ":"))
    (GOLDEN / "tokenizers.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
