//! A histogram as a row of the dictionary.

use turnstile_values::key_codec::KeyPart;

use super::{Bucket, Edge, Histogram, part_of};
use crate::dictionary::encoding::{Damaged, Reader, Writer};

const FORMAT: u8 = 1;

impl Histogram {
    /// The row.
    pub fn encode(&self) -> Vec<u8> {
        let mut row = Writer::new(FORMAT);
        row.text(&self.column);
        row.column_type(&self.kind);
        row.bool(self.singleton);
        row.bool(self.automatic);
        row.u32(self.specified);
        for number in [self.nulls.to_bits(), self.sampled.to_bits(), self.updated] {
            row.u64(number);
        }
        row.list(&self.buckets, |row, bucket| {
            row.value(&bucket.lower.value);
            if !self.singleton {
                row.value(&bucket.upper.value);
                row.u64(bucket.distinct);
            }
            row.u64(bucket.cumulative.to_bits());
        });
        row.0
    }

    /// What a row tells.
    pub fn decode(row: &[u8]) -> Result<Histogram, Damaged> {
        let mut row = Reader::new(row, FORMAT)?;
        let column = row.text()?.into();
        let kind = row.column_type()?;
        let (singleton, automatic, specified) = (row.bool()?, row.bool()?, row.u32()?);
        let (nulls, sampled) = (f64::from_bits(row.u64()?), f64::from_bits(row.u64()?));
        let updated = row.u64()?;
        let part = part_of(&kind);
        let edge = |row: &mut Reader<'_>, part: &KeyPart| {
            let value = row.value(&part.kind)?;
            Ok(Edge::of(&value, part))
        };
        let buckets = row.list(|row| {
            let lower = edge(row, &part)?;
            let (upper, distinct) =
                if singleton { (lower.clone(), 1) } else { (edge(row, &part)?, row.u64()?) };
            Ok(Bucket { lower, upper, cumulative: f64::from_bits(row.u64()?), distinct })
        })?;
        Ok(Histogram { column, kind, singleton, buckets, nulls, sampled, updated, specified, automatic })
    }
}
