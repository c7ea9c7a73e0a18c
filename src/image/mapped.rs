//! Images that are read where they lie on disk.
#![expect(unsafe_code, reason = "a file that is mapped may be changed by others")]

use super::{
    ImageError, ReadError,
    decode::{checked, of_model, where_they_lie},
    file::about,
};
use crate::parameters::Parameters;
use core::{marker::PhantomData, ops::Deref};
use memmap2::Mmap;
use std::{fs::File, path::Path};

/// A model in an image on disk, which is mapped into memory: nothing is copied, what is used is read when it is used, and
/// processes that use the same file share the memory.
///
/// ```
/// use constformer::{Linear, Zero, image::{self, Mapped}};
///
/// # let path = std::env::temp_dir().join(format!("constformer-{}-mapped.cfm", std::process::id()));
/// image::write(&path, &Linear::<2, 3>::ZERO)?;
/// // SAFETY: nothing but `image::write` writes this file.
/// let model = unsafe { Mapped::<Linear<2, 3>>::open(&path)? };
/// assert_eq!(model.apply(&[1.0, 2.0]), [0.0; 3]);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mapped<M> {
    image: Mmap,
    start_of_weights: usize,
    model: PhantomData<M>,
}

impl<M: Parameters> Mapped<M> {
    /// Maps the image in the file `path`, and checks all that [`read`](super::read) checks. For the checksum the whole file is
    /// read once.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the file cannot be mapped or is no undamaged image of a model of this type.
    ///
    /// # Safety
    ///
    /// While the value lives, nobody may change the bytes of the file, neither this process nor another, through whatever name
    /// or mapping; and nobody may cut it off: on Unix a page that is no longer there is a `SIGBUS`, which ends the process. The
    /// same goes for what is under the file, such as a disk that is pulled out. To delete, rename or replace the file is no
    /// change of it: the mapping keeps the old one.
    ///
    /// [`write`](super::write) and the command line never change a file that is there: they write another one and give it the
    /// name. `cp`, editors and downloads may write into the very file.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        // SAFETY: what it asks for is what the caller has promised.
        unsafe { Self::map(path.as_ref(), checked::<M>) }
    }

    /// [`open`](Self::open) without the checksum: only the header is read, so it takes no longer for a large model than for a
    /// small one. For files that have been checked before, by `open` or by `constformer verify`. Weights of a file that
    /// was damaged are numbers as well, but wrong ones.
    ///
    /// # Errors
    ///
    /// Those of `open`, but for [`ImageError::Checksum`].
    ///
    /// # Safety
    ///
    /// That of `open`.
    pub unsafe fn open_without_checksum(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        // SAFETY: what it asks for is what the caller has promised.
        unsafe { Self::map(path.as_ref(), |image| Ok(of_model::<M>(image)?.weights)) }
    }

    /// # Safety
    ///
    /// That of `open`.
    unsafe fn map(path: &Path, weights: fn(&[u8]) -> Result<&[u8], ImageError>) -> Result<Self, ReadError> {
        let file = |error| ReadError::File(about(path, &error));
        // SAFETY: nobody changes or cuts off the file while the mapping lives, by the promise of the caller.
        let image = unsafe { Mmap::map(&File::open(path).map_err(file)?) }.map_err(file)?;
        let weights = weights(&image)
            .and_then(where_they_lie::<M>)
            .map_err(|error| ReadError::image::<M>(path, error, &image))?;
        let start_of_weights = image.len() - size_of_val(weights);
        Ok(Self { image, start_of_weights, model: PhantomData })
    }
}

impl<M: Parameters> Deref for Mapped<M> {
    type Target = M;

    fn deref(&self) -> &M {
        let weights = self.image.get(self.start_of_weights..).unwrap_or_default();
        match M::ref_from_bytes(weights) {
            Ok(model) => model,
            Err(_) => unreachable!("they were the bytes of a model when they were mapped, and have not moved"),
        }
    }
}
