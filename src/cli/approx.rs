//! `rankece approx`.

use clap::Args;

use super::experiment::Grid;
use super::failure::Failure;
use crate::experiment::Command;

/// Flags of `approx`.
#[derive(Args, Clone, Debug)]
pub struct Approx {
    #[command(flatten)]
    grid: Grid,
    /// A file of predictions whose rows are subsampled without replacement; the truth is rank_ece of
    /// all its rows; may be repeated
    #[arg(long, value_name = "FILE")]
    population: Vec<String>,
    /// The column or array of confidences in population files [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    confidence: Option<String>,
    /// The column or array of labels in population files [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// The label in population files that counts as 1, all others as 0 [default: labels are 0/1,
    /// true/false or -1/1]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    positive: Option<String>,
    /// Numbers of bins of ece_l2: whole numbers, sqrt, cbrt, n/20, n/10, n/C
    /// [default: 10,sqrt,cbrt,n/20,n/10]
    #[arg(long, value_name = "LIST")]
    bins: Vec<String>,
}

impl Approx {
    /// Simulates.
    ///
    /// # Errors
    /// What the user must be told.
    pub fn run(&self) -> Result<u8, Failure> {
        let own = [
            ("population", self.population.clone()),
            ("confidence", self.confidence.iter().cloned().collect()),
            ("label", self.label.iter().cloned().collect()),
            ("positive", self.positive.iter().cloned().collect()),
            ("bins", self.bins.clone()),
        ];
        self.grid.run(Command::Approx, &own)
    }
}
