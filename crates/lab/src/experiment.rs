//! The experiments, one file each: what is run, what is counted, and the table in the layout of the published
//! one.

pub mod adaptive_hash;
pub mod beside_scans;
pub mod dbstress;
pub mod deadlock_prone;
pub mod deadlock_switch;
pub mod flash_sale;
pub mod in_turn;
pub mod planted_cycle;
pub mod point_selects;
pub mod purge_lag;
pub mod purge_paced;
pub mod purge_watch;
pub mod sbtest;
pub mod stock_order;
pub mod tickets;
pub mod update_key;
pub mod watching;
