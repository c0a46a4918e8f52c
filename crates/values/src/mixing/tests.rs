//! The rules on their own: which of two texts wins, and what is refused.

use super::*;
use crate::types::ColumnType;

fn party(collation: &str, derivation: Derivation, repertoire: Repertoire) -> Party {
    let collation = Collation::by_name(collation).expect("a known collation");
    Party { collation, traits: Traits { derivation, repertoire } }
}

fn column(collation: &str) -> Party {
    party(collation, Derivation::Implicit, Repertoire::Unicode)
}

fn literal(collation: &str) -> Party {
    party(collation, Derivation::Coercible, Repertoire::Unicode)
}

fn explicit(collation: &str) -> Party {
    party(collation, Derivation::Explicit, Repertoire::Unicode)
}

fn agree(purpose: Purpose, parties: &[Party]) -> Result<(&'static str, Derivation), String> {
    let meeting = Meeting { operation: "concat", purpose, connection: Collation::DEFAULT };
    match meeting.agree(parties) {
        Ok(party) => Ok((party.collation.name(), party.traits.derivation)),
        Err(error) => Err(format!("{} {}", error.code, error.message)),
    }
}

#[test]
fn the_stronger_wins_and_a_collation_by_code_among_equals() {
    use Derivation::{Coercible, Explicit, Implicit};
    let result = |parties: &[Party]| agree(Purpose::Result, parties).expect("they mix");
    assert_eq!(
        result(&[literal("utf8mb4_0900_ai_ci"), column("latin1_swedish_ci")]),
        ("latin1_swedish_ci", Implicit)
    );
    assert_eq!(result(&[column("utf8mb4_bin"), column("utf8mb4_general_ci")]), ("utf8mb4_bin", Implicit));
    assert_eq!(result(&[column("latin1_swedish_ci"), column("utf8mb4_bin")]), ("utf8mb4_bin", Implicit));
    assert_eq!(
        result(&[column("utf8mb3_bin"), column("utf8mb4_general_ci")]),
        ("utf8mb4_general_ci", Implicit)
    );
    assert_eq!(result(&[literal("binary"), literal("utf8mb4_bin")]), ("binary", Coercible));
    assert_eq!(result(&[literal("binary"), column("utf8mb4_bin")]), ("utf8mb4_bin", Implicit));
    assert_eq!(
        result(&[column("latin2_general_ci"), column("latin1_bin"), explicit("utf8mb4_bin")]),
        ("utf8mb4_bin", Explicit)
    );
}

#[test]
fn equals_that_disagree_make_text_that_no_comparison_takes() {
    let two = [column("utf8mb4_0900_ai_ci"), column("utf8mb4_general_ci")];
    assert_eq!(agree(Purpose::Result, &two), Ok(("utf8mb4_bin", Derivation::None)));
    let refused = "1267 Illegal mix of collations (utf8mb4_0900_ai_ci,IMPLICIT) and (utf8mb4_general_ci,IMPLICIT) for operation 'concat'";
    assert_eq!(agree(Purpose::Operator, &two), Err(refused.into()));
    assert_eq!(agree(Purpose::Comparison, &two), Err(refused.into()));
}

#[test]
fn sets_that_cannot_hold_one_another_do_not_mix() {
    let two = [column("latin1_swedish_ci"), column("latin2_general_ci")];
    let code = |parties: &[Party]| agree(Purpose::Result, parties).map_err(|error| error[..4].to_owned());
    assert_eq!(code(&two), Err("1267".into()));
    assert_eq!(code(&[two[0], two[1], literal("utf8mb4_bin")]), Err("1270".into()));
    assert_eq!(code(&[two[0], two[1], two[0], two[0]]), Err("1271".into()));
    assert_eq!(code(&[explicit("latin1_bin"), explicit("latin1_swedish_ci")]), Err("1267".into()));
    // An operator looks once more, even where COLLATE has decided.
    assert!(agree(Purpose::Comparison, &[explicit("latin1_bin"), column("latin2_bin")]).is_ok());
    assert!(agree(Purpose::Operator, &[explicit("latin1_bin"), column("latin2_bin")]).is_err());
}

#[test]
fn numbers_alone_are_text_of_the_connection() {
    let number = Party::of(&ExprType::nullable(ColumnType::BIGINT));
    assert_eq!(agree(Purpose::Result, &[number, number]), Ok(("utf8mb4_0900_ai_ci", Derivation::Coercible)));
    assert_eq!(
        agree(Purpose::Result, &[number, column("latin2_bin")]),
        Ok(("latin2_bin", Derivation::Implicit))
    );
}
