//! A document in memory. Scalars keep the kinds that SQL values have: JSON's text knows neither decimals nor
//! dates.

use crate::decimal::Decimal;
use crate::error::SqlResult;
use crate::memory::Held;

/// A document or a part of one. It is not `Clone`: a copy is charged like any other (`Json::copy`).
#[derive(Debug, PartialEq, Default)]
pub enum Json {
    /// `null`, which is no SQL NULL.
    #[default]
    Null,
    /// `true` and `false`.
    Bool(bool),
    /// A signed number: what a text says below zero and up to 32 bits, and every value of a signed type.
    Int(i64),
    /// An unsigned number: what a text says above 32 bits, and every value of an unsigned type.
    UInt(u64),
    /// A double: what a text says with a fraction or an exponent.
    Double(f64),
    /// DECIMAL with its scale; no text says it.
    Decimal(Decimal),
    /// A string.
    String(String),
    /// A moment or bytes, as the text that is shown between quotes.
    Opaque(Kind, String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Object),
}

/// What a scalar is that is shown as a string and is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// DATE
    Date,
    /// TIME
    Time,
    /// DATETIME
    DateTime,
    /// TIMESTAMP, in the session's time zone when it became a part of a document.
    Timestamp,
    /// Bytes, shown as `base64:typeN:...` with MySQL's number of the type.
    Bytes,
}

/// Members ordered by the length of their names and then by their bytes, each name once.
#[derive(Debug, PartialEq, Default)]
pub struct Object {
    members: Vec<(Box<str>, Json)>,
}

/// What members are ordered by.
fn rank(name: &str) -> (usize, &str) {
    (name.len(), name)
}

impl Object {
    /// From members in any order; of one name the last stays.
    pub fn new(mut members: Vec<(Box<str>, Json)>) -> Object {
        if !members.is_sorted_by(|(one, _), (other, _)| rank(one) < rank(other)) {
            members.sort_by(|(one, _), (other, _)| rank(one).cmp(&rank(other)));
            // `dedup_by` keeps the first of equals: the last is moved there.
            members.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(&mut later.1, &mut earlier.1);
                }
                same
            });
        }
        Object { members }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.members.binary_search_by(|(own, _)| rank(own).cmp(&rank(name)))
    }

    /// A member's value.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.find(name).ok().map(|at| &self.members[at].1)
    }

    /// A member's value, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        self.find(name).ok().map(|at| &mut self.members[at].1)
    }

    /// Adds a member or replaces its value.
    pub fn insert(&mut self, name: &str, value: Json) {
        match self.find(name) {
            Ok(at) => self.members[at].1 = value,
            Err(at) => self.members.insert(at, (name.into(), value)),
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) {
        if let Ok(at) = self.find(name) {
            self.members.remove(at);
        }
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.members.iter().map(|(name, value)| (&**name, value))
    }

    /// Values in order.
    pub fn values(&self) -> impl Iterator<Item = &Json> {
        self.members.iter().map(|(_, value)| value)
    }

    /// All members in order.
    pub fn into_members(self) -> Vec<(Box<str>, Json)> {
        self.members
    }
}

impl Json {
    /// A document of its own.
    pub fn copy(&self, held: &mut Held<'_>) -> SqlResult<Json> {
        held.pass(size_of::<Json>())?;
        Ok(match self {
            Json::Null => Json::Null,
            Json::Bool(truth) => Json::Bool(*truth),
            Json::Int(number) => Json::Int(*number),
            Json::UInt(number) => Json::UInt(*number),
            Json::Double(number) => Json::Double(*number),
            Json::Decimal(number) => Json::Decimal(number.clone()),
            Json::String(text) => {
                held.grow_piece(text.len())?;
                Json::String(text.clone())
            }
            Json::Opaque(kind, text) => {
                held.grow_piece(text.len())?;
                Json::Opaque(*kind, text.clone())
            }
            Json::Array(parts) => Json::list_of(parts.iter(), held)?,
            Json::Object(members) => {
                held.grow_piece(size_of_val(members.members.as_slice()))?;
                let mut copies = Vec::with_capacity(members.len());
                for (name, value) in members.iter() {
                    held.grow_piece(name.len())?;
                    copies.push((name.into(), value.copy(held)?));
                }
                Json::Object(Object { members: copies })
            }
        })
    }

