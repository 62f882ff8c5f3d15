//! Which format a file has: by its first bytes, and by its name where they do not tell.

/// What a file's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Empty,
    Gzip,
    Parquet,
    ArrowFile,
    ArrowStream,
    Npy,
    Npz,
    JsonLines,
    /// With the byte between fields.
    Csv(u8),
    /// Something else, as far as it can be told.
    Unknown(&'static str),
}

/// Formats that begin with bytes of their own.
const MAGIC: [(&[u8], Format); 12] = [
    (b"\x1f\x8b", Format::Gzip),
    (b"PAR1", Format::Parquet),
    (b"PARE", Format::Unknown("an encrypted Parquet file")),
    (b"ARROW1", Format::ArrowFile),
    (b"\xff\xff\xff\xff", Format::ArrowStream),
    (b"\x93NUMPY", Format::Npy),
    (b"PK", Format::Npz),
    (
        b"\x28\xb5\x2f\xfd",
        Format::Unknown("compressed with zstd: decompress it first"),
    ),
    (
        b"\xfd7zXZ",
        Format::Unknown("compressed with xz: decompress it first"),
    ),
    (b"\x89HDF", Format::Unknown("an HDF5 file")),
    (
        b"\xff\xfe",
        Format::Unknown("text in UTF-16: convert it to UTF-8"),
    ),
    (
        b"\xfe\xff",
        Format::Unknown("text in UTF-16: convert it to UTF-8"),
    ),
];

/// The format of a file that begins with `prefix`.
pub(super) fn sniff(path: &str, prefix: &[u8]) -> Format {
    if prefix.is_empty() {
        return Format::Empty;
    }
    if let Some((_, format)) = MAGIC.iter().find(|(magic, _)| prefix.starts_with(magic)) {
        return *format;
    }
    if prefix.starts_with(b"\x80") || prefix.contains(&0) {
        return Format::Unknown("no known format");
    }
    let path = path.to_ascii_lowercase();
    for (extension, other) in [
        (".parquet", "named .parquet, but not Parquet"),
        (".npy", "named .npy, but not a NumPy array"),
        (".npz", "named .npz, but not a NumPy archive"),
        (".arrow", "named .arrow, but not Arrow IPC"),
        (".feather", "named .feather, but not Arrow IPC"),
    ] {
        if path.ends_with(extension) {
            return Format::Unknown(other);
        }
    }
    let text = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix);
    match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Format::Empty,
        Some(b'{') => Format::JsonLines,
        Some(b'[') => Format::Unknown("a JSON array: write one object on each line"),
        Some(_) => Format::Csv(delimiter(&path, text)),
    }
}

/// Tab or comma, whichever the first line has; if both or neither, by the file's name.
fn delimiter(path: &str, text: &[u8]) -> u8 {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
    match (line.contains(&b'\t'), line.contains(&b',')) {
        (true, false) => b'\t',
        (false, true) => b',',
        _ if path.trim_end_matches(".gz").ends_with(".tsv") => b'\t',
        _ => b',',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_the_format() {
        for (prefix, format) in [
            (&b""[..], Format::Empty),
            (b" \r\n", Format::Empty),
            (b"\x1f\x8b\x08", Format::Gzip),
            (b"PAR1....", Format::Parquet),
            (b"ARROW1\0\0", Format::ArrowFile),
            (b"\xff\xff\xff\xff\x10\0\0\0", Format::ArrowStream),
            (b"\x93NUMPY\x01\0", Format::Npy),
            (b"PK\x03\x04", Format::Npz),
            (b"{\"p\": 0.5}", Format::JsonLines),
            (b"\xef\xbb\xbf{", Format::JsonLines),
            (b"p,y\n0.5,1\n", Format::Csv(b',')),
            (b"p\ty\n0.5\t1\n", Format::Csv(b'\t')),
            (b"a,b\tc\n", Format::Csv(b',')),
        ] {
            assert_eq!(sniff("-", prefix), format, "{prefix:?}");
        }
        assert_eq!(sniff("x.tsv.gz", b"a,b\tc\n"), Format::Csv(b'\t'));
        assert!(matches!(sniff("x.npy", b"p,y\n"), Format::Unknown(_)));
        assert!(matches!(sniff("-", b"a\0b"), Format::Unknown(_)));
    }
}
