//! Traces of how the session's statements are planned (`optimizer_trace`): made where a statement is planned,
//! kept by the session's state, shown by `information_schema.OPTIMIZER_TRACE`.

use crate::ast::Statement;
use crate::expression_text::query_text;
use crate::plan::trace::Trace;
use crate::plan::uses::{UseList, Uses};
use crate::plan::{PlanContext, query_of_view};
use crate::session::{Session, rights};
use crate::session_state;
use crate::used_tables::{Used, of_statement};

/// A trace of nothing yet, if the session wants one.
pub(super) fn begin(session: &Session) -> Option<Trace> {
    let wanted = &session.settings.tracing;
    wanted.enabled.then(|| Trace::new(wanted.orders, wanted.ranges, wanted.bytes_max))
}

/// Notes what a query means with all its names written out, if it can be written so: it is the form in which
/// a view keeps it, without databases if all that it reads is in the current one.
pub(super) fn prepare(context: &PlanContext<'_>, statement: &Statement) {
    let (Statement::Select(query), Some(trace)) = (statement, context.trace) else { return };
    let noted = Uses::default();
    let context = PlanContext { uses: &noted, trace: None, ..*context };
    if let Ok(kept) = query_of_view(&context, query) {
        let here = |used: &Used| used.schema.as_deref().or(context.schema) == context.schema;
        trace.prepared(&query_text(&kept, of_statement(statement).iter().all(here)));
    }
}

/// Keeps the trace of the statement that was planned. Who may not run it gets none. Who may not see how it is
/// run, for a view among its tables, gets one that is empty and says so.
pub(super) fn keep(session: &Session, trace: Trace, uses: &UseList) {
    if rights::is_denied(session, uses) {
        return;
    }
    let wanted = &session.settings.tracing;
    let kept = match rights::may_explain(session, uses) {
        false => session_state::Trace { withheld: true, ..Default::default() },
        true => {
            let query = session.entry.shown().text.unwrap_or_default();
            let query = String::from_utf8_lossy(&query).into_owned();
            let (text, missing) = trace.print(wanted.one_line);
            session_state::Trace { query, text, missing, withheld: false }
        }
    };
    session.state.trace(kept, wanted);
}
