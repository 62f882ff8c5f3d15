//! Every format gives the same rows for the same data, and everything wrong is refused by name.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float16Array, Float32Array, Float64Array, Int8Array, Int64Array,
    ListArray, RecordBatch, StringArray, types::Float32Type,
};
use arrow_cast::cast;
use arrow_schema::{DataType, Field};
use half::f16;
use npyz::WriterBuilder;
use rankece::input::{InputError, Loaded, Options, Reduce, merge, read};
use rankece::predictions::{Batch, Dtype, Reduction};
use tempfile::TempDir;

const CONFIDENCES: [f64; 6] = [0.8, 0.25, 1.0, 0.0, 0.1, 0.8];
const LABELS: [bool; 6] = [true, false, true, false, true, false];
const GROUPS: [&str; 6] = ["b", "a", "b", "10", "a", "b"];

/// A folder for the files of one test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, contents).unwrap();
        path
    }
}

fn options() -> Options {
    Options::default()
}

fn load(path: &Path, options: &Options) -> Result<Loaded, InputError> {
    read(path.to_str().unwrap(), options)
}

fn load_text(
    name: &str,
    contents: impl AsRef<[u8]>,
    options: &Options,
) -> Result<Loaded, InputError> {
    let folder = Folder::new();
    load(&folder.write(name, contents), options)
}

/// The message of the error that a text gives, after the name of its file.
fn refusal(name: &str, contents: impl AsRef<[u8]>, options: &Options) -> String {
    let error = load_text(name, contents, options).unwrap_err();
    let message = error.to_string();
    message[message.find(name).unwrap() + name.len()..].to_owned()
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
    assert!(message.lines().count() <= 3, "{message}");
}

fn expected() -> Batch {
    Batch::from_slices(&CONFIDENCES, &LABELS).unwrap()
}

fn expected_f32() -> Batch {
    Batch::from_slices(&CONFIDENCES.map(|value| value as f32), &LABELS).unwrap()
}

fn csv(delimiter: char) -> String {
    let mut text = format!("group{delimiter}confidence{delimiter}label\n");
    for row in 0..6 {
        let (group, confidence) = (GROUPS[row], CONFIDENCES[row]);
        let label = u8::from(LABELS[row]);
        text += &format!("{group}{delimiter}{confidence}{delimiter}{label}\n");
    }
    text
}

