//! SQL text to syntax tree: recursive descent for statements, precedence climbing for expressions.

/// Deepest tree, and deepest recursion, that a statement may ask for.
pub const DEPTH_MAX: usize = 200;
