//! The pages of one column of one row group, unpacked here: with the decoders that other formats have already, all of them Rust.

use std::io::Read;

use bytes::Bytes;
use parquet::basic::{Compression, PageType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

use super::header::{self, Field};

/// No packing makes less of a page than this share.
const PACKED: usize = 100_000;

/// What is left of the bytes of a column.
pub(super) struct Pages {
    left: Bytes,
    packing: Compression,
}

/// The places of a header's fields.
const KIND: usize = 1;
const UNPACKED: usize = 2;
const HELD: usize = 3;
const DATA: usize = 5;
const DICTIONARY: usize = 7;
const DATA_V2: usize = 8;

fn broken(what: &str) -> ParquetError {
    ParquetError::General(what.into())
}

impl Pages {
    pub fn new(bytes: Bytes, packing: Compression) -> Self {
        Self { left: bytes, packing }
    }

    /// The next header, the bytes of its page as they are held, and where the page after it begins.
    fn look(&self) -> Result<Option<(Vec<Field>, Bytes, usize)>> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let (fields, start) = header::read(&self.left).ok_or_else(|| broken("a page without a header"))?;
        let held = fields[HELD].count().filter(|held| *held <= self.left.len() - start);
        let end = start + held.ok_or_else(|| broken("a page beyond the end of its column"))?;
        Ok(Some((fields, self.left.slice(start..end), end)))
    }

    /// As many bytes as the header says, and no more.
    fn unpack(&self, held: &[u8], length: usize) -> Result<Vec<u8>> {
        if length / PACKED > held.len() {
            return Err(broken("a page that cannot be as long as it says"));
        }
        match self.packing {
            Compression::SNAPPY => {
                let claimed = snap::raw::decompress_len(held).map_err(|e| broken(&e.to_string()))?;
                if claimed != length {
                    return Err(broken("a page of another length than it says"));
                }
                snap::raw::Decoder::new().decompress_vec(held).map_err(|e| broken(&e.to_string()))
            }
            Compression::GZIP(_) => all(flate2::read::MultiGzDecoder::new(held), length),
            Compression::ZSTD(_) => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(held).map_err(|e| broken(&e.to_string()))?;
                all(decoder, length)
            }
            other => Err(broken(&format!("pages packed by {other}"))),
        }
    }

    /// The bytes of a page; those of its levels, in front, are never packed.
    fn plain(&self, fields: &[Field], held: Bytes, levels: usize, packed: bool) -> Result<Bytes> {
        if self.packing == Compression::UNCOMPRESSED || !packed {
            return Ok(held);
        }
        let length = fields[UNPACKED].count().and_then(|length| length.checked_sub(levels));
        let length = length.filter(|_| levels <= held.len()).ok_or_else(|| broken("a page without a length"))?;
        let mut plain = held[..levels].to_vec();
        if length > 0 {
            plain.extend(self.unpack(&held[levels..], length)?);
        }
        Ok(plain.into())
    }

    fn page(&self, fields: &[Field], held: Bytes) -> Option<Result<Page>> {
        let of = |at: usize| match &fields[at] {
            Field::Fields(fields) => Some(fields),
            _ => None,
        };
        if fields[KIND].count() == Some(PageType::DATA_PAGE as usize) {
            let header = of(DATA)?;
            let (num_values, encoding) = (header[1].count32()?, header[2].encoding()?);
            let (def_level_encoding, rep_level_encoding) = (header[3].encoding()?, header[4].encoding()?);
            let plain = self.plain(fields, held, 0, true);
            return Some(plain.map(|buf| Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding,
                rep_level_encoding,
                statistics: None,
            }));
        }
        if fields[KIND].count() == Some(PageType::DATA_PAGE_V2 as usize) {
            let header = of(DATA_V2)?;
            let counts = [1, 2, 3, 5, 6].map(|at: usize| header[at].count32());
            let [num_values, num_nulls, num_rows, def_levels_byte_len, rep_levels_byte_len] = counts;
            let (encoding, is_compressed) = (header[4].encoding()?, header[7] != Field::Number(0));
            let (definitions, repetitions) = (def_levels_byte_len?, rep_levels_byte_len?);
            let levels = definitions as usize + repetitions as usize;
            let (num_values, num_nulls, num_rows) = (num_values?, num_nulls?, num_rows?);
            return Some(self.plain(fields, held, levels, is_compressed).and_then(|buf| match levels <= buf.len() {
                false => Err(broken("levels beyond the end of their page")),
                true => Ok(Page::DataPageV2 {
                    buf,
                    num_values,
                    encoding,
                    num_nulls,
                    num_rows,
                    def_levels_byte_len: definitions,
                    rep_levels_byte_len: repetitions,
                    is_compressed,
                    statistics: None,
                }),
            }));
        }
        let header = of(DICTIONARY)?;
        let (num_values, encoding) = (header[1].count32()?, header[2].encoding()?);
        let plain = self.plain(fields, held, 0, true);
        Some(plain.and_then(|buf| match num_values as usize <= buf.len() {
            // Memory for so many values is asked for at once.
            false => Err(broken("a dictionary that is longer than its page")),
            true => Ok(Page::DictionaryPage { buf, num_values, encoding, is_sorted: false }),
        }))
    }
}

fn all(reader: impl Read, length: usize) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    reader.take(length as u64 + 1).read_to_end(&mut plain).map_err(|e| broken(&e.to_string()))?;
    match plain.len() == length {
        true => Ok(plain),
        false => Err(broken("a page of another length than it says")),
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        while let Some((fields, held, end)) = self.look()? {
            self.left = self.left.slice(end..);
            if fields[KIND].count() != Some(PageType::INDEX_PAGE as usize) {
                return self.page(&fields, held).ok_or_else(|| broken("a page of no known kind"))?.map(Some);
            }
        }
        Ok(None)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        let found = self.look()?;
        Ok(found.map(|(fields, ..)| {
            let values = [DATA, DATA_V2].map(|at| match &fields[at] {
                Field::Fields(fields) => fields[1].count(),
                _ => None,
            });
            let is_dict = fields[DICTIONARY] != Field::Absent;
            PageMetadata { num_rows: values[1], num_levels: values[0].or(values[1]), is_dict }
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        if let Some((.., end)) = self.look()? {
            self.left = self.left.slice(end..);
        }
        Ok(())
    }
}
