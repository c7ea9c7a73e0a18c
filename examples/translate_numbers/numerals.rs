//! Numbers from 0 to 9999 in English and in German words: the rules that the model was trained on.

/// `"seven hundred and twenty-one"`
pub(crate) fn english(n: usize) -> String {
    const ONES: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

    match (n, n % 10, n % 100, n % 1000) {
        (..20, ..) => ONES[n].into(),
        (..100, 0, ..) => TENS[n / 10 - 2].into(),
        (..100, one, ..) => format!("{}-{}", TENS[n / 10 - 2], ONES[one]),
        (..1000, _, 0, _) => format!("{} hundred", ONES[n / 100]),
        (..1000, _, rest, _) => format!("{} hundred and {}", ONES[n / 100], english(rest)),
        (.., 0) => format!("{} thousand", english(n / 1000)),
        (.., rest @ ..100) => format!("{} thousand and {}", english(n / 1000), english(rest)),
        (.., rest) => format!("{} thousand {}", english(n / 1000), english(rest)),
    }
}

/// `"siebenhunderteinundzwanzig"`: the ones come before the tens, and an "eins" has its s only at the end.
pub(crate) fn german(n: usize) -> String {
    const ONES: [&str; 20] = [
        "null",
        "ein",
        "zwei",
        "drei",
        "vier",
        "fünf",
        "sechs",
        "sieben",
        "acht",
        "neun",
        "zehn",
        "elf",
        "zwölf",
        "dreizehn",
        "vierzehn",
        "fünfzehn",
        "sechzehn",
        "siebzehn",
        "achtzehn",
        "neunzehn",
    ];
    const TENS: [&str; 8] = ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"];

    let rest = |n| if n == 0 { String::new() } else { german(n) };
    match (n, n % 10) {
        (1, _) => "eins".into(),
        (..20, _) => ONES[n].into(),
        (..100, 0) => TENS[n / 10 - 2].into(),
        (..100, one) => format!("{}und{}", ONES[one], TENS[n / 10 - 2]),
        (..1000, _) => format!("{}hundert{}", ONES[n / 100], rest(n % 100)),
        _ => format!("{}tausend{}", ONES[n / 1000], rest(n % 1000)),
    }
}

/// Whether the model has not seen the number in its training.
pub(crate) const fn held_out(n: usize) -> bool {
    (n as u64 * 2_654_435_761 % (1 << 32)).is_multiple_of(5)
}