fn json_lines() -> String {
    (0..6)
        .map(|row| {
            format!(
                "{{\"group\": \"{}\", \"confidence\": {:?}, \"label\": {}}}\n",
                GROUPS[row], CONFIDENCES[row], LABELS[row]
            )
        })
        .collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn record_batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

fn labels_array() -> ArrayRef {
    Arc::new(BooleanArray::from(LABELS.to_vec()))
}

fn groups_array() -> ArrayRef {
    Arc::new(StringArray::from(GROUPS.to_vec()))
}

fn usual_batch() -> RecordBatch {
    record_batch(vec![
        ("group", groups_array()),
        (
            "confidence",
            Arc::new(Float64Array::from(CONFIDENCES.to_vec())),
        ),
        ("label", labels_array()),
    ])
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    // Two batches, so that more than one is read.
    writer.write(&batch.slice(0, 4)).unwrap();
    writer.write(&batch.slice(4, batch.num_rows() - 4)).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch.slice(0, 4)).unwrap();
    writer.write(&batch.slice(4, batch.num_rows() - 4)).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn npy<T: npyz::AutoSerialize + Copy>(shape: &[u64], order: npyz::Order, values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(shape)
        .order(order)
        .writer(&mut bytes)
        .begin_nd()
        .unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    bytes
}

/// An archive of members as they stand.
fn npz(members: &[(&str, Vec<u8>)], method: npyz::zip::CompressionMethod) -> Vec<u8> {
    let mut writer = npyz::zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = npyz::zip::write::FileOptions::default().compression_method(method);
        writer.start_file(format!("{name}.npy"), options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn pairs() -> Vec<f64> {
    std::iter::zip(CONFIDENCES, LABELS)
        .flat_map(|(confidence, label)| [confidence, f64::from(u8::from(label))])
        .collect()
}

#[test]
fn every_format_gives_the_same_rows() {
    let columns = [
        CONFIDENCES.to_vec(),
        LABELS.map(|label| f64::from(u8::from(label))).to_vec(),
    ];
    let batch = usual_batch();
    for (name, bytes) in [
        ("p.csv", csv(',').into_bytes()),
        ("bom.csv", format!("\u{feff}{}", csv(',')).into_bytes()),
        ("crlf.csv", csv(',').replace('\n', "\r\n").into_bytes()),
        ("p.tsv", csv('\t').into_bytes()),
        ("p.csv.gz", gzip(csv(',').as_bytes())),
        ("p.jsonl", json_lines().into_bytes()),
        ("p.jsonl.gz", gzip(json_lines().as_bytes())),
        ("p.parquet", parquet(&batch)),
        ("p.arrow", arrow_file(&batch)),
        ("p.arrows", arrow_stream(&batch)),
        ("p.npy", npy(&[6, 2], npyz::Order::C, &pairs())),
        (
            "fortran.npy",
            npy(&[6, 2], npyz::Order::Fortran, &columns.concat()),
        ),
        // The format is told by the contents, not by the name.
        ("no_extension", parquet(&batch)),
        ("stream.gz", gzip(&arrow_stream(&batch))),
        ("parquet.gz", gzip(&parquet(&batch))),
    ] {
        let loaded = load_text(name, bytes, &options()).unwrap();
        assert_eq!(loaded.batch, expected(), "{name}");
        assert_eq!(loaded.segments.len(), 1);
        assert_eq!(loaded.segments[0].reduction, Reduction::Binary);
        assert_eq!(loaded.segments[0].skipped, 0);
        assert!(loaded.segments[0].source.ends_with(name));
    }
}

#[test]
fn archives_hold_confidences_and_labels() {
    let labels = LABELS.map(i64::from);
    for method in [
        npyz::zip::CompressionMethod::Stored,
        npyz::zip::CompressionMethod::Deflated,
    ] {
        let members = [
            ("y", npy(&[6], npyz::Order::C, &labels)),
            ("probs", npy(&[6, 1], npyz::Order::C, &CONFIDENCES)),
            ("other", npy(&[1], npyz::Order::C, &[1.0])),
        ];
        let loaded = load_text("p.npz", npz(&members, method), &options()).unwrap();
        assert_eq!(loaded.batch, expected());
        assert_eq!(loaded.notes.len(), 2);
    }
}

#[test]
fn one_column_of_confidences_takes_labels_from_a_file() {
    let folder = Folder::new();
    let confidences = folder.write("z.npy", npy(&[6], npyz::Order::C, &CONFIDENCES));
    let labels = LABELS.map(i8::from);
    for (name, bytes) in [
        ("i1.npy", npy(&[6], npyz::Order::C, &labels)),
        ("bool.npy", npy(&[6, 1], npyz::Order::C, &LABELS)),
        ("f4.npy", npy(&[6], npyz::Order::C, &labels.map(f32::from))),
        ("plain.txt", b"1\n0\n1\n0\n1\n0\n".to_vec()),
        (
            "header.csv",
            b"label\ntrue\nfalse\ntrue\nfalse\ntrue\nfalse\n".to_vec(),
        ),
        (
            "table.csv",
            b"id,y\n1,1\n2,0\n3,1\n4,0\n5,1\n6,0\n".to_vec(),
        ),
        ("plain.txt.gz", gzip(b"1\n0\n1\n0\n1\n0\n")),
    ] {
        let options = Options {
            labels_file: Some(folder.write(name, bytes)),
            ..options()
        };
        assert_eq!(
            load(&confidences, &options).unwrap().batch,
            expected(),
            "{name}"
        );
    }
    for (name, lines, labels) in [
        ("short.txt", "1\n0\n1\n", "3 labels"),
        ("long.txt", "1\n1\n1\n1\n1\n1\n1\n", "7 labels"),
    ] {
        let options = Options {
            labels_file: Some(folder.write(name, lines)),
            ..options()
        };
        let error = load(&confidences, &options).unwrap_err().to_string();
        assert_says(&error, &["6 rows of confidences", labels, name]);
    }
    let error = load(&confidences, &options()).unwrap_err().to_string();
    assert_says(&error, &["holds no labels", "--labels FILE"]);
}

#[test]
fn floating_point_types_are_kept() {
    let singles = CONFIDENCES.map(|value| value as f32);
    let halves = CONFIDENCES.map(f16::from_f64);
    let expected_f16 = Batch::from_slices(&halves, &LABELS).unwrap();
    let arrays: [(ArrayRef, Batch); 2] = [
        (
            Arc::new(Float32Array::from(singles.to_vec())),
            expected_f32(),
        ),
        (
            Arc::new(Float16Array::from(halves.to_vec())),
            expected_f16.clone(),
        ),
    ];
    for (array, expected) in arrays {
        let batch = record_batch(vec![("p", array), ("y", labels_array())]);
        for bytes in [parquet(&batch), arrow_file(&batch), arrow_stream(&batch)] {
            assert_eq!(load_text("p", bytes, &options()).unwrap().batch, expected);
        }
    }
    let pairs_f32: Vec<f32> = pairs().iter().map(|&value| value as f32).collect();
    let loaded = load_text(
        "p.npy",
        npy(&[6, 2], npyz::Order::C, &pairs_f32),
        &options(),
    );
    assert_eq!(loaded.unwrap().batch, expected_f32());
    let pairs_f16: Vec<f16> = pairs().iter().map(|&value| f16::from_f64(value)).collect();
    let loaded = load_text(
        "p.npy",
        npy(&[6, 2], npyz::Order::C, &pairs_f16),
        &options(),
    );
    assert_eq!(loaded.unwrap().batch, expected_f16);
}

#[test]
fn both_byte_orders_are_read() {
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .dtype(npyz::DType::Plain(">f4".parse().unwrap()))
        .shape(&[6, 2])
        .writer(&mut bytes)
        .begin_nd()
        .unwrap();
    writer
        .extend(pairs().iter().map(|&value| value as f32))
        .unwrap();
    writer.finish().unwrap();
    assert_eq!(
        load_text("p.npy", bytes, &options()).unwrap().batch,
        expected_f32()
    );
}

#[test]
fn whole_numbers_texts_and_decimals_are_read_as_f64() {
    let zero_one = Batch::from_slices(&[1.0, 0.0], &[true, false]).unwrap();
    let labels: ArrayRef = Arc::new(Int8Array::from(vec![1, -1]));
    let integers: ArrayRef = Arc::new(Int64Array::from(vec![1, 0]));
    let batch = record_batch(vec![("p", integers.clone()), ("y", labels.clone())]);
    assert_eq!(
        load_text("p", parquet(&batch), &options()).unwrap().batch,
        zero_one
    );
    for data_type in [
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Decimal128(9, 3),
    ] {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["0.25", "0.125"]));
        let column = cast(&texts, &data_type).unwrap();
        let batch = record_batch(vec![("p", column), ("y", labels.clone())]);
        let expected = Batch::from_slices(&[0.25, 0.125], &[true, false]).unwrap();
        let loaded = load_text("p", parquet(&batch), &options()).unwrap();
        assert_eq!(loaded.batch, expected, "{data_type}");
    }
}

#[test]
fn labels_of_every_type_are_read() {
    let confidences: ArrayRef = Arc::new(Float64Array::from(CONFIDENCES.to_vec()));
    let integers: ArrayRef = Arc::new(Int8Array::from(LABELS.map(i8::from).to_vec()));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    for data_type in [
        DataType::Boolean,
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float16,
        DataType::Float32,
        DataType::Float64,
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        dictionary,
        DataType::Decimal128(5, 1),
    ] {
        // Decimals and dictionaries are made from texts.
        let labels = cast(&cast(&integers, &DataType::Utf8).unwrap(), &data_type);
        let labels = labels.or_else(|_| cast(&integers, &data_type)).unwrap();
        let batch = record_batch(vec![("p", confidences.clone()), ("y", labels)]);
        let loaded = load_text("p", arrow_file(&batch), &options()).unwrap();
        assert_eq!(loaded.batch, expected(), "{data_type}");
    }
}

#[test]
fn groups_come_in_the_order_of_their_values() {
    let batch = usual_batch();
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let packed = record_batch(vec![
        ("group", cast(&groups_array(), &dictionary).unwrap()),
        ("confidence", batch.column(1).clone()),
        ("label", labels_array()),
    ]);
    let options = Options {
        group_by: vec!["group".to_owned()],
        ..options()
    };
    let sorted = Batch::from_slices(
        &[0.0, 0.25, 0.1, 0.8, 1.0, 0.8],
        &[false, false, true, true, true, false],
    );
    for bytes in [
        csv(',').into_bytes(),
        json_lines().into_bytes(),
        parquet(&batch),
        parquet(&packed),
        arrow_file(&packed),
        arrow_stream(&packed),
    ] {
        let loaded = load_text("p", bytes, &options).unwrap();
        assert_eq!(loaded.batch.rows(), sorted.as_ref().unwrap().rows());
        assert_eq!(loaded.batch.offsets(), [0, 1, 3, 6]);
        let names: Vec<_> = loaded
            .segments
            .iter()
            .map(|segment| segment.group.as_ref().unwrap()["group"].as_str())
            .collect();
        assert_eq!(names, ["10", "a", "b"]);
    }
}

#[test]
fn group_values_of_every_type_are_named_as_text() {
    let confidences: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.5]));
    let labels: ArrayRef = Arc::new(Int8Array::from(vec![1, 0]));
    let days: ArrayRef = Arc::new(arrow_array::Date32Array::from(vec![1, 0]));
    let years: ArrayRef = Arc::new(Int64Array::from(vec![2021, 999]));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    for (column, names) in [
        (days, ["1970-01-01", "1970-01-02"]),
        (years, ["999", "2021"]),
        (flags, ["false", "true"]),
    ] {
        let batch = record_batch(vec![
            ("p", confidences.clone()),
            ("y", labels.clone()),
            ("g", column),
        ]);
        let options = Options {
            group_by: vec!["g".to_owned()],
            ..options()
        };
        let loaded = load_text("p", parquet(&batch), &options).unwrap();
        let groups = loaded
            .segments
            .iter()
            .map(|segment| segment.group.as_ref().unwrap()["g"].clone());
        assert_eq!(groups.collect::<Vec<_>>(), names);
    }
}

/// Numbers have one name in all their types, and NaN is no group but a missing value.
#[test]
fn regression_groups_of_floats_have_one_name_and_nan_is_missing() {
    let confidences: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.5]));
    let labels: ArrayRef = Arc::new(Int8Array::from(vec![1, 0]));
    let of_types = |values: [f32; 2]| -> [ArrayRef; 3] {
        let half = values.map(f16::from_f32).to_vec();
        [
            Arc::new(Float16Array::from(half)),
            Arc::new(Float32Array::from(values.to_vec())),
            Arc::new(Float64Array::from(values.map(f64::from).to_vec())),
        ]
    };
    let options = Options {
        group_by: vec!["g".to_owned()],
        ..options()
    };
    let read = |column: ArrayRef| {
        let columns = vec![
            ("p", confidences.clone()),
            ("y", labels.clone()),
            ("g", column),
        ];
        load_text("p", parquet(&record_batch(columns)), &options)
    };
    for column in of_types([2.0, 1.0]) {
        let loaded = read(column).unwrap();
        let groups = loaded
            .segments
            .iter()
            .map(|segment| segment.group.as_ref().unwrap()["g"].clone());
        assert_eq!(groups.collect::<Vec<_>>(), ["1.0", "2.0"]);
    }
    for column in of_types([2.0, f32::NAN]) {
        let error = read(column).unwrap_err().to_string();
        assert!(
            error.contains("row 2") && error.contains("missing"),
            "{error}"
        );
    }
}

