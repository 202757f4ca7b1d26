//! Reads the file that the tracing runtime writes (`lab`'s `runtime/trace/records.cpp`).

use std::collections::HashMap;

use super::{Event, Launch, Region, RegionKind, TracedBlock};

/// The file is not one that the runtime wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the trace is broken at byte {at}: {what}")]
pub struct ReadError {
    /// Where.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

/// Kinds of records.
const LAUNCH: u32 = 1;
const BLOCK: u32 = 2;
const END: u32 = 3;
const REPEAT: u32 = 4;

/// The launches of a run, in the order in which each was first made. A run that was stopped leaves an end that is cut off:
/// whole blocks before it count.
pub fn read(bytes: &[u8]) -> Result<Vec<Launch>, ReadError> {
    let mut launches: Vec<Launch> = Vec::new();
    let mut by_id = HashMap::new();
    let mut rest = Bytes { bytes, at: 0 };
    while rest.left() >= 16 {
        let (tag, _, size) = (rest.u32()?, rest.u32()?, rest.u64()? as usize);
        if rest.left() < size {
            break;
        }
        let mut body = Bytes { bytes: &bytes[..rest.at + size], at: rest.at };
        rest.at += size;
        match tag {
            LAUNCH => {
                let (id, launch) = read_launch(&mut body)?;
                by_id.insert(id, launches.len());
                launches.push(launch);
            }
            BLOCK => {
                let block = read_block(&mut body)?;
                launches.last_mut().ok_or(body.wrong("a block of no launch"))?.blocks.push(block);
            }
            END => {
                let launch = launches.last_mut().ok_or(body.wrong("the end of no launch"))?;
                read_end(&mut body, launch)?;
            }
            REPEAT => {
                let id = body.u32()?;
                let launch = by_id.get(&id).and_then(|number| launches.get_mut(*number));
                launch.ok_or(body.wrong("a repetition of no launch"))?.launches += 1;
            }
            _ => return Err(body.wrong("a record of no known kind")),
        }
    }
    Ok(launches)
}

fn read_launch(body: &mut Bytes<'_>) -> Result<(u32, Launch), ReadError> {
    let id = body.u32()?;
    let mut extent = || Ok([body.u32()?, body.u32()?, body.u32()?]);
    let (grid, block) = (extent()?, extent()?);
    let dynamic_lds_bytes = body.u32()?;
    let kernel = String::from_utf8_lossy(&body.bytes[body.at..]).into_owned();
    Ok((id, Launch { kernel, grid, block, dynamic_lds_bytes, launches: 1, ..Launch::default() }))
}

fn read_block(body: &mut Bytes<'_>) -> Result<TracedBlock, ReadError> {
    let number = body.u64()?;
    let count = body.u64()? as usize;
    if count > body.left() / 4 {
        return Err(body.wrong("a block of more work-items than there are bytes"));
    }
    let counts: Vec<usize> = (0..count).map(|_| Ok(body.u32()? as usize)).collect::<Result<_, _>>()?;
    let items = counts.into_iter().map(|count| body.events(count)).collect::<Result<_, _>>()?;
    Ok(TracedBlock { number, items })
}

fn read_end(body: &mut Bytes<'_>, launch: &mut Launch) -> Result<(), ReadError> {
    launch.complete = body.u32()? != 0;
    launch.cut = body.u32()? != 0;
    while body.left() > 0 {
        let (begin, end, kind, item_bytes) = (body.u64()?, body.u64()?, body.u32()?, body.u32()?);
        let kind = match kind {
            0 => RegionKind::Global,
            1 => RegionKind::Constant,
            2 => RegionKind::Shared,
            3 => RegionKind::Scratch { item_bytes: item_bytes.into() },
            _ => return Err(body.wrong("memory of no known kind")),
        };
        launch.regions.push(Region { begin, end, kind });
    }
    Ok(())
}

struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn wrong(&self, what: &'static str) -> ReadError {
        ReadError { at: self.at, what }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let taken = self.bytes[self.at..].first_chunk().copied().ok_or(self.wrong("a record that is too short"))?;
        self.at += N;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, ReadError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ReadError> {
        self.take().map(u64::from_le_bytes)
    }

    fn events(&mut self, count: usize) -> Result<Vec<Event>, ReadError> {
        if count > self.left() / 8 {
            return Err(self.wrong("a work-item of more events than there are bytes"));
        }
        let events = self.bytes[self.at..self.at + 8 * count].chunks_exact(8);
        let events = events.map(|event| Event(event.try_into().map_or(0, u64::from_le_bytes))).collect();
        self.at += 8 * count;
        Ok(events)
    }
}
