//! Statements about roles: CREATE, DROP, GRANT, REVOKE, SET ROLE, SET DEFAULT ROLE.

use super::{Parse, Parser};
use crate::ast::{Privilege, RoleChoice, RoleStatement, Statement, UserName};
use crate::lexer::{Keyword, TokenKind};

/// Words that are no role without quotes, besides those that are reserved.
const NO_ROLES: &[&str] = &[
    "EVENT",
    "EXECUTE",
    "FILE",
    "NONE",
    "PROCESS",
    "PROXY",
    "RELOAD",
    "REPLICATION",
    "RESOURCE",
    "RESTART",
    "SHUTDOWN",
    "SUPER",
];

fn role(statement: RoleStatement) -> Statement {
    Statement::Role(Box::new(statement))
}

impl Parser<'_> {
    /// CREATE ROLE
    pub(super) fn create_role(&mut self) -> Parse<Statement> {
        self.advance();
        let if_not_exists = self.if_not_exists()?;
        Ok(role(RoleStatement::Create { roles: self.comma_list(Self::role_name)?, if_not_exists }))
    }

    /// DROP ROLE
    pub(super) fn drop_role(&mut self) -> Parse<Statement> {
        self.advance();
        let if_exists = self.if_exists()?;
        Ok(role(RoleStatement::Drop { roles: self.comma_list(Self::role_name)?, if_exists }))
    }

    /// The name of a role.
    pub(super) fn role_name(&mut self) -> Parse<UserName> {
        if self.at_no_role() || self.at(Keyword::CurrentUser) {
            return Err(self.unexpected());
        }
        self.user_name()
    }

    fn at_no_role(&self) -> bool {
        let bare = matches!(self.token.kind, TokenKind::Identifier | TokenKind::Keyword(_));
        bare && NO_ROLES.iter().any(|word| self.span(self.token).eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Whether a role stands here, in a list of GRANT that may be one of privileges: something in quotes, or
    /// a word that is followed by a host or by the end of its entry, and is no privilege by itself.
    pub(super) fn at_role(&self) -> bool {
        let alone = match self.peek() {
            TokenKind::Comma | TokenKind::UserVariable | TokenKind::At => true,
            TokenKind::Keyword(next) => matches!(next, Keyword::On | Keyword::To | Keyword::From),
            _ => false,
        };
        match self.token.kind {
            TokenKind::String | TokenKind::QuotedIdentifier => true,
            TokenKind::Identifier => alone && !self.at_no_role(),
            TokenKind::Keyword(word) => alone && !word.is_reserved() && !self.at_no_role(),
            _ => false,
        }
    }

    /// The roles that are granted or revoked.
    pub(super) fn roles_among(&self, privileges: &[Privilege]) -> Parse<Vec<UserName>> {
        let named: Option<Vec<_>> = privileges.iter().map(|one| one.role.clone()).collect();
        named.ok_or_else(|| self.unexpected())
    }

    /// Fails if a privilege was given a host.
    pub(super) fn not_roles_of_hosts(&self, privileges: Vec<Privilege>) -> Parse<Vec<Privilege>> {
        let has_host = |one: &Privilege| one.role.as_ref().is_some_and(|role| *role.host != *"%");
        if privileges.iter().any(has_host) { Err(self.unexpected()) } else { Ok(privileges) }
    }

    /// The rest of GRANT roles.
    pub(super) fn grant_roles(&mut self, privileges: Vec<Privilege>) -> Parse<Statement> {
        let roles = self.roles_among(&privileges)?;
        self.expect(Keyword::To)?;
        let users = self.comma_list(Self::user_name)?;
        let admin = self.eat(Keyword::With);
        if admin {
            self.expect_word(b"admin")?;
            self.expect(Keyword::Option)?;
        }
        Ok(role(RoleStatement::Grant { roles, users, admin }))
    }

    /// SET ROLE
    pub(super) fn set_role(&mut self) -> Parse<Statement> {
        self.advance();
        let choice = if self.eat(Keyword::Default) {
            RoleChoice::Default
        } else {
            match self.role_choice()? {
                RoleChoice::All if self.eat(Keyword::Except) => {
                    RoleChoice::AllExcept(self.comma_list(Self::role_name)?)
                }
                other => other,
            }
        };
        Ok(role(RoleStatement::Set(choice)))
    }

    /// SET DEFAULT ROLE
    pub(super) fn set_default_role(&mut self) -> Parse<Statement> {
        self.advance();
        self.advance();
        let choice = self.role_choice()?;
        self.expect(Keyword::To)?;
        Ok(role(RoleStatement::SetDefault { choice, users: self.comma_list(Self::other_user)? }))
    }

    /// An account by its name.
    fn other_user(&mut self) -> Parse<UserName> {
        if self.at(Keyword::User) && self.peek() == TokenKind::LeftParen {
            self.advance();
            return Err(self.unexpected());
        }
        if self.at(Keyword::CurrentUser) { Err(self.unexpected()) } else { self.user_name() }
    }

    /// After ALTER USER user DEFAULT ROLE.
    pub(super) fn default_role_of(&mut self, users: Vec<UserName>) -> Parse<Statement> {
        Ok(role(RoleStatement::SetDefault { choice: self.role_choice()?, users }))
    }

    /// NONE, ALL, or a list.
    fn role_choice(&mut self) -> Parse<RoleChoice> {
        if self.eat(Keyword::None) {
            return Ok(RoleChoice::None);
        }
        if self.eat(Keyword::All) {
            return Ok(RoleChoice::All);
        }
        Ok(RoleChoice::These(self.comma_list(Self::role_name)?))
    }
}
