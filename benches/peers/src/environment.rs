//! The circumstances that all frameworks share: one thread, one core, pages of one size.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::{fmt, process::Command};

/// One thread for all that have a pool of them. Intel's and OpenMP's are PyTorch's.
const ONE_THREAD: [&str; 5] =
    ["RAYON_NUM_THREADS", "RTEN_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"];

/// glibc asks for huge pages for all that `malloc` hands out, and takes all of it from one growing heap, so that large tensors
/// begin and end where they will; and it does not give memory back between forward passes.
const HUGE: &str = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184";

/// The size of the pages of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum Pages {
    /// 4 KiB: huge pages are disabled.
    Small,
    /// 2 MiB, where the operating system has them: every `malloc` asks for them.
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
    command.env_remove("GLIBC_TUNABLES");
    if pages == Pages::Huge {
        command.env("GLIBC_TUNABLES", HUGE);
    }
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