#[test]
fn many_groups_are_quick() {
    let mut text = "p,y,a,b\n".to_owned();
    for row in 0..200_000 {
        text += &format!("0.5,1,{},{}\n", row * 7919 % 100_000 / 10, row * 7919 % 10);
    }
    let options = Options {
        group_by: vec!["a".to_owned(), "b".to_owned()],
        ..options()
    };
    let started = std::time::Instant::now();
    let loaded = load_text("p.csv", text, &options).unwrap();
    assert!(started.elapsed().as_secs() < 5);
    assert_eq!(loaded.segments.len(), 100_000);
    assert!(
        loaded
            .batch
            .offsets()
            .windows(2)
            .all(|ends| ends[1] - ends[0] == 2)
    );
    let group = loaded.segments[12_345].group.as_ref().unwrap();
    assert_eq!((group["a"].as_str(), group["b"].as_str()), ("1234", "5"));
}

/// Three rows of three classes; the second has its largest probability twice.
const MATRIX: [f32; 9] = [0.5, 0.25, 0.25, 0.25, 0.375, 0.375, 0.125, 0.125, 0.75];
const CLASSES: [i64; 3] = [0, 2, 2];

fn matrix_files() -> Vec<(&'static str, Vec<u8>)> {
    let rows = MATRIX
        .chunks(3)
        .map(|row| Some(row.iter().map(|&value| Some(value))));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows));
    let item = Field::new_list_field(DataType::Float32, true);
    let classes: ArrayRef = Arc::new(Int64Array::from(CLASSES.to_vec()));
    let mut files = Vec::new();
    for data_type in [
        DataType::List(item.clone().into()),
        DataType::LargeList(item.clone().into()),
        DataType::FixedSizeList(item.into(), 3),
    ] {
        let column = cast(&lists, &data_type).unwrap();
        let batch = record_batch(vec![("probs", column), ("label", classes.clone())]);
        files.push(("p.parquet", parquet(&batch)));
        let mut stream = Vec::new();
        let mut writer =
            arrow_ipc::writer::StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        files.push(("p.arrow", stream));
    }
    let columns: Vec<f32> = (0..9).map(|at| MATRIX[at % 3 * 3 + at / 3]).collect();
    for (order, values) in [
        (npyz::Order::C, MATRIX.to_vec()),
        (npyz::Order::Fortran, columns),
    ] {
        let members = [
            ("probs", npy(&[3, 3], order, &values)),
            ("labels", npy(&[3], npyz::Order::C, &CLASSES)),
        ];
        files.push((
            "p.npz",
            npz(&members, npyz::zip::CompressionMethod::Deflated),
        ));
    }
    files
}

#[test]
fn a_matrix_is_reduced_to_its_top_label() {
    let expected = Batch::from_slices(&[0.5f32, 0.375, 0.75], &[true, false, true]).unwrap();
    for (name, bytes) in matrix_files() {
        let loaded = load_text(name, bytes, &options()).unwrap();
        assert_eq!(loaded.batch, expected, "{name}");
        assert_eq!(loaded.segments[0].reduction, Reduction::TopLabel);
        assert_eq!(loaded.segments[0].class, None);
    }
    let text =
        "{\"probs\":[0.5,0.25,0.25],\"label\":0}\n{\"probs\":[0.25,0.375,0.375],\"label\":2}\n";
    let loaded = load_text("p.jsonl", text, &options()).unwrap();
    assert_eq!(
        loaded.batch,
        Batch::from_slices(&[0.5, 0.375], &[true, false]).unwrap()
    );
}

#[test]
fn a_matrix_gives_a_segment_for_each_class() {
    let options = Options {
        reduce: Reduce::ClassWise,
        ..options()
    };
    let confidences = [0.5f32, 0.25, 0.125, 0.25, 0.375, 0.125, 0.25, 0.375, 0.75];
    let labels = [true, false, false, false, false, false, false, true, true];
    let rows = Batch::from_slices(&confidences, &labels).unwrap();
    for (name, bytes) in matrix_files() {
        let loaded = load_text(name, bytes, &options).unwrap();
        assert_eq!(loaded.batch.rows(), rows.rows(), "{name}");
        assert_eq!(loaded.batch.offsets(), [0, 3, 6, 9]);
        let classes: Vec<_> = loaded
            .segments
            .iter()
            .map(|segment| segment.class)
            .collect();
        assert_eq!(classes, [Some(0), Some(1), Some(2)]);
    }
    let text =
        "{\"probs\":[0.75,0.25],\"label\":1,\"g\":2}\n{\"probs\":[0.5,0.5],\"label\":0,\"g\":1}\n";
    let options = Options {
        group_by: vec!["g".to_owned()],
        ..options
    };
    let loaded = load_text("p.jsonl", text, &options).unwrap();
    let rows = Batch::from_slices(&[0.5, 0.5, 0.75, 0.25], &[true, false, false, true]).unwrap();
    assert_eq!(loaded.batch.rows(), rows.rows());
    let names = loaded
        .segments
        .iter()
        .map(|segment| (segment.group.as_ref().unwrap()["g"].clone(), segment.class));
    let expected = [("1", 0), ("1", 1), ("2", 0), ("2", 1)];
    assert_eq!(
        names.collect::<Vec<_>>(),
        expected.map(|(group, class)| (group.to_owned(), Some(class)))
    );
}

#[test]
fn matrices_are_validated_element_by_element() {
    let refuse = |text: &str| refusal("m.jsonl", text, &options());
    assert_says(
        &refuse("{\"p\":[0.5,0.5],\"y\":0}\n{\"p\":[0.5,1.5],\"y\":0}\n"),
        &["row 2, column `p`", "1.5 of class 1 is not in [0, 1]"],
    );
    assert_says(
        &refuse("{\"p\":[-3.5,2.5],\"y\":0}\n"),
        &["row 1", "-3.5 of class 0", "softmax"],
    );
    assert_says(
        &refuse("{\"p\":[0.5,0.5],\"y\":0}\n{\"p\":[0.5,0.25,0.25],\"y\":0}\n"),
        &["row 2", "3 probabilities where the rows before have 2"],
    );
    assert_says(
        &refuse("{\"p\":[0.5,0.5],\"y\":1}\n{\"p\":[0.5,0.5],\"y\":2}\n"),
        &[
            "row 2, column `y`",
            "label `2` is not the number of a class, 0 to 1",
            "from 1: subtract 1",
        ],
    );
    assert_says(
        &refuse(
            "{\"p\":[0.5,0.5],\"y\":0}\n{\"p\":[0.5,0.5],\"y\":2}\n{\"p\":[0.5,0.5],\"y\":7}\n",
        ),
        &["row 2", "those from 0"],
    );
    assert_says(
        &refuse("{\"p\":[0.5,0.5],\"y\":\"cat\"}\n"),
        &["label `cat`"],
    );
    assert_says(
        &refuse("{\"p\":[0.5,null],\"y\":0}\n"),
        &["confidence of class 1 is missing", "--skip-missing"],
    );
    assert_says(&refuse("{\"p\":[0.5],\"y\":0}\n"), &["at least 2"]);
    assert_says(
        &refuse("{\"p\":[0.5,0.5],\"y\":0}\n{\"p\":0.5,\"y\":0}\n"),
        &["row 2", "a single confidence"],
    );
    assert_says(
        &refuse("{\"p\":0.5,\"y\":0}\n{\"p\":[0.5,0.5],\"y\":0}\n"),
        &["row 2", "an array of probabilities where a row before"],
    );

    let text =
        "{\"p\":[0.5,0.5],\"y\":0}\n{\"p\":[0.5,0.25],\"y\":0}\n{\"p\":[0.5,0.75],\"y\":0}\n";
    let loaded = load_text("m.jsonl", text, &options()).unwrap();
    assert_says(
        &loaded.notes[2],
        &["2 rows", "do not sum to 1", "first in row 2"],
    );
}

