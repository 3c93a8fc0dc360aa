//! A table as JSON Lines: one flat object per row, with the columns' types.

use super::table::{Cell, Layout};
use super::{Export, ExportError, Scored};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io::{self, BufWriter, Write};

/// Writes one object per row: every column is there, `null` where it has no value, and texts are whole.
#[derive(Debug)]
pub struct JsonRows<W: Write> {
    out: BufWriter<W>,
    names: Vec<String>,
    layout: Layout,
}

struct Row<'a>(&'a [String], &'a [Cell<'a>]);

impl<W: Write> JsonRows<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, layout: impl Into<Layout>) -> Self {
        let layout = layout.into();
        let names = layout.columns().map(|column| column.name.into_owned()).collect();
        Self { out: BufWriter::new(out), names, layout }
    }
}

impl<W: Write> Export for JsonRows<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        let Self { out, names, layout } = self;
        layout.rows(scored, &mut |row| {
            serde_json::to_writer(&mut *out, &Row(names, row)).map_err(io::Error::from)?;
            Ok(out.write_all(b"\n")?)
        })
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, cell) in self.0.iter().zip(self.1) {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Name(name) => serializer.serialize_str(name),
            Self::Integer(number) => serializer.serialize_u64(*number),
            Self::Real(number) => serializer.serialize_f64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Empty => serializer.serialize_none(),
        }
    }
}
