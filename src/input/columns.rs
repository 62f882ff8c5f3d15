//! Which column is which.

use super::{InputError, Options};

/// Names that confidences usually have, in lower case.
const CONFIDENCE: [&str; 9] = [
    "confidence",
    "conf",
    "prob",
    "probs",
    "probability",
    "p",
    "score",
    "y_prob",
    "y_score",
];

/// Names that labels usually have, in lower case.
const LABEL: [&str; 7] = [
    "label", "labels", "y", "y_true", "target", "outcome", "correct",
];

/// The most names that a message lists.
const LISTED: usize = 20;

/// The columns of a file that are read, by their places in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) confidence: usize,
    /// None where the labels come from elsewhere.
    pub(super) label: Option<usize>,
    pub(super) groups: Vec<usize>,
}

impl Columns {
    /// Finds the columns of a file with the given column names: those that the options name, else
    /// those with a usual name, and then it says so in `notes`.
    ///
    /// With a file of labels (`--labels`), or for confidences only, no label column is looked for.
    pub(super) fn choose(
        file: &str,
        names: &[String],
        options: &Options,
        notes: &mut Vec<String>,
    ) -> Result<Self, InputError> {
        for (place, name) in names.iter().enumerate() {
            if names[..place].contains(name) {
                return Err(
                    InputError::new(file, format!("two columns are named `{name}`"))
                        .remedy("Rename one of them, so that it is clear which is meant."),
                );
            }
        }
        let names = Names { file, names };
        let confidence_flag = options.confidence_flag();
        let labelled = options.labels_file.is_none() && !options.confidences_only;
        let named = |flag: &str, name: &Option<String>| {
            let find = |name| names.find(flag, name);
            name.as_ref().map(find).transpose()
        };
        let confidence = named(confidence_flag, &options.confidence)?;
        let label = match labelled {
            true => named("--label", &options.label)?,
            false => None,
        };
        if let (Some(place), true) = (confidence, confidence == label) {
            let problem = format!(
                "{confidence_flag} and --label both name column `{}`",
                names.names[place]
            );
            return Err(InputError::new(file, problem).remedy(format!(
                "Give each a column of its own. Columns: {}.",
                list(names.names)
            )));
        }
        let confidences = Guess {
            what: "confidences",
            flag: confidence_flag,
            usual: &CONFIDENCE,
        };
        let confidence = match confidence {
            Some(place) => place,
            None => names.guess(&confidences, label.map(|place| (place, "--label")), notes)?,
        };
        let labels = Guess {
            what: "labels",
            flag: "--label",
            usual: &LABEL,
        };
        let label = match label {
            None if labelled => {
                Some(names.guess(&labels, Some((confidence, confidence_flag)), notes)?)
            }
            label => label,
        };
        Ok(Columns {
            confidence,
            label,
            groups: names.groups(&options.group_by, confidence, label)?,
        })
    }

    /// The places of the columns, ascending, and the columns by their places among these.
    pub(super) fn alone(&self) -> (Vec<usize>, Columns) {
        let mut places = self.groups.clone();
        places.push(self.confidence);
        places.extend(self.label);
        places.sort_unstable();
        places.dedup();
        let place = |column: usize| places.partition_point(|&place| place < column);
        let columns = Columns {
            confidence: place(self.confidence),
            label: self.label.map(place),
            groups: self.groups.iter().map(|&column| place(column)).collect(),
        };
        (places, columns)
    }
}

/// The names of a file's columns.
struct Names<'a> {
    file: &'a str,
    names: &'a [String],
}

/// A column that is looked for by its name.
struct Guess<'a> {
    /// What it holds.
    what: &'a str,
    /// The flag that would name it.
    flag: &'a str,
    /// The names that it usually has, in lower case.
    usual: &'a [&'a str],
}