#[test]
fn real_files_have_their_rows() {
    let data = Path::new("tests/data");
    let loaded = load(&data.join("llm_stated.csv"), &options()).unwrap();
    assert_eq!(
        (loaded.batch.rows().len(), loaded.batch.dtype()),
        (72_185, Dtype::F64)
    );
    assert_eq!(loaded.notes.len(), 2);
    let by_model = Options {
        group_by: vec!["group".to_owned(), "qset".to_owned()],
        ..options()
    };
    let loaded = load(&data.join("llm_stated.csv"), &by_model).unwrap();
    assert_eq!(loaded.batch.rows().len(), 72_185);
    // Eleven models, five sets of questions.
    assert_eq!(loaded.segments.len(), 55);

    let loaded = load(&data.join("cifar10_lenet.npz"), &options()).unwrap();
    assert_eq!(
        (loaded.batch.rows().len(), loaded.batch.dtype()),
        (10_000, Dtype::F32)
    );
    // NumPy: probs.max(1)[:2], and whether probs.argmax(1) is the label.
    assert_eq!(
        loaded.batch.rows().word(0),
        u64::from(0.719_181_5f32.to_bits()) << 1 | 1
    );
    assert_eq!(
        loaded.batch.rows().word(1) >> 1,
        u64::from(0.539_985_7f32.to_bits())
    );
    let class_wise = Options {
        reduce: Reduce::ClassWise,
        ..options()
    };
    let loaded = load(&data.join("cifar10_lenet.npz"), &class_wise).unwrap();
    assert_eq!(loaded.batch.offsets().len(), 11);
    assert_eq!(loaded.batch.rows().len(), 100_000);

    let by_group = Options {
        group_by: vec!["group".to_owned()],
        ..options()
    };
    for (name, dtype) in [
        ("flights.parquet", Dtype::F64),
        ("flights_f32.parquet", Dtype::F32),
    ] {
        let loaded = load(&data.join(name), &by_group).unwrap();
        assert_eq!(
            (loaded.batch.rows().len(), loaded.batch.dtype()),
            (491_019, dtype)
        );
        let names = loaded
            .segments
            .iter()
            .map(|segment| segment.group.as_ref().unwrap()["group"].as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["gnb", "hgb", "lr"]);
    }
}

#[test]
fn confidences_outside_the_unit_interval_are_refused_with_a_hint() {
    let refuse = |values: &str| {
        let rows: String = values
            .split(' ')
            .map(|value| format!("{value},1\n"))
            .collect();
        refusal("z.csv", format!("p,y\n{rows}"), &options())
    };
    assert_says(
        &refuse("0.5 1.70 0.2"),
        &[
            ", row 2, column `p`: confidence 1.70 is not in [0, 1]",
            "percentages: divide by 100",
        ],
    );
    assert_says(
        &refuse("85 20 99.5"),
        &["row 1", "confidence 85 ", "percentages"],
    );
    // The whole column decides: the first offender alone looks like a percentage.
    assert_says(
        &refuse("0.5 3.2 -4"),
        &[
            "row 2",
            "confidence 3.2 ",
            "from -4.0 to 3.2",
            "logits",
            "sigmoid",
        ],
    );
    assert_says(&refuse("0.5 120"), &["logits"]);
    assert_says(&refuse("-0.1 -3"), &["log-probabilities", "exp"]);
    assert_says(
        &refuse("0.5 1.0000000000000002"),
        &["1.0000000000000002", "rounding", "never clipped"],
    );
    assert_says(&refuse("0.5 -1e-17"), &["-1e-17", "never clipped"]);
    assert_says(&refuse("0.5 inf"), &["confidence inf", "not in [0, 1]"]);
    assert_says(
        &refuse("0.5 abc"),
        &["row 2", "confidence `abc` is not a number"],
    );
    assert_says(&refuse("0.5 50%"), &["`50%`", "divide by 100"]);
    for missing in ["", "NA", "nan", "NaN", "null", "None", "n/a", " "] {
        assert_says(
            &refuse(&format!("0.5 {missing}").replace(" ,", ",")),
            &["row 2", "confidence is missing", "--skip-missing"],
        );
    }
    let error = load_text("z.csv", "p,y\n0.5,1\n1.70,1\n", &options()).unwrap_err();
    assert_eq!(
        (error.row, error.column.as_deref(), error.value.as_deref()),
        (Some(2), Some("p"), Some("1.70"))
    );
    // In single precision the value is shown in single precision.
    let singles: ArrayRef = Arc::new(Float32Array::from(vec![1.1]));
    let labels: ArrayRef = Arc::new(Int8Array::from(vec![1]));
    let batch = record_batch(vec![("p", singles), ("y", labels)]);
    assert_says(
        &refusal("z", parquet(&batch), &options()),
        &["confidence 1.1 is not"],
    );
}

#[test]
fn the_ends_of_the_unit_interval_are_confidences() {
    let loaded = load_text("z.csv", "p,y\n-0.0,1\n1,0\n0,0\n1e0,1\n", &options()).unwrap();
    let expected = Batch::from_slices(&[0.0, 1.0, 0.0, 1.0], &[true, false, false, true]);
    assert_eq!(loaded.batch, expected.unwrap());
}

#[test]
fn labels_that_are_not_binary_are_refused() {
    let refuse = |values: &str| {
        let rows: String = values
            .split(' ')
            .map(|value| format!("0.5,{value}\n"))
            .collect();
        refusal("y.csv", format!("p,y\n{rows}"), &options())
    };
    assert_says(
        &refuse("1 2"),
        &[
            "row 2, column `y`: label `2` is not binary",
            "--positive VALUE",
        ],
    );
    assert_says(&refuse("yes no"), &["row 1", "label `yes`"]);
    assert_says(&refuse("1 -1 0"), &["row 3", "both -1 and 0"]);
    for labels in [[0.0, 1.0, -1.0], [-1.0, 1.0, 0.0]] {
        let values = labels.map(|label| [0.5, label]).concat();
        let array = npy(&[3, 2], npyz::Order::C, &values);
        assert_says(
            &refusal("y.npy", array, &options()),
            &["row 3, column `1`", "both -1 and 0"],
        );
    }
    assert_says(&refuse("1 NA"), &["row 2, column `y`", "label is missing"]);
    let swapped = refusal("y.csv", "p,y\n1,1\n0,0.3\n1,0.8\n", &options());
    assert_says(&swapped, &["label `0.3`", "look swapped"]);
    let not_swapped = refusal("y.csv", "p,y\n1,1\n0,0.3\n1,8\n", &options());
    assert_says(&not_swapped, &["--positive"]);
}

#[test]
fn a_positive_value_stands_against_all_others() {
    let with = |positive: &str| Options {
        positive: Some(positive.to_owned()),
        ..options()
    };
    let text = "p,y\n0.5,spam\n0.25,ham\n0.75,eggs\n";
    let loaded = load_text("y.csv", text, &with("spam")).unwrap();
    assert_eq!(
        loaded.batch,
        Batch::from_slices(&[0.5, 0.25, 0.75], &[true, false, false]).unwrap()
    );
    assert_says(
        &loaded.notes[2],
        &["`spam` is read as 1", "`eggs`, `ham`, `spam`"],
    );
    assert_says(
        &refusal("y.csv", text, &with("Spam")),
        &["no label equals `Spam`", "`eggs`, `ham`, `spam`"],
    );
    let loaded = load_text("y.csv", "p,y\n0.5,2.0\n0.25,1\n", &with("2")).unwrap();
    assert_eq!(
        loaded.batch,
        Batch::from_slices(&[0.5, 0.25], &[true, false]).unwrap()
    );
}

