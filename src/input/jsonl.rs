//! JSON Lines: one object on each line.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::blocks::{Blocks, Ends, Sizes};
use super::cell::{Cell, Element, Reading};
use super::columns::Columns;
use super::door::Door;
use super::json_line::{self, Malformed};
use super::low_bytes::LowBytes;
use super::pieces::admit_pieces;
use super::{InputError, Loaded, Options};

/// Reads a file of objects, on all threads. The keys of the first are the columns; confidences are
/// read as f64, and an array of them is a row of a probability matrix.
pub(super) fn read(
    file: &str,
    source: impl Read + Send,
    options: &Options,
    sizes: Sizes,
) -> Result<Loaded, InputError> {
    let mut blocks = Blocks::new(source, Ends::Lines, sizes);
    let (names, first) = loop {
        let Some(mut block) = blocks.next() else {
            return Err(match blocks.take_failure() {
                Some(error) => InputError::io(file, &error),
                None => InputError::empty(file),
            });
        };
        // A block of nothing but blank lines has no object.
        if let Some((line, before)) = first_object(block.text()) {
            let keys = |line: &[u8]| serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line);
            let object = json_line::parse(line, 1, keys)
                .map_err(|malformed| malformed.explain(file, line))?;
            block.pass(before);
            break (object.into_keys().collect::<Vec<_>>(), block);
        }
    };
    let mut notes = Vec::new();
    let columns = Columns::choose(file, &names, options, &mut notes)
        .map_err(|error| error.also("Columns are the keys of the first object."))?;
    let mut keys = vec![names[columns.confidence].as_str()];
    keys.extend(columns.label.map(|place| names[place].as_str()));
    keys.extend(columns.groups.iter().map(|&place| names[place].as_str()));
    let wanted = Wanted {
        file,
        labelled: columns.label.is_some(),
        keys,
    };
    let mut door = Door::<f64>::new(file, options, &columns, &names, 0);
    admit_pieces(file, &mut door, first, &mut blocks, |piece, door| {
        let mut room = Room::default();
        lines(piece)
            .filter(|line| !is_blank(line))
            .try_for_each(|line| wanted.admit(line, &mut room, door))
    })?;
    door.finish(notes)
}

/// What is read of each object.
struct Wanted<'a> {
    file: &'a str,
    /// That of the confidence; if labelled that of the label; those of the groups.
    keys: Vec<&'a str>,
    labelled: bool,
}

impl Wanted<'_> {
    /// Admits the object of a line.
    fn admit(
        &self,
        line: &[u8],
        room: &mut Room,
        door: &mut Door<'_, f64>,
    ) -> Result<(), InputError> {
        let row = door.row();
        let keys = &self.keys;
        let read = json_line::parse(line, row, |line| {
            let mut json = serde_json::Deserializer::from_slice(line);
            let object = Object {
                keys,
                room: &mut *room,
            };
            object.deserialize(&mut json).and_then(|()| json.end())
        });
        read.map_err(|malformed| self.malformed(&malformed, line, room))?;

        let items = &room.items;
        let groups_at = 1 + usize::from(self.labelled);
        for (key, item) in std::iter::zip(&keys[groups_at..], &items[groups_at..]) {
            match item {
                Item::Missing => door.group(None),
                Item::Cell(cell) => door.group(Some(&self.group_name(*cell, row, key)?)),
                Item::Text(text) => door.group(Some(text)),
                Item::Numbers(_) => return Err(self.refuse(row, key, GROUP, "an array")),
                Item::Other(what) => return Err(self.refuse(row, key, GROUP, what)),
            }
        }
        let label_key = keys[groups_at - 1];
        let label = match (self.labelled, &items[groups_at - 1]) {
            (false, _) | (_, Item::Missing) => Cell::Missing,
            (_, Item::Cell(cell)) => *cell,
            (_, Item::Text(text)) => Cell::text(text),
            (_, Item::Numbers(_)) => return Err(self.refuse(row, label_key, LABEL, "an array")),
            (_, Item::Other(what)) => return Err(self.refuse(row, label_key, LABEL, what)),
        };
        match &items[0] {
            Item::Missing => door.admit_missing(label),
            Item::Cell(Cell::Boolean(value)) => {
                door.admit(Reading::Text(if *value { "true" } else { "false" }), label);
            }
            Item::Cell(cell) => {
                door.admit(
                    cell.number().map_or(Reading::Missing, Reading::Number),
                    label,
                );
            }
            Item::Text(text) => door.admit(Reading::Text(text), label),
            Item::Numbers(numbers) => door.admit_vector(Some(numbers), label),
            Item::Other(what) => return Err(self.refuse(row, keys[0], CONFIDENCE, what)),
        }
        Ok(())
    }

    /// The name of a group whose value is no text: that of the same value in other formats, where 1.0 is
    /// another text than 1.
    fn group_name(&self, cell: Cell<'_>, row: u64, key: &str) -> Result<String, InputError> {
        match cell {
            Cell::Float(value) if value.abs() >= EXACT && value.fract() == 0.0 => {
                let problem = format!("the group value {value:?} may have lost digits");
                Err(InputError::new(self.file, problem)
                    .row(row)
                    .column(key)
                    .remedy("Write so long a number as a text, in quotes."))
            }
            Cell::Float(value) => Ok(value.show()),
            other => Ok(other.to_string()),
        }
    }

    /// The error for a value that is nothing of what stands at its key.
    fn refuse(&self, row: u64, key: &str, role: Role, what: &str) -> InputError {
        let Role(name, remedy) = role;
        InputError::new(self.file, format!("{what}, which is no {name}"))
            .row(row)
            .column(key)
            .remedy(remedy)
    }

    /// The error for a line that cannot be read; it names the key whose value is at fault.
    fn malformed(&self, malformed: &Malformed, line: &[u8], room: &Room) -> InputError {
        let error = malformed.explain(self.file, line);
        match room.reading {
            Some(place) => error.column(self.keys[place]),
            None => error,
        }
    }
}

