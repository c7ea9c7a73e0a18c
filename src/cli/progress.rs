//! A bar for those who wait.

use indicatif::{ProgressBar, ProgressStyle};

/// Below it, there is no time to look at a bar.
const LARGE: u64 = 64 << 20;

/// A bar over so many bytes, on a terminal only.
pub(super) fn bar(bytes: u64) -> ProgressBar {
    if bytes < LARGE {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {eta} left");
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
