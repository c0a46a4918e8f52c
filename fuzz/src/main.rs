//! The fallback where no fuzzer can be built: mutated seeds, without coverage feedback, from a seed number.
//!
//! `mutate TARGET SECONDS SEED FOLDER...`: inputs are made from the files in the folders. An input that
//! panics is saved as `crash-TARGET` in the working folder and ends the process with status 1.
//! `mutate TARGET FILE` tries one input.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs, panic, process};

use turnstile_fuzz::TARGETS;
use turnstile_sys::rng::Rng;

const INPUT_BYTES_MAX: usize = 4096;
const TRIES_BETWEEN_CLOCK: u32 = 64;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, rest @ ..] = arguments.as_slice() else { usage() };
    let Some((_, entry)) = TARGETS.iter().find(|(known, _)| known == name) else { usage() };
    match rest {
        [file] => entry(&fs::read(file).expect("the input can be read")),
        [seconds, seed, folders @ ..] => {
            let (Ok(seconds), Ok(seed)) = (seconds.parse(), seed.parse()) else { usage() };
            let tries = fuzz(name, *entry, Duration::from_secs(seconds), seed, &read_seeds(folders));
            println!("{name}: {tries} inputs from seed {seed} without a crash");
        }
        _ => usage(),
    }
}

fn usage() -> ! {
    eprintln!("mutate TARGET SECONDS SEED FOLDER... | mutate TARGET FILE");
    process::exit(2)
}

fn read_seeds(folders: &[String]) -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new()];
    for folder in folders {
        let mut paths: Vec<_> = fs::read_dir(Path::new(folder))
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        paths.sort();
        seeds.extend(paths.iter().filter_map(|path| fs::read(path).ok()));
    }
    seeds
}

fn fuzz(name: &str, entry: fn(&[u8]), budget: Duration, seed: u64, seeds: &[Vec<u8>]) -> u64 {
    let mut rng = Rng::new(seed);
    let (begun, mut tries) = (Instant::now(), 0);
    while begun.elapsed() < budget {
        for _ in 0..TRIES_BETWEEN_CLOCK {
            let input = mutated(&mut rng, seeds);
            if panic::catch_unwind(|| entry(&input)).is_err() {
                let file = format!("crash-{name}");
                fs::write(&file, &input).expect("the input can be saved");
                eprintln!("{name}: crash after {tries} inputs from seed {seed}; input saved in {file}");
                process::exit(1);
            }
            tries += 1;
        }
    }
    tries
}

/// A seed, or a splice of two, with a few changes of bytes, stretches and lengths.
fn mutated(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut input = seeds[rng.index(seeds.len())].clone();
    if rng.chance(0.3) {
        let other = &seeds[rng.index(seeds.len())];
        input.truncate(rng.index(input.len() + 1));
        input.extend_from_slice(&other[rng.index(other.len() + 1)..]);
    }
    for _ in 0..rng.index(8) {
        let at = rng.index(input.len() + 1);
        match rng.index(7) {
            0 => input.insert(at, rng.next_u64() as u8),
            1 => input.truncate(at),
            2 => {
                let end = at + rng.index(input.len() - at + 1).min(64);
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            3 if at < input.len() => {
                input.drain(at..(at + 1 + rng.index(16)).min(input.len()));
            }
            4 if at < input.len() => input[at] = [0, 1, 0x7f, 0x80, 0xfe, 0xff][rng.index(6)],
            5 if at < input.len() => input[at] ^= 1 << rng.index(8),
            _ if at < input.len() => input[at] = rng.next_u64() as u8,
            _ => {}
        }
    }
    input.truncate(INPUT_BYTES_MAX);
    input
}