/// Beyond this, 2⁵³, an f64 does not hold every whole number.
const EXACT: f64 = (1u64 << 53) as f64;

/// What the value of a key stands for, and what it may be.
#[derive(Clone, Copy)]
struct Role(&'static str, &'static str);

const CONFIDENCE: Role = Role(
    "confidence",
    "A confidence is a number, or an array of numbers, one probability for each class; name the key \
     that holds it with --confidence.",
);
const LABEL: Role = Role(
    "label",
    "A label is a number, true, false or a text; name the key that holds it with --label.",
);
const GROUP: Role = Role(
    "group value",
    "A group value is a number, true, false or a text; name other keys with --group-by.",
);

/// The lines of a text.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let feeds = LowBytes::new(text, b'\n').filter(|&place| text[place] == b'\n');
    let ends = feeds.map(|place| place + 1).chain([text.len()]);
    ends.scan(0, |start, end| {
        let line = &text[*start..end];
        *start = end;
        Some(line)
    })
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// The first line that is not blank, without a byte-order mark, and how many bytes stand before it.
fn first_object(text: &[u8]) -> Option<(&[u8], usize)> {
    let mut start = 0;
    for line in lines(text) {
        let object = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if !is_blank(object) {
            return Some((object, start + line.len() - object.len()));
        }
        start += line.len();
    }
    None
}

/// A value of one of the keys looked for.
#[derive(Clone)]
enum Item {
    Missing,
    Cell(Cell<'static>),
    Text(String),
    Numbers(Vec<f64>),
    /// Something that is neither, in words.
    Other(String),
}

/// An object of which some keys are wanted; a wanted key may not come twice.
struct Object<'a> {
    keys: &'a [&'a str],
    room: &'a mut Room,
}

