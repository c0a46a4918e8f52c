//! From syntax tree to plan.

mod walk;
