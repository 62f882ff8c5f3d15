//! What replicates are drawn from, ready to draw.

use rayon::prelude::*;

use crate::backend::DeviceError;
use crate::backend::cpu::Cpu;
use crate::backend::edges::edge_bits;
use crate::backend::replicates::{ReplicateSums, Simulator, replicate_groups};
use crate::backend::resamples::sample_key;
use crate::backend::subsamples::{PopulationRows, Subsampler, Subsamples};
use crate::evaluate::{self, EvaluateError};
use crate::inference::intervals::IntervalName;
use crate::inference::tests_of_calibration::{LabelOutcome, TestName};
use crate::input::{self, InputError};
use crate::model::{Model, ModelError};
use crate::predictions::{Dtype, Word};
use crate::resampling::{LabelledGroups, label_tests};
use crate::with_words;

use super::job::Job;
use super::point::{Columns, Source};

/// Why a source cannot be drawn from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SourceError {
    /// A law or curve.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A file.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The estimate from a whole file.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// More rows are to be drawn than there are.
    #[error(
        "subsamples of n = {rows} rows cannot be drawn from {file}, which has {size}; give --n up \
         to {size}"
    )]
    TooFewRows {
        /// The file.
        file: String,
        /// Its rows.
        size: usize,
        /// The rows of a subsample.
        rows: u32,
    },
}

/// A model with its tables, or a file with its rows.
#[derive(Debug)]
pub enum Sampler {
    /// A law and a curve.
    Model(Box<Model>),
    /// A file.
    Population(Box<Population>),
}

/// A file of predictions whose rows are drawn without replacement.
#[derive(Clone, Debug)]
pub struct Population {
    /// Its rows.
    pub rows: PopulationRows,
    /// rankECE of the whole file, tie-averaged: what stands for the truth.
    pub rank_ece: f64,
    /// The 95 % neighbour interval around it.
    pub interval: Option<(f64, f64)>,
    /// What the user should know of the file.
    pub notes: Vec<String>,
    dtype: Dtype,
    bits: Vec<u64>,
}

impl Population {
    /// Reads a file of predictions.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(file: &str, columns: &Columns) -> Result<Self, SourceError> {
        let columns = input::Options {
            confidence: columns.confidence.clone(),
            label: columns.label.clone(),
            positive: columns.positive.clone(),
            ..input::Options::default()
        };
        let loaded = input::read(file, &columns).map_err(InputError::without_skipping)?;
        let dtype = loaded.batch.dtype();
        let rows = PopulationRows::new(loaded.batch.rows(), 0..loaded.batch.rows().len());
        let mut bits: Vec<u64> = with_words!(loaded.batch.rows(), words => {
            words.iter().map(|word| word.confidence_bits()).collect()
        });
        bits.sort_unstable();
        let options = evaluate::Options {
            bins: Vec::new(),
            tests: Vec::new(),
            intervals: vec![IntervalName::Neighbour],
            ..evaluate::Options::default()
        };
        let cpu = Cpu::default();
        let results = evaluate::evaluate(loaded.batch, loaded.segments, &options, &cpu)?;
        let whole = results.first().map(|result| &result.rank_ece);
        let interval = whole.and_then(|whole| whole.intervals.first());
        Ok(Population {
            rows,
            rank_ece: whole.and_then(|whole| whole.estimate).unwrap_or(0.0),
            interval: interval.and_then(|interval| interval.lower.zip(interval.upper)),
            notes: loaded.notes,
            dtype,
            bits,
        })
    }

    /// CRC-32 of the rows.
    fn checksum(&self) -> u32 {
        let mut crc = crc32fast::Hasher::new();
        for (bits, label) in std::iter::zip(&self.bits, &self.rows.label) {
            crc.update(&bits.to_le_bytes());
            crc.update(&[u8::from(*label)]);
        }
        crc.finalize()
    }
}

impl Sampler {
    /// Computes tables or reads a file.
    ///
    /// # Errors
    /// If a file cannot be read, or a curve is not finite.
    pub fn new(source: &Source, seed: u64) -> Result<Self, SourceError> {
        Ok(match source {
            Source::Model { law, curve } => {
                Sampler::Model(Box::new(Model::new(law.clone(), curve.clone(), seed)?))
            }
            Source::Population { file, columns } => {
                Sampler::Population(Box::new(Population::read(file, columns)?))
            }
        })
    }

    /// Of the tables or rows: results of unlike ones are not merged.
    pub fn checksum(&self) -> u32 {
        match self {
            Sampler::Model(model) => model.checksum,
            Sampler::Population(population) => population.checksum(),
        }
    }

    /// ℓ2-ECE, or what stands for it.
    pub fn l2_ece(&self) -> f64 {
        match self {
            Sampler::Model(model) => model.l2_ece(),
            Sampler::Population(population) => population.rank_ece,
        }
    }

    /// Where right-closed bins of equal width begin, in words or in ranks of the population.
    pub fn thresholds(&self, bins: u32) -> Vec<u32> {
        match self {
            Sampler::Model(model) => model.bin_thresholds(bins),
            Sampler::Population(population) => (1..bins)
                .map(|j| {
                    let edge = edge_bits(population.dtype, j, bins);
                    population.bits.partition_point(|&bits| bits <= edge) as u32
                })
                .collect(),
        }
    }

    /// The sums of some replicates.
    ///
    /// # Errors
    /// If the device fails.
    pub fn replicates(
        &self,
        simulator: &dyn Simulator,
        job: &Job<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError> {
        match self {
            Sampler::Model(model) => {
                let replicates = job.of_model(model);
                simulator.replicates(&replicates, first, count)
            }
            Sampler::Population(population) => {
                let subsamples = Subsamples {
                    population: &population.rows,
                    rows: job.rows,
                    key: job.key,
                    thresholds: job.thresholds,
                };
                Cpu::default().subsamples(&subsamples, first, count)
            }
        }
    }

    /// What tests of labels say of some replicates; nothing of subsamples, which have no power.
    ///
    /// # Errors
    /// If the device fails.
    pub fn label_tests(
        &self,
        simulator: &dyn Simulator,
        job: &Job<'_>,
        tests: &[TestName],
        first: u64,
        count: usize,
    ) -> Result<Vec<Vec<(TestName, LabelOutcome)>>, DeviceError> {
        let Sampler::Model(model) = self else {
            return Ok(Vec::new());
        };
        if !tests.iter().any(|test| test.is_of_labels()) {
            return Ok(Vec::new());
        }
        let replicates = job.of_model(model);
        let sample = |offset: usize| {
            let replicate = first + offset as u64;
            let (groups, positives) = replicate_groups(&replicates, replicate);
            LabelledGroups {
                groups,
                positives,
                key: sample_key(job.null_key, replicate),
            }
        };
        let samples: Vec<_> = (0..count).into_par_iter().map(sample).collect();
        label_tests(&samples, tests, job.resamples, simulator)
    }
}
