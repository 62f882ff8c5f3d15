//! JSON Lines: one object on each line.

use std::fmt;
use std::io::BufRead;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::cell::{Cell, Reading};
use super::columns::Columns;
use super::door::Door;
use super::{InputError, Loaded, Options};

/// Reads a file of objects. The keys of the first are the columns; confidences are read as f64,
/// and an array of them is a row of a probability matrix.
pub(super) fn read(
    file: &str,
    source: impl BufRead,
    options: &Options,
) -> Result<Loaded, InputError> {
    let mut lines = Lines {
        file,
        source,
        line: Vec::new(),
        row: 0,
    };
    if !lines.next()? {
        return Err(InputError::new(file, "the file is empty"));
    }
    let first: Map<String, Value> =
        serde_json::from_slice(&lines.line).map_err(|error| lines.malformed(&error))?;
    let names: Vec<String> = first.keys().cloned().collect();
    let mut notes = Vec::new();
    let columns = Columns::choose(file, &names, options, &mut notes)?;
    let mut keys = vec![names[columns.confidence].as_str()];
    keys.extend(columns.label.map(|place| names[place].as_str()));
    keys.extend(columns.groups.iter().map(|&place| names[place].as_str()));
    let groups_at = keys.len() - columns.groups.len();

    let mut door = Door::<f64>::new(file, options, &columns, &names, 0);
    let mut items = Vec::new();
    loop {
        let mut json = serde_json::Deserializer::from_slice(&lines.line);
        Object {
            keys: &keys,
            items: &mut items,
        }
        .deserialize(&mut json)
        .and_then(|()| json.end())
        .map_err(|error| lines.malformed(&error))?;

        let refuse = |key: &str, what: &str| {
            InputError::new(file, format!("{what} cannot be read here"))
                .row(lines.row)
                .column(key)
        };
        for (key, item) in std::iter::zip(&keys[groups_at..], &items[groups_at..]) {
            match item {
                Item::Missing => door.group(None),
                Item::Cell(cell) => door.group(Some(&cell.to_string())),
                Item::Text(text) => door.group(Some(text)),
                Item::Numbers(_) => return Err(refuse(key, "an array")),
                Item::Other(what) => return Err(refuse(key, what)),
            }
        }
        let label = match (columns.label, &items[groups_at - 1]) {
            (None, _) | (_, Item::Missing) => Cell::Missing,
            (_, Item::Cell(cell)) => *cell,
            (_, Item::Text(text)) => Cell::text(text),
            (_, Item::Numbers(_)) => return Err(refuse(keys[groups_at - 1], "an array")),
            (_, Item::Other(what)) => return Err(refuse(keys[groups_at - 1], what)),
        };
        match &items[0] {
            Item::Missing => door.admit_missing(label),
            Item::Cell(Cell::Boolean(value)) => {
                door.admit(Reading::Number(f64::from(u8::from(*value))), label);
            }
            Item::Cell(cell) => {
                door.admit(
                    cell.number().map_or(Reading::Missing, Reading::Number),
                    label,
                );
            }
            Item::Text(text) => door.admit(Reading::Text(text), label),
            Item::Numbers(numbers) => door.admit_vector(Some(numbers), label),
            Item::Other(what) => return Err(refuse(keys[0], what)),
        }
        if !lines.next()? {
            break;
        }
    }
    door.finish(notes)
}

/// The lines of a file that are not blank.
struct Lines<'a, R> {
    file: &'a str,
    source: R,
    line: Vec<u8>,
    row: u64,
}

impl<R: BufRead> Lines<'_, R> {
    /// Goes to the next line; false after the last.
    fn next(&mut self) -> Result<bool, InputError> {
        loop {
            self.line.clear();
            let read = self
                .source
                .read_until(b'\n', &mut self.line)
                .map_err(|error| InputError::io(self.file, &error))?;
            if read == 0 {
                return Ok(false);
            }
            if self.row == 0 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                self.row += 1;
                return Ok(true);
            }
        }
    }

    fn malformed(&self, error: &serde_json::Error) -> InputError {
        InputError::new(self.file, format!("not a JSON object: {error}"))
            .row(self.row)
            .remedy("Each line holds one whole object, with null for what is missing.")
    }
}

/// A value of one of the keys looked for.
#[derive(Clone)]
enum Item {
    Missing,
    Cell(Cell<'static>),
    Text(String),
    Numbers(Vec<f64>),
    /// Something that is neither, in words.
    Other(&'static str),
}

/// An object of which some keys are wanted; a wanted key may not come twice.
struct Object<'a> {
    keys: &'a [&'a str],
    items: &'a mut Vec<Item>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.items.clear();
        self.items.resize_with(self.keys.len(), || Item::Missing);
        let mut met = vec![false; self.keys.len()];
        while let Some(key) = map.next_key_seed(Key(self.keys))? {
            let Some(place) = key else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if met[place] {
                return Err(A::Error::custom(format_args!(
                    "key `{}` comes twice",
                    self.keys[place]
                )));
            }
            met[place] = true;
            let item = map.next_value::<Item>()?;
            // A column may be a label and a group as well.
            for also in place + 1..self.keys.len() {
                if self.keys[also] == self.keys[place] {
                    self.items[also] = item.clone();
                }
            }
            self.items[place] = item;
        }
        Ok(())
    }
}

/// The place of a key among those wanted.
struct Key<'a>(&'a [&'a str]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|wanted| *wanted == key))
    }
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyItem)
    }
}

struct AnyItem;

impl<'de> Visitor<'de> for AnyItem {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Item, E> {
        Ok(Item::Missing)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Item, E> {
        Ok(Item::Cell(Cell::Boolean(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Item, E> {
        Ok(Item::Cell(Cell::Integer(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Item, E> {
        Ok(Item::Cell(match i64::try_from(value) {
            Ok(value) => Cell::Integer(value),
            Err(_) => Cell::Float(value as f64),
        }))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Item, E> {
        Ok(Item::Cell(Cell::float(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Item, E> {
        Ok(Item::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Item, A::Error> {
        let mut numbers = Vec::new();
        let mut only_numbers = true;
        while let Some(item) = array.next_element::<Item>()? {
            match item {
                Item::Missing => numbers.push(f64::NAN),
                Item::Cell(cell) => match cell.number() {
                    Some(number) => numbers.push(number),
                    None => only_numbers = false,
                },
                Item::Text(_) | Item::Numbers(_) | Item::Other(_) => only_numbers = false,
            }
        }
        Ok(if only_numbers {
            Item::Numbers(numbers)
        } else {
            Item::Other("an array of other things than numbers")
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Item::Other("an object"))
    }
}
