//! Who may set a variable. The table declares a [`Right`] for each; SET, SET PERSIST, the hint SET_VAR and
//! the reference page keep to it.
//!
//! A global value is the administrators' without exception: SYSTEM_VARIABLES_ADMIN or SUPER, and to keep a
//! value for the next start alone SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN. What a right says
//! beyond that is told here.

use crate::accounts::Privileges as P;

/// Who may set a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// It has no value of a session's own.
    Admin,
    /// Likewise, and it takes ROLE_ADMIN besides.
    Roles,
    /// Everybody, for the own session.
    Own,
    /// For a session, who administers variables of sessions, of the server, or everything.
    Guarded,
    /// Likewise; who may not is told before the value is looked at.
    GuardedFirst,
    /// For a session, who administers variables; SUPER is not enough.
    NotSuper,
    /// Likewise for the global value, each time before the value is looked at; DEFAULT is everybody's for the
    /// own session.
    Strict,
    /// Everybody, for the own session. The global value takes SUPER, or a privilege that there is not here.
    Encryption,
}

/// One of these privileges, and how error 1227 names them.
pub type Asked = (&'static [P], &'static str);

/// What a global value takes.
pub const GLOBAL: Asked = (&[P::SUPER, P::SYSTEM_VARIABLES_ADMIN], "SUPER or SYSTEM_VARIABLES_ADMIN");

const SESSION: Asked = (
    &[P::SUPER, P::SYSTEM_VARIABLES_ADMIN, P::SESSION_VARIABLES_ADMIN],
    "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
);

const NOT_SUPER: Asked = (
    &[P::SYSTEM_VARIABLES_ADMIN, P::SESSION_VARIABLES_ADMIN],
    "SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
);

impl Right {
    /// What it takes to set the value of one's own session.
    #[must_use]
    pub fn of_session(self) -> Option<Asked> {
        match self {
            Right::Admin | Right::Roles => Some(GLOBAL),
            Right::Own | Right::Encryption => None,
            Right::Guarded | Right::GuardedFirst => Some(SESSION),
            Right::NotSuper | Right::Strict => Some(NOT_SUPER),
        }
    }

    /// What a global value takes beside [`GLOBAL`].
    #[must_use]
    pub fn beside_global(self) -> Option<Asked> {
        match self {
            Right::Admin | Right::Own | Right::Guarded | Right::GuardedFirst | Right::NotSuper => None,
            Right::Roles => {
                let words = "SYSTEM_VARIABLES_ADMIN or SUPER privileges, as well as the ROLE_ADMIN";
                Some((&[P::ROLE_ADMIN], words))
            }
            Right::Strict => Some(NOT_SUPER),
            Right::Encryption => {
                Some((&[P::SUPER], "SUPER or SYSTEM_VARIABLES_ADMIN and TABLE_ENCRYPTION_ADMIN"))
            }
        }
    }

    /// Whether who may not set it is told so before the value is looked at.
    #[must_use]
    pub fn is_asked_first(self) -> bool {
        matches!(self, Right::GuardedFirst | Right::Strict)
    }

    /// Whether it is asked for when the value is DEFAULT.
    #[must_use]
    pub fn guards_default(self) -> bool {
        self != Right::Strict
    }

    /// As the reference page calls those who may set it for their session.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Right::Admin | Right::Roles => "",
            Right::Own | Right::Encryption => "everybody",
            Right::Guarded | Right::GuardedFirst => "guarded",
            Right::NotSuper | Right::Strict => "guarded, not SUPER",
        }
    }
}
