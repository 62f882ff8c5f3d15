//! `rankece reproduce`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::backend::{self, BackendFlags, Chosen};
use super::cost;
use super::experiment::{INTERRUPTED, Session, remove_state, with_suffix};
use super::failure::{DONE, Failure};
use super::messages::Messages;
use super::output;
use crate::experiment::cost::CostSpec;
use crate::experiment::figures::{self, Across, PaperChart, PaperFigure};
use crate::experiment::{
    ApproxReport, Columns, Command, Draft, Plan, Population, PowerCurve, PowerReport, Sampler,
};
use crate::model::{Law, Model};
use crate::report::plot::{self, Axis, Chart, Figure, Scale};
use crate::report::{Format, simulated};

/// Flags of `reproduce`.
#[derive(Args, Clone, Debug)]
pub struct Reproduce {
    /// fig3, fig4, fig5, figA2, figA3, figA4, figA5, figA6 (run times, measured), figC7, or all of
    /// them; or power-study, all tests against many errors
    #[arg(value_name = "FIGURE")]
    figure: String,
    /// Files of predictions for fig4 and figA3 [default: those in examples/data]
    #[arg(value_name = "FILE")]
    populations: Vec<String>,
    /// The folder of the results, FIGURE.csv and FIGURE.svg
    #[arg(long, default_value = "reproduce", value_name = "FOLDER")]
    output: PathBuf,
    /// Kinds of pictures
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "svg",
        value_name = "LIST"
    )]
    picture: Vec<Picture>,
    /// Replicates of each point [default: as in the paper, 100 for estimates (50 for figC7), and
    /// 200 for tests, 5 for run times; 1000 for power-study]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    replicates: Option<u64>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Continue an interrupted run
    #[arg(long)]
    resume: bool,
    /// No notes, warnings or progress on standard error
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    backend: BackendFlags,
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Picture {
    Svg,
    Png,
    Html,
}

impl Reproduce {
    /// Simulates, and writes numbers and pictures.
    ///
    /// # Errors
    /// What the user must be told.
    pub fn run(&self) -> Result<u8, Failure> {
        let messages = Messages::new(self.quiet);
        // Threads are set up before files are read.
        let chosen = backend::choose(&self.backend, messages)?;
        // Files are looked for before anything is computed.
        let mut figures = Vec::new();
        let names = self.names()?;
        for &name in &names {
            figures.extend(PaperFigure::new(name, &self.populations_of(name)?));
        }
        fs::create_dir_all(&self.output).map_err(|error| {
            Failure::input(format!("--output {}: {error}", self.output.display()))
        })?;
        let session = Session::new(&chosen, self.resume, self.quiet, true);
        for figure in &figures {
            if self.figure(figure, &session, messages)?.is_none() {
                return Ok(INTERRUPTED);
            }
        }
        if names.contains(&figures::RUN_TIMES) {
            self.run_times(&chosen, messages)?;
        }
        chosen.warn_of_failure(messages);
        Ok(DONE)
    }

    /// Measures and writes the figure of run times, at ρ = 0.5.
    fn run_times(&self, chosen: &Chosen, messages: Messages) -> Result<(), Failure> {
        let name = figures::RUN_TIMES;
        messages.note(&format!("{name}: run times"));
        let mut draft = Draft::default();
        for (key, value) in [
            ("n", figures::TEST_ROWS.to_owned()),
            ("tests", figures::RUN_TIME_TESTS.to_owned()),
            // Measurements beyond a thousand tell nothing more.
            ("runs", self.replicates.unwrap_or(5).min(1000).to_string()),
            ("seed", self.seed.to_string()),
        ] {
            draft.set(key, vec![value]);
        }
        let report = cost::measure(CostSpec::of_draft(draft)?, chosen, messages)?;
        let mut csv = Vec::new();
        simulated::write_cost(Format::Csv, &report, &mut csv)
            .map_err(|error| Failure::input(format!("cannot write the results: {error}")))?;
        let base = self.output.join(name);
        output::write(Some(&with_suffix(&base, ".csv")), &csv)?;
        let mut figure = plot::cost_figure(&report);
        let source = format!("{}, measured anew.", of_the_paper(name));
        figure.caption.insert(0, source);
        self.draw(&base, &figure)
    }

