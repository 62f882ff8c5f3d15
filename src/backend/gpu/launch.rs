//! One launch: pieces that fit the device, from their rows to their sums.

use super::Gpu;
use super::device::Device;
use super::plan::{Item, MOST_ITEMS, ROW_TILE, Span, items};
use super::recorder::{Dispatch, Params, Recorder};
use super::scan::scan;
use super::shaders::{Kernel, Variant};
use super::sort::{counting_sort, radix_sort};
use crate::backend::edges::{edge_bits, mass_rank, mass_threshold};
use crate::backend::piece::{PieceSums, Place, Totals};
use crate::backend::terms::{RowSums, RunSums};
use crate::backend::{BinSums, Binning, Closed, DeviceError, NeighbourSums, Request, Scheme, Ties};
use crate::predictions::{Dtype, Word};
use crate::random::Key;

/// The rows of a piece, in any order.
#[derive(Clone, Copy)]
pub struct PieceRows<'a, W> {
    pub words: &'a [W],
    pub place: Place,
    /// The segment it is of, which tells the number of bins.
    pub segment: usize,
}

/// `Piece` of `shaders/shared/items.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct DevicePiece {
    start: u32,
    end: u32,
    first_rank: u32,
    padding: u32,
}

/// `Query` of `shaders/bin_edges.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Query {
    piece: u32,
    kind: u32,
    operand: u64,
    threshold: u64,
}

/// `Answer` of `shaders/bin_edges.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct Answer {
    row: u32,
    positives: u32,
    confidence: u64,
    below: u64,
    above: u64,
}

/// Kinds of queries.
const NOT_ABOVE_EDGE: u32 = 0;
const BELOW_EDGE: u32 = 1;
const MASS_BOUNDARY: u32 = 2;
const ROW: u32 = 3;

/// Words of 32 bits in the word of a row.
pub fn words_of<W: Word>() -> u32 {
    W::BITS.div_ceil(32)
}

/// The same for the type of these words.
pub fn words_of_row<W: Word>(_: &[W]) -> u32 {
    words_of::<W>()
}

