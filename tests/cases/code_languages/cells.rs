//! Cells of a locker.
use std::{fmt, io::{self, Read as Reader}};
use crate::doors::*;
mod sizes;
extern crate alloc;

/// A cell.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its number.
    pub number: u32,
    parcel: Option<String>,
}

pub(crate) enum State {
    Free,
    Taken(String),
}

pub trait Openable {
    const TRIES: u8;
    fn open(&mut self) -> io::Result<()>;
    fn close(&mut self) {}
}

impl Cell {
    /// A free cell.
    pub fn new(number: u32) -> Self {
        let check = |n: u32| n > 0;
        fn inner() {}
        Cell { number, parcel: None }
    }

    fn hidden(&self) {}
}

impl<T> Openable for Cell where T: Copy {
    const TRIES: u8 = 3;
    fn open(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub const LIMIT: usize = 10;
static mut COUNT: u32 = 0;
type Cells = Vec<Cell>;

macro_rules! cell {
    ($n:expr) => { Cell::new($n) };
}

#[tokio::main]
async fn main() {}

mod tests {
    #[test]
    fn opens() {}
}
