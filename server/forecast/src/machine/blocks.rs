//! Blocks start, wait at their barriers and end.

use std::cmp::Reverse;

use super::servers::Time;
use super::unit::{Rates, Unit};
use super::wave::{Resident, Wave};
use crate::code::BlockId;
use crate::grid_cache::choose;

impl Unit<'_> {
    /// Starts the unit's next block, not before `time`.
    pub(super) fn start_block(&mut self, time: f64, turnaround: f64) {
        let replay = self.replay;
        let start = &replay.device.start;
        let units = *replay.device.units.count as u64;
        // A unit that gets more blocks than others has theirs: those of the last round, from the grid's end.
        let number = self.next * units + self.number;
        let number = if number < replay.grid { number } else { replay.grid - 1 - number / units % replay.grid };
        if let Some(last) = self.last_round.filter(|last| last.after == self.started) {
            self.rates = Rates::of(replay, last.units);
        }
        self.next += 1;
        self.started += 1;
        let work = choose(number, &self.numbers, replay.may);
        let traced = &replay.works[work];
        let spacing = *start.wave_cycles * traced.waves.len() as f64;
        let spacing = spacing.max(self.rates.active / *start.blocks_per_cycle);
        let begin = (time + turnaround).max(self.last_start + spacing);
        self.last_start = begin;
        let resident = Resident {
            work,
            number,
            deltas: replay.movement.deltas(traced.number, number),
            left: traced.waves.len(),
            arrived: Vec::new(),
            stored: false,
        };
        let block = match self.free_blocks.pop() {
            Some(place) => {
                self.blocks[place] = resident;
                place
            }
            None => {
                self.blocks.push(resident);
                self.blocks.len() - 1
            }
        };
        for number in 0..traced.waves.len() {
            let partition = self.turn % self.partitions.len();
            self.turn += 1;
            let values = replay.program.values;
            let mut wave = Wave {
                block,
                number,
                step: 0,
                op: 0,
                ready: Vec::new(),
                maker: Vec::new(),
                origin: begin,
                partition,
                last_issue: begin,
                previous: BlockId::MAX,
                blamed: None,
                fresh: true,
                stored: None,
            };
            let place = match self.free_waves.pop() {
                Some(place) => {
                    std::mem::swap(&mut wave.ready, &mut self.waves[place].ready);
                    std::mem::swap(&mut wave.maker, &mut self.waves[place].maker);
                    self.waves[place] = wave;
                    place
                }
                None => {
                    self.waves.push(wave);
                    self.waves.len() - 1
                }
            };
            let wave = &mut self.waves[place];
            wave.ready.clear();
            wave.ready.resize(values, 0.0);
            wave.maker.clear();
            wave.maker.resize(values, 0);
            self.heap.push(Reverse((Time(begin), place)));
        }
    }

    /// A wave arrives at its block's barrier; the last one lets all go on.
    pub(super) fn arrive(&mut self, wave: usize, time: f64, line: u32) {
        let state = &mut self.waves[wave];
        state.op += 1;
        let block = state.block;
        self.blocks[block].arrived.push((wave, time));
        self.release(block, line);
    }

    pub(super) fn release(&mut self, block: usize, line: u32) {
        let resident = &mut self.blocks[block];
        if resident.arrived.is_empty() || resident.arrived.len() < resident.left {
            return;
        }
        let last = resident.arrived.iter().map(|(_, time)| *time).fold(0.0, f64::max);
        let until = last + *self.replay.device.issue.barrier_cycles;
        for (wave, _) in std::mem::take(&mut resident.arrived) {
            self.waves[wave].blamed = Some((until, line));
            self.heap.push(Reverse((Time(until), wave)));
        }
    }

    pub(super) fn end_wave(&mut self, wave: usize, time: f64, planned: u64) {
        self.ended = self.ended.max(time);
        let block = self.waves[wave].block;
        self.free_waves.push(wave);
        self.blocks[block].left -= 1;
        if self.blocks[block].left > 0 {
            self.release(block, 0);
            return;
        }
        self.free_blocks.push(block);
        if self.started < planned {
            let start = &self.replay.device.start;
            let turnaround =
                if self.blocks[block].stored { *start.turnaround_after_store_cycles } else { *start.turnaround_cycles };
            self.start_block(time, turnaround);
        }
    }
}
