//! Writes an expression out of its syntax tree, as MySQL prints it in a message.

use turnstile_syntax::ast::{
    self, BinaryOp, CastType, Expr, IsTest, Literal, TrimSide, UnaryOp, quote_name, unit_text,
};

use super::super::Resolver;
use super::{MESSAGE_BYTES_MAX, is_condition, operator, opposite, printed_name, quoted, within_message};

pub(super) struct Writer<'r> {
    pub(super) resolver: &'r dyn Resolver,
    pub(super) text: String,
    pub(super) holes: Vec<(usize, usize)>,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        if self.text.len() <= MESSAGE_BYTES_MAX {
            self.text.push_str(within_message(text));
        }
    }

    fn list(&mut self, list: &[Expr], between: &str) {
        for (nth, one) in list.iter().enumerate() {
            if nth > 0 {
                self.push(between);
            }
            self.expr(one);
        }
    }

    pub(super) fn call(&mut self, name: &str, arguments: &[&Expr]) {
        self.push(name);
        self.push("(");
        for (nth, one) in arguments.iter().enumerate() {
            if nth > 0 {
                self.push(",");
            }
            self.expr(one);
        }
        self.push(")");
    }

    /// `(left op right)`
    pub(super) fn pair(&mut self, left: &Expr, op: &str, right: &Expr) {
        self.push("(");
        self.expr(left);
        self.push(op);
        self.expr(right);
        self.push(")");
    }

    fn condition(&mut self, expr: &Expr) {
        if is_condition(expr) {
            return self.expr(expr);
        }
        self.push("(0 <> ");
        self.expr(expr);
        self.push(")");
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        // What follows would be cut off: a chain of thousands of operators is not gone down for each of them.
        if self.text.len() > MESSAGE_BYTES_MAX {
            return;
        }
        match expr {
            Expr::Literal(literal) => self.literal(literal),
            Expr::Column(name) => {
                let name = self.resolver.named(name);
                self.push(&name);
            }
            Expr::Parameter(_) if self.resolver.is_prepared() => self.push("?"),
            Expr::Parameter(at) => self.holes.push((self.text.len(), *at as usize)),
            Expr::UserVariable(name) => {
                let name = format!("(@{})", quote_name(name));
                self.push(&name);
            }
            Expr::SystemVariable { name, .. } => {
                let name = format!("@@{name}");
                self.push(&name);
            }
            Expr::Assign { variable, value } => {
                let name = format!("(@{variable}:=");
                self.push(&name);
                self.expr(value);
                self.push(")");
            }
            Expr::Unary { op, operand } => self.unary(*op, operand),
            Expr::Binary { op: BinaryOp::Concat, left, right } => self.call("concat", &[left, right]),
            Expr::Binary { op: BinaryOp::Xor, left, right } => self.conditions(&[left, right], " xor "),
            Expr::Binary { op, left, right } => self.pair(left, operator(*op), right),
            Expr::And(list) => self.conditions(&list.iter().collect::<Vec<_>>(), " and "),
            Expr::Or(list) => self.conditions(&list.iter().collect::<Vec<_>>(), " or "),
            Expr::Row(list) => {
                self.push("(");
                self.list(list, ",");
                self.push(")");
            }
            Expr::Is { .. }
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::Like { .. }
            | Expr::Regexp { .. } => self.predicate(expr),
            Expr::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref());
            }
            Expr::Cast { .. } | Expr::ConvertUsing { .. } | Expr::Collate { .. } => self.conversion(expr),
            Expr::Function(call) => self.function(call),
            Expr::DateArithmetic { .. }
            | Expr::TimestampDiff { .. }
            | Expr::Extract { .. }
            | Expr::Trim { .. } => self.special(expr),
            Expr::InsertedValue(name) => {
                let name = format!("values({})", self.resolver.named(name));
                self.push(&name);
            }
            Expr::Default(name) => {
                let name = name.as_deref().map_or(String::new(), |name| self.resolver.named(name));
                self.push(&format!("default({name})"));
            }
            // A query is not written again.
            Expr::Subquery(_) => self.push("(select ...)"),
            Expr::Exists(_) => self.push("exists(select ...)"),
            Expr::InSubquery { operand, .. } | Expr::Quantified { operand, .. } => {
                self.push("(");
                self.expr(operand);
                self.push(" in (select ...))");
            }
        }
    }

    fn conditions(&mut self, list: &[&Expr], between: &str) {
        self.push("(");
        for (nth, one) in list.iter().enumerate() {
            if nth > 0 {
                self.push(between);
            }
            self.condition(one);
        }
        self.push(")");
    }

    fn literal(&mut self, literal: &Literal) {
        let first = |bytes: &[u8]| bytes.iter().copied().take(MESSAGE_BYTES_MAX).collect::<Vec<u8>>();
        let shown = |text: &[u8]| quoted(&String::from_utf8_lossy(&first(text)));
        let moment = |word: &str, text: &[u8]| format!("{word}{}", shown(text));
        let text = match literal {
            Literal::Null => "NULL".to_owned(),
            Literal::Bool(truth) => truth.to_string(),
            Literal::Int(number) => number.to_string(),
            Literal::Decimal(digits) => within_message(digits).to_owned(),
            Literal::Double(number) => format!("{number:e}"),
            Literal::String(string) => {
                let introducer = string.introducer.as_deref().filter(|set| *set != "utf8mb3");
                let set = introducer.map_or(String::new(), |set| format!("_{set}"));
                set + &shown(&string.bytes)
            }
            Literal::Hex(bytes) | Literal::Bit(bytes) => {
                first(bytes).iter().fold(String::from("0x"), |text, byte| text + &format!("{byte:02x}"))
            }
            Literal::Date(text) => moment("DATE", text),
            Literal::Time(text) => moment("TIME", text),
            Literal::Timestamp(text) => moment("TIMESTAMP", text),
        };
        self.push(&text);
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) {
        match (op, operand) {
            (UnaryOp::Negate, _) => self.call("-", &[operand]),
            (UnaryOp::BitNot, _) => self.call("~", &[operand]),
            (UnaryOp::Not, Expr::Binary { op, left, right }) if opposite(*op).is_some() => {
                self.pair(left, operator(opposite(*op).unwrap_or(*op)), right);
            }
            (UnaryOp::Not, _) if is_condition(operand) => {
                self.push("(not(");
                self.expr(operand);
                self.push("))");
            }
            (UnaryOp::Not, _) => {
                self.push("(0 = ");
                self.expr(operand);
                self.push(")");
            }
            (UnaryOp::Binary, _) => {
                self.push("cast(");
                self.expr(operand);
                self.push(" as char charset binary)");
            }
        }
    }

    fn predicate(&mut self, expr: &Expr) {
        let not = |negated: bool| if negated { " not" } else { "" };
        let around = |negated: bool| if negated { ("(not(", "))") } else { ("", "") };
        match expr {
            Expr::Is { operand, test, negated } => {
                let is = if *negated { " is not " } else { " is " };
                let (truth, test) = match test {
                    IsTest::Null | IsTest::Unknown => (false, "null"),
                    IsTest::True => (true, "true"),
                    IsTest::False => (true, "false"),
                };
                self.push("(");
                if truth {
                    self.condition(operand)
                } else {
                    self.expr(operand)
                }
                self.push(is);
                self.push(test);
                self.push(")");
            }
            Expr::Between { operand, low, high, negated } => {
                self.push("(");
                self.expr(operand);
                self.push(not(*negated));
                self.push(" between ");
                self.expr(low);
                self.push(" and ");
                self.expr(high);
                self.push(")");
            }
            Expr::InList { operand, list, negated } if list.len() == 1 => {
                self.pair(operand, if *negated { " <> " } else { " = " }, &list[0]);
            }
            Expr::InList { operand, list, negated } => {
                self.push("(");
                self.expr(operand);
                self.push(not(*negated));
                self.push(" in (");
                self.list(list, ",");
                self.push("))");
            }
            Expr::Like { operand, pattern, escape, negated } => {
                let (before, after) = around(*negated);
                self.push(before);
                self.push("(");
                self.expr(operand);
                self.push(" like ");
                self.expr(pattern);
                if let Some(escape) = escape {
                    self.push(" escape ");
                    self.expr(escape);
                }
                self.push(")");
                self.push(after);
            }
            Expr::Regexp { operand, pattern, negated } => {
                let (before, after) = around(*negated);
                self.push(before);
                self.call("regexp_like", &[operand, pattern]);
                self.push(after);
            }
            _ => {}
        }
    }

    fn case(&mut self, operand: Option<&Expr>, branches: &[(Expr, Expr)], otherwise: Option<&Expr>) {
        self.push("(case");
        let mut part = |word: &str, expr: &Expr| {
            self.push(word);
            self.expr(expr);
        };
        operand.iter().for_each(|one| part(" ", one));
        for (when, then) in branches {
            part(" when ", when);
            part(" then ", then);
        }
        otherwise.iter().for_each(|one| part(" else ", one));
        self.push(" end)");
    }

    fn conversion(&mut self, expr: &Expr) {
        match expr {
            Expr::Cast { operand, target } => {
                self.push("cast(");
                self.expr(operand);
                let target = self.target(target);
                self.push(&format!(" as {target})"));
            }
            Expr::ConvertUsing { operand, charset } => {
                self.push("convert(");
                self.expr(operand);
                self.push(&format!(" using {charset})"));
            }
            Expr::Collate { operand, collation } => {
                self.push("(");
                self.expr(operand);
                self.push(&format!(" collate {collation})"));
            }
            _ => {}
        }
    }

    fn target(&self, target: &CastType) -> String {
        let sized = |word: &str, size: &Option<u64>| match size {
            Some(size) => format!("{word}({size})"),
            None => word.to_string(),
        };
        match target {
            CastType::Binary(length) => sized("char", length) + " charset binary",
            CastType::Char { length, charset } => {
                format!("{} charset {}", sized("char", length), charset.as_deref().unwrap_or("utf8mb4"))
            }
            CastType::Signed => "signed".into(),
            CastType::Unsigned => "unsigned".into(),
            CastType::Date => "date".into(),
            CastType::Time(digits) => sized("time", digits),
            CastType::DateTime(digits) => sized("datetime", digits),
            CastType::Year => "year".into(),
            CastType::Decimal { precision, scale } => {
                format!("decimal({},{})", precision.unwrap_or(10), scale.unwrap_or(0))
            }
            CastType::Float(bits) => sized("float", bits),
            CastType::Double => "double".into(),
            CastType::Json => "json".into(),
        }
    }

    fn function(&mut self, call: &ast::FunctionCall) {
        let arguments: Vec<&Expr> = call.arguments.iter().collect();
        match (&*call.name, &arguments[..]) {
            ("count", []) => self.push("count(0)"),
            ("mod", [left, right]) => self.pair(left, " % ", right),
            ("datediff", [left, right]) => {
                self.push("(");
                self.call("to_days", &[left]);
                self.push(" - ");
                self.call("to_days", &[right]);
                self.push(")");
            }
            ("isnull", [operand]) => {
                self.push("(");
                self.expr(operand);
                self.push(" is null)");
            }
            (name @ ("round" | "truncate"), [number]) => {
                self.push(name);
                self.push("(");
                self.expr(number);
                self.push(",0)");
            }
            ("date", [moment]) => {
                self.push("cast(");
                self.expr(moment);
                self.push(" as date)");
            }
            ("timestamp", [moment]) => {
                self.push("cast(");
                self.expr(moment);
                self.push(" as datetime)");
            }
            (name, _) if call.distinct => {
                self.push(name);
                self.push("(distinct ");
                self.list(&call.arguments, ",");
                self.push(")");
            }
            (name, arguments) => self.call(printed_name(name), arguments),
        }
    }

    /// What has a syntax of its own.
    fn special(&mut self, expr: &Expr) {
        match expr {
            Expr::DateArithmetic { date, amount, unit, subtract } => {
                self.push("(");
                self.expr(date);
                self.push(if *subtract { " - interval " } else { " + interval " });
                self.expr(amount);
                self.push(&format!(" {})", unit_text(*unit)));
            }
            Expr::TimestampDiff { unit, from, to } => {
                self.push(&format!("timestampdiff({},", unit_text(*unit).to_uppercase()));
                self.expr(from);
                self.push(",");
                self.expr(to);
                self.push(")");
            }
            Expr::Extract { unit, operand } => {
                self.push(&format!("extract({} from ", unit_text(*unit)));
                self.expr(operand);
                self.push(")");
            }
            Expr::Trim { side, remove, operand } => {
                let (side, none) = match side {
                    TrimSide::Both => ("both ", "trim("),
                    TrimSide::Leading => ("leading ", "ltrim("),
                    TrimSide::Trailing => ("trailing ", "rtrim("),
                };
                match remove {
                    Some(remove) => {
                        self.push("trim(");
                        self.push(side);
                        self.expr(remove);
                        self.push(" from ");
                    }
                    None => self.push(none),
                }
                self.expr(operand);
                self.push(")");
            }
            _ => {}
        }
    }
}
