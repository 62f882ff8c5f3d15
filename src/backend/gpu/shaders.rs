//! Shader sources and the small preprocessor that puts them together.
//!
//! `#import name` takes in `shaders/shared/name.wgsl` once; `#ifdef FLAG`, `#ifndef FLAG`, `#else`
//! and `#endif` stand on lines of their own.

use std::collections::HashSet;
use std::fmt::Write;

use crate::predictions::Dtype;

/// A kernel: one file of `shaders/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    RadixCount,
    RadixScatter,
    ScanBlocks,
    ScanAdd,
    TileSums,
    ReduceRuns,
    ReduceRows,
    SumItems,
    BinEdges,
    CountValues,
    ExpandCounts,
    Replicate,
    PartCount,
    PartScatter,
    PartSort,
    ReplicateItems,
    ReplicateBins,
    Resample,
    ResampleWindows,
    SkceForm,
    SkceForms,
    Subsample,
}

impl Kernel {
    /// Every kernel.
    #[cfg(test)]
    pub const ALL: [Kernel; 22] = [
        Kernel::RadixCount,
        Kernel::RadixScatter,
        Kernel::ScanBlocks,
        Kernel::ScanAdd,
        Kernel::TileSums,
        Kernel::ReduceRuns,
        Kernel::ReduceRows,
        Kernel::SumItems,
        Kernel::BinEdges,
        Kernel::CountValues,
        Kernel::ExpandCounts,
        Kernel::Replicate,
        Kernel::PartCount,
        Kernel::PartScatter,
        Kernel::PartSort,
        Kernel::ReplicateItems,
        Kernel::ReplicateBins,
        Kernel::Resample,
        Kernel::ResampleWindows,
        Kernel::SkceForm,
        Kernel::SkceForms,
        Kernel::Subsample,
    ];

    /// Its name and text.
    fn file(self) -> (&'static str, &'static str) {
        macro_rules! file {
            ($name:literal) => {
                (
                    $name,
                    include_str!(concat!("../../../shaders/", $name, ".wgsl")),
                )
            };
        }
        match self {
            Kernel::RadixCount => file!("radix_count"),
            Kernel::RadixScatter => file!("radix_scatter"),
            Kernel::ScanBlocks => file!("scan_blocks"),
            Kernel::ScanAdd => file!("scan_add"),
            Kernel::TileSums => file!("tile_sums"),
            Kernel::ReduceRuns => file!("reduce_runs"),
            Kernel::ReduceRows => file!("reduce_rows"),
            Kernel::SumItems => file!("sum_items"),
            Kernel::BinEdges => file!("bin_edges"),
            Kernel::CountValues => file!("count_values"),
            Kernel::ExpandCounts => file!("expand_counts"),
            Kernel::Replicate => file!("replicate"),
            Kernel::PartCount => file!("part_count"),
            Kernel::PartScatter => file!("part_scatter"),
            Kernel::PartSort => file!("part_sort"),
            Kernel::ReplicateItems => file!("replicate_items"),
            Kernel::ReplicateBins => file!("replicate_bins"),
            Kernel::Resample => file!("resample"),
            Kernel::ResampleWindows => file!("resample_windows"),
            Kernel::SkceForm => file!("skce_form"),
            Kernel::SkceForms => file!("skce_forms"),
            Kernel::Subsample => file!("subsample"),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.file().0
    }
}

/// The text of a file of `shaders/shared/`.
fn shared(name: &str) -> Option<&'static str> {
    macro_rules! files {
        ($($name:literal),*) => {
            match name {
                $($name => Some(include_str!(concat!("../../../shaders/shared/", $name, ".wgsl"))),)*
                _ => None,
            }
        };
    }
    files!(
        "bins",
        "dispatch",
        "even_sort",
        "fixed_point",
        "items",
        "model",
        "pair_kernel",
        "placement",
        "rows",
        "samples",
        "scan",
        "scan_vectors",
        "score_runs",
        "terms",
        "threefry",
        "wide",
        "workgroup_sum"
    )
}

/// What a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Words of 32 bits in a record.
    pub stride: u32,
    /// The type of the confidences.
    pub dtype: Dtype,
    /// Entries of a scan are 64 bits.
    pub wide: bool,
    /// Numbers of 128 bits in an item's sums.
    pub fields: u32,
    /// The device has 64-bit integers.
    pub int64: bool,
    /// The device has subgroups of one size.
    pub subgroup: bool,
    /// The model of simulated replicates; other kernels have none.
    pub model: Option<ModelVariant>,
}

/// The model that a kernel of replicates is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelVariant {
    /// The kind of the law.
    pub law: Law,
    /// The curve is a table; otherwise it is the diagonal.
    pub cells: bool,
    /// Words that a workgroup sorts, a power of two.
    pub capacity: u32,
}

/// Buckets of a sort of `capacity` evenly spread words in a workgroup's memory
/// (`shaders/shared/even_sort.wgsl`).
pub const fn buckets(capacity: u32) -> u32 {
    if capacity < 1024 { 256 } else { capacity / 4 }
}

