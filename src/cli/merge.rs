//! `rankece merge`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use super::experiment::{self, Output};
use super::failure::{DONE, Failure};
use crate::experiment::journal::{ComputedBy, Contents};
use crate::experiment::{Plan, Shard};

/// Flags of `merge`.
#[derive(Args, Clone, Debug)]
pub struct Merge {
    /// The parts of one run, each written by `--shard i/k --output PART`, all k of them
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

impl Merge {
    /// Reads, checks that the parts are those of one run, writes what the unbroken run would have.
    ///
    /// # Errors
    /// If the parts do not belong together, or one is missing or there twice.
    pub fn run(&self) -> Result<u8, Failure> {
        self.output.check(&self.parts)?;
        let mut parts = Vec::with_capacity(self.parts.len());
        for path in &self.parts {
            let contents = Contents::read(path)?;
            if let Some(line) = contents.damaged {
                return Err(Failure::input(format!(
                    "{}: line {line} is damaged; run this part again",
                    path.display()
                )));
            }
            parts.push((path.as_path(), contents));
        }
        check_shards(&parts)?;

        // There is at least one part: clap sees to it, and the check too.
        let header = parts[0].1.header.clone();
        let plan = experiment::plan(header.spec, self.output.messages())?;
        if plan.checksums() != header.checksums {
            return Err(unlike_here(&plan, &header.checksums));
        }
        let mut units = BTreeMap::new();
        let mut by: Vec<ComputedBy> = Vec::new();
        for (path, contents) in parts {
            if !plan.has_part(&contents.units, contents.header.shard) {
                return Err(Failure::input(format!(
                    "{} is not finished; run it again with --resume",
                    path.display()
                )));
            }
            units.extend(contents.units);
            by.extend(contents.computed_by);
        }
        by.sort();
        by.dedup();
        let tallies = plan.complete(&units).map_err(|missing| {
            Failure::input(format!(
                "{} units are missing, the first of them number {}; run the parts again",
                missing.count, missing.first
            ))
        })?;
        self.output.write_tallies(&plan, &tallies, &by)?;
        Ok(DONE)
    }
}

/// Checks that headers are the same and that each part is there once.
fn check_shards(parts: &[(&Path, Contents)]) -> Result<(), Failure> {
    let mut seen: BTreeMap<Shard, &Path> = BTreeMap::new();
    let mut first: Option<(&Path, &Contents)> = None;
    for (path, contents) in parts {
        let Some(shard) = contents.header.shard else {
            return Err(Failure::input(format!(
                "{} is the state of a whole run and no part; continue that run with --resume",
                path.display()
            )));
        };
        if let Some((first_path, first)) = first {
            let mut other = contents.header.clone();
            other.shard = first.header.shard;
            let counts = (shard.count, first.header.shard.map(|shard| shard.count));
            let difference = match counts {
                (count, Some(others)) if count != others => Some(format!(
                    "it is one of {count} parts here and of {others} there"
                )),
                _ => other.difference(&first.header),
            };
            if let Some(difference) = difference {
                return Err(Failure::input(format!(
                    "{} does not belong to {}: {difference}; name the parts of one run, which differ in \
                     --shard alone",
                    path.display(),
                    first_path.display()
                )));
            }
        } else {
            first = Some((path, contents));
        }
        if let Some(other) = seen.insert(shard, path) {
            return Err(Failure::input(format!(
                "part {shard} is there twice: {} and {}; leave one of them out",
                other.display(),
                path.display()
            )));
        }
    }
    let count = seen.keys().next().map_or(0, |shard| shard.count);
    let missing: Vec<String> = (1..=count)
        .map(|index| Shard { index, count })
        .filter(|shard| !seen.contains_key(shard))
        .take(20)
        .map(|shard| shard.to_string())
        .collect();
    let Some(first) = missing.first() else {
        return Ok(());
    };
    let more = match count - seen.len() as u64 - missing.len() as u64 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (noun, verb, and_so_on) = match missing.len() {
        1 => ("part", "is", ""),
        _ => ("parts", "are", " and so on"),
    };
    Err(Failure::input(format!(
        "{noun} {}{more} {verb} missing; name the files, or compute them by the command of \
         the other parts with --shard {first}{and_so_on}",
        missing.join(", ")
    )))
}

/// The parts were computed from other tables or files than this machine has.
fn unlike_here(plan: &Plan, checksums: &BTreeMap<String, String>) -> Failure {
    let here = plan.checksums();
    let unlike = here
        .iter()
        .find(|(name, sum)| checksums.get(*name) != Some(sum));
    let name = unlike.map_or("a model", |(name, _)| name);
    Failure::input(format!(
        "{name} is not the same here as where the parts were computed; merge them there, or with \
         the same files"
    ))
}
