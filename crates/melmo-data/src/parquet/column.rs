//! One column, value by value.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use super::pages::Pages;

/// Values that are decoded at a time.
const BATCH: usize = 1 << 13;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Whole numbers.
    Whole,
    /// The same without a sign.
    Unsigned,
    /// Whole numbers of this many decimals.
    Decimal(i32),
    /// Any numbers.
    Real,
    /// Words.
    Text,
}

impl Kind {
    /// What is no number and no word is told by what it is.
    pub fn of(column: &ColumnDescriptor) -> std::result::Result<Self, String> {
        if column.path().parts().len() != 1 || column.max_rep_level() > 0 {
            return Err("values within values".into());
        }
        if let Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_)) = column.logical_type_ref() {
            return Err("dates or times".into());
        }
        match (column.physical_type(), column.converted_type()) {
            (Type::INT32 | Type::INT64, ConvertedType::DECIMAL) => Ok(Self::Decimal(column.type_scale())),
            (_, ConvertedType::DECIMAL) => Err("decimal numbers of more than 64 bits".into()),
            (Type::INT32 | Type::INT64, ConvertedType::UINT_32 | ConvertedType::UINT_64) => Ok(Self::Unsigned),
            (Type::BOOLEAN | Type::INT32 | Type::INT64, _) => Ok(Self::Whole),
            (Type::FLOAT | Type::DOUBLE, _) => Ok(Self::Real),
            (Type::BYTE_ARRAY, _) => Ok(Self::Text),
            (other, _) => Err(format!("values of the kind {other}")),
        }
    }
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'v> {
    Missing,
    Whole(i128),
    Real(f64),
    Text(&'v [u8]),
}

impl Value<'_> {
    /// NaN where there is none.
    pub fn number(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
            Self::Missing | Self::Text(_) => f64::NAN,
        }
    }
}

/// A column of one row group.
pub(super) struct Column {
    reader: ColumnReader,
    kind: Kind,
    optional: bool,
}

impl Column {
    pub fn new(column: ColumnDescPtr, kind: Kind, pages: Pages) -> Self {
        let optional = column.max_def_level() > 0;
        Self { reader: get_column_reader(column, Box::new(pages)), kind, optional }
    }

    /// Hands on the next values, of which there have to be as many.
    pub fn read(&mut self, count: usize, mut each: impl FnMut(Value<'_>)) -> Result<()> {
        let (kind, optional) = (self.kind, self.optional);
        let whole = |number: i64, unsigned: u64| match kind {
            Kind::Unsigned => Value::Whole(unsigned.into()),
            Kind::Decimal(scale) => Value::Real(number as f64 / 10_f64.powi(scale)),
            _ => Value::Whole(number.into()),
        };
        match &mut self.reader {
            ColumnReader::BoolColumnReader(from) => {
                batches(from, count, optional, |v| each(v.map_or(Value::Missing, |&v| Value::Whole(v.into()))))
            }
            ColumnReader::Int32ColumnReader(from) => batches(from, count, optional, |v| {
                each(v.map_or(Value::Missing, |&v| whole(v.into(), (v as u32).into())));
            }),
            ColumnReader::Int64ColumnReader(from) => {
                batches(from, count, optional, |v| each(v.map_or(Value::Missing, |&v| whole(v, v as u64))))
            }
            ColumnReader::FloatColumnReader(from) => {
                batches(from, count, optional, |v| each(v.map_or(Value::Missing, |&v| Value::Real(v.into()))))
            }
            ColumnReader::DoubleColumnReader(from) => {
                batches(from, count, optional, |v| each(v.map_or(Value::Missing, |&v| Value::Real(v))))
            }
            ColumnReader::ByteArrayColumnReader(from) => {
                batches(from, count, optional, |v| each(v.map_or(Value::Missing, |v| Value::Text(v.data()))))
            }
            _ => Err(ParquetError::General("values of another kind".into())),
        }
    }
}

fn batches<T: DataType>(
    from: &mut ColumnReaderImpl<T>,
    count: usize,
    optional: bool,
    mut each: impl FnMut(Option<&T::T>),
) -> Result<()> {
    let (mut levels, mut values, mut left) = (Vec::new(), Vec::new(), count);
    while left > 0 {
        levels.clear();
        values.clear();
        let (records, ..) = from.read_records(left.min(BATCH), optional.then_some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::General(format!("a column that ends {left} rows early")));
        }
        match optional {
            false => values.iter().for_each(|value| each(Some(value))),
            true => {
                let mut present = values.iter();
                levels.iter().for_each(|&level| each((level > 0).then(|| present.next()).flatten()));
            }
        }
        left -= records.min(left);
    }
    Ok(())
}