    /// An array of copies.
    pub fn list_of<'d>(
        documents: impl ExactSizeIterator<Item = &'d Json>,
        held: &mut Held<'_>,
    ) -> SqlResult<Json> {
        held.grow_piece(documents.len().saturating_mul(size_of::<Json>()))?;
        let mut parts = Vec::with_capacity(documents.len());
        for document in documents {
            parts.push(document.copy(held)?);
        }
        Ok(Json::Array(parts))
    }

    /// The parts of an array.
    pub fn as_array(&self) -> Option<&Vec<Json>> {
        if let Json::Array(parts) = self { Some(parts) } else { None }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Json::Object(members) = self { Some(members) } else { None }
    }

    /// Whether it is neither array nor object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// Itself, leaving `null`.
    pub fn take(&mut self) -> Json {
        std::mem::take(self)
    }

    /// What digits in a text are.
    pub fn of_digits(number: u64) -> Json {
        if number > u64::from(u32::MAX) { Json::UInt(number) } else { Json::Int(number as i64) }
    }

    /// Whether it is a scalar whose text, read again, is one of another kind.
    pub fn kind_is_untold(&self) -> bool {
        match self {
            Json::Decimal(_) | Json::Opaque(..) => true,
            Json::UInt(number) => *number <= u64::from(u32::MAX),
            Json::Int(number) => *number > i64::from(u32::MAX),
            _ => false,
        }
    }

    /// Whether its plain text says all of it: it holds no scalar whose kind a text does not tell.
    pub fn is_plain(&self) -> bool {
        match self {
            Json::Array(parts) => parts.iter().all(Json::is_plain),
            Json::Object(members) => members.values().all(Json::is_plain),
            scalar => !scalar.kind_is_untold(),
        }
    }

    /// JSON_TYPE.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Int(_) => "INTEGER",
            Json::UInt(_) => "UNSIGNED INTEGER",
            Json::Double(_) => "DOUBLE",
            Json::Decimal(_) => "DECIMAL",
            Json::String(_) => "STRING",
            Json::Opaque(Kind::Date, _) => "DATE",
            Json::Opaque(Kind::Time, _) => "TIME",
            Json::Opaque(Kind::DateTime, _) => "DATETIME",
            Json::Opaque(Kind::Timestamp, _) => "TIMESTAMP",
            Json::Opaque(Kind::Bytes, text) => match type_of_bytes(text) {
                Some(16) => "BIT",
                Some(15 | 249..=254) => "BLOB",
                Some(255) => "GEOMETRY",
                _ => "OPAQUE",
            },
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        }
    }

    /// JSON_LENGTH.
    pub fn length(&self) -> usize {
        match self {
            Json::Array(parts) => parts.len(),
            Json::Object(members) => members.len(),
            _ => 1,
        }
    }

    /// How many arrays and objects lie inside one another.
    pub fn nesting(&self) -> usize {
        match self {
            Json::Array(parts) => 1 + parts.iter().map(Json::nesting).max().unwrap_or(0),
            Json::Object(members) => 1 + members.values().map(Json::nesting).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// JSON_DEPTH.
    pub fn depth(&self) -> usize {
        let inside = match self {
            Json::Array(parts) => parts.iter().map(Json::depth).max(),
            Json::Object(members) => members.values().map(Json::depth).max(),
            _ => None,
        };
        1 + inside.unwrap_or(0)
    }
}

/// MySQL's number of the type in `base64:typeN:...`.
pub fn type_of_bytes(text: &str) -> Option<u8> {
    text.strip_prefix("base64:type")?.split_once(':')?.0.parse().ok()
}
