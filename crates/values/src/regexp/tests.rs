//! Bounds of the search, and what the two libraries read differently.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;

fn compiled(pattern: &str) -> SqlResult<Pattern> {
    Pattern::new(pattern, Options::default(), &|_| Ok(()))
}

fn matches(pattern: &str, text: &str) -> bool {
    compiled(pattern).unwrap().search(text, &|_| Ok(())).unwrap().is_match().unwrap()
}

#[test]
fn backtracking_ends() {
    let pattern = compiled(r"^(a|aa|a+)+\1b$").unwrap();
    let error = pattern.search(&"a".repeat(200), &|_| Ok(())).unwrap().is_match().unwrap_err();
    assert_eq!(error.code, 3699);
}

#[test]
fn what_is_too_big_for_an_automaton_is_matched_all_the_same() {
    assert!(matches(r"^[[:alpha:]]{1,64}$", "abc") && !matches(r"^[[:alpha:]]{1,64}$", &"a".repeat(65)));
    assert!(matches(r"^.{1,1000}$", "abc") && matches(r"^\w{1,30}$", "word"));
    let words: Vec<String> = (0..3000).map(|number| format!("word{number}")).collect();
    assert!(matches(&words.join("|"), "say word2999"));
    assert!(!matches(&"a".repeat(30_000), "aaa"));
}

#[test]
fn compiling_is_bounded_told_of_and_ended() {
    let told = std::cell::Cell::new(0);
    for part in ["a", r"\p{L}", "[a-z]", "()", "(?i)", "(?=a)", "a{9}", "[[:alpha:]a]", r"\w|"] {
        for length in [2 << 10, 40 << 10, 1 << 20] {
            told.set(0);
            let pattern = part.repeat(length / part.len());
            let done = Pattern::new(&pattern, Options::default(), &|work| {
                told.set(told.get() + work);
                Ok(())
            });
            assert!(told.get() >= pattern.len() || pattern.len() > SOURCE_BYTES && done.is_err(), "{part}");
            let ended = Pattern::new(&format!("{pattern}x"), Options::default(), &|_| {
                Err(SqlError::query_interrupted())
            });
            assert!(ended.is_err_and(|error| error.code == 1317 || pattern.len() > SOURCE_BYTES), "{part}");
        }
    }
    let classes: String = (0..4000).map(|number| format!(r"[\p{{L}}\x{{{number:x}}}]")).collect();
    assert_eq!(compiled(&classes).err().unwrap().code, 3700, "classes of their own");
}

#[test]
fn plain_patterns_do_not_backtrack() {
    for plain in ["^a+b$", r"\d{2,3}", "[a-z]|x", "(?:a)(b)", "a.c", r"\p{L}"] {
        assert!(!translate(plain, Options::default(), false).unwrap().backtracks, "{plain}");
    }
    for other in ["(?=a)", "(?<!a)b", r"(a)\1", "a++b", "(?>a)b"] {
        assert!(translate(other, Options::default(), false).unwrap().backtracks, "{other}");
    }
}

#[test]
fn ends_of_lines() {
    assert!(
        matches("c$", "abc\n")
            && matches("c$", "abc\r")
            && matches("c$", "abc\r\n")
            && !matches("c$", "abc\n\n")
    );
    assert!(!matches("a.b", "a\rb") && !matches("a.b", "a\nb"));
    for one in
        ["e\u{301}", "\u{1F468}\u{200D}\u{1F469}", "\u{1F1E9}\u{1F1EA}", "\r\n", "\u{1111}\u{1171}\u{11B6}"]
    {
        assert!(matches(r"^\X$", one) && !matches(r"^\X\X$", one), "{one}");
    }
    assert!(matches(r"(?w)\ba", "a") && compiled(r"\Ga").is_err());
    assert!(matches("aab", "aab") && matches("a++b", "aab") && !matches("^(?>a+)ab", "aab"));
}