#[test]
fn missing_rows_are_left_out_and_counted_when_asked() {
    let skip = Options {
        skip_missing: true,
        group_by: vec!["g".to_owned()],
        ..options()
    };
    let text = "p,y,g\n0.5,1,b\nNA,1,b\n0.25,,a\n0.75,0,b\n,,b\n";
    let loaded = load_text("s.csv", text, &skip).unwrap();
    assert_eq!(loaded.batch.offsets(), [0, 0, 2]);
    let skipped: Vec<u64> = loaded
        .segments
        .iter()
        .map(|segment| segment.skipped)
        .collect();
    assert_eq!(skipped, [1, 2]);
    let rows = Batch::from_slices(&[0.5, 0.75], &[true, false]).unwrap();
    assert_eq!(loaded.batch.rows(), rows.rows());
    // What is wrong is still refused, and so is a group that nobody could be told of.
    assert_says(
        &refusal("s.csv", "p,y,g\nNA,1,b\n1.5,1,b\n", &skip),
        &["row 2", "1.5"],
    );
    assert_says(
        &refusal("s.csv", "p,y,g\n0.5,1,b\n0.5,1,\n", &skip),
        &["row 2, column `g`", "group value is missing"],
    );
    assert_says(
        &refusal("s.csv", "p,y,g\nNA,1,b\n0.5,,b\n", &skip),
        &["every one of the 2 rows"],
    );
    // A group may well be called NA.
    let loaded = load_text("s.csv", "p,y,g\n0.5,1,NA\n", &skip).unwrap();
    assert_eq!(loaded.segments[0].group.as_ref().unwrap()["g"], "NA");

    let nulls: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), None, Some(f64::NAN)]));
    let labels: ArrayRef = Arc::new(Int8Array::from(vec![Some(1), Some(1), None]));
    let batch = record_batch(vec![("p", nulls), ("y", labels)]);
    let skip = Options {
        skip_missing: true,
        ..options()
    };
    // The label of a row that is left out says nothing of the others.
    let values = [f64::NAN, 0.0, 0.5, -1.0, 0.25, 1.0];
    let array = npy(&[3, 2], npyz::Order::C, &values);
    let loaded = load_text("s.npy", array, &skip).unwrap();
    assert_eq!(
        loaded.batch,
        Batch::from_slices(&[0.5, 0.25], &[false, true]).unwrap()
    );
    let loaded = load_text("s", parquet(&batch), &skip).unwrap();
    assert_eq!(
        (loaded.batch.rows().len(), loaded.segments[0].skipped),
        (1, 2)
    );
    let loaded = load_text(
        "s.jsonl",
        "{\"p\":0.5,\"y\":1}\n{\"y\":1}\n{\"p\":null,\"y\":1}\n",
        &skip,
    )
    .unwrap();
    assert_eq!(
        (loaded.batch.rows().len(), loaded.segments[0].skipped),
        (1, 2)
    );
    let matrix = "{\"p\":[0.5,0.5],\"y\":1}\n{\"p\":[0.5,null],\"y\":1}\n{\"p\":null,\"y\":1}\n{\"p\":[1,0],\"y\":null}\n";
    let loaded = load_text("s.jsonl", matrix, &skip).unwrap();
    assert_eq!(
        (loaded.batch.rows().len(), loaded.segments[0].skipped),
        (1, 3)
    );
}

#[test]
fn files_of_many_blocks_read_row_by_row() {
    // Some MB: more than are in memory at a time with a few threads.
    let rows = 600_000;
    let confidence = |row: usize| (row * 7919 % 10_007) as f64 / 10_007.0;
    let label = |row: usize| row.is_multiple_of(3);
    let confidences: Vec<f64> = (0..rows).map(confidence).collect();
    let labels: Vec<bool> = (0..rows).map(label).collect();
    let expected = Batch::from_slices(&confidences, &labels).unwrap();
    let (mut csv, mut json) = ("name,p,y\r\n".to_owned(), String::new());
    for (row, p) in confidences.iter().enumerate() {
        let y = u8::from(label(row));
        // Now and then a name with a line end in it.
        let name = if row % 50_000 == 7 { "\"a\nb\"" } else { "c" };
        csv += &format!("{name},{p},{y}\r\n");
        json += &format!("{{\"p\":{p},\"y\":{y}}}\n");
    }
    assert_eq!(
        load_text("m.csv", &csv, &options()).unwrap().batch,
        expected
    );
    let compressed = gzip(csv.as_bytes());
    let loaded = load_text("m.csv.gz", &compressed, &options()).unwrap();
    assert_eq!(loaded.batch, expected);
    let loaded = load_text("m.jsonl", &json, &options()).unwrap();
    assert_eq!(loaded.batch, expected);

    // The first thing that is wrong, at the end of the file and before it.
    let says = |name: &str, text: String, parts: &[&str]| {
        assert_says(&refusal(name, text, &options()), parts);
    };
    says("m.csv", csv.clone() + "c,1.5,0\n", &["row 600001", "1.5"]);
    says(
        "m.csv",
        csv.clone() + "c,0.5\n",
        &["row 600001", "2 fields"],
    );
    says(
        "m.csv",
        csv.clone() + "c,0.5,-1\n",
        &["row 600001", "-1 and 0"],
    );
    let early = csv.replacen(",0\r", ",x\r", 1);
    says("m.csv", early + "c,1.5,0\n", &["row 2,", "label `x`"]);
    says("m.jsonl", json + "{\"p\":2}\n", &["row 600001", "missing"]);
    let cut_off = &compressed[..compressed.len() - 20];
    assert_says(
        &refusal("m.csv.gz", cut_off, &options()),
        &["the file ends too early"],
    );
}

/// Large enough for several pieces in every way that tables are cut.
#[test]
fn tables_of_many_pieces_read_row_by_row() {
    let rows = 600_000;
    let confidences: Vec<f64> = (0..rows)
        .map(|row| (row * 7919 % 10_007) as f64 / 10_007.0)
        .collect();
    let labels: Vec<bool> = (0..rows).map(|row: usize| row.is_multiple_of(3)).collect();
    let groups: Vec<&str> = (0..rows).map(|row| ["b", "a"][row % 2]).collect();
    let table = |confidences: &[f64]| {
        record_batch(vec![
            ("g", Arc::new(StringArray::from(groups.clone()))),
            ("p", Arc::new(Float64Array::from(confidences.to_vec()))),
            ("y", Arc::new(BooleanArray::from(labels.clone()))),
        ])
    };
    let parquet = |batch: &RecordBatch, row_group: usize| {
        let properties = parquet::file::properties::WriterProperties::builder()
            .set_max_row_group_row_count(Some(row_group))
            .build();
        let mut bytes = Vec::new();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))
                .unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        bytes
    };
    let arrow = |batch: &RecordBatch, rows: usize| {
        let mut bytes = Vec::new();
        let mut writer =
            arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        for start in (0..batch.num_rows()).step_by(rows) {
            let rows = rows.min(batch.num_rows() - start);
            writer.write(&batch.slice(start, rows)).unwrap();
        }
        writer.finish().unwrap();
        drop(writer);
        bytes
    };
    let files = |confidences: &[f64]| {
        let batch = table(confidences);
        [
            parquet(&batch, rows),
            parquet(&batch, 50_000),
            arrow(&batch, rows),
            arrow(&batch, 10_000),
        ]
    };
    let grouped = Options {
        group_by: vec!["g".to_owned()],
        ..options()
    };
    let of_group = |first: usize| (first..rows).step_by(2);
    let order: Vec<usize> = of_group(1).chain(of_group(0)).collect();
    let pick = |order: &[usize]| {
        let confidences: Vec<f64> = order.iter().map(|&row| confidences[row]).collect();
        let labels: Vec<bool> = order.iter().map(|&row| labels[row]).collect();
        Batch::from_slices(&confidences, &labels).unwrap()
    };
    let (in_order, by_group) = (pick(&(0..rows).collect::<Vec<_>>()), pick(&order));
    for file in files(&confidences) {
        let loaded = load_text("t", &file, &options()).unwrap();
        assert_eq!(loaded.batch, in_order);
        let loaded = load_text("t", &file, &grouped).unwrap();
        assert_eq!(loaded.batch.rows(), by_group.rows());
        assert_eq!(loaded.batch.offsets(), [0, rows / 2, rows]);
    }
    // Of several wrong rows the first is told.
    let mut wrong = confidences.clone();
    wrong[444_444] = 1.5;
    wrong[444_445] = f64::NAN;
    wrong[599_999] = -0.5;
    for file in files(&wrong) {
        let message = refusal("t", &file, &options());
        assert_says(&message, &["row 444445, column `p`", "confidence 1.5"]);
    }
}

