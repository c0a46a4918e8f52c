//! GRANT and REVOKE of privileges.

use super::name::upper;
use super::{Parse, Parser};
use crate::ast::{Grant, Privilege, PrivilegeLevel, Revoke, RoleStatement, Statement};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// GRANT ...
    pub(super) fn grant(&mut self) -> Parse<Statement> {
        self.advance();
        self.refuse_proxy()?;
        let privileges = self.comma_list(Self::privilege)?;
        if !self.eat(Keyword::On) {
            return self.grant_roles(privileges);
        }
        let level = self.privilege_level()?;
        let privileges = self.not_roles_of_hosts(privileges)?;
        self.expect(Keyword::To)?;
        let users = self.comma_list(Self::user_name)?;
        if self.at(Keyword::As) {
            return Err(self.not_supported("GRANT ... AS"));
        }
        let grant_option = self.eat(Keyword::With);
        if grant_option {
            self.expect(Keyword::Grant)?;
            self.expect(Keyword::Option)?;
        }
        Ok(Statement::Grant(Box::new(Grant { privileges, level, users, grant_option })))
    }

    /// `PROXY ON account`: no account stands for another here.
    pub(super) fn refuse_proxy(&mut self) -> Parse<()> {
        if !self.eat(Keyword::Proxy) {
            return Ok(());
        }
        self.expect(Keyword::On)?;
        self.user_name()?;
        Err(self.not_supported("proxy accounts"))
    }

    /// REVOKE ...
    pub(super) fn revoke(&mut self) -> Parse<Statement> {
        self.advance();
        let if_exists = self.if_exists()?;
        self.refuse_proxy()?;
        let privileges = self.comma_list(Self::privilege)?;
        let level = if self.eat(Keyword::On) { Some(self.privilege_level()?) } else { None };
        let everything = matches!(&*privileges, [all, option] if *all.name == *"ALL PRIVILEGES" && *option.name == *"GRANT OPTION");
        let roles = match level {
            None if !everything => Some(self.roles_among(&privileges)?),
            _ => None,
        };
        self.expect(Keyword::From)?;
        let users = self.comma_list(Self::user_name)?;
        let ignore_unknown_user = self.eat(Keyword::Ignore);
        if ignore_unknown_user {
            self.expect_word(b"unknown")?;
            self.expect(Keyword::User)?;
        }
        if let Some(roles) = roles {
            let revoke = RoleStatement::Revoke { roles, users, if_exists, ignore_unknown_user };
            return Ok(Statement::Role(Box::new(revoke)));
        }
        let privileges = self.not_roles_of_hosts(privileges)?;
        Ok(Statement::Revoke(Box::new(Revoke { privileges, level, users, if_exists, ignore_unknown_user })))
    }

    /// One privilege: words up to a comma, ON, TO, FROM or a column list; or a role.
    pub(super) fn privilege(&mut self) -> Parse<Privilege> {
        if self.at_role() {
            let role = self.user_name()?;
            return Ok(Privilege { name: upper(role.user.clone()), columns: Vec::new(), role: Some(role) });
        }
        let mut words = String::new();
        loop {
            let stop = [Keyword::On, Keyword::To, Keyword::From];
            let is_word = match self.token.kind {
                TokenKind::Keyword(keyword) => !stop.contains(&keyword),
                TokenKind::Identifier => true,
                _ => false,
            };
            // A privilege has three words at most.
            if !is_word || words.matches(' ').count() >= 3 {
                break;
            }
            let token = self.advance();
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(&self.name_of(token)?);
        }
        if words.is_empty() {
            return Err(self.unexpected());
        }
        let mut name = upper(words.into());
        if *name == *"ALL" {
            name = "ALL PRIVILEGES".into();
        }
        let by_column = matches!(&*name, "SELECT" | "INSERT" | "UPDATE" | "REFERENCES");
        let columns = match self.is(TokenKind::LeftParen) {
            true if by_column => self.name_list()?,
            true => return Err(self.unexpected()),
            false => Vec::new(),
        };
        Ok(Privilege { name, columns, role: None })
    }

    pub(super) fn privilege_level(&mut self) -> Parse<PrivilegeLevel> {
        if matches!(self.keyword(), Some(Keyword::Procedure | Keyword::Function)) {
            self.advance();
            let name = self.table_name()?;
            return Ok(PrivilegeLevel::Routine { schema: name.schema, name: name.table });
        }
        if self.at(Keyword::Table) {
            self.advance();
        }
        if self.eat_kind(TokenKind::Star) {
            if self.eat_kind(TokenKind::Dot) {
                self.expect_kind(TokenKind::Star)?;
                return Ok(PrivilegeLevel::Global);
            }
            return Ok(PrivilegeLevel::CurrentSchema);
        }
        let first = self.name()?;
        if !self.eat_kind(TokenKind::Dot) {
            return Ok(PrivilegeLevel::Table { schema: None, table: first });
        }
        if self.eat_kind(TokenKind::Star) {
            return Ok(PrivilegeLevel::Schema(first));
        }
        Ok(PrivilegeLevel::Table { schema: Some(first), table: self.any_name()? })
    }
}
