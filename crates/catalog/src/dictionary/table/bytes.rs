//! A table's definition as the bytes of its dictionary row.

use std::sync::Arc;

use turnstile_engine::ids::{IndexId, TableId};

use super::super::check::Check;
use super::super::encoding::{Damaged, Reader, Writer};
use super::super::foreign_key::ForeignKey;
use super::{Column, DefaultValue, Definition, Key, Part};
use crate::expression_text::{expression_text, parse_expression};

/// A definition without sections.
pub(super) const PLAIN: u8 = 1;

/// Behind the keys come sections, each a tag and its bytes. A reader refuses a tag that it does not know, so
/// that a server that knows nothing of a constraint does not break it.
pub(super) const SECTIONED: u8 = 2;

/// Tags of sections. One that is empty is left out; a definition without any is [`PLAIN`], as it was before
/// there were sections.
const FOREIGN_KEYS: u8 = 1;

const CHECKS: u8 = 2;

/// Places of keys that were made for foreign keys.
const IMPLICIT_KEYS: u8 = 3;

impl Definition {
    /// Bytes of its dictionary row.
    pub fn encode(&self) -> Vec<u8> {
        let mut sections = Writer::default();
        if !self.foreign_keys.is_empty() {
            let mut body = Writer::default();
            body.list(&self.foreign_keys, |body, key| key.encode(body));
            sections.u8(FOREIGN_KEYS);
            sections.bytes(&body.0);
        }
        if !self.checks.is_empty() {
            let mut body = Writer::default();
            body.list(&self.checks, |body, check| check.encode(body));
            sections.u8(CHECKS);
            sections.bytes(&body.0);
        }
        let implicit = self.keys.iter().enumerate().filter(|(_, key)| key.implicit);
        let implicit: Vec<u32> = implicit.map(|(at, _)| at as u32).collect();
        if !implicit.is_empty() {
            let mut body = Writer::default();
            body.list(&implicit, |body, at| body.u32(*at));
            sections.u8(IMPLICIT_KEYS);
            sections.bytes(&body.0);
        }
        let mut row = Writer::new(if sections.0.is_empty() { PLAIN } else { SECTIONED });
        self.encode_plain(&mut row);
        row.0.append(&mut sections.0);
        row.0
    }

    pub(super) fn encode_plain(&self, row: &mut Writer) {
        row.u32(self.id.0);
        row.text(&self.schema);
        row.text(&self.name);
        row.u32(self.clustered.0);
        row.collation(self.collation);
        row.text(&self.comment);
        row.u64(self.auto_increment);
        row.u64(self.created);
        row.list(&self.columns, |row, column| column.encode(row));
        row.list(&self.keys, |row, key| {
            row.text(&key.name);
            row.bool(key.primary);
            row.bool(key.unique);
            row.list(&key.parts, |row, part| {
                row.u32(part.column as u32);
                row.bool(part.prefix.is_some());
                row.u32(part.prefix.unwrap_or(0));
                row.bool(part.descending);
            });
            row.u32(key.index.0);
            row.text(&key.comment);
            row.bool(key.visible);
        });
    }

    /// From the bytes of its dictionary row.
    pub fn decode(bytes: &[u8]) -> Result<Definition, Damaged> {
        let sectioned = bytes.first() == Some(&SECTIONED);
        let row = &mut Reader::new(bytes, if sectioned { SECTIONED } else { PLAIN })?;
        let mut definition = Definition {
            id: TableId(row.u32()?),
            schema: row.text()?.into(),
            name: row.text()?.into(),
            clustered: IndexId(row.u32()?),
            collation: row.collation()?,
            comment: row.text()?.into(),
            auto_increment: row.u64()?,
            created: row.u64()?,
            columns: row.list(Column::decode)?,
            keys: row.list(Key::decode)?,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
        };
        while sectioned && !row.is_empty() {
            let tag = row.u8()?;
            let body = &mut Reader::section(row.bytes()?);
            match tag {
                CHECKS => definition.checks = body.list(Check::decode)?,
                FOREIGN_KEYS => definition.foreign_keys = body.list(ForeignKey::decode)?,
                IMPLICIT_KEYS => {
                    for at in body.list(|body| body.u32())? {
                        definition.keys.get_mut(at as usize).ok_or(Damaged)?.implicit = true;
                    }
                }
                _ => return Err(Damaged),
            }
            if !body.is_empty() {
                return Err(Damaged);
            }
        }
        let count = definition.columns.len();
        let sound = definition.keys.iter().flat_map(|key| &key.parts).all(|part| part.column < count);
        if sound { Ok(definition) } else { Err(Damaged) }
    }
}

impl Column {
    /// Writes it.
    pub fn encode(&self, row: &mut Writer) {
        row.text(&self.name);
        row.column_type(&self.kind);
        row.bool(self.nullable);
        match &self.default {
            DefaultValue::None => row.u8(0),
            DefaultValue::Value(value) => {
                row.u8(1);
                row.value(value);
            }
            DefaultValue::Now(digits) => row.0.extend([2, *digits]),
            DefaultValue::Computed(expr) => {
                row.u8(3);
                row.text(&expression_text(expr));
            }
            DefaultValue::Generated(expr, stored) => {
                row.u8(4);
                row.text(&expression_text(expr));
                row.bool(*stored);
            }
            DefaultValue::KeyPart(expr) => {
                row.u8(5);
                row.text(&expression_text(expr));
            }
        }
        row.0.extend(self.on_update.map_or([0, 0], |digits| [1, digits]));
        row.bool(self.auto_increment);
        row.text(&self.comment);
        row.bool(self.invisible);
    }

    /// Reads it.
    pub fn decode(row: &mut Reader<'_>) -> Result<Column, Damaged> {
        let name = row.text()?.into();
        let kind = row.column_type()?;
        let nullable = row.bool()?;
        let default = match row.u8()? {
            0 => DefaultValue::None,
            1 => DefaultValue::Value(row.value(&kind)?),
            2 => DefaultValue::Now(row.u8()?),
            3 => DefaultValue::Computed(Arc::new(parse_expression(row.text()?).ok_or(Damaged)?)),
            4 => {
                let expr = parse_expression(row.text()?).ok_or(Damaged)?;
                DefaultValue::Generated(Arc::new(expr), row.bool()?)
            }
            5 => DefaultValue::KeyPart(Arc::new(parse_expression(row.text()?).ok_or(Damaged)?)),
            _ => return Err(Damaged),
        };
        let (updates, digits) = (row.bool()?, row.u8()?);
        Ok(Column {
            name,
            kind,
            nullable,
            default,
            on_update: updates.then_some(digits),
            auto_increment: row.bool()?,
            comment: row.text()?.into(),
            invisible: row.bool()?,
        })
    }
}

impl Key {
    pub(super) fn decode(row: &mut Reader<'_>) -> Result<Key, Damaged> {
        Ok(Key {
            name: row.text()?.into(),
            primary: row.bool()?,
            unique: row.bool()?,
            parts: row.list(|row| {
                let column = row.u32()? as usize;
                let (limited, length) = (row.bool()?, row.u32()?);
                Ok(Part { column, prefix: limited.then_some(length), descending: row.bool()? })
            })?,
            index: IndexId(row.u32()?),
            comment: row.text()?.into(),
            visible: row.bool()?,
            implicit: false,
        })
    }
}
