//! CREATE and ALTER USER, GRANT, REVOKE.

use super::{Parse, Parser};
use crate::ast::{Authentication, Statement, UserSpec, UserStatement};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// CREATE USER, ALTER USER
    pub(super) fn user_statement(&mut self, alter: bool) -> Parse<Statement> {
        self.expect(Keyword::User)?;
        let if_exists_clause = if alter { self.if_exists()? } else { self.if_not_exists()? };
        // USER() takes no default roles, though CURRENT_USER() does.
        let by_function = self.at(Keyword::User);
        let users = self.comma_list(|parser| parser.user_spec(alter))?;
        let behind_users = self.token.start;
        let mut user = UserStatement {
            alter,
            if_exists_clause,
            users,
            lock: None,
            require_tls: None,
            user_connections_max: None,
            password_expired: false,
            default_roles: Vec::new(),
            has_options: false,
        };
        let plain = |one: &UserSpec| one.plugin.is_none() && one.authentication.is_none() && !by_function;
        if alter && !matches!(&*user.users, [one] if plain(one)) && self.at(Keyword::Default) {
            return Err(self.unexpected());
        }
        if self.eat_all(Keyword::Default, &[Keyword::Role])? {
            if alter {
                return self.default_role_of(user.users.into_iter().map(|one| one.name).collect());
            }
            user.default_roles = self.comma_list(Self::role_name)?;
        }
        if self.eat(Keyword::Require) {
            user.require_tls = Some(self.tls_requirement()?);
        }
        if self.eat(Keyword::With) {
            user.user_connections_max = self.resource_limits()?;
        }
        self.account_options(&mut user)?;
        user.has_options = self.token.start != behind_users;
        Ok(Statement::User(Box::new(user)))
    }

    fn user_spec(&mut self, alter: bool) -> Parse<UserSpec> {
        let name = self.user_name()?;
        let mut spec = UserSpec { name, plugin: None, authentication: None, replaces: None };
        if !self.eat(Keyword::Identified) {
            return Ok(spec);
        }
        if self.eat(Keyword::With) {
            spec.plugin = Some(self.name_or_text()?);
        }
        if self.eat(Keyword::By) {
            spec.authentication = Some(if self.eat_all(Keyword::Random, &[Keyword::Password])? {
                Authentication::Random
            } else if self.eat(Keyword::Password) {
                Authentication::Hash(self.text()?)
            } else {
                Authentication::Password(self.text()?)
            });
        } else if self.eat(Keyword::As) {
            spec.authentication = Some(Authentication::Hash(self.authentication_text()?));
        } else if spec.plugin.is_none() {
            return Err(self.unexpected());
        }
        if alter && self.eat(Keyword::Replace) {
            spec.replaces = Some(self.text()?);
        }
        if self.eat_all(Keyword::Retain, &[Keyword::Current, Keyword::Password])? {
            return Err(self.not_supported("dual passwords"));
        }
        Ok(spec)
    }

    /// A string, or its bytes in hexadecimal.
    fn authentication_text(&mut self) -> Parse<crate::ast::Text> {
        if let TokenKind::HexNumber | TokenKind::HexString = self.token.kind
            && let crate::ast::Literal::Hex(bytes) = self.literal()?
        {
            return Ok(bytes);
        }
        self.text()
    }

    fn tls_requirement(&mut self) -> Parse<bool> {
        if self.eat(Keyword::None) {
            return Ok(false);
        }
        if self.eat(Keyword::Ssl) {
            return Ok(true);
        }
        let words = [Keyword::X509, Keyword::Subject, Keyword::Issuer, Keyword::Cipher];
        match self.eat_any(&words) {
            // No certificate is asked of clients, so nobody could ever meet it.
            Some(_) => Err(self.not_supported("REQUIRE of a client's certificate or cipher")),
            None => Err(self.unexpected()),
        }
    }

    /// After WITH: MAX_... limits; the one that there is here, and those per hour if they are no limits.
    fn resource_limits(&mut self) -> Parse<Option<u64>> {
        let words = [
            Keyword::MaxConnectionsPerHour,
            Keyword::MaxQueriesPerHour,
            Keyword::MaxUpdatesPerHour,
            Keyword::MaxUserConnections,
        ];
        let (mut most, mut any) = (None, false);
        while let Some(word) = self.eat_any(&words) {
            any = true;
            let number = self.integer()?;
            if word == Keyword::MaxUserConnections {
                most = Some(number);
            } else if number != 0 {
                return Err(self.not_supported("limits per hour of accounts"));
            }
        }
        if any { Ok(most) } else { Err(self.unexpected()) }
    }

    fn account_options(&mut self, user: &mut UserStatement) -> Parse<()> {
        loop {
            if self.eat(Keyword::Account) {
                user.lock = Some(if self.eat(Keyword::Lock) {
                    true
                } else {
                    self.expect(Keyword::Unlock)?;
                    false
                });
            } else if self.eat(Keyword::Password) {
                self.password_option(user)?;
            } else if self.eat_any(&[Keyword::Comment, Keyword::Attribute]).is_some() {
                return Err(self.not_supported("COMMENT and ATTRIBUTE of accounts"));
            } else if self.at_word(b"failed_login_attempts") || self.at_word(b"password_lock_time") {
                self.advance();
                if self.at_word(b"unbounded") || self.integer()? != 0 {
                    return Err(self.not_supported("FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME"));
                }
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn expect_word(&mut self, word: &[u8]) -> Parse<()> {
        if !self.at_word(word) {
            return Err(self.unexpected());
        }
        self.advance();
        Ok(())
    }

    pub(super) fn at_word(&self, word: &[u8]) -> bool {
        let is_name = matches!(self.token.kind, TokenKind::Identifier | TokenKind::Keyword(_));
        is_name && self.span(self.token).eq_ignore_ascii_case(word)
    }

    /// After PASSWORD: EXPIRE, HISTORY, REUSE and the like. What they say by default holds here; anything
    /// else is refused, but for a plain EXPIRE.
    fn password_option(&mut self, user: &mut UserStatement) -> Parse<()> {
        if self.eat(Keyword::Expire) {
            if self.eat(Keyword::Interval) {
                return Err(self.not_supported("PASSWORD EXPIRE INTERVAL"));
            }
            user.password_expired |= self.eat_any(&[Keyword::Default, Keyword::Never]).is_none();
            return Ok(());
        }
        if self.eat(Keyword::Require) {
            self.expect(Keyword::Current)?;
            if self.eat(Keyword::Default) || self.at_word(b"optional") {
                if self.at_word(b"optional") {
                    self.advance();
                }
                return Ok(());
            }
            return Err(self.not_supported("PASSWORD REQUIRE CURRENT"));
        }
        let interval = self.at_word(b"reuse");
        if !interval && !self.at_word(b"history") {
            return Err(self.unexpected());
        }
        self.advance();
        if interval {
            self.expect(Keyword::Interval)?;
        }
        if self.eat(Keyword::Default) {
            return Ok(());
        }
        if self.integer()? != 0 {
            return Err(self.not_supported("PASSWORD HISTORY and PASSWORD REUSE INTERVAL"));
        }
        if interval { self.expect(Keyword::Day) } else { Ok(()) }
    }
}
