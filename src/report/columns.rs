//! Columns of text that line up whatever their content.

use std::io::{self, Write};

use super::text::width;

/// How the cells of a column line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At their left ends.
    Left,
    /// At their right ends.
    Right,
    /// At their decimal points, numbers without one at their right ends before it.
    Point,
}

/// A block of rows under a header. The first column names the row.
#[derive(Debug, Default)]
pub struct Columns {
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    align: Align,
    header: String,
    cells: Vec<String>,
}

const BETWEEN: &str = "  ";

impl Columns {
    /// Adds a column. Columns with fewer cells than others are empty beneath.
    pub fn push(&mut self, align: Align, header: impl Into<String>, cells: Vec<String>) {
        self.columns.push(Column {
            align,
            header: header.into(),
            cells,
        });
    }

    /// Writes the block, each line indented, in lines of at most `limit` columns where that is
    /// possible: columns that do not fit follow in further blocks, which repeat the first column.
    pub fn write(&self, out: &mut impl Write, indent: usize, limit: usize) -> io::Result<()> {
        let Some((names, mut rest)) = self.columns.split_first() else {
            return Ok(());
        };
        let rows = self.columns.iter().map(|c| c.cells.len()).max();
        let rows = rows.unwrap_or(0);
        loop {
            let mut room = limit.saturating_sub(indent + names.width());
            let mut fitting = 0;
            for column in rest {
                let needed = BETWEEN.len() + column.width();
                if fitting > 0 && needed > room {
                    break;
                }
                room = room.saturating_sub(needed);
                fitting += 1;
            }
            let (now, later) = rest.split_at(fitting);
            let block: Vec<Vec<String>> = std::iter::once(names)
                .chain(now)
                .map(|column| column.lines(rows))
                .collect();
            for row in 0..=rows {
                let line: Vec<&str> = block.iter().map(|lines| lines[row].as_str()).collect();
                let line = format!("{:indent$}{}", "", line.join(BETWEEN));
                writeln!(out, "{}", line.trim_end())?;
            }
            if later.is_empty() {
                return Ok(());
            }
            writeln!(out)?;
            rest = later;
        }
    }
}

impl Column {
    fn width(&self) -> usize {
        let (before, after) = self.number_widths();
        let cells = self.cells.iter().filter(|cell| self.point(cell).is_none());
        cells
            .map(|cell| width(cell))
            .fold(width(&self.header).max(before + after), usize::max)
    }

    /// The widest parts before and from the decimal point on, of the cells that align there.
    fn number_widths(&self) -> (usize, usize) {
        self.cells
            .iter()
            .filter_map(|cell| Some((self.point(cell)?, cell.len())))
            .fold((0, 0), |(before, after), (point, length)| {
                (before.max(point), after.max(length - point))
            })
    }

    /// Where a number's decimal point is, or would be; none for cells that do not align at one.
    fn point(&self, cell: &str) -> Option<usize> {
        let is_number = cell
            .trim_start_matches(['<', '-', '+'])
            .starts_with(|c: char| c.is_ascii_digit());
        (self.align == Align::Point && is_number && cell.is_ascii())
            .then(|| cell.find(['.', 'e']).unwrap_or(cell.len()))
    }

    /// The header and `rows` cells, padded to one width.
    fn lines(&self, rows: usize) -> Vec<String> {
        let total = self.width();
        let (_, after) = self.number_widths();
        let cells = (0..rows).map(|row| {
            let cell = self.cells.get(row).map_or("", String::as_str);
            let padding = self
                .point(cell)
                .map_or(0, |point| after - (cell.len() - point));
            format!("{cell}{:padding$}", "")
        });
        std::iter::once(self.header.clone())
            .chain(cells)
            .map(|text| {
                let padding = total - width(&text);
                match self.align {
                    Align::Left => format!("{text}{:padding$}", ""),
                    Align::Right | Align::Point => format!("{:padding$}{text}", ""),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(columns: &Columns, limit: usize) -> String {
        let mut out = Vec::new();
        columns.write(&mut out, 1, limit).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn strings(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| cell.to_string()).collect()
    }

    #[test]
    fn points_line_up() {
        let mut columns = Columns::default();
        columns.push(Align::Left, "name", strings(&["a", "中", "long name"]));
        columns.push(Align::Point, "p", strings(&["0.25", "-", "1"]));
        columns.push(Align::Point, "x", strings(&["-1.5e-300", "10", "0.125"]));
        columns.push(Align::Right, "n", strings(&["1", "20"]));
        assert_eq!(
            written(&columns, 98),
            " name          p          x   n\n\
             \x20a          0.25  -1.5e-300   1\n\
             \x20中            -  10         20\n\
             \x20long name  1      0.125\n"
        );
    }

    #[test]
    fn columns_without_room_follow_beneath() {
        let mut columns = Columns::default();
        columns.push(Align::Left, "name", strings(&["a", "b"]));
        columns.push(Align::Right, "one", strings(&["1", "2"]));
        columns.push(Align::Right, "two", strings(&["3", "4"]));
        assert_eq!(
            written(&columns, 12),
            " name  one\n a       1\n b       2\n\n name  two\n a       3\n b       4\n"
        );
    }
}
