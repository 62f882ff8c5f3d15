//! Any pieces of a text read as the `csv` crate reads the whole.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// The first quote of a text that cannot be meant, and its place, byte by byte.
fn odd_quote(text: &[u8], delimiter: u8) -> Option<(usize, OddQuote)> {
    let mut quoted = false;
    // Where a quote opens: at the beginning of a field, and right behind a quote that closed.
    let (mut field, mut behind) = (0, 0);
    let mut opened = 0;
    for (place, &byte) in text.iter().enumerate() {
        if byte == b'"' && quoted {
            quoted = false;
            behind = place + 1;
            let mut after = text[behind..].iter();
            let after = after.find(|&&byte| byte == delimiter || !b" \t".contains(&byte));
            let opens_again = text.get(behind) == Some(&b'"');
            let ends = after.is_none_or(|&after| after == delimiter || b"\n\r".contains(&after));
            if !opens_again && !ends {
                return Some((place, OddQuote::TextBehind));
            }
        } else if byte == b'"' {
            quoted = place == field || place == behind;
            opened = place;
        } else if !quoted && (byte == delimiter || b"\n\r".contains(&byte)) {
            field = place + 1;
        }
    }
    quoted.then_some((opened, OddQuote::Unclosed))
}

/// From record to record through one decoder and one door.
fn read_in_order(
    file: &str,
    text: &[u8],
    delimiter: u8,
    options: &Options,
) -> Result<Loaded, InputError> {
    let mut table = Table::open(file, text, delimiter)?;
    let mut notes = Vec::new();
    let columns = Columns::choose(file, &table.header.names, options, &mut notes)
        .map_err(|error| table.header.explain(error))?;
    let mut door = Door::<f64>::new(file, options, &columns, &table.header.names, 0);
    let odd = odd_quote(text, delimiter);
    loop {
        let more = table.next();
        if let Some((place, quote)) = odd
            && table.reader.position().byte() > place as u64
        {
            return Err(table.header.odd_quote(table.row, quote));
        }
        if !more? {
            break;
        }
        for &place in &columns.groups {
            door.group(Some(table.field(place)?));
        }
        let label = match columns.label {
            Some(place) => Cell::text(table.field(place)?),
            None => Cell::Missing,
        };
        door.admit(Reading::Text(table.field(columns.confidence)?), label);
    }
    door.finish(notes)
}

const CONFIDENCES: [&[u8]; 8] = [
    b"0.5",
    b"0.25",
    b"1",
    b"-0.0",
    b"0.8729068260068235",
    b"1e-3",
    b" .75 ",
    b"0.12345678901234567890",
];
const ODD_CONFIDENCES: [&[u8]; 16] = [
    b"",
    b"NA",
    b"nan",
    b"1.5",
    b"-3",
    b"inf",
    b"x",
    b"0,5",
    b"50%",
    b"\"0.5\"",
    b"\"0.5\n\"",
    b"\"\"\"",
    b"0.5\"",
    b"\xef\xbb\xbf0.5",
    b"\xff",
    b"\"",
];
const LABELS: [[&[u8]; 4]; 3] = [
    [b"0", b"1", b"1.0", b"true"],
    [b"1", b"-1", b"1", b"-1"],
    [b"spam", b"ham", b"eggs", b"0"],
];
const ODD_LABELS: [&[u8]; 8] = [b"", b"2", b"-1", b"NaN", b"\"1\"", b"1\"\"", b"\xff", b"0,"];
const GROUPS: [&[u8]; 4] = [b"a", b"b", b"10", b"9"];
const ODD_GROUPS: [&[u8]; 8] = [
    b"",
    b"\"x\r\ny\"",
    b"\"a,\tb\"",
    b"a\"b",
    b"\"a\"\"b\"c",
    b"a b",
    b"\xef\xbb\xbfa",
    b"\xff",
];
const LINE_ENDS: [&[u8]; 4] = [b"\n", b"\r\n", b"\r", b"\n\r\n\n"];

prop_compose! {
    /// A file of which so many rows in a hundred are odd.
    fn file()(
        odd_in_hundred in prop::sample::select(vec![0u8, 2, 10, 50]),
        labels in prop::sample::select(LABELS.to_vec()),
        line_end in prop::sample::select(vec![0, 0, 0, 1, 2, 3]),
        delimiter in prop::sample::select(b",\t".to_vec()),
        byte_order_mark in prop::bool::weighted(0.1),
        ends in prop::bool::ANY,
        rows in prop::collection::vec(any::<[u8; 6]>(), 0..60),
    ) -> (Vec<u8>, u8) {
        let mut text = Vec::new();
        if byte_order_mark {
            text.extend(b"\xef\xbb\xbf");
        }
        text.extend([b"g".as_slice(), b"p", b"y"].join(&delimiter));
        for [odd, column, group, confidence, label, end] in rows {
            let odd = odd % 100 < odd_in_hundred;
            let pick = |of: usize, usual: &[&'static [u8]], others: &[&'static [u8]], at: u8| {
                let from = if odd && usize::from(column) % 4 == of { others } else { usual };
                from[usize::from(at) % from.len()]
            };
            let fields = [
                pick(0, &GROUPS, &ODD_GROUPS, group),
                pick(1, &CONFIDENCES, &ODD_CONFIDENCES, confidence),
                pick(2, &labels, &ODD_LABELS, label),
            ];
            text.extend(pick(3, &LINE_ENDS[line_end..=line_end], &LINE_ENDS, end));
            text.extend(fields.join(&delimiter));
        }
        if ends {
            text.extend(LINE_ENDS[line_end]);
        }
        (text, delimiter)
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
        (text, delimiter) in file(),
        skip_missing: bool,
        grouped: bool,
        positive in prop::option::weighted(0.3, prop::sample::select(vec!["spam", "1", "2"])),
        block in 1usize..300,
        piece in 1usize..100,
    ) {
        let options = Options {
            group_by: grouped.then(|| "g".to_owned()).into_iter().collect(),
            positive: positive.map(str::to_owned),
            skip_missing,
            ..Options::default()
        };
        let expected = read_in_order("f.csv", &text, delimiter, &options);
        for sizes in [Sizes { block, piece }, Sizes::usual()] {
            let read = read("f.csv", text.as_slice(), delimiter, &options, sizes);
            prop_assert_eq!(&read, &expected, "{}", String::from_utf8_lossy(&text));
        }
    }
}
