//! Paths into documents: `$`, then `.name`, `."name"`, `.*`, `[1]`, `[last-1]`, `[1 to 3]`, `[*]` and `**`.

use std::collections::HashSet;

use super::document::Json;
use crate::error::{SqlError, SqlResult};
use crate::memory::Held;

/// A cell of an array, counted from its beginning or from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayCell {
    number: usize,
    from_end: bool,
}

impl ArrayCell {
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
    ArrayCell(ArrayCell),
    /// `[n to m]`
    Range(ArrayCell, ArrayCell),
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
    /// Reads a path, whose steps are charged; error 3143.
    pub fn parse(text: &str, held: &mut Held<'_>) -> SqlResult<Path> {
        let mut reader = Reader { text, at: 0, held: Some(held), ended: None };
        let read = reader.path();
        if let Some(error) = reader.ended {
            return Err(error);
        }
        read.ok_or_else(|| SqlError::invalid_json_path(reader.at))
    }

    /// Whether a text is a path; error 3143. It keeps none, so it needs no memory.
    pub fn check(text: &str) -> SqlResult<()> {
        let mut reader = Reader { text, at: 0, held: None, ended: None };
        reader.path().map(drop).ok_or_else(|| SqlError::invalid_json_path(reader.at))
    }

    /// A path that leads to one place at most; error 3149.
    pub fn parse_single(text: &str, held: &mut Held<'_>) -> SqlResult<Path> {
        let path = Path::parse(text, held)?;
        if path.is_wild() { Err(SqlError::json_path_with_wildcard()) } else { Ok(path) }
    }

    /// Its steps.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Whether it may lead to several places.
    pub fn is_wild(&self) -> bool {
        self.legs.iter().any(|leg| !matches!(leg, Leg::Member(_) | Leg::ArrayCell(_)))
    }

    /// Whether its last step is a cell of an array.
    pub fn is_of_cell(&self) -> bool {
        matches!(self.legs.last(), Some(Leg::ArrayCell(_)))
    }

    /// What it leads to, each place once, in the order of the document.
    pub fn select<'d>(&self, document: &'d Json, held: &mut Held<'_>) -> SqlResult<Vec<&'d Json>> {
        let once = self.legs.contains(&Leg::Deep);
        let mut places = vec![document];
        for leg in &self.legs {
            held.pass(size_of::<Leg>())?;
            let mut next = Places { found: Vec::new(), seen: once.then(HashSet::new), held: &mut *held };
            places.iter().try_for_each(|place| next.follow(place, leg))?;
            places = next.found;
        }
        Ok(places)
    }
}

/// Where one step leads from several places. `**` leads to a place in as many ways as it lies deep, and each
/// `**` more multiplies them.
struct Places<'d, 'h, 'c> {
    found: Vec<&'d Json>,
    seen: Option<HashSet<*const Json>>,
    held: &'h mut Held<'c>,
}

/// What a place takes in a set of places that has room to grow.
const SEEN_BYTES: usize = 4 * size_of::<*const Json>();

impl<'d> Places<'d, '_, '_> {
    /// False if the place was there already.
    fn add(&mut self, place: &'d Json) -> SqlResult<bool> {
        self.held.pass(size_of::<Json>())?;
        if let Some(seen) = &mut self.seen {
            if !seen.insert(std::ptr::from_ref(place)) {
                return Ok(false);
            }
            self.held.grow(SEEN_BYTES)?;
        }
        self.held.push(&mut self.found, place)?;
        Ok(true)
    }

    fn add_all(&mut self, mut places: impl Iterator<Item = &'d Json>) -> SqlResult<()> {
        places.try_for_each(|place| self.add(place).map(drop))
    }