/// Kinds of laws, as [`crate::model::Quantile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    Affine,
    Nodes,
    Empirical,
}

/// The whole WGSL text of a kernel.
pub fn source(kernel: Kernel, variant: Variant) -> String {
    let mut text = String::new();
    let model = variant.model.unwrap_or(ModelVariant {
        law: Law::Affine,
        cells: false,
        capacity: 256,
    });
    let flags: Vec<&str> = [
        ("DOUBLE", variant.dtype == Dtype::F64),
        ("WIDE", variant.wide),
        ("INT64", variant.int64),
        ("SUBGROUP", variant.subgroup),
        ("AFFINE", model.law == Law::Affine),
        ("NODES", model.law == Law::Nodes),
        ("EMPIRICAL", model.law == Law::Empirical),
        ("CELLS", model.cells),
    ]
    .into_iter()
    .filter_map(|(name, set)| set.then_some(name))
    .collect();
    // Twin of Dtype::decompose: the shift from a significand to Q30 is the exponent field, at least
    // 1, plus this.
    let offset = variant.dtype.smallest_exponent() - 1 + 30;
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "const STRIDE: u32 = {}u;\nconst FIELDS: u32 = {}u;\nconst FRACTION_BITS: u32 = {}u;\n\
         const EXPONENT_OFFSET: i32 = {offset};\nconst CAPACITY: u32 = {}u;\nconst BUCKETS: u32 = {}u;",
        variant.stride,
        variant.fields,
        variant.dtype.fraction_bits().min(31),
        model.capacity,
        buckets(model.capacity),
    );
    let mut seen = HashSet::new();
    preprocess(kernel.file().1, &flags, &mut seen, &mut text);
    text
}

/// Appends `source` to `text` with its imports and conditions resolved.
///
/// # Panics
/// On an unknown import or a condition without end: the sources are part of the program, and a test
/// preprocesses all of them.
fn preprocess(source: &str, flags: &[&str], seen: &mut HashSet<String>, text: &mut String) {
    let mut conditions: Vec<bool> = Vec::new();
    for line in source.lines() {
        let directive = line.trim();
        if let Some(flag) = directive.strip_prefix("#ifdef ") {
            conditions.push(flags.contains(&flag.trim()));
        } else if let Some(flag) = directive.strip_prefix("#ifndef ") {
            conditions.push(!flags.contains(&flag.trim()));
        } else if directive == "#else" {
            let last = conditions.last_mut().expect("#else follows a condition");
            *last = !*last;
        } else if directive == "#endif" {
            conditions.pop().expect("#endif follows a condition");
        } else if conditions.iter().all(|&condition| condition) {
            if let Some(name) = directive.strip_prefix("#import ") {
                if seen.insert(name.to_owned()) {
                    let import = shared(name).expect("the import is a file of shaders/shared");
                    preprocess(import, flags, seen, text);
                }
            } else {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    assert!(conditions.is_empty(), "a condition without #endif");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants() -> impl Iterator<Item = Variant> {
        let dtypes = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64];
        (0..32).map(move |bits: usize| Variant {
            stride: 1 + u32::from(bits & 16 != 0) + u32::from(bits & 3 == 3),
            dtype: dtypes[bits & 3],
            wide: bits & 4 != 0,
            fields: 7,
            int64: bits & 8 != 0,
            subgroup: bits & 16 != 0,
            model: Some(ModelVariant {
                law: [Law::Affine, Law::Nodes, Law::Empirical][bits % 3],
                cells: bits & 4 != 0,
                capacity: 512,
            }),
        })
    }

    /// Every kernel in every variant parses and validates, with only the capabilities that its flags
    /// stand for.
    #[test]
    fn every_kernel_is_valid() {
        use wgpu::naga::valid::{Capabilities, ValidationFlags, Validator};
        for kernel in Kernel::ALL {
            for variant in variants() {
                let text = source(kernel, variant);
                let module = match wgpu::naga::front::wgsl::parse_str(&text) {
                    Ok(module) => module,
                    Err(error) => panic!("{}: {}", kernel.name(), error.emit_to_string(&text)),
                };
                let mut capabilities = Capabilities::empty();
                if variant.int64 {
                    capabilities |= Capabilities::SHADER_INT64;
                }
                if variant.subgroup {
                    capabilities |= Capabilities::SUBGROUP;
                }
                let mut validator = Validator::new(ValidationFlags::all(), capabilities);
                if let Err(error) = validator.validate(&module) {
                    panic!(
                        "{} {variant:?}: {}",
                        kernel.name(),
                        error.emit_to_string(&text)
                    );
                }
            }
        }
    }

    #[test]
    fn conditions_choose_lines() {
        let mut text = String::new();
        let source = "a\n#ifdef X\nb\n#ifndef Y\nc\n#endif\n#else\nd\n#endif\ne\n";
        preprocess(source, &["X"], &mut HashSet::new(), &mut text);
        assert_eq!(text, "a\nb\nc\ne\n");
        text.clear();
        preprocess(source, &["Y"], &mut HashSet::new(), &mut text);
        assert_eq!(text, "a\nd\ne\n");
    }
}