    fn names(&self) -> Result<Vec<&'static str>, Failure> {
        let all = figures::NAMES;
        let takes_files = |name: &str| !figures::default_populations(name).is_empty();
        if self.figure == "all" {
            if !self.populations.is_empty() {
                return Err(Failure::input(
                    "`all` takes no files; name fig4 or figA3 to draw from your own",
                ));
            }
            return Ok(all.to_vec());
        }
        let known = [all.as_slice(), &[figures::POWER_STUDY]].concat();
        let Some(&name) = known.iter().find(|name| **name == self.figure) else {
            let names: Vec<String> = known.iter().map(|&name| name.to_owned()).collect();
            return Err(Failure::input(format!(
                "no figure is named `{}`; there are {}, and `all`",
                self.figure,
                crate::input::nearest_first(&self.figure, &names)
            )));
        };
        if !self.populations.is_empty() && !takes_files(name) {
            return Err(Failure::input(format!(
                "{name} takes no files; leave them out (fig4 and figA3 take files)"
            )));
        }
        Ok(vec![name])
    }

    /// Files and their numbers of rows.
    fn populations_of(&self, name: &str) -> Result<Vec<(String, usize)>, Failure> {
        let own = self.populations.iter().map(String::as_str);
        let files: Vec<&str> = if self.populations.is_empty() {
            figures::default_populations(name).to_vec()
        } else {
            own.collect()
        };
        let size = |file: &str| {
            let population = Population::read(file, &Columns::default()).map_err(|error| {
                let hint = if self.populations.is_empty() {
                    format!(
                        "\n{name} draws from {}, which lie in the source folder of rankece: run this \
                         there, or name files of predictions of your own behind the figure, as in \
                         `rankece reproduce {name} FILE..`.",
                        files.join(" and ")
                    )
                } else {
                    String::new()
                };
                Failure::input(format!("{error}{hint}"))
            })?;
            let rows = population.rows.confidence.len();
            if rows < 100 {
                return Err(Failure::input(format!(
                    "{file} has {rows} rows; subsamples need at least 100: name a file with more"
                )));
            }
            Ok((file.to_owned(), rows))
        };
        files.iter().copied().map(size).collect()
    }

    /// Runs and writes one figure. Nothing if interrupted.
    fn figure(
        &self,
        figure: &PaperFigure,
        session: &Session,
        messages: Messages,
    ) -> Result<Option<()>, Failure> {
        let replicates = self.replicates.unwrap_or(figure.replicates);
        let base = self.output.join(figure.name);
        let mut drawn = Drawn::default();
        let mut states = Vec::new();
        for (number, chart) in figure.charts.iter().enumerate() {
            messages.note(&format!("{}: {}", figure.name, chart.title));
            let plan = Plan::new(chart.spec(figure.command, replicates, self.seed)?)?;
            let partial = with_suffix(&base, &format!(".{}.partial", number + 1));
            let Some((tallies, by)) = session.grid(&plan, None, Some(&partial))? else {
                return Ok(None);
            };
            states.push(partial);
            match figure.command {
                Command::Power => drawn.power.push(plan.power_report(&tallies, &by)),
                Command::Approx => drawn.approx.push(plan.approx_report(&tallies, &by)),
            }
            if figure.shapes {
                drawn
                    .shapes
                    .extend(plan.samplers().iter().filter_map(shape));
            }
        }
        self.write(figure, &drawn, &base)?;
        for state in states {
            remove_state(&state)?;
        }
        Ok(Some(()))
    }

    fn write(&self, figure: &PaperFigure, drawn: &Drawn, base: &Path) -> Result<(), Failure> {
        let mut csv = Vec::new();
        let written = match figure.command {
            Command::Power => {
                simulated::power_csv(&drawn.power.iter().collect::<Vec<_>>(), &mut csv)
            }
            Command::Approx => {
                simulated::approx_csv(&drawn.approx.iter().collect::<Vec<_>>(), &mut csv)
            }
        };
        written.map_err(|error| Failure::input(format!("cannot write the results: {error}")))?;
        output::write(Some(&with_suffix(base, ".csv")), &csv)?;
        self.draw(base, &drawn.figure(figure))
    }

    fn draw(&self, base: &Path, picture: &Figure) -> Result<(), Failure> {
        for kind in &self.picture {
            let suffix = match kind {
                Picture::Svg => ".svg",
                Picture::Png => ".png",
                Picture::Html => ".html",
            };
            plot::write_figure(&with_suffix(base, suffix), picture).map_err(Failure::input)?;
        }
        Ok(())
    }
}

/// What a figure is of: `Figure A4 of Chatterjee & Barber (arXiv 2609.13100)`.
fn of_the_paper(name: &str) -> String {
    if name == figures::POWER_STUDY {
        return "A comparison of our own, of no paper".to_owned();
    }
    let name = name.replace("fig", "Figure ");
    format!("{name} of Chatterjee & Barber (arXiv 2609.13100)")
}

/// The results of a figure's charts.
#[derive(Default)]
struct Drawn {
    power: Vec<PowerReport>,
    approx: Vec<ApproxReport>,
    shapes: Vec<Chart>,
}

