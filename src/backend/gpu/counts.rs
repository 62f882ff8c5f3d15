//! Holds the figures of `docs/gpu.md` against the shaders and the planner, so that they stay true.

use wgpu::naga::{
    AddressSpace,
    front::wgsl::parse_str,
    proc::Layouter,
    valid::{Capabilities, ValidationFlags, Validator},
};

use super::plan::{DIGITS, Limits, SORT_TILE, digits};
use super::replicates::{Plan, SUM_BYTES, sort_bytes};
use super::resamples::LAUNCH_BYTES;
use super::shaders::{Kernel, Law, ModelVariant, Variant, source};
use crate::backend::resamples::windows;
use crate::predictions::Dtype;

const DOCUMENT: &str = include_str!("../../../docs/gpu.md");

/// The card of the document: its threads and its memory for workgroups in each of its processors, of
/// which every workgroup takes 1 KiB for itself, and what Vulkan lets one workgroup have.
const THREADS: u32 = 2048;
const MEMORY: u32 = 228 << 10;
const RESERVED: u32 = 1 << 10;
const LIMITS: Limits = Limits {
    binding_bytes: 2 << 30,
    buffer_bytes: 4 << 30,
    groups_per_dimension: 65_535,
    workgroup_bytes: 48 << 10,
    rows: usize::MAX,
};

/// A kernel as this card runs it: f32, subgroups, 64-bit integers, replicates of 1,000 rows of a law and
/// a curve from tables; parts of larger ones.
fn variant(kernel: Kernel) -> Variant {
    let capacity = if kernel == Kernel::PartSort {
        4096
    } else {
        1024
    };
    Variant {
        stride: 1,
        dtype: Dtype::F32,
        wide: false,
        fields: 5,
        int64: true,
        subgroup: true,
        model: Some(ModelVariant {
            law: Law::Nodes,
            cells: true,
            capacity,
        }),
    }
}

/// Invocations of a workgroup, and the bytes of its memory that its entry point uses.
fn workgroup(kernel: Kernel) -> (u32, u32) {
    let text = source(kernel, variant(kernel));
    let module = parse_str(&text).expect("shaders are valid");
    let capabilities = Capabilities::SHADER_INT64 | Capabilities::SUBGROUP;
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .expect("shaders are valid");
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).expect("types have sizes");
    let entry = info.get_entry_point(0);
    let bytes = module
        .global_variables
        .iter()
        .filter(|(handle, variable)| {
            variable.space == AddressSpace::WorkGroup && !entry[*handle].is_empty()
        })
        .map(|(_, variable)| layouter[variable.ty].size)
        .sum();
    let size = module.entry_points[0].workgroup_size;
    (size.iter().product(), bytes)
}

/// Fails unless the document has these lines.
fn document_has(lines: &[String]) {
    let missing: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .filter(|line| !DOCUMENT.lines().any(|own| own == *line))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/gpu.md lacks\n{}",
        missing.join("\n")
    );
}

#[test]
fn workgroups_are_as_documented() {
    let lines = Kernel::ALL.map(|kernel| {
        let (threads, bytes) = workgroup(kernel);
        let groups = (THREADS / threads).min(32).min(MEMORY / (bytes + RESERVED));
        format!(
            "| `{}` | {threads} | {bytes} | {groups} | {} % |",
            kernel.name(),
            100 * groups * threads / THREADS
        )
    });
    document_has(&lines);
}

#[test]
fn the_planner_counts_workgroup_memory_as_the_shaders_do() {
    for (kernel, expected) in [
        (Kernel::Replicate, sort_bytes(1024) + SUM_BYTES),
        (Kernel::Subsample, sort_bytes(1024) + SUM_BYTES),
        (Kernel::PartSort, sort_bytes(4096)),
    ] {
        assert_eq!(workgroup(kernel).1, expected, "{}", kernel.name());
    }
}

/// Every kernel fits the 16 KiB that every device has, with the sorts of replicates at their smallest.
#[test]
fn other_kernels_fit_every_device() {
    for kernel in Kernel::ALL {
        if kernel != Kernel::PartSort {
            assert!(workgroup(kernel).1 <= 16 << 10, "{}", kernel.name());
        }
    }
    assert!(sort_bytes(256) + SUM_BYTES <= 16 << 10);
}

#[test]
fn plans_are_as_documented() {
    let lines =
        [100, 1000, 8192, 10_000, 100_000, 1_000_000].map(|rows| match Plan::new(LIMITS, rows) {
            Plan::Whole { capacity } => {
                let bytes = sort_bytes(capacity) + SUM_BYTES;
                format!("| {rows} | whole | {capacity} | {bytes} |")
            }
            Plan::Parts { capacity, bits } => {
                let bytes = sort_bytes(capacity);
                format!("| {rows} | {} parts | {capacity} | {bytes} |", 1 << bits)
            }
            Plan::TooLarge => format!("| {rows} | CPU | | |"),
        });
    document_has(&lines);
}

#[test]
fn passes_of_the_sort_are_as_documented() {
    // Bits of a confidence in [0, 1] above the label: 1.0 is 2^30 - 2^23 as f32, and below 2^62 as f64.
    let f32_bits = [0x7FFF_FFFE];
    let f64_bits = [!1, 0x7FFF_FFFF];
    // Words of four bytes a record: read to count, read to scatter and written; and the counts of a
    // tile, written, read and written by both kernels of the scan, and read.
    let line = |name: &str, varying: &[u32]| {
        let passes = digits(varying).len();
        let counts = DIGITS * 4 * 6;
        let bytes = 12.0 * varying.len() as f64 + counts as f64 / SORT_TILE as f64;
        format!(
            "| {name} | {passes} | {bytes} | {} |",
            passes as f64 * bytes
        )
    };
    document_has(&[line("f32", &f32_bits), line("f64", &f64_bits)]);
}

#[test]
fn resamples_of_a_launch_are_as_documented() {
    let rows = 1_000_000u32;
    let launch = LAUNCH_BYTES / (u64::from(rows + 1) * 8);
    let widths = windows(rows).len();
    document_has(&[format!("| {rows} | {launch} | {widths} |")]);
}