/// The values of the keys looked for, and which of them were met.
#[derive(Default)]
struct Room {
    items: Vec<Item>,
    met: Vec<bool>,
    /// The key whose value is being read.
    reading: Option<usize>,
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
        let Room {
            items,
            met,
            reading,
        } = self.room;
        *reading = None;
        items.clear();
        items.resize_with(self.keys.len(), || Item::Missing);
        met.clear();
        met.resize(self.keys.len(), false);
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
            *reading = Some(place);
            let item = map.next_value::<Item>()?;
            *reading = None;
            // A column may be a label and a group as well.
            for (also, key) in self.keys.iter().enumerate().skip(place + 1) {
                if *key == self.keys[place] {
                    items[also] = item.clone();
                }
            }
            items[place] = item;
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
        Ok(match i64::try_from(value) {
            Ok(value) => Item::Cell(Cell::Integer(value)),
            // With all its digits: it may name a group.
            Err(_) => Item::Text(value.to_string()),
        })
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Item, E> {
        Ok(Item::Cell(Cell::float(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Item, E> {
        Ok(Item::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Item, A::Error> {
        let mut numbers = Vec::new();
        let mut other = None;
        while let Some(item) = array.next_element::<Item>()? {
            let what = match item {
                Item::Missing => {
                    numbers.push(f64::NAN);
                    continue;
                }
                // A bare NaN, or nothing.
                Item::Text(text) if text.is_empty() => {
                    numbers.push(f64::NAN);
                    continue;
                }
                Item::Cell(cell) => match cell.number() {
                    Some(number) => {
                        numbers.push(number);
                        continue;
                    }
                    None => format!("`{cell}`"),
                },
                Item::Text(text) => format!("the text `{text}`"),
                Item::Numbers(_) => "an array".to_owned(),
                Item::Other(what) => what,
            };
            other.get_or_insert(what);
        }
        Ok(match other {
            None => Item::Numbers(numbers),
            Some(what) => Item::Other(format!("an array with {what} in it")),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Item::Other("an object".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;
    use crate::input::Reduce;

    /// From line to line through one door.
    fn read_in_order(file: &str, text: &[u8], options: &Options) -> Result<Loaded, InputError> {
        let names = ["g", "p", "y"].map(str::to_owned);
        let mut notes = Vec::new();
        let columns = Columns::choose(file, &names, options, &mut notes)?;
        let mut keys = vec!["p", "y"];
        keys.extend(options.group_by.iter().map(String::as_str));
        let wanted = Wanted {
            file,
            labelled: true,
            keys,
        };
        let mut door = Door::<f64>::new(file, options, &columns, &names, 0);
        let mut room = Room::default();
        for line in text.split(|&byte| byte == b'\n') {
            if !is_blank(line) {
                wanted.admit(line, &mut room, &mut door)?;
            }
        }
        door.finish(notes)
    }

    const CONFIDENCES: [&str; 4] = ["0.5", "0.25", "1", "\"0.75\""];
    const VECTORS: [&str; 4] = ["[0.5, 0.5]", "[0.1, 0.9]", "[1, 0]", "[0.7, 0.1]"];
    const ODD: [&str; 15] = [
        "null",
        "NaN",
        "Infinity",
        "[0.5, NaN]",
        "\"NA\"",
        "1.5",
        "-1",
        "2",
        "true",
        "{}",
        "[]",
        "[0.5, null]",
        "[0.2, 0.3, 0.5]",
        "\"a\\n\"",
        "}",
    ];
    const LINE_ENDS: [&str; 4] = ["\n", "\n", "\r\n", "\n \n"];

    prop_compose! {
        /// A file of which so many rows in a hundred are odd.
        fn file()(
            odd_in_hundred in prop::sample::select(vec![0u8, 2, 10, 50]),
            confidences in prop::sample::select(vec![CONFIDENCES, VECTORS]),
            rows in prop::collection::vec(any::<[u8; 5]>(), 0..40),
        ) -> String {
            let mut text = "{\"g\": \"a\", \"p\": null, \"y\": 1}".to_owned();
            for [odd, column, at, other, end] in rows {
                let odd = odd % 100 < odd_in_hundred;
                let pick = |of: u8, usual: &[&'static str]| {
                    let from = if odd && column % 3 == of { &ODD } else { usual };
                    from[usize::from(if from.len() > 4 { other } else { at }) % from.len()]
                };
                text += LINE_ENDS[usize::from(end) % LINE_ENDS.len()];
                let (group, label) = (pick(0, &["\"a\"", "3", "\"b\""]), pick(2, &["0", "1"]));
                text += &format!("{{\"y\":{label},\"p\":{},\"g\":{group}}}", pick(1, &confidences));
            }
            text
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2000,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn pieces_of_any_size_read_as_the_whole(
            text in file(),
            class_wise: bool,
            grouped: bool,
            skip_missing in prop::bool::weighted(0.8),
            block in 1usize..500,
            piece in 1usize..200,
        ) {
            let options = Options {
                group_by: grouped.then(|| "g".to_owned()).into_iter().collect(),
                reduce: if class_wise { Reduce::ClassWise } else { Reduce::TopLabel },
                skip_missing,
                ..Options::default()
            };
            let expected = read_in_order("f.jsonl", text.as_bytes(), &options);
            for sizes in [Sizes { block, piece }, Sizes::usual()] {
                let read = read("f.jsonl", text.as_bytes(), &options, sizes);
                prop_assert_eq!(&read, &expected, "{}", text);
            }
        }
    }
}
