#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod bench;
pub mod client;
pub mod clients;
pub mod contest;
pub mod curve;
pub mod demo;
pub mod dice;
pub mod experiment;
pub mod floor;
pub mod hot_row;
pub mod house;
pub mod interval;
pub mod manifest;
pub mod measure;
pub mod options;
pub mod process;
pub mod progress;
pub mod reply;
pub mod report;
pub mod secret;
pub mod skim;
pub mod sliced;
pub mod switch;
