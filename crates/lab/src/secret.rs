//! Passwords in `mysql://USER:PASSWORD@HOST`: never in what is printed or kept, and not in the list of
//! processes for longer than it takes to start again.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Stands for a password.
pub const MASK: &str = "***";
/// Carries the passwords across the second start: the environment, unlike the arguments, is for the account's
/// own eyes.
pub const VARIABLE: &str = "TURNSTILE_TARGET_PASSWORDS";

const SCHEME: &str = "mysql://";

/// Where the passwords of the URLs in a text lie.
fn places(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(SCHEME) {
        let begin = at + SCHEME.len();
        let word = text[begin..].split(char::is_whitespace).next().unwrap_or_default();
        // A password may hold an @; the last one is the URL's.
        if let Some((account, _)) = word.rsplit_once('@')
            && let Some((user, password)) = account.split_once(':')
            && !password.is_empty()
        {
            let from = begin + user.len() + 1;
            found.push(from..from + password.len());
        }
    }
    found
}

/// The text with a mask in place of every password.
pub fn mask(text: &str) -> String {
    let mut masked = text.to_string();
    for place in places(text).into_iter().rev() {
        masked.replace_range(place, MASK);
    }
    masked
}

fn passwords(arguments: &[String]) -> Vec<String> {
    let of =
        |text: &String| places(text).into_iter().map(|place| text[place].to_string()).collect::<Vec<_>>();
    arguments.iter().flat_map(of).collect()
}

/// The arguments with the kept passwords in place of the masks, in order.
fn unmask(arguments: &[String], kept: &[String]) -> Vec<String> {
    let mut kept = kept.iter();
    let put_back = |text: &String| {
        let mut whole = text.clone();
        let mut grown = 0_isize;
        for place in places(text).into_iter().filter(|place| text[place.clone()] == *MASK) {
            let Some(password) = kept.next() else { break };
            let at = place.start.saturating_add_signed(grown);
            whole.replace_range(at..at + MASK.len(), password);
            grown += password.len() as isize - MASK.len() as isize;
        }
        whole
    };
    arguments.iter().map(put_back).collect()
}

/// The command line as it was meant. If it has passwords, the program starts itself once more without them,
/// so that `ps` does not show them.
pub fn conceal(arguments: Vec<String>) -> Vec<String> {
    if let Some(kept) =
        std::env::var(VARIABLE).ok().and_then(|text| serde_json::from_str::<Vec<String>>(&text).ok())
    {
        return unmask(&arguments, &kept);
    }
    let found = passwords(&arguments);
    if !found.is_empty()
        && let (Ok(binary), Ok(kept)) = (std::env::current_exe(), serde_json::to_string(&found))
    {
        let masked = arguments.iter().map(|text| mask(text));
        // It returns only if it has failed, and then the run goes on as it is.
        let _ = Command::new(binary).arg0("turnstile").args(masked).env(VARIABLE, kept).exec();
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_masked_wherever_they_stand_and_put_back_in_order() {
        let cases = [
            ("mysql://root@h:1", "mysql://root@h:1"),
            ("mysql://u:p@h:1 and b@7@mysql://v:q:@r@h/", "mysql://u:***@h:1 and b@7@mysql://v:***@h/"),
            ("--target=mysql://u:pä@h:x", "--target=mysql://u:***@h:x"),
            ("mysql://u:@h mysql://u:p", "mysql://u:@h mysql://u:p"),
            ("no url: u:p@h", "no url: u:p@h"),
        ];
        for (text, masked) in cases {
            assert_eq!(mask(text), masked);
            let arguments = ["x".to_string(), text.to_string()];
            assert_eq!(unmask(&["x".into(), mask(text)], &passwords(&arguments)), arguments);
        }
    }
}