#[test]
fn columns_are_guessed_or_asked_for() {
    let refuse =
        |header: &str, options: &Options| refusal("c.csv", format!("{header}\n0.5,1,x\n"), options);
    assert_says(
        &refuse("p,y,score", &options()),
        &[
            "several columns may hold confidences: `p`, `score`",
            "--confidence",
        ],
    );
    assert_says(
        &refuse("p,y,Target", &options()),
        &["several columns may hold labels: `y`, `Target`", "--label"],
    );
    assert_says(
        &refuse("a,y,c", &options()),
        &["usual for confidences", "--confidence", "`a`, `y`, `c`"],
    );
    assert_says(
        &refuse("p,b,c", &options()),
        &["usual for labels", "--label"],
    );
    assert_says(&refuse("p,y,y", &options()), &["two columns are named `y`"]);
    let named = |confidence: &str, label: &str| Options {
        confidence: Some(confidence.to_owned()),
        label: Some(label.to_owned()),
        ..options()
    };
    assert_says(
        &refuse("pred,truth,x", &named("prod", "truth")),
        &["no column `prod` (--confidence)", "Columns: `pred`"],
    );
    assert_says(
        &refuse("p,y,x", &named("p", "p")),
        &["--confidence and --label both name column `p`"],
    );
    assert_says(
        &refusal("c.csv", "0.5,1\n0.25,0\n", &options()),
        &["not a header", "Add a first line"],
    );
    assert_says(
        &refusal("c.csv", "p;y\n0,5;1\n", &options()),
        &["semicolons"],
    );

    let loaded = load_text("c.csv", "Y_Score, Outcome\n0.5, 1\n", &options()).unwrap();
    assert_says(&loaded.notes[0], &["`Y_Score` is read as the confidences"]);
    assert_says(&loaded.notes[1], &["`Outcome` is read as the labels"]);
    let loaded = load_text("c.csv", "pred,truth\n0.5,1\n", &named("pred", "truth")).unwrap();
    assert!(loaded.notes.is_empty());
    // A column taken by a flag is no candidate for the other.
    let options = Options {
        confidence: Some("target".to_owned()),
        ..options()
    };
    assert!(load_text("c.csv", "target,y\n0.5,1\n", &options).is_ok());
    let options = Options {
        group_by: vec!["colour".to_owned()],
        ..Options::default()
    };
    assert_says(
        &refuse("p,y,color", &options),
        &["no column `colour` (--group-by)", "Columns: `color`"],
    );
}

#[test]
fn malformed_texts_are_refused() {
    let refuse = |name, text: &str| refusal(name, text, &options());
    assert_says(
        &refuse("m.csv", "p,y\n0.5,1\n0.5\n"),
        &["row 2", "1 field where the header has 2"],
    );
    assert_says(
        &refuse("m.csv", "p,y\n0,5,1\n"),
        &["row 1", "3 fields", "decimals", "point"],
    );
    assert_says(
        &refuse("m.csv", "p,y\n\"0,5\",1\n"),
        &["row 1", "with a point, not a comma"],
    );
    assert_says(
        &refusal("m.csv", b"p,y\n\xff,1\n", &options()),
        &["row 1, column `p`", "UTF-8"],
    );
    for text in ["", "\n\n", "\u{feff}"] {
        assert_says(&refuse("m.csv", text), &["the file is empty"]);
    }
    assert_says(&refuse("m.csv", "p,y\n"), &["no rows"]);
    assert_says(
        &refuse("m.jsonl", "{\"p\":0.5,\"y\":1}\n{\"p\":0.5,\n"),
        &["row 2", "the object does not end"],
    );
    assert_says(
        &refuse(
            "m.jsonl",
            "{\"p\":0.5,\"y\":1}\n{\"p\":0.5,\"p\":0.6,\"y\":1}\n",
        ),
        &["row 2", "`p` comes twice"],
    );
    assert_says(
        &refuse("m.jsonl", "{\"p\":0.5,\"y\":1}\n[0.5,1]\n"),
        &["row 2", "an object"],
    );
    assert_says(
        &refuse("m.jsonl", "{\"p\":{},\"y\":1}\n"),
        &["row 1, column `p`: an object, which is no confidence"],
    );
    assert_says(
        &refuse("m.json", "[{\"p\":0.5,\"y\":1}]"),
        &["JSON array", "one object on each line"],
    );
    assert_says(
        &refuse("m.parquet", "p,y\n"),
        &["named .parquet, but not Parquet"],
    );
    assert_says(&refusal("m", b"\x89HDF\r\n", &options()), &["HDF5"]);
    assert_says(&refusal("m", b"\xff\xfep\0", &options()), &["UTF-16"]);
    let error = read("no/such/file.csv", &options())
        .unwrap_err()
        .to_string();
    assert_says(&error, &["no/such/file.csv: cannot be read"]);
}

#[test]
fn arrays_of_other_kinds_are_refused() {
    let refuse = |bytes: Vec<u8>| refusal("a.npy", bytes, &options());
    assert_says(
        &refuse(npy(&[2, 3], npyz::Order::C, &[0.5; 6])),
        &["[2, 3]", "--labels"],
    );
    assert_says(
        &refuse(npy(&[1, 1, 2], npyz::Order::C, &[0.5; 2])),
        &["[1, 1, 2]", "column or a matrix"],
    );
    assert_says(
        &refuse(npy(&[0, 2], npyz::Order::C, &[0.5; 0])),
        &["no rows"],
    );
    assert_says(
        &refuse(npy(&[1, 2], npyz::Order::C, &[1.5, 1.0])),
        &["row 1, column `0`", "1.5"],
    );
    let header = |descr: &str, shape: &str| {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    };
    assert_says(&refuse(header("'|O'", "(3, 2)")), &["pickled array"]);
    assert_says(
        &refuse(header("[('p', '<f8'), ('y', '<i8')]", "(3,)")),
        &["structured array"],
    );
    assert_says(&refuse(header("'<V2'", "(0, 2)")), &["<V2"]);
    assert_says(
        &refuse(header("'<f8'", "(4294967296, 4294967296)")),
        &["not a readable NumPy file"],
    );
    assert_says(
        &refuse(header("'<f8'", &"(".repeat(10_000))),
        &["not a readable NumPy file"],
    );
    assert_says(
        &refuse(header("'<f8'", "(1000000000000, 2)")),
        &["there are 0", "cut off"],
    );
    let mut longer = npy(&[1, 2], npyz::Order::C, &[0.5, 1.0]);
    longer.push(0);
    assert_says(&refuse(longer), &["one array"]);
    let grouped = Options {
        group_by: vec!["g".to_owned()],
        ..options()
    };
    let array = npy(&[1, 2], npyz::Order::C, &[0.5, 1.0]);
    assert_says(
        &refusal("a.npy", &array, &grouped),
        &["--group-by names a column"],
    );
    let names = [("a", array.clone()), ("b", array)];
    let stored = npyz::zip::CompressionMethod::Stored;
    assert_says(
        &refusal("a.npz", npz(&names, stored), &options()),
        &["usual for confidences", "`a`, `b`"],
    );
    assert_says(&refusal("a.npz", npz(&[], stored), &options()), &["zip"]);
    let labels = Options {
        labels_file: Some("labels.txt".into()),
        ..options()
    };
    assert_says(
        &refusal("a.csv", "p,y\n0.5,1\n", &labels),
        &["--labels is for"],
    );
}

#[test]
fn two_columns_with_labels_are_two_classes() {
    let folder = Folder::new();
    let array = folder.write(
        "m.npy",
        npy(&[2, 2], npyz::Order::C, &[0.25, 0.75, 0.5, 0.5]),
    );
    let options = Options {
        labels_file: Some(folder.write("y.txt", "1\n1\n")),
        ..options()
    };
    let loaded = load(&array, &options).unwrap();
    assert_eq!(
        loaded.batch,
        Batch::from_slices(&[0.75, 0.5], &[true, false]).unwrap()
    );
    assert_says(&loaded.notes[0], &["probabilities of two classes"]);
}

