//! The text of a compiled module, plain or compressed.

use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read};
use std::string::FromUtf8Error;
use thiserror::Error;

/// The text of a PTX module as the program contains it.
#[derive(Clone, Copy)]
pub enum KernelText {
    /// The text is plain.
    Plain(&'static str),
    /// The text is compressed by gzip, to a fifth of the size.
    Gzip(&'static [u8]),
}

/// Why the text of a module cannot be read.
#[derive(Debug, Error)]
pub enum KernelTextError {
    /// The compressed bytes are no gzip, end too early, or their checksum is wrong.
    #[error("the compressed kernels in this program are damaged: {0}")]
    Damaged(#[source] io::Error),
    /// The decompressed bytes are not UTF-8.
    #[error("the kernels in this program are no text: {0}")]
    NotText(#[source] FromUtf8Error),
}

impl KernelText {
    /// Returns the text; a compressed text is decompressed anew at each call.
    ///
    /// # Errors
    /// When the compressed bytes are damaged or hold no UTF-8.
    pub fn text(&self) -> Result<Cow<'static, str>, KernelTextError> {
        match *self {
            Self::Plain(text) => Ok(Cow::Borrowed(text)),
            Self::Gzip(bytes) => {
                let mut text = Vec::new();
                MultiGzDecoder::new(bytes).read_to_end(&mut text).map_err(KernelTextError::Damaged)?;
                Ok(Cow::Owned(String::from_utf8(text).map_err(KernelTextError::NotText)?))
            }
        }
    }
}

/// Sizes only: a module has a hundred thousand characters.
impl fmt::Debug for KernelText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => write!(f, "Plain({} bytes)", text.len()),
            Self::Gzip(bytes) => write!(f, "Gzip({} bytes)", bytes.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf '.version 8.4\n' | gzip -n`, made by gzip 1.12 and not by this library.
    static GZIP: [u8; 33] = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xd3, 0x2b, 0x4b, 0x2d, 0x2a, 0xce, 0xcc, 0xcf,
        0x53, 0xb0, 0xd0, 0x33, 0xe1, 0x02, 0x00, 0xe3, 0xd2, 0x5c, 0x8a, 0x0d, 0x00, 0x00, 0x00,
    ];

    #[test]
    fn compressed_text_is_the_text() {
        assert_eq!(KernelText::Gzip(&GZIP).text().unwrap(), ".version 8.4\n");
        assert_eq!(KernelText::Plain("as it is").text().unwrap(), "as it is");
    }

    #[test]
    fn damage_is_a_typed_error() {
        static FLIPPED: [u8; 33] = {
            let mut bytes = GZIP;
            bytes[14] ^= 1;
            bytes
        };
        for bytes in [&b""[..], b"no gzip at all", &GZIP[..28], &FLIPPED] {
            let error = KernelText::Gzip(bytes).text().expect_err("damaged");
            assert!(matches!(error, KernelTextError::Damaged(_)), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_a_typed_error() {
        // `printf '\377' | gzip -n`
        const NO_TEXT: &[u8] = &[
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xfb, 0x0f, 0x00, 0x00, 0x00, 0x00, 0xff, 0x01,
            0x00, 0x00, 0x00,
        ];
        let error = KernelText::Gzip(NO_TEXT).text().expect_err("no text");
        assert!(matches!(error, KernelTextError::NotText(_)), "{error}");
    }
}