/// The sums of pieces that fit the device together.
///
/// # Errors
/// If the device fails.
pub fn sums<W: Word>(
    gpu: &Gpu,
    dtype: Dtype,
    pieces: &[PieceRows<'_, W>],
    request: &Request,
) -> Result<Vec<PieceSums>, DeviceError> {
    let sizes: Vec<u32> = pieces
        .iter()
        .map(|piece| piece.words.len() as u32)
        .collect();
    let rows: usize = pieces.iter().map(|piece| piece.words.len()).sum();
    if rows == 0 {
        return Ok(pieces.iter().map(|piece| empty(piece, request)).collect());
    }
    let device = &gpu.device;
    let variant = variant::<W>(device, dtype, pieces.len());
    let mut recorder = Recorder::new(device, &gpu.budget, gpu.stages.as_ref())?;
    let records = sorted(device, &mut recorder, variant, pieces, rows, request.ties)?;
    recorder.stage("sort")?;

    let mut start = 0;
    let table: Vec<DevicePiece> = pieces
        .iter()
        .map(|piece| {
            let end = start + piece.words.len() as u32;
            let entry = DevicePiece {
                start,
                end,
                first_rank: piece.place.first_rank,
                padding: 0,
            };
            start = end;
            entry
        })
        .collect();
    let (items, spans, owners) = items(&sizes);
    let tiles = rows.div_ceil(ROW_TILE) + 1;
    let mut launch = Launch {
        device,
        recorder,
        variant,
        rows,
        tiles,
        records,
        tile_positives: device.buffer("positives before tiles", tiles as u64 * 4)?,
        tile_confidence: device.buffer("confidence before tiles", tiles as u64 * 8)?,
        pieces: device.upload("pieces", &table)?,
        items: device.upload("items", &items)?,
        item_rows: rows.div_ceil(items.len()) as u64,
        item_count: items.len(),
        spans: device.upload("spans", &spans)?,
        owners,
    };
    launch.prefix_sums()?;
    launch.recorder.stage("prefix sums")?;

    let mut sums: Vec<PieceSums> = vec![PieceSums::default(); pieces.len()];
    for (sums, runs) in std::iter::zip(&mut sums, launch.runs(pieces.len())?) {
        sums.runs = runs;
    }
    launch.recorder.stage("runs")?;
    let ordered = match request.ties {
        Ties::Average => None,
        Ties::Random => Some(Some(request.ties_key)),
        Ties::Stable => Some(None),
    };
    if let Some(placement) = ordered {
        for (sums, rows) in std::iter::zip(&mut sums, launch.rows(pieces.len(), placement)?) {
            sums.ordered = Some(rows);
        }
        launch.recorder.stage("ordered rows")?;
    }
    if let Some(key) = request.neighbour_key {
        for (sums, rows) in std::iter::zip(&mut sums, launch.rows(pieces.len(), Some(key))?) {
            sums.neighbours = Some(rows);
        }
        launch.recorder.stage("neighbours")?;
    }
    launch.totals(&table, &mut sums)?;
    launch.recorder.stage("totals")?;
    for binning in &request.binnings {
        launch.bins(dtype, pieces, &table, binning, &mut sums)?;
    }
    launch.recorder.stage("bins")?;
    Ok(sums)
}

/// What kernels are compiled for.
fn variant<W: Word>(device: &Device, dtype: Dtype, pieces: usize) -> Variant {
    let (int64, subgroup) = device.features();
    Variant {
        stride: words_of::<W>() + u32::from(pieces > 1),
        dtype,
        wide: false,
        fields: 0,
        int64,
        subgroup,
        model: None,
    }
}

/// The records of all pieces, sorted on the device.
fn sorted<W: Word>(
    device: &Device,
    recorder: &mut Recorder<'_>,
    variant: Variant,
    pieces: &[PieceRows<'_, W>],
    rows: usize,
    ties: Ties,
) -> Result<wgpu::Buffer, DeviceError> {
    if W::BITS == 16 && pieces.len() == 1 && ties != Ties::Stable {
        let words: Vec<u16> = pieces[0].words.iter().map(|w| w.to_u64() as u16).collect();
        return counting_sort(device, recorder, variant, &words);
    }
    let (records, varying) = upload(device, variant.stride, pieces, rows)?;
    recorder.stage("upload")?;
    radix_sort(device, recorder, variant, records, rows, &varying)
}

/// The words of one piece as the device sorts them, for checks.
///
/// # Errors
/// If the device fails.
pub fn sorted_words<W: Word>(
    gpu: &Gpu,
    dtype: Dtype,
    words: &[W],
    ties: Ties,
) -> Result<Vec<W>, DeviceError> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let piece = PieceRows {
        words,
        place: Place {
            first_rank: 0,
            segment_rows: words.len() as u32,
        },
        segment: 0,
    };
    let device = &gpu.device;
    let variant = variant::<W>(device, dtype, 1);
    let mut recorder = Recorder::new(device, &gpu.budget, None)?;
    let pieces = [piece];
    let records = sorted(device, &mut recorder, variant, &pieces, words.len(), ties)?;
    recorder.submit()?;
    let stride = variant.stride as usize;
    let records: Vec<u32> = device.read(&records, words.len() * stride)?;
    Ok(records
        .chunks_exact(stride)
        .map(|record| {
            let high = record.get(1).copied().unwrap_or(0);
            W::from_u64(u64::from(record[0]) | u64::from(high) << 32)
        })
        .collect())
}

/// The sums of a piece without rows.
fn empty<W>(piece: &PieceRows<'_, W>, request: &Request) -> PieceSums {
    PieceSums {
        ordered: (request.ties != Ties::Average).then(RowSums::default),
        neighbours: request.neighbour_key.map(|_| RowSums::default()),
        binned: request
            .binnings
            .iter()
            .map(|binning| vec![BinSums::default(); binning.bins[piece.segment] as usize])
            .collect(),
        ..PieceSums::default()
    }
}

/// Records of all pieces on the device, and for each of their words the bits that vary, labels aside.
fn upload<W: Word>(
    device: &Device,
    stride: u32,
    pieces: &[PieceRows<'_, W>],
    rows: usize,
) -> Result<(wgpu::Buffer, Vec<u32>), DeviceError> {
    let stride = stride as usize;
    let buffer = device.buffer("records", (rows * stride * 4) as u64)?;
    let low_words = words_of::<W>() as usize;
    let mut first: Option<Vec<u32>> = None;
    let mut varying = vec![0; stride];
    // Records are made a part at a time, so that there is no second copy of all rows.
    const PART: usize = 1 << 20;
    let mut part: Vec<u32> = Vec::with_capacity(PART.min(rows) * stride);
    let mut offset = 0;
    for (index, piece) in pieces.iter().enumerate() {
        for chunk in piece.words.chunks(PART) {
            for word in chunk {
                let word = word.to_u64();
                part.push(word as u32);
                if low_words == 2 {
                    part.push((word >> 32) as u32);
                }
                if stride > low_words {
                    part.push(index as u32);
                }
            }
            if part.len() >= PART * stride || (index + 1 == pieces.len()) {
                note_varying(&part, stride, &mut first, &mut varying);
                device.write(&buffer, offset, bytemuck::cast_slice(&part));
                offset += part.len() as u64 * 4;
                part.clear();
            }
        }
    }
    if !part.is_empty() {
        note_varying(&part, stride, &mut first, &mut varying);
        device.write(&buffer, offset, bytemuck::cast_slice(&part));
    }
    varying[0] &= !1;
    Ok((buffer, varying))
}

/// Marks the bits in which records differ from the first one.
fn note_varying(records: &[u32], stride: usize, first: &mut Option<Vec<u32>>, varying: &mut [u32]) {
    for record in records.chunks_exact(stride) {
        let first = first.get_or_insert_with(|| record.to_vec());
        for word in 0..stride {
            varying[word] |= record[word] ^ first[word];
        }
    }
}

/// Sorted records on the device, and what is computed from them.
struct Launch<'a> {
    device: &'a Device,
    recorder: Recorder<'a>,
    variant: Variant,
    rows: usize,
    tiles: usize,
    records: wgpu::Buffer,
    tile_positives: wgpu::Buffer,
    tile_confidence: wgpu::Buffer,
    pieces: wgpu::Buffer,
    items: wgpu::Buffer,
    item_rows: u64,
    item_count: usize,
    spans: wgpu::Buffer,
    /// The piece of each span.
    owners: Vec<u32>,
}

impl Launch<'_> {
    /// Positives and confidences before each tile of rows.
    fn prefix_sums(&mut self) -> Result<(), DeviceError> {
        self.recorder.dispatch(&Dispatch {
            kernel: Kernel::TileSums,
            variant: self.variant,
            buffers: &[&self.records, &self.tile_positives, &self.tile_confidence],
            unused: 0,
            params: Params {
                count: self.rows as u32,
                ..Params::default()
            },
            groups: self.tiles as u32,
            cost: ROW_TILE as u64,
        })?;
        let wide = Variant {
            wide: true,
            ..self.variant
        };
        scan(
            self.device,
            &mut self.recorder,
            self.variant,
            &self.tile_positives,
            self.tiles,
        )?;
        scan(
            self.device,
            &mut self.recorder,
            wide,
            &self.tile_confidence,
            self.tiles,
        )
    }

    /// Sums over runs, by piece.
    fn runs(&mut self, pieces: usize) -> Result<Vec<RunSums>, DeviceError> {
        let sums = self.reduce::<7>(Kernel::ReduceRuns, None, 4)?;
        let mut runs = vec![RunSums::default(); pieces];
        for (fields, &owner) in std::iter::zip(sums, &self.owners) {
            let [rank_ece, squares, odd, even, conditional, brier, counts] = fields;
            runs[owner as usize] += RunSums {
                distinct: counts as u64,
                tied_rows: (counts >> 64) as u64,
                rank_ece: rank_ece as i128,
                null_squares: squares,
                null_odd: odd,
                null_even: even,
                null_conditional: conditional,
                brier,
            };
        }
        Ok(runs)
    }

    /// Sums over rows, by piece, with tied labels placed by a key or as they stand.
    fn rows(&mut self, pieces: usize, placement: Option<Key>) -> Result<Vec<RowSums>, DeviceError> {
        let sums = self.reduce::<4>(Kernel::ReduceRows, placement, 16)?;
        let mut rows = vec![RowSums::default(); pieces];
        for (fields, &owner) in std::iter::zip(sums, &self.owners) {
            let [adjacent, r4, r2s2, s4] = fields.map(|field| field as i128);
            rows[owner as usize] += RowSums {
                adjacent,
                neighbours: NeighbourSums { r4, r2s2, s4 },
            };
        }
        Ok(rows)
    }

    /// Runs a kernel over all items and adds up its sums by span.
    fn reduce<const FIELDS: usize>(
        &mut self,
        kernel: Kernel,
        placement: Option<Key>,
        cost: u64,
    ) -> Result<Vec<[u128; FIELDS]>, DeviceError> {
        let variant = Variant {
            fields: FIELDS as u32,
            ..self.variant
        };
        let bytes = FIELDS as u64 * 16;
        let partial = self
            .device
            .buffer("sums of items", self.item_count as u64 * bytes)?;
        self.recorder.dispatch(&Dispatch {
            kernel,
            variant,
            buffers: &[
                &self.records,
                &self.tile_positives,
                &self.pieces,
                &self.items,
                &partial,
            ],
            unused: 0,
            params: Params {
                count: self.item_count as u32,
                placed: u32::from(placement.is_some()),
                key: placement.map_or([0, 0], |key| key.0),
                ..Params::default()
            },
            groups: self.item_count.div_ceil(64) as u32,
            cost: 64 * self.item_rows * cost,
        })?;
        let spans = self.owners.len();
        let sums = self.device.buffer("sums of spans", spans as u64 * bytes)?;
        self.recorder.dispatch(&Dispatch {
            kernel: Kernel::SumItems,
            variant,
            buffers: &[&self.spans, &partial, &sums],
            unused: 0,
            params: Params {
                count: (spans * FIELDS) as u32,
                ..Params::default()
            },
            groups: (spans * FIELDS).div_ceil(64) as u32,
            cost: 64 * 16,
        })?;
        self.recorder.submit()?;
        let words: Vec<u128> = self.device.read(&sums, spans * FIELDS)?;
        Ok(words.as_chunks::<FIELDS>().0.to_vec())
    }

    /// The number of positives and the sum of confidences of each piece.
    fn totals(&mut self, table: &[DevicePiece], sums: &mut [PieceSums]) -> Result<(), DeviceError> {
        let query = |piece: usize, row: u32| Query {
            piece: piece as u32,
            kind: ROW,
            operand: u64::from(row),
            threshold: 0,
        };
        let queries: Vec<Query> = (0..table.len())
            .flat_map(|piece| {
                [
                    query(piece, table[piece].start),
                    query(piece, table[piece].end),
                ]
            })
            .collect();
        let answers = self.ask(&queries)?;
        for (sums, pair) in std::iter::zip(sums, answers.as_chunks::<2>().0) {
            let [start, end] = pair;
            sums.rows = u64::from(end.row - start.row);
            sums.totals = Totals {
                positives: u64::from(end.positives - start.positives),
                confidence: end.confidence - start.confidence,
            };
        }
        Ok(())
    }

    /// Adds one binning to the sums.
    fn bins<W>(
        &mut self,
        dtype: Dtype,
        pieces: &[PieceRows<'_, W>],
        table: &[DevicePiece],
        binning: &Binning,
        sums: &mut [PieceSums],
    ) -> Result<(), DeviceError> {
        // Whole pieces at a time, about as many queries as fit a launch.
        let mut queries = Vec::new();
        let mut first = 0;
        for index in 0..pieces.len() {
            let bins = binning.bins[pieces[index].segment];
            boundaries(
                dtype,
                index,
                &pieces[index],
                &table[index],
                binning,
                bins,
                &mut queries,
            );
            if queries.len() >= MOST_ITEMS || index + 1 == pieces.len() {
                let answers = self.ask(&queries)?;
                queries.clear();
                let mut rest = &answers[..];
                for (piece, sums) in
                    std::iter::zip(&pieces[first..=index], &mut sums[first..=index])
                {
                    let bins = binning.bins[piece.segment] as usize;
                    let (own, after) = rest.split_at(bins + 1);
                    sums.binned.push(own.windows(2).map(bin_between).collect());
                    rest = after;
                }
                first = index + 1;
            }
        }
        Ok(())
    }

    /// Answers to queries.
    fn ask(&mut self, queries: &[Query]) -> Result<Vec<Answer>, DeviceError> {
        let mut all = Vec::with_capacity(queries.len());
        for queries in queries.chunks(MOST_ITEMS) {
            let asked = self.device.upload("queries", queries)?;
            let bytes = size_of_val(queries) as u64 / size_of::<Query>() as u64
                * size_of::<Answer>() as u64;
            let answers = self.device.buffer("answers", bytes)?;
            self.recorder.dispatch(&Dispatch {
                kernel: Kernel::BinEdges,
                variant: self.variant,
                buffers: &[
                    &self.records,
                    &self.tile_positives,
                    &self.tile_confidence,
                    &self.pieces,
                    &asked,
                    &answers,
                ],
                unused: 0,
                params: Params {
                    count: queries.len() as u32,
                    ..Params::default()
                },
                groups: queries.len().div_ceil(64) as u32,
                cost: 64 * ROW_TILE as u64,
            })?;
            self.recorder.submit()?;
            all.extend(self.device.read::<Answer>(&answers, queries.len())?);
        }
        Ok(all)
    }
}

/// The queries for the boundaries 0 to `bins` of a piece.
fn boundaries<W>(
    dtype: Dtype,
    index: usize,
    piece: &PieceRows<'_, W>,
    entry: &DevicePiece,
    binning: &Binning,
    bins: u32,
    queries: &mut Vec<Query>,
) {
    let row = |row: u32| (ROW, u64::from(row), 0);
    let Place {
        first_rank,
        segment_rows,
    } = piece.place;
    let rows = entry.end - entry.start;
    for j in 0..=bins {
        let (kind, operand, threshold) = if j == 0 {
            row(entry.start)
        } else if j == bins {
            row(entry.end)
        } else {
            match (binning.scheme, binning.closed) {
                (Scheme::EqualWidth, Closed::Right) => {
                    (NOT_ABOVE_EDGE, edge_bits(dtype, j, bins), 0)
                }
                (Scheme::EqualWidth, Closed::Left) => (BELOW_EDGE, edge_bits(dtype, j, bins), 0),
                (Scheme::EqualMass, _) => {
                    let rank = mass_rank(segment_rows, bins, j);
                    if rank < first_rank {
                        row(entry.start)
                    } else if rank - first_rank >= rows {
                        row(entry.end)
                    } else {
                        let threshold = mass_threshold(segment_rows, bins, j);
                        (MASS_BOUNDARY, u64::from(rank), threshold)
                    }
                }
            }
        };
        queries.push(Query {
            piece: index as u32,
            kind,
            operand,
            threshold,
        });
    }
}

/// The bin between two boundaries.
fn bin_between(boundaries: &[Answer]) -> BinSums {
    let [start, end] = [boundaries[0], boundaries[1]];
    if start.row == end.row {
        return BinSums::default();
    }
    BinSums {
        rows: u64::from(end.row - start.row),
        positives: u64::from(end.positives - start.positives),
        confidence: end.confidence - start.confidence,
        smallest: start.above,
        largest: end.below,
    }
}

/// `items` and `spans` travel as they are.
const _: () = assert!(size_of::<Item>() == 16 && size_of::<Span>() == 8);