impl Names<'_> {
    /// The place of the column that a flag names.
    fn find(&self, flag: &str, name: &String) -> Result<usize, InputError> {
        let place = self.names.iter().position(|other| other == name);
        place.ok_or_else(|| {
            InputError::new(self.file, format!("there is no column `{name}` ({flag})"))
                .column(name.as_str())
                .remedy(format!("Columns: {}.", nearest_first(name, self.names)))
        })
    }

    /// The one column with a usual name, but for the one that is taken; `notes` says which. With the
    /// taken one comes the flag that names it, if one does.
    fn guess(
        &self,
        guess: &Guess<'_>,
        taken: Option<(usize, &str)>,
        notes: &mut Vec<String>,
    ) -> Result<usize, InputError> {
        let Guess { what, flag, usual } = guess;
        let is_usual =
            |place: usize| usual.contains(&self.names[place].to_ascii_lowercase().as_str());
        let is_taken = |place: usize| taken.is_some_and(|(other, _)| other == place);
        let candidates: Vec<usize> = (0..self.names.len())
            .filter(|&place| is_usual(place) && !is_taken(place))
            .collect();
        match (&candidates[..], taken) {
            (&[only], _) => {
                notes.push(format!(
                    "column `{}` is read as the {what}",
                    self.names[only]
                ));
                Ok(only)
            }
            ([], Some((place, by))) if is_usual(place) => Err(InputError::new(
                self.file,
                format!(
                    "{by} names column `{}`, which is the only one whose name is usual for {what}",
                    self.names[place]
                ),
            )
            .remedy(format!(
                "Name the column of {what} with {flag}, or another with {by}. Columns: {}.",
                list(self.names)
            ))),
            ([], _) => Err(InputError::new(
                self.file,
                format!("no column has a name that is usual for {what}"),
            )
            .remedy(format!(
                "Name it with {flag}. Columns: {}.",
                list(self.names)
            ))),
            (several, _) => {
                let several: Vec<String> = several
                    .iter()
                    .map(|&place| self.names[place].clone())
                    .collect();
                Err(InputError::new(
                    self.file,
                    format!("several columns may hold {what}: {}", list(&several)),
                )
                .remedy(format!("Say which one with {flag}.")))
            }
        }
    }

    /// The columns of groups, which are no column that holds something else.
    fn groups(
        &self,
        group_by: &[String],
        confidence: usize,
        label: Option<usize>,
    ) -> Result<Vec<usize>, InputError> {
        let mut groups = Vec::new();
        for name in group_by {
            let place = self.find("--group-by", name)?;
            let refuse = |problem: &str, remedy: &str| {
                let problem = format!("--group-by names column `{name}`{problem}");
                Err(InputError::new(self.file, problem).remedy(remedy))
            };
            if place == confidence {
                return refuse(
                    ", which holds the confidences",
                    "Group by another column, or say with --confidence which one holds them.",
                );
            }
            if Some(place) == label {
                return refuse(
                    ", which holds the labels",
                    "Group by another column, or say with --label which one holds them. Among rows of \
                     one label no probabilities are calibrated.",
                );
            }
            if groups.contains(&place) {
                return refuse(" twice", "Name it once.");
            }
            groups.push(place);
        }
        Ok(groups)
    }
}

/// Whether a name is usual for labels.
pub(super) fn is_label_name(name: &str) -> bool {
    LABEL.contains(&name.to_ascii_lowercase().as_str())
}

/// Names, quoted, the first few of them.
pub(super) fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let mut text = names
        .iter()
        .take(LISTED)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > LISTED {
        text += &format!(" and {} more", names.len() - LISTED);
    }
    text
}

/// The names, those most like `name` first.
pub(crate) fn nearest_first(name: &str, names: &[String]) -> String {
    let mut sorted = names.to_vec();
    sorted.sort_by_key(|other| edit_distance(name, other));
    list(&sorted)
}

/// Levenshtein's distance, of lower-case letters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut distances: Vec<usize> = (0..=b.len()).collect();
    for (row, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row;
        distances[0] = row + 1;
        for (column, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = distances[column + 1];
            distances[column + 1] = substituted.min(diagonal + 1).min(distances[column] + 1);
        }
    }
    distances[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_known_words() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("Label", "label"), 0);
    }
}
