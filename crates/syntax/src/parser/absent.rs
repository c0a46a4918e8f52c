//! Statements of MySQL that do not exist here, told apart from mistakes: error 1235 names the feature, and
//! what MySQL does not know either (forms that it has dropped with the words MASTER and SLAVE among them) is
//! a mistake at the word that is wrong.

use super::{Failure, Parser};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// The statement begins with a word that no statement here begins with.
    pub(super) fn unsupported_statement(&mut self, keyword: Keyword) -> Failure {
        match keyword {
            Keyword::Call => self.absent_before_name("CALL"),
            Keyword::Handler => self.absent_before_name("HANDLER"),
            Keyword::Xa => {
                let verbs: [&[u8]; 7] =
                    [b"start", b"begin", b"end", b"prepare", b"commit", b"rollback", b"recover"];
                self.absent_before(&verbs, "XA transactions")
            }
            Keyword::Load => self.absent_load(),
            Keyword::Install | Keyword::Uninstall => {
                self.absent_before(&[b"plugin", b"component"], "plugins and components")
            }
            Keyword::Change => self.absent_before(&[b"replication"], "replication"),
            Keyword::Stop => self.absent_before(&[b"replica", b"group_replication"], "replication"),
            Keyword::Purge => self.absent_before(&[b"binary"], "binary logs"),
            Keyword::Binlog => self.not_supported("binary logs"),
            Keyword::Help => match self.absent_before_name("HELP") {
                _ if self.is(TokenKind::String) => self.not_supported("HELP"),
                failure => failure,
            },
            Keyword::Clone => self.absent_before(&[b"local", b"instance"], "CLONE"),
            Keyword::Cache => self.absent_before(&[b"index"], "CACHE INDEX"),
            Keyword::Import => self.absent_before(&[b"table"], "IMPORT TABLE"),
            Keyword::Restart => {
                self.advance();
                match self.token.kind {
                    TokenKind::End | TokenKind::Semicolon => self.not_supported("RESTART"),
                    _ => self.unexpected(),
                }
            }
            Keyword::Signal | Keyword::Resignal | Keyword::Get => {
                self.not_supported("diagnostics statements")
            }
            _ => self.unexpected(),
        }
    }

    /// What CREATE, ALTER and DROP name that is no part of this server.
    pub(super) fn unsupported_object(&mut self, altered: bool) -> Failure {
        let features: [(&[u8], &[u8], &'static str); 9] = [
            (b"server", b"", "servers of federated tables"),
            (b"logfile", b"group", "LOGFILE GROUP"),
            (b"resource", b"group", "resource groups"),
            (b"library", b"", "libraries"),
            (b"undo", b"tablespace", "tablespaces"),
            (b"spatial", b"reference", "spatial reference systems"),
            (b"aggregate", b"function", "loadable functions"),
            (b"materialized", b"view", "views"),
            (b"json", b"", "views"),
        ];
        if altered && self.at_word(b"instance") {
            return self.absent_instance();
        }
        for (word, next, feature) in features {
            if self.at_word(word) {
                return self.absent_before(&[next], feature);
            }
        }
        self.unexpected()
    }

    /// ALTER INSTANCE
    fn absent_instance(&mut self) -> Failure {
        self.absent_before(&[b"rotate", b"enable", b"disable", b"reload"], "ALTER INSTANCE")
    }

    /// LOAD DATA, LOAD XML, LOAD INDEX INTO CACHE
    fn absent_load(&mut self) -> Failure {
        if self.next_is_word(b"index") {
            return self.not_supported("LOAD INDEX INTO CACHE");
        }
        self.absent_before(&[b"data", b"xml"], "LOAD DATA")
    }

    /// The feature is not there if one of the words follows (the empty word does always), else that place is
    /// wrong.
    pub(super) fn absent_before(&mut self, words: &[&[u8]], feature: &'static str) -> Failure {
        if words.iter().any(|word| word.is_empty() || self.next_is_word(word)) {
            return self.not_supported(feature);
        }
        self.advance();
        self.unexpected()
    }

    fn absent_before_name(&mut self, feature: &'static str) -> Failure {
        let start = self.not_supported(feature);
        self.advance();
        if self.at_name() { start } else { self.unexpected() }
    }

    fn next_is_word(&self, word: &[u8]) -> bool {
        let mut ahead = self.lexer;
        let next = ahead.next_token();
        let is_word = matches!(next.kind, TokenKind::Identifier | TokenKind::Keyword(_));
        is_word && self.span(next).eq_ignore_ascii_case(word)
    }
}