/// A random pattern of small parts, in the syntax of the library that reads it.
fn random_pattern(rng: &mut impl FnMut(usize) -> usize, depth: usize, groups: &mut usize) -> String {
    const ATOMS: &[&str] =
        &["a", "b", "ab", ".", "[ab]", "[^a]", r"\w", r"\b", "^", "$", "é", "(?i:A)", r"\B", ""];
    if depth == 0 || rng(3) == 0 {
        return ATOMS[rng(ATOMS.len())].to_owned();
    }
    let mut part = |groups: &mut usize| random_pattern(rng, depth - 1, groups);
    let (one, other) = (part(groups), part(groups));
    match rng(12) {
        0 | 1 => format!("{one}{other}"),
        2 => format!("(?:{one}|{other})"),
        3 => {
            *groups += 1;
            format!("({one})")
        }
        4 => format!("(?={one}){other}"),
        5 => format!("(?!{one}){other}"),
        6 => {
            format!("(?:{one}){}{other}", ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?"][rng(9)])
        }
        7 => format!("(?>{one}){other}"),
        8 => format!("(?<=[ab]{{1,2}}){one}"),
        9 => format!("(?<!b|ab){other}"),
        _ => format!("{one}{}{other}", ["a*", "[ab]+", ".*", ".{1,2}", "b??"][rng(5)]),
    }
}

fn drawing(seed: u64) -> impl FnMut(usize) -> usize {
    let mut rng = turnstile_sys::rng::Rng::new(seed);
    move |below| rng.index(below)
}

/// Matches lie where the library that reads the patterns finds them.
#[test]
fn backtracking_finds_what_the_library_finds() {
    let mut rng = drawing(7);
    let mut matched = 0;
    for _ in 0..4000 {
        let mut groups = 0;
        let pattern = random_pattern(&mut rng, 4, &mut groups);
        let Ok(library) =
            fancy_regex::RegexBuilder::new(&pattern).backtrack_limit(BACKTRACKS_OF_TESTS).build()
        else {
            continue;
        };
        let ours = backtrack::Program::new(&pattern, &pattern, &|_| Ok(())).unwrap();
        for _ in 0..4 {
            let text: String = (0..rng(9)).map(|_| ['a', 'b', 'é', ' ', 'A', '\n'][rng(6)]).collect();
            let Ok(theirs) = library.captures_from_pos(&text, 0) else { continue };
            let found = ours.search(&text, 0, &|_| Ok(())).unwrap();
            matched += usize::from(found.is_some());
            let theirs = theirs.map(|theirs| {
                theirs.iter().map(|one| one.map(|one| (one.start(), one.end()))).collect::<Groups>()
            });
            assert_eq!(found, theirs, "{pattern:?} on {text:?}");
        }
    }
    assert!(matched > 3000, "{matched}");
}

const BACKTRACKS_OF_TESTS: usize = 100_000;

/// Work that takes nothing back is told too, and ends when who searches wants it.
#[test]
fn a_search_ends_when_it_is_told_to() {
    let text = "ab".repeat(100_000);
    for pattern in ["(?=.*)c", "(?=.*c)x", "(?<!c)c", r"(.*)(?=\1)c", "a[ab]{100}c", r"\bab{3,200}[^a-z]c"] {
        let looked = std::cell::Cell::new(0);
        let note = |work| {
            assert!(work > 0);
            looked.set(looked.get() + 1);
            if looked.get() == 3 { Err(SqlError::query_interrupted()) } else { Ok(()) }
        };
        let pattern = compiled(pattern).unwrap();
        let ended = pattern.search(&text, &note).unwrap().is_match();
        assert_eq!(ended.unwrap_err().code, 1317);
    }
}

/// In long texts matches lie where they lie in short ones.
#[test]
fn the_automaton_finds_what_the_library_finds() {
    let mut rng = drawing(11);
    let (mut matched, mut quit) = (0, 0);
    for _ in 0..4000 {
        let pattern = random_pattern(&mut rng, 4, &mut 0);
        let Ok(library) = regex::Regex::new(&pattern) else { continue };
        let automaton = Automaton::new(&pattern, false, SIZE_LIMIT).unwrap();
        let mut caches = automaton.caches();
        for _ in 0..4 {
            let text: String = (0..rng(9)).map(|_| ['a', 'b', 'é', ' ', 'A', '\n'][rng(6)]).collect();
            let from = text.char_indices().map(|(at, _)| at).nth(rng(3)).unwrap_or(0);
            let theirs = library.find_at(&text, from).map(|one| (one.start(), one.end()));
            match automaton.find(&mut caches, &text, from, &|_| Ok(())).unwrap() {
                Ok(found) => assert_eq!(found, theirs, "{pattern:?} on {text:?} from {from}"),
                Err(Quit) => quit += 1,
            }
            if let Ok(is_match) = automaton.is_match(&mut caches, &text, from, &|_| Ok(())).unwrap() {
                assert_eq!(is_match, theirs.is_some(), "{pattern:?} on {text:?} from {from}");
            }
            matched += usize::from(theirs.is_some());
        }
    }
    assert!(matched > 1000 && quit < 1000, "{matched} {quit}");
}

/// A pattern that takes long in its text gives the same in each of its ways.
#[test]
fn long_texts_are_searched_alike() {
    let text = format!("{}abé,x {}", "ba ".repeat(50_000), "cc ".repeat(10));
    let note = |_| Ok(());
    for (source, matches) in [
        ("b[^c]{1,40}(,)", true),
        (r"\b[q-x]{40,90}(y)?\b", false),
        (r"\bx\b[^!]{1,200}", true),
        ("[ab ]{200}c", false),
    ] {
        let pattern = compiled(source).unwrap();
        let Program::Plain(plain) = &*pattern.program else { panic!("{source} backtracks") };
        let captures = plain.regex.captures(&text);
        let theirs: Option<Groups> =
            captures.map(|all| all.iter().map(|one| one.map(|one| (one.start(), one.end()))).collect());
        let search = || pattern.search(&text, &note).unwrap();
        assert!(search().caches.is_some(), "{source} is soon through");
        assert_eq!(search().is_match().unwrap(), matches, "{source}");
        assert_eq!(search().find_at(0).unwrap(), theirs.as_ref().and_then(|groups| groups[0]), "{source}");
        assert_eq!(search().groups_at(0).unwrap(), theirs, "{source}");
    }
}
