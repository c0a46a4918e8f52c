//! Paths into documents: `$`, then `.name`, `."name"`, `.*`, `[1]`, `[last-1]`, `[1 to 3]`, `[*]` and `**`.

use serde_json::Value as Json;

use crate::error::{SqlError, SqlResult};

/// A cell of an array, counted from its beginning or from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    number: usize,
    from_end: bool,
}

impl Cell {
    /// Its place in an array of this length.
    pub fn within(self, length: usize) -> Option<usize> {
        let at = if self.from_end { length.checked_sub(self.number + 1)? } else { self.number };
        (at < length).then_some(at)
    }

    /// How far from the last it is, if it is counted from there.
    pub fn from_last(self) -> Option<usize> {
        self.from_end.then_some(self.number)
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leg {
    /// `.name`
    Member(Box<str>),
    /// `.*`
    AnyMember,
    /// `[n]`
    Cell(Cell),
    /// `[n to m]`
    Range(Cell, Cell),
    /// `[*]`
    AnyCell,
    /// `**`: this and everything inside.
    Deep,
}

/// A path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    legs: Vec<Leg>,
}

impl Path {
    /// Reads a path; error 3143.
    pub fn parse(text: &str) -> SqlResult<Path> {
        let mut reader = Reader { text, at: 0 };
        reader.path().ok_or_else(|| SqlError::invalid_json_path(reader.at + 1))
    }

    /// A path that leads to one place at most; error 3149.
    pub fn parse_single(text: &str) -> SqlResult<Path> {
        let path = Path::parse(text)?;
        if path.is_wild() { Err(SqlError::json_path_with_wildcard()) } else { Ok(path) }
    }

    /// Its steps.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Whether it may lead to several places.
    pub fn is_wild(&self) -> bool {
        self.legs.iter().any(|leg| !matches!(leg, Leg::Member(_) | Leg::Cell(_)))
    }

    /// What it leads to, in the order of the document.
    pub fn select<'d>(&self, document: &'d Json) -> Vec<&'d Json> {
        let mut found = Vec::new();
        select(document, &self.legs, &mut found);
        found
    }
}

fn select<'d>(document: &'d Json, legs: &[Leg], found: &mut Vec<&'d Json>) {
    let Some((leg, rest)) = legs.split_first() else {
        found.push(document);
        return;
    };
    // What is no array is one of one part.
    let alone = std::slice::from_ref(document);
    let parts = document.as_array().map_or(alone, Vec::as_slice);
    match leg {
        Leg::Member(name) => {
            if let Some(member) = document.as_object().and_then(|members| members.get(&**name)) {
                select(member, rest, found);
            }
        }
        Leg::AnyMember => {
            let members = document.as_object().map(super::in_order).unwrap_or_default();
            members.into_iter().for_each(|(_, member)| select(member, rest, found));
        }
        Leg::Cell(cell) => {
            if let Some(at) = cell.within(parts.len()) {
                select(&parts[at], rest, found);
            }
        }
        Leg::Range(first, last) => {
            let place = |cell: &Cell| match cell.from_end {
                true => parts.len() as i64 - 1 - cell.number as i64,
                false => cell.number as i64,
            };
            let (first, last) = (place(first).max(0), place(last).min(parts.len() as i64 - 1));
            (first..=last).for_each(|at| select(&parts[at as usize], rest, found));
        }
        Leg::AnyCell => {
            if document.is_array() {
                parts.iter().for_each(|part| select(part, rest, found));
            }
        }
        Leg::Deep => {
            select(document, rest, found);
            if let Json::Array(parts) = document {
                parts.iter().for_each(|part| select(part, legs, found));
            }
            let members = document.as_object().map(super::in_order).unwrap_or_default();
            members.into_iter().for_each(|(_, member)| select(member, legs, found));
        }
    }
}

/// The place a path without wildcards leads to.
pub fn find<'d>(document: &'d mut Json, legs: &[Leg]) -> Option<&'d mut Json> {
    let mut place = document;
    for leg in legs {
        place = match (leg, place) {
            (Leg::Member(name), Json::Object(members)) => members.get_mut(&**name)?,
            (Leg::Cell(cell), Json::Array(parts)) => {
                let at = cell.within(parts.len())?;
                &mut parts[at]
            }
            (Leg::Cell(cell), alone) if !alone.is_array() && cell.within(1).is_some() => alone,
            _ => return None,
        };
    }
    Some(place)
}

/// Reads a path from its text.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn path(&mut self) -> Option<Path> {
        let mut legs = Vec::new();
        if !self.eat("$") {
            return None;
        }
        loop {
            self.skip_spaces();
            if self.rest().is_empty() {
                break;
            }
            legs.push(self.leg()?);
        }
        // `**` needs something to look for.
        (legs.last() != Some(&Leg::Deep)).then_some(Path { legs })
    }

    fn leg(&mut self) -> Option<Leg> {
        if self.eat("**") {
            return Some(Leg::Deep);
        }
        if self.eat(".") {
            return if self.eat("*") { Some(Leg::AnyMember) } else { self.member() };
        }
        if !self.eat("[") {
            return None;
        }
        let leg = if self.eat("*") {
            Leg::AnyCell
        } else {
            let first = self.cell()?;
            if self.eat("to ") { Leg::Range(first, self.cell()?) } else { Leg::Cell(first) }
        };
        self.eat("]").then_some(leg)
    }

    fn cell(&mut self) -> Option<Cell> {
        if !self.eat("last") {
            return Some(Cell { number: self.number()?, from_end: false });
        }
        let number = if self.eat("-") { self.number()? } else { 0 };
        Some(Cell { number, from_end: true })
    }

    fn number(&mut self) -> Option<usize> {
        self.skip_spaces();
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest()[..digits].parse::<u32>().ok()?;
        self.at += digits;
        Some(number as usize)
    }

    fn member(&mut self) -> Option<Leg> {
        self.skip_spaces();
        let rest = self.rest();
        if rest.starts_with('"') {
            let mut names = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let name = names.next()?.ok()?;
            let end = names.byte_offset();
            self.at += end;
            return Some(Leg::Member(name.into()));
        }
        let within = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
        let name: String = rest.chars().take_while(|letter| within(*letter)).collect();
        let begins_well = name.chars().next().is_some_and(|letter| !letter.is_numeric());
        begins_well.then(|| {
            self.at += name.len();
            Leg::Member(name.into())
        })
    }
}
