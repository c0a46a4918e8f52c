//! Which arguments of a function are texts that meet, and what becomes of them.

use std::ops::Range;

use crate::expr::{Expr, Typed};
use crate::functions;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::Value;

use turnstile_values::mixing::{Derivation, Meeting, Party, Purpose, Repertoire, Traits};

use super::converted::{Use, converted, is_text, met};

/// How the texts among a function's arguments meet.
enum Manner {
    /// These agree on the collation of the result.
    Agree(Range<usize>),
    /// These are compared; what comes of it is no text.
    Compared(Range<usize>),
    /// Two are compared as an operator compares them.
    Operator,
    /// The text with this number gives the collation; these others are converted to its set.
    Lead(usize, Range<usize>),
    /// The result is text of the connection, with characters of ASCII and of these arguments.
    Text(Range<usize>),
    /// The result is what the server says of itself.
    System,
    /// The result is a name in ASCII that the server made up.
    Name,
    /// The result is text out of a document.
    Document,
    /// The result is text that bytes are read as, in the set of the function's name.
    Decoded,
    /// Nothing meets.
    Apart,
}

const ALL: Range<usize> = 0..usize::MAX;
const NONE: Range<usize> = 0..0;

fn manner(name: &str) -> Manner {
    match name {
        "concat" | "concat_ws" | "greatest" | "least" => Manner::Agree(ALL),
        "elt" | "make_set" => Manner::Agree(1..usize::MAX),
        "export_set" => Manner::Agree(1..4),
        "regexp_replace" | "regexp_substr" => Manner::Agree(0..2),
        "strcmp" => Manner::Operator,
        "find_in_set" | "regexp_like" | "regexp_instr" => Manner::Compared(0..2),
        "field" => Manner::Lead(0, 1..usize::MAX),
        "instr" | "trim" | "ltrim" | "rtrim" | "substring_index" => Manner::Lead(0, 1..2),
        "locate" => Manner::Lead(1, 0..1),
        "replace" => Manner::Lead(0, 1..3),
        "lpad" | "rpad" => Manner::Lead(0, 2..3),
        "insert" => Manner::Lead(0, 3..4),
        "substring" | "left" | "right" | "upper" | "ucase" | "lower" | "lcase" | "repeat" | "reverse"
        | "quote" | "soundex" => Manner::Lead(0, NONE),
        "date_format" | "time_format" | "from_unixtime" => Manner::Text(1..2),
        "hex" | "md5" | "sha" | "sha1" | "sha2" | "conv" | "bin" | "oct" | "format" | "space"
        | "monthname" | "dayname" | "get_format" | "inet_ntoa" | "inet6_ntoa" | "to_base64"
        | "bin_to_uuid" => Manner::Text(NONE),
        "user" | "session_user" | "system_user" | "current_user" | "current_role" | "version"
        | "database" => Manner::System,
        "uuid" | "format_bytes" | "format_pico_time" | "charset" | "collation" => Manner::Name,
        "json_unquote" | "json_quote" | "json_type" | "json_pretty" => Manner::Document,
        name if name.starts_with("char using ") => Manner::Decoded,
        _ => Manner::Apart,
    }
}

/// A function's arguments once their texts have met.
pub(crate) struct Settled {
    /// The arguments, converted where they have to be.
    pub arguments: Vec<Typed>,
    /// What texts are compared by.
    pub collation: Collation,
    /// What the result is if it is text.
    pub result: ResultText,
}

/// What a function's result is if it is text.
pub(crate) enum ResultText {
    /// What the arguments agreed on.
    Agreed(Party),
    /// Whatever its type says, made by the function.
    Made,
}

