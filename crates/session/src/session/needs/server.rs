//! What statements about accounts and about the server need.

use super::{ACCOUNTS, ADMINISTRATION, Asker, Need};
use crate::accounts::Privileges as P;
use crate::ast::{FlushTarget, RoleStatement, SetItem, TableName, TransactionScope, UserStatement};
use crate::error::SqlResult;

impl Asker<'_> {
    pub(super) fn set_item(&mut self, item: &SetItem) {
        match item {
            // Declared with the variable, and asked for when the item is checked: `set.rs`.
            SetItem::SystemVariable { .. } => {}
            SetItem::Transaction { scope, .. } => match scope {
                TransactionScope::Next | TransactionScope::Session => {}
                TransactionScope::Global => self.needs(ADMINISTRATION),
            },
            SetItem::Password { user, .. } => {
                if !self.is_own_or_left_out(user.as_ref()) {
                    self.needs(Need::Passwords);
                }
            }
            SetItem::UserVariable { .. } | SetItem::Names { .. } | SetItem::CharacterSet(_) => {}
        }
    }

    /// One changes one's own password, and nothing else of one's account.
    pub(super) fn user(&mut self, user: &UserStatement) {
        let own = user.alter && user.users.iter().all(|one| self.is_own(&one.name));
        if !own || user.changes_more_than_password() {
            self.needs(ACCOUNTS);
        }
    }

    pub(super) fn role(&mut self, role: &RoleStatement) {
        match role {
            RoleStatement::Create { .. } => {
                self.needs(Need::Server(&[P::CREATE_USER, P::CREATE_ROLE], "CREATE USER, CREATE ROLE"));
            }
            RoleStatement::Drop { .. } => {
                self.needs(Need::Server(&[P::CREATE_USER, P::DROP_ROLE], "CREATE USER, DROP ROLE"));
            }
            // Who may pass a role on is told when it is found: `may_pass_roles`. What is held, may be active.
            RoleStatement::Grant { .. } | RoleStatement::Revoke { .. } | RoleStatement::Set(_) => {}
            RoleStatement::SetDefault { users, .. } => {
                if !users.iter().all(|user| self.is_own(user)) {
                    self.needs(ACCOUNTS);
                }
            }
        }
    }

    /// LOCK TABLES and FLUSH TABLES ... WITH READ LOCK.
    pub(super) fn lock(&mut self, name: &TableName) -> SqlResult<()> {
        let schema = self.schema(name)?;
        self.needs(Need::Schema(P::LOCK_TABLES, schema));
        self.table(P::SELECT, name)
    }

    pub(super) fn flush(&mut self, target: &FlushTarget) -> SqlResult<()> {
        let words = match target {
            FlushTarget::Tables { .. } => "RELOAD or FLUSH_TABLES",
            FlushTarget::Privileges => "RELOAD or FLUSH_PRIVILEGES",
            FlushTarget::Status => "RELOAD or FLUSH_STATUS",
            FlushTarget::Logs => "RELOAD",
            FlushTarget::Other(what) => match &**what {
                "USER_RESOURCES" => "RELOAD or FLUSH_USER_RESOURCES",
                "OPTIMIZER_COSTS" => "RELOAD or FLUSH_OPTIMIZER_COSTS",
                _ => "RELOAD",
            },
        };
        self.needs(Need::Server(&[P::RELOAD], words));
        if let FlushTarget::Tables { names, read_lock, export } = target
            && (*read_lock || *export)
        {
            names.iter().try_for_each(|name| self.lock(name))?;
        }
        Ok(())
    }
}
