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
        let find = |flag: &str, name: &String| {
            names.iter().position(|other| other == name).ok_or_else(|| {
                InputError::new(file, format!("there is no column `{name}` ({flag})"))
                    .column(name.as_str())
                    .remedy(format!("Columns: {}.", nearest_first(name, names)))
            })
        };
        let named = |flag: &str, name: &Option<String>| {
            name.as_ref().map(|name| find(flag, name)).transpose()
        };
        let confidence_flag = options.confidence_flag();
        let labelled = options.labels_file.is_none() && !options.confidences_only;
        let confidence = named(confidence_flag, &options.confidence)?;
        let label = if labelled {
            named("--label", &options.label)?
        } else {
            None
        };
        let mut groups = Vec::new();
        for name in &options.group_by {
            let place = find("--group-by", name)?;
            if groups.contains(&place) {
                return Err(InputError::new(
                    file,
                    format!("--group-by names column `{name}` twice"),
                ));
            }
            groups.push(place);
        }

        let guess = |what: &str, flag: &str, usual: &[&str], taken: Option<usize>| {
            let fits = |&place: &usize| {
                Some(place) != taken && usual.contains(&names[place].to_ascii_lowercase().as_str())
            };
            let candidates: Vec<usize> = (0..names.len()).filter(fits).collect();
            match candidates[..] {
                [only] => Ok(only),
                [] => Err(InputError::new(
                    file,
                    format!("no column has a name that is usual for {what}"),
                )
                .remedy(format!("Name it with {flag}. Columns: {}.", list(names)))),
                _ => {
                    let candidates: Vec<String> = candidates
                        .iter()
                        .map(|&place| names[place].clone())
                        .collect();
                    Err(InputError::new(
                        file,
                        format!("several columns may hold {what}: {}", list(&candidates)),
                    )
                    .remedy(format!("Say which one with {flag}.")))
                }
            }
        };
        let guessed =
            |place: usize, what: &str| format!("column `{}` is read as {what}", names[place]);
        let confidence = match confidence {
            Some(place) => place,
            None => {
                let place = guess("confidences", confidence_flag, &CONFIDENCE, label)?;
                notes.push(guessed(place, "the confidences"));
                place
            }
        };
        let label = match label {
            Some(place) => Some(place),
            None if !labelled => None,
            None => {
                let place = guess("labels", "--label", &LABEL, Some(confidence))?;
                notes.push(guessed(place, "the labels"));
                Some(place)
            }
        };
        if label == Some(confidence) {
            return Err(InputError::new(
                file,
                format!(
                    "column `{}` is named as both confidence and label",
                    names[confidence]
                ),
            )
            .remedy("Give --confidence and --label different columns."));
        }
        Ok(Columns {
            confidence,
            label,
            groups,
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