impl ResultText {
    /// The type of the result, whose form the function gives.
    pub fn of(&self, kind: ColumnType, connection: Collation) -> ExprType {
        match self {
            _ if !kind.is_string() || kind == ColumnType::Json => ExprType::new(kind, true),
            // Of nothing but NULL there is no text.
            ResultText::Agreed(party) if party.traits.derivation == Derivation::Ignorable => {
                let bytes = ColumnType::Varbinary { length: kind.text_length() };
                ExprType::new(bytes, true).with_traits(party.traits)
            }
            ResultText::Agreed(party) if kind.is_character() => {
                let collation =
                    if party.collation == Collation::Binary { connection } else { party.collation };
                ExprType::new(kind.with_collation(collation), true).with_traits(party.traits)
            }
            ResultText::Agreed(party) => ExprType::new(kind, true).with_traits(party.traits),
            ResultText::Made => {
                let traits = Traits { derivation: Derivation::Coercible, repertoire: Repertoire::Unicode };
                ExprType::new(kind, true).with_traits(traits)
            }
        }
    }
}

/// Lets the texts among a function's arguments meet. Errors 1267, 1270, 1271 and 3854.
pub(crate) fn settle(name: &str, arguments: Vec<Typed>, connection: Collation) -> SqlResult<Settled> {
    let fixed = |collation, traits, arguments| {
        let result = ResultText::Agreed(Party { collation, traits });
        Ok(Settled { arguments, collation, result })
    };
    let repertoire = |range: &Range<usize>, arguments: &[Typed]| {
        let counted = arguments.iter().enumerate().filter(|(nth, _)| range.contains(nth));
        counted.map(|(_, one)| one.kind.traits.repertoire).max().unwrap_or(Repertoire::Ascii)
    };
    let apart = match name {
        // Numbers among them make it no meeting of texts.
        "greatest" | "least" => !arguments.iter().any(|one| one.kind.column.is_string()),
        "field" => !arguments.iter().all(is_text),
        _ => false,
    };
    if name.starts_with("regexp_") {
        not_bytes_and_text(name, &arguments)?;
    }
    match manner(name) {
        _ if apart => Ok(stay_apart(arguments, connection)),
        Manner::Agree(range) => agree(name, arguments, range, Purpose::Result, connection),
        Manner::Compared(range) => agree(name, arguments, range, Purpose::Comparison, connection),
        Manner::Operator => agree(name, arguments, 0..2, Purpose::Operator, connection),
        Manner::Lead(lead, range) => follow(name, arguments, lead, range, connection),
        Manner::Text(range) => {
            let repertoire = repertoire(&range, &arguments);
            fixed(connection, Traits { repertoire, ..Traits::ASCII }, arguments)
        }
        Manner::System => fixed(Collation::Utf8mb3GeneralCi, Traits::SYSTEM, arguments),
        Manner::Name => fixed(Collation::Utf8mb3GeneralCi, Traits::ASCII, answered(name, arguments)),
        Manner::Document => {
            let traits = Traits { repertoire: Repertoire::Unicode, ..Traits::ASCII };
            fixed(Collation::Utf8mb4Bin, traits, arguments)
        }
        Manner::Decoded => {
            let set = name.rsplit(' ').next().and_then(Collation::default_of_charset);
            let traits = Traits { repertoire: Repertoire::Unicode, ..Traits::ASCII };
            fixed(set.unwrap_or(connection), traits, arguments)
        }
        Manner::Apart if name == "coercibility" => Ok(stay_apart(answered(name, arguments), connection)),
        Manner::Apart => Ok(stay_apart(arguments, connection)),
    }
}

/// A regular expression and what it is matched with are both text or both bytes. Error 3995.
pub(crate) fn not_bytes_and_text(name: &str, arguments: &[Typed]) -> SqlResult<()> {
    let subject = arguments.first();
    for argument in arguments.iter().skip(1) {
        let Some(one) = subject.map(|one| &one.kind.column) else { return Ok(()) };
        let other = &argument.kind.column;
        let bytes = |typed: &Typed| {
            typed.kind.column.is_binary_string() && (name == "regexp_replace" || !is_of_bits(&typed.expr))
        };
        let mixed =
            subject.is_some_and(bytes) && other.is_character() || one.is_character() && bytes(argument);
        if mixed {
            let shown = |kind: &ColumnType| kind.collation().unwrap_or(Collation::Binary).name();
            return Err(SqlError::regexp_sets(shown(one), shown(other), name));
        }
    }
    Ok(())
}