impl Drawn {
    fn figure(&self, figure: &PaperFigure) -> Figure {
        let mut caption = vec![format!("{}, simulated anew.", of_the_paper(figure.name))];
        let (charts, legend): (Vec<Chart>, Vec<String>) = match figure.command {
            Command::Power => {
                let reports = std::iter::zip(&figure.charts, &self.power);
                let charts = reports.map(|(chart, report)| {
                    let curves: Vec<_> = report
                        .curves
                        .iter()
                        .map(|curve| (place(chart, &curve.law, &curve.curve, curve.n), curve))
                        .collect();
                    let mut drawn = plot::power_chart(chart.title.clone(), axis(chart), &curves);
                    if chart.small_rates {
                        let top = top_of_small_rates(&report.curves);
                        drawn.y = Axis::new("rejection rate", Scale::Linear).between(0.0, top);
                    }
                    drawn
                });
                if let Some(report) = self.power.first() {
                    caption.push(plot::power_caption(report));
                }
                (
                    charts.collect(),
                    self.power.first().map_or(Vec::new(), plot::power_legend),
                )
            }
            Command::Approx => {
                let reports = std::iter::zip(&figure.charts, &self.approx);
                let charts = reports.map(|(chart, report)| {
                    let curves: Vec<_> = report
                        .curves
                        .iter()
                        .map(|curve| {
                            let [law, g] = [&curve.law, &curve.curve]
                                .map(|text| text.as_deref().unwrap_or_default());
                            (place(chart, law, g, curve.n), curve)
                        })
                        .collect();
                    plot::approx_chart(chart.title.clone(), axis(chart), &curves)
                });
                for paragraph in self.approx.iter().flat_map(plot::approx_caption) {
                    if !caption.contains(&paragraph) {
                        caption.push(paragraph);
                    }
                }
                (
                    charts.collect(),
                    self.approx.first().map_or(Vec::new(), plot::approx_legend),
                )
            }
        };
        let mut rows = Vec::new();
        for (number, row) in charts.chunks(figure.columns).enumerate() {
            let shapes = self.shapes.chunks(figure.columns).nth(number);
            rows.extend(shapes.map(<[Chart]>::to_vec));
            let mut row = row.to_vec();
            if shapes.is_some() {
                // The curve above has the title.
                row.iter_mut().for_each(|chart| chart.title.clear());
            }
            rows.push(row);
        }
        Figure {
            title: figure.title.to_owned(),
            rows,
            legend,
            caption,
        }
    }
}

/// Where the axis of small rates ends: at 0.1, or at the next twentieth above the largest rate.
fn top_of_small_rates(curves: &[PowerCurve]) -> f64 {
    let rates = curves.iter().flat_map(|curve| &curve.tests);
    let largest = rates.map(|test| test.rate).fold(0.1, f64::max);
    (largest * 20.0 - 1e-9).ceil() / 20.0
}

/// Where a point of a grid lies along the horizontal axis.
fn place(chart: &PaperChart, law: &str, curve: &str, n: u32) -> f64 {
    match chart.across {
        Across::N => f64::from(n),
        Across::Rho => match law.parse() {
            Ok(Law::Beta { a, .. }) => a,
            _ => f64::NAN,
        },
        Across::Periods => {
            let periods = curve.rsplit_once(',').and_then(|(_, m)| m.parse().ok());
            periods.unwrap_or(f64::NAN)
        }
    }
}

fn axis(chart: &PaperChart) -> Axis {
    match chart.across {
        Across::N => Axis::new("n", Scale::Log),
        Across::Rho => Axis::new("ρ, confidences Beta(ρ, 1-ρ)", Scale::Linear).between(0.0, 1.0),
        Across::Periods => Axis::new("number of periods m", Scale::Linear),
    }
}

/// The curve of a model as it is simulated, clipped.
fn shape(sampler: &Sampler) -> Option<Chart> {
    const STEPS: u32 = 4096;
    // A difference between neighbours that only a jump makes.
    const JUMP: f64 = 0.06;
    let Sampler::Model(model) = sampler else {
        return None;
    };
    let point = |step: u32| {
        let confidence = step << 18;
        let scale = f64::from(1u32 << 30);
        let response = model.response.q30(confidence.min(1 << 30));
        (f64::from(confidence) / scale, f64::from(response) / scale)
    };
    let mut line: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for step in 0..=STEPS {
        let next = point(step);
        let last = line.last().and_then(|piece| piece.last());
        if last.is_some_and(|last| (next.1 - last.1).abs() > JUMP) {
            line.push(Vec::new());
        }
        if let Some(piece) = line.last_mut() {
            piece.push(next);
        }
    }
    Some(Chart {
        title: title(model),
        x: Axis::new("confidence z", Scale::Linear).between(0.0, 1.0),
        y: Axis::new("E[Y | Z = z]", Scale::Linear).between(0.0, 1.0),
        series: Vec::new(),
        line,
        level: None,
        diagonal: true,
    })
}

fn title(model: &Model) -> String {
    format!("{}", model.curve).replace('-', " ")
}