#[test]
fn files_of_one_type_are_merged_in_order() {
    let folder = Folder::new();
    let singles = |value: f32| {
        let confidences: ArrayRef = Arc::new(Float32Array::from(vec![value]));
        let labels: ArrayRef = Arc::new(Int8Array::from(vec![1]));
        parquet(&record_batch(vec![("p", confidences), ("y", labels)]))
    };
    let grouped = Options {
        group_by: vec!["g".to_owned()],
        ..options()
    };
    let files = vec![
        load(&folder.write("a", singles(0.25)), &options()).unwrap(),
        load(&folder.write("b", "p,y,g\n0.5,1,x\n0.75,0,w\n"), &grouped).unwrap(),
        load(&folder.write("c", singles(0.5)), &options()).unwrap(),
    ];
    let merged = merge(files);
    assert_eq!(merged.len(), 2);
    assert_eq!(
        merged[0].batch.rows(),
        Batch::from_slices(&[0.25f32, 0.5], &[true, true])
            .unwrap()
            .rows()
    );
    assert_eq!(merged[0].batch.offsets(), [0, 1, 2]);
    assert_eq!(merged[0].places, [0, 3]);
    assert_eq!(merged[1].places, [1, 2]);
    assert!(merged[1].segments[0].source.ends_with('b'));
    assert!(merge(Vec::new()).is_empty());
}

/// Files cut off anywhere, and with any byte changed, are read or refused, and nothing else.
#[test]
fn damaged_files_never_panic() {
    let folder = Folder::new();
    let batch = usual_batch();
    let members = [
        ("labels", npy(&[6], npyz::Order::C, &LABELS.map(i64::from))),
        ("probs", npy(&[6], npyz::Order::C, &CONFIDENCES)),
    ];
    let compressed = arrow_ipc::writer::IpcWriteOptions::default()
        .try_with_compression(Some(arrow_ipc::CompressionType::LZ4_FRAME))
        .unwrap();
    let mut lz4 = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new_with_options(
        &mut lz4,
        &batch.schema(),
        compressed,
    )
    .unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    for (name, bytes) in [
        ("f.parquet", parquet(&batch)),
        ("f.arrow", arrow_file(&batch)),
        ("f.arrows", arrow_stream(&batch)),
        ("lz4.arrows", lz4),
        ("f.npy", npy(&[6, 2], npyz::Order::C, &pairs())),
        (
            "f.npz",
            npz(&members, npyz::zip::CompressionMethod::Deflated),
        ),
        ("f.csv.gz", gzip(csv(',').as_bytes())),
        ("f.jsonl", json_lines().into_bytes()),
    ] {
        let path = folder.path(name);
        let binary = !name.ends_with(".jsonl");
        for length in 0..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            match load(&path, &options()) {
                Err(_) => {}
                // Texts and streams have places where they may end.
                Ok(loaded) if !binary || name.ends_with(".arrows") => {
                    let whole =
                        !binary || loaded.notes.iter().any(|note| note.contains("end marker"));
                    assert!(whole, "{name} cut at {length}");
                }
                Ok(_) => panic!("{name} cut at {length} was read"),
            }
        }
        for place in 0..bytes.len() {
            for change in [0x01, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= change;
                File::create(&path).unwrap().write_all(&changed).unwrap();
                let _ = load(&path, &options());
            }
        }
    }
}

/// A quote that opens a field swallows all rows up to the next quote, or to the end.
#[test]
fn regression_an_unclosed_quote_swallowed_rows() {
    let rows = |text: &str| format!("p,y,note\n0.25,0,a\n0.5,1,{text}\n0.75,1,b\n0.8,1,c\n");
    for name in ["q.csv", "q.tsv"] {
        let file = |text: &str| match name {
            "q.tsv" => rows(text).replace(',', "\t"),
            _ => rows(text),
        };
        let message = refusal(name, file("\"5 inch disk"), &options());
        assert_says(&message, &["row 2", "a quote", "never closed", "twice"]);
        let message = refusal(name, file("\"5 inch\" disk\""), &options());
        assert_says(&message, &["row 2", "behind a quote that closes"]);
        let message = refusal(name, file("\"5 inch\"disk"), &options());
        assert_says(&message, &["row 2", "behind a quote that closes"]);
        let loaded = load_text(name, file("\"5 \"\"inch\"\"\ndisk\""), &options()).unwrap();
        assert_eq!(loaded.batch.rows().len(), 4);
    }
}

/// One bad value among many was taken for another scale of all.
#[test]
fn regression_one_bad_value_is_no_other_scale() {
    let mut text = "p,y\n".to_owned();
    for row in 0..500 {
        text += &format!("0.{row:03},{}\n", row % 2);
    }
    for bad in ["1.5", "-0.1", "-999", "1e9"] {
        let message = refusal("one.csv", format!("{text}{bad},1\n"), &options());
        assert_says(&message, &["row 501", "only 1 of 501 are outside"]);
        assert!(
            !message.contains("divide") && !message.contains("apply"),
            "{message}"
        );
    }
}

/// JSON's true is no number, as in every other format.
#[test]
fn regression_a_confidence_of_true_in_json_lines_was_one() {
    let message = refusal(
        "t.jsonl",
        "{\"p\":true,\"y\":1}\n{\"p\":0.5,\"y\":0}\n",
        &options(),
    );
    assert_says(&message, &["row 1", "`p`", "true", "not a number"]);
}

/// The text with each NaN of Python's `json` written as null.
fn with_null(text: &str) -> String {
    text.replace("NaN", "null")
}

/// Python's `json` writes NaN and Infinity, which are no JSON. The error did not name them, and
/// --skip-missing did not help.
#[test]
fn regression_nan_of_python_is_missing_in_json_lines() {
    let skip = Options {
        skip_missing: true,
        ..options()
    };
    for text in [
        "{\"p\": 0.5, \"y\": 1}\n{\"p\": NaN, \"y\": 0}\n{\"p\": 0.25, \"y\": NaN}\n",
        "{\"p\": NaN, \"y\": 1}\n{\"p\":NaN,\"y\":1}\n{\"p\": 0.5, \"y\": 1}\n",
        "{\"p\": [0.5, 0.5], \"y\": 1}\n{\"p\": [NaN, 0.5], \"y\": 1}\n",
        "{\"p\": 0.5, \"y\": 1, \"a\": [{\"b\": NaN}], \"c\": \"\\\"NaN\", \"p\\\"NaN\": NaN}\n",
    ] {
        let skipped = load_text("nan.jsonl", text, &skip).unwrap();
        assert_eq!(
            skipped.batch,
            load_text("nan.jsonl", with_null(text), &skip)
                .unwrap()
                .batch
        );
        let missing = |text: &str| {
            load_text("nan.jsonl", text, &options()).map_err(|error| {
                let InputError {
                    row,
                    column,
                    problem,
                    remedy,
                    ..
                } = error;
                (row, column, problem, remedy)
            })
        };
        let (named, as_null) = (missing(text), missing(&with_null(text)));
        assert_eq!(named.is_err(), skipped.segments[0].skipped > 0);
        assert_eq!(
            named.map(|loaded| loaded.batch),
            as_null.map(|loaded| loaded.batch)
        );
    }
    // As in CSV.
    let csv = "p,y\n0.5,1\nNaN,0\n0.25,NaN\n";
    let json = "{\"p\": 0.5, \"y\": 1}\n{\"p\": NaN, \"y\": 0}\n{\"p\": 0.25, \"y\": NaN}\n";
    let [csv_file, json_file] = [("a.csv", csv), ("a.jsonl", json)]
        .map(|(name, text)| load_text(name, text, &skip).unwrap());
    assert_eq!(csv_file.batch, json_file.batch);
    assert_eq!(
        (csv_file.segments[0].skipped, json_file.segments[0].skipped),
        (2, 2)
    );
    let [of_csv, of_json] =
        [("a.csv", csv), ("a.jsonl", json)].map(|(name, text)| refusal(name, text, &options()));
    assert_eq!(of_csv, of_json);
    // A group without a name.
    let by_group = Options {
        group_by: vec!["g".to_owned()],
        ..options()
    };
    let message = refusal("g.jsonl", "{\"p\": 0.5, \"y\": 1, \"g\": NaN}", &by_group);
    assert_says(&message, &["row 1", "`g`", "group value is missing"]);
}