/// The bytes that a BIT shows are searched for texts, and looked for in them; nothing is replaced in them.
fn is_of_bits(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if matches!(call.kind, ColumnType::Bit { .. }))
}

/// Those of `range` agree.
fn agree(
    name: &str,
    mut arguments: Vec<Typed>,
    range: Range<usize>,
    purpose: Purpose,
    connection: Collation,
) -> SqlResult<Settled> {
    let behind = arguments.split_off(range.end.min(arguments.len()));
    let texts = arguments.split_off(range.start.min(arguments.len()));
    let meeting = Meeting { operation: name, purpose, connection };
    let usage = if purpose == Purpose::Result { Use::Result } else { Use::Comparison };
    let (texts, agreed) = met(texts, &meeting, usage)?;
    arguments.extend(texts);
    arguments.extend(behind);
    Ok(Settled { arguments, collation: agreed.collation, result: ResultText::Agreed(agreed) })
}

/// Those of `range` follow the one that leads.
fn follow(
    name: &str,
    arguments: Vec<Typed>,
    lead: usize,
    range: Range<usize>,
    connection: Collation,
) -> SqlResult<Settled> {
    let Some(leading) = arguments.get(lead) else { return Ok(stay_apart(arguments, connection)) };
    let meeting = Meeting { operation: name, purpose: Purpose::Result, connection };
    let mut led = match Party::of(&leading.kind) {
        // QUOTE(NULL) is the word.
        null if name == "quote" && null.derivation() == Derivation::Ignorable => {
            Party { collation: connection, traits: Traits::ASCII }
        }
        party => meeting.agree(&[party])?,
    };
    let mut all = Vec::with_capacity(arguments.len());
    for (nth, argument) in arguments.into_iter().enumerate() {
        if range.contains(&nth) {
            led.traits.repertoire = led.traits.repertoire.max(argument.kind.traits.repertoire);
            all.push(converted(argument, led.collation, Use::Result)?);
        } else {
            all.push(argument);
        }
    }
    Ok(Settled { arguments: all, collation: led.collation, result: ResultText::Agreed(led) })
}

/// No texts meet: what is compared is compared as the first text is, bytes as bytes.
fn stay_apart(arguments: Vec<Typed>, connection: Collation) -> Settled {
    let literal = |one: &&Typed| matches!(one.expr, Expr::Literal(_));
    let texts = || arguments.iter().filter(|one| one.kind.column.is_character());
    let found = texts().rfind(|one| !literal(one)).or_else(|| texts().next());
    let binary = arguments.iter().any(|one| one.kind.column.is_binary_string());
    let own = found.and_then(|one| one.kind.column.collation());
    let collation = if binary { Collation::Binary } else { own.unwrap_or(connection) };
    Settled { arguments, collation, result: ResultText::Made }
}

/// The answer of CHARSET, COLLATION and COERCIBILITY, which is known now, as the call's only argument.
fn answered(name: &str, arguments: Vec<Typed>) -> Vec<Typed> {
    let Some(first) = arguments.first() else { return arguments };
    let kind = &first.kind;
    // A variable is one, whatever it holds.
    let variable = matches!(first.expr, Expr::UserVariable(_) | Expr::AssignVariable { .. });
    let derivation = if variable { Derivation::Implicit } else { kind.traits.derivation };
    // The texts of documents are characters, a column of documents has bytes.
    let read = match &first.expr {
        Expr::Call(call) if call.name == functions::JSON_AS_TEXT => call.arguments.first(),
        other => Some(other),
    };
    let document = kind.column == ColumnType::Json && !matches!(read, Some(Expr::Column(_)));
    let collation = match document {
        true => Collation::Utf8mb4Bin,
        false => kind.column.shown_collation().unwrap_or(Collation::Binary),
    };
    let answer = match name {
        "charset" => Value::text(collation.charset()),
        "collation" => Value::text(collation.name()),
        "coercibility" => Value::Int(derivation.number()),
        _ => return arguments,
    };
    vec![Typed { expr: Expr::Literal(answer), kind: kind.clone() }]
}
