//! The circumstances that all frameworks share: one thread, one core, pages of one size.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::{fmt, process::Command};

/// One thread for all that have a pool of them. Intel's and OpenMP's are PyTorch's.
const ONE_THREAD: [&str; 5] =
    ["RAYON_NUM_THREADS", "RTEN_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"];

/// glibc takes all that `malloc` hands out from one growing heap, and gives none of it back between forward passes: so no
/// framework pays for fresh pages, nor for which thread allocates.
const HEAP: &str = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184:glibc.malloc.arena_max=1";
/// And that heap asks for huge pages.
const HUGE: &str = "glibc.malloc.hugetlb=1";

/// The size of the pages of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum Pages {
    /// 4 KiB: huge pages are disabled.
    Small,
    /// 2 MiB, where the operating system has them: the heap asks for them.
    Huge,
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Small => "small",
            Self::Huge => "huge",
        })
    }
}

/// This program again, in these circumstances. (They must be there before a process begins.)
///
/// # Panics
///
/// If the program does not know where it is.
#[must_use]
pub fn again(pages: Pages) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    command.envs(ONE_THREAD.map(|name| (name, "1")));
    let tunables = match pages {
        Pages::Small => HEAP.to_owned(),
        Pages::Huge => format!("{HEAP}:{HUGE}"),
    };
    command.env("GLIBC_TUNABLES", tunables);
    command
}

/// In such a process, before all else: without huge pages it and its children have none.
pub fn settle(pages: Pages) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(pages == Pages::Small) {
        eprintln!("the size of pages is as the operating system likes it: {error}");
    }
}

/// Says so if this process may run on several cores.
pub fn warn_unless_pinned() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores > 1 {
        eprintln!("this process may run on {cores} cores: start it with `taskset -c 1`, or times are less certain");
    }
}
