//! Reports of evaluations that were computed on paper.

#[path = "report/samples.rs"]
mod samples;

#[path = "report/pictures.rs"]
mod pictures;
#[path = "report/scripts.rs"]
mod scripts;
#[path = "report/tables.rs"]
mod tables;
