//! Cycles of every size and kind are found, once, with the right victim, and queues are not walked.
