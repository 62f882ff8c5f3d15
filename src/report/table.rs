//! What a person wants to read.

use std::io::{self, Write};

use crate::results::{Evaluation, Verdict};

use super::number::{count, significant};
use super::text::write_wrapped;
use super::{several, single};

/// Writes one result in full, or several as one row each, then what computed them.
///
/// Lines are at most about 100 columns wide, unless a name is wider.
///
/// # Errors
/// If writing fails.
pub fn write(evaluation: &Evaluation, out: &mut impl Write) -> io::Result<()> {
    match evaluation.results.as_slice() {
        [] => writeln!(out, "There are no results.")?,
        [result] => single::write(result, evaluation.alpha, out)?,
        results => several::write(results, evaluation.alpha, out)?,
    }
    if evaluation.gate.is_some() {
        writeln!(out)?;
        write_gate(evaluation, out)?;
    }
    writeln!(out)?;
    write_wrapped("", &super::provenance(evaluation), out)
}

/// The gate's verdict, and over several results what it is made of.
fn write_gate(evaluation: &Evaluation, out: &mut impl Write) -> io::Result<()> {
    let Some(gate) = evaluation.gate else {
        return Ok(());
    };
    let limit = significant(gate.limit);
    let meaning = match gate.verdict {
        Verdict::Within => "the interval's upper end is at most the limit",
        Verdict::Undecided => "the limit is inside the interval, or there is no interval",
        Verdict::Exceeds => "the interval's lower end is above the limit",
    };
    let verdict = super::verdict_name(gate.verdict);
    let mut line = format!("Gate rank_ece <= {limit}: {verdict} ({meaning}).");
    if evaluation.results.len() > 1 {
        let number = |verdict| {
            let results = evaluation.results.iter();
            count(results.filter(|r| r.gate == Some(verdict)).count() as u64)
        };
        line = format!(
            "Gate rank_ece <= {limit}: {verdict}, the worst of {} within, {} undecided, {} exceeds.",
            number(Verdict::Within),
            number(Verdict::Undecided),
            number(Verdict::Exceeds)
        );
    }
    write_wrapped("", &line, out)
}