    fn follow(&mut self, document: &'d Json, leg: &Leg) -> SqlResult<()> {
        // What is no array is one of one part.
        let alone = std::slice::from_ref(document);
        let parts = document.as_array().map_or(alone, Vec::as_slice);
        let members = |document: &'d Json| document.as_object().into_iter().flat_map(super::Object::iter);
        match leg {
            Leg::Member(name) => {
                let member = document.as_object().and_then(|members| members.get(name));
                self.add_all(member.into_iter())?;
            }
            Leg::AnyMember => self.add_all(members(document).map(|(_, member)| member))?,
            Leg::ArrayCell(cell) => {
                self.add_all(cell.within(parts.len()).map(|at| &parts[at]).into_iter())?
            }
            Leg::Range(first, last) => {
                let place = |cell: &ArrayCell| match cell.from_end {
                    true => parts.len() as i64 - 1 - cell.number as i64,
                    false => cell.number as i64,
                };
                let (first, last) = (place(first).max(0), place(last).min(parts.len() as i64 - 1));
                self.add_all((first..=last).map(|at| &parts[at as usize]))?;
            }
            Leg::AnyCell => self.add_all(document.as_array().into_iter().flatten())?,
            Leg::Deep => {
                // What was there before was there with all inside.
                if self.add(document)? {
                    document.as_array().into_iter().flatten().try_for_each(|part| self.follow(part, leg))?;
                    members(document).try_for_each(|(_, member)| self.follow(member, leg))?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a name needs no quotes in a path.
pub fn is_plain_name(name: &str) -> bool {
    let within = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    name.chars().next().is_some_and(|letter| !letter.is_numeric()) && name.chars().all(within)
}

/// The place a path without wildcards leads to.
pub fn find<'d>(document: &'d mut Json, legs: &[Leg]) -> Option<&'d mut Json> {
    let mut place = document;
    for leg in legs {
        place = match (leg, place) {
            (Leg::Member(name), Json::Object(members)) => members.get_mut(name)?,
            (Leg::ArrayCell(cell), Json::Array(parts)) => {
                let at = cell.within(parts.len())?;
                &mut parts[at]
            }
            (Leg::ArrayCell(cell), alone) if alone.as_array().is_none() && cell.within(1).is_some() => alone,
            _ => return None,
        };
    }
    Some(place)
}

/// Reads a path from its text.
struct Reader<'t, 'h, 'c> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// What the steps are charged to; without it they are read and left.
    held: Option<&'h mut Held<'c>>,
    /// Why the reading ended if it is not the text's fault.
    ended: Option<SqlError>,
}

impl Reader<'_, '_, '_> {
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
        let (mut legs, mut ends_deep) = (Vec::new(), false);
        if !self.eat("$") {
            self.at += usize::from(!self.rest().is_empty());
            return None;
        }
        loop {
            self.skip_spaces();
            if self.rest().is_empty() {
                break;
            }
            let leg = self.leg()?;
            ends_deep = leg == Leg::Deep;
            self.keep(&mut legs, leg)?;
        }
        // `**` needs something to look for.
        (!ends_deep).then_some(Path { legs })
    }

    fn keep(&mut self, legs: &mut Vec<Leg>, leg: Leg) -> Option<()> {
        let Some(held) = &mut self.held else { return Some(()) };
        let name = if let Leg::Member(name) = &leg { name.len() + size_of::<Leg>() } else { 0 };
        let kept = held.grow(name).and_then(|()| held.push(legs, leg));
        self.ended = kept.err();
        self.ended.is_none().then_some(())
    }

    fn leg(&mut self) -> Option<Leg> {
        if self.eat("*") {
            let deep = self.rest().starts_with('*');
            self.at += usize::from(!self.rest().is_empty());
            // A third one is none of a path.
            return (deep && !self.rest().starts_with('*')).then_some(Leg::Deep);
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
            if self.at_range() { Leg::Range(first, self.range_end(first)?) } else { Leg::ArrayCell(first) }
        };
        let closed = self.eat("]");
        self.at += usize::from(!closed && !self.rest().is_empty());
        closed.then_some(leg)
    }

    /// Eats ` to `, which stands between spaces.
    fn at_range(&mut self) -> bool {
        self.skip_spaces();
        let spaced = self.text[..self.at].ends_with(char::is_whitespace);
        let rest = self.rest();
        let found =
            spaced && rest.strip_prefix("to").is_some_and(|rest| rest.starts_with(char::is_whitespace));
        self.at += if found { 2 } else { 0 };
        found
    }

    /// The end of a range, which lies not before its start as far as that can be told.
    fn range_end(&mut self, first: ArrayCell) -> Option<ArrayCell> {
        let last = self.cell()?;
        let backward = first.from_end == last.from_end
            && if first.from_end { first.number < last.number } else { first.number > last.number };
        (!backward).then_some(last)
    }

    fn cell(&mut self) -> Option<ArrayCell> {
        if !self.eat("last") {
            return Some(ArrayCell { number: self.number()?, from_end: false });
        }
        let number = if self.eat("-") { self.number()? } else { 0 };
        Some(ArrayCell { number, from_end: true })
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
        let text = self.text;
        let rest = &text[self.at..];
        if rest.starts_with('"') {
            let (name, length) = match super::read::leading_string(rest, self.held.as_deref_mut()) {
                Ok(read) => read,
                Err(error) => {
                    if let super::Malformed::Ended(error) = error {
                        self.ended = Some(*error);
                    }
                    self.at += rest.len();
                    return None;
                }
            };
            self.at += length;
            return Some(Leg::Member(name.into()));
        }
        let ends = |letter: char| letter.is_whitespace() || matches!(letter, '.' | '[' | '*');
        let name = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let leg = is_plain_name(name).then(|| Leg::Member(name.into()));
        self.at += name.len();
        leg
    }
}