#[test]
fn regression_infinity_of_python_is_named() {
    let line = |p: &str, y: &str| format!("{{\"p\": 0.5, \"y\": 1}}\n{{\"p\": {p}, \"y\": {y}}}\n");
    for (text, parts) in [
        (
            line("Infinity", "1"),
            ["column `p`", "`Infinity`, character 7 of"],
        ),
        (
            line("-Infinity", "1"),
            ["column `p`", "`-Infinity`, character 7 of"],
        ),
        (
            line("0.5", "Infinity"),
            ["column `y`", "`Infinity`, character 17 of"],
        ),
        (
            line("[0.5, Infinity]", "1"),
            ["column `p`", "`Infinity`, character 13 of"],
        ),
        (
            line("1e999", "1"),
            ["column `p`", "`1e999`, character 7 of"],
        ),
    ] {
        let message = refusal("inf.jsonl", text, &options());
        assert_says(&message, &["row 2", "no finite number", "null"]);
        assert_says(&message, &parts);
    }
    // In a key that is not read it is none of our business.
    let text =
        "{\"p\": 0.5, \"y\": 1, \"loss\": Infinity}\n{\"loss\": -Infinity, \"p\": 1, \"y\": 0}\n";
    assert_eq!(
        load_text("inf.jsonl", text, &options())
            .unwrap()
            .batch
            .rows()
            .len(),
        2
    );
}

/// The line of an error was told twice: as the row of the file, and as line 1 of itself.
#[test]
fn regression_syntax_errors_of_json_lines_have_one_place() {
    let good = "{\"p\": 0.5, \"y\": 1}\n";
    for (bad, parts) in [
        (
            "{\"p\": 0.5 \"y\": 1}",
            vec!["expected `,` or `}`", "character 11 of the line"],
        ),
        (
            "{\"é\": \"é\", \"p\": nan}",
            vec!["`nan`, character 17 of the line, is not JSON", "null"],
        ),
        (
            "{\"p\": None, \"y\": 1}",
            vec!["column `p`", "`None`, character 7 of the line"],
        ),
        (
            "{\"p\": 0.5, \"y\": True}",
            vec!["column `y`", "`True`, character 17 of"],
        ),
        (
            "{\"p\": 0.5, \"y\": 1}}",
            vec!["trailing characters", "character 19 of the line"],
        ),
        ("{\"p\": 0.5,", vec!["does not end on its line"]),
        (
            "[0.5, 1]",
            vec!["expected an object", "Each line holds one whole object"],
        ),
        (
            "{\"p\": 0.5, \"p\": 0.6, \"y\": 1}",
            vec!["key `p` comes twice", "Leave one"],
        ),
        ("\u{1}", vec!["character 1 of the line"]),
    ] {
        for rows in [1, 3] {
            let message = refusal("s.jsonl", good.repeat(rows) + bad, &options());
            assert_says(&message, &[&format!("row {}", rows + 1)]);
            assert_says(&message, &parts);
            assert!(!message.contains("line 1"), "{message}");
        }
    }
}

/// Groups have one name in every format, which is the value as a text: 1.0 is another than 1, and a number
/// of twenty digits keeps them all.
#[test]
fn regression_group_values_of_json_lines_ran_together() {
    let by_group = Options {
        group_by: vec!["g".to_owned()],
        ..options()
    };
    let names = |loaded: Loaded| -> Vec<String> {
        let groups = loaded
            .segments
            .into_iter()
            .map(|segment| segment.group.unwrap());
        groups.map(|group| group["g"].clone()).collect()
    };
    let values = [
        "1",
        "1.0",
        "\"1\"",
        "2.5",
        "18446744073709551615",
        "18446744073709551614",
        "true",
        "\" a\"",
        "\"a\"",
    ];
    let json: String = values
        .iter()
        .map(|g| format!("{{\"p\": 0.5, \"y\": 1, \"g\": {g}}}\n"))
        .collect();
    let csv: String = values
        .iter()
        .map(|g| format!("0.5,1,{}\n", g.replace('"', "")))
        .collect();
    let of_json = names(load_text("g.jsonl", json, &by_group).unwrap());
    assert_eq!(of_json.len(), values.len() - 1);
    assert_eq!(
        of_json,
        names(load_text("g.csv", format!("p,y,g\n{csv}"), &by_group).unwrap())
    );
    let column = |g: ArrayRef| {
        let usual = usual_batch();
        let [p, y] = [1, 2].map(|place| usual.column(place).slice(0, 2));
        let batch = record_batch(vec![("p", p), ("y", y), ("g", g)]);
        names(load_text("g.parquet", parquet(&batch), &by_group).unwrap())
    };
    assert_eq!(
        column(Arc::new(Float64Array::from(vec![1.0, 2.5]))),
        ["1.0", "2.5"]
    );
    assert_eq!(column(Arc::new(Int64Array::from(vec![1, 2]))), ["1", "2"]);
    let message = refusal(
        "g.jsonl",
        "{\"p\": 0.5, \"y\": 1, \"g\": 184467440737095516150}",
        &by_group,
    );
    assert_says(&message, &["row 1", "`g`", "lost digits", "in quotes"]);
}

/// Errors of files that did not say what to do.
#[test]
fn regression_every_error_says_what_to_do() {
    let by_group = Options {
        group_by: vec!["g".to_owned()],
        ..options()
    };
    let skip = Options {
        skip_missing: true,
        ..options()
    };
    let json = |first: &str, second: &str| {
        format!("{{\"p\": {first}, \"y\": 1}}\n{{\"p\": {second}, \"y\": 1}}\n").into_bytes()
    };
    let square = npy::<f64>(&[1, 1, 1], npyz::Order::C, &[0.5]);
    let column = npy::<f64>(&[1], npyz::Order::C, &[0.5]);
    let longer = [column.as_slice(), &[0; 8]].concat();
    for (name, contents, options, says) in [
        ("empty.csv", Vec::new(), options(), "empty"),
        ("blank.csv", b"\n\n".to_vec(), options(), "empty"),
        ("blank.jsonl", b"{".to_vec(), options(), "does not end"),
        ("none.csv", b"p,y\n".to_vec(), options(), "no rows"),
        (
            "lacking.csv",
            b"p,y\n,1\n".to_vec(),
            skip,
            "every one of the 1 rows",
        ),
        (
            "twice.csv.gz",
            gzip(&gzip(b"p,y\n0.5,1\n")),
            options(),
            "gzip twice",
        ),
        (
            "cut.csv.gz",
            gzip(&[b'x'; 1000])[..20].to_vec(),
            options(),
            "cut off",
        ),
        ("shape.npy", square, options(), "shape [1, 1, 1]"),
        ("longer.npy", longer, options(), "takes 8 bytes"),
        ("column.npy", column, options(), "no labels"),
        (
            "mixed.jsonl",
            json("0.5", "[0.5, 0.5]"),
            options(),
            "an array of probabilities where",
        ),
        (
            "other.jsonl",
            json("[0.5, 0.5]", "0.5"),
            options(),
            "a single confidence where",
        ),
        (
            "width.jsonl",
            json("[0.5, 0.5]", "[1]"),
            options(),
            "1 probability where",
        ),
        ("narrow.jsonl", json("[1]", "[1]"), options(), "at least 2"),
        (
            "text.jsonl",
            json("[\"a\", 1]", "1"),
            options(),
            "the text `a`",
        ),
        (
            "object.jsonl",
            json("{}", "1"),
            options(),
            "an object, which is no confidence",
        ),
        (
            "group.csv",
            b"p,y,g\n0.5,1,\n".to_vec(),
            by_group,
            "group value is missing",
        ),
        ("zeros.bin", vec![0; 9], options(), "format"),
    ] {
        let error = load_text(name, contents, &options).unwrap_err();
        assert!(error.problem.contains(says), "{error}");
        assert!(!error.remedy.is_empty(), "{error}");
    }
}
