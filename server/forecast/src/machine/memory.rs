//! An access on its way: shared memory, the caches, the memory, atomics.

use super::lines::own_scratch;
use super::unit::{Place, Unit};
use crate::schedule::Atomic;
use crate::sites::{Motion, SiteKind};
use crate::waves::{Access, Space};

impl Unit<'_> {
    /// An access that was issued at `time`; returns when its value is there.
    pub(super) fn access(
        &mut self,
        wave: usize,
        site: u32,
        place: u32,
        (kind, atomic, scalar): (SiteKind, Atomic, bool),
        time: f64,
    ) -> f64 {
        let replay = self.replay;
        let work = &replay.works[self.blocks[self.waves[wave].block].work];
        let Some(&access) = work.accesses.get(place as usize) else { return time };
        if access.lanes == 0 {
            return time;
        }
        let before = self.waves[wave].stored.take();
        match access.space {
            Space::Shared => self.shared(wave, access, kind, atomic, time),
            Space::Global | Space::Constant if scalar && access.sectors <= 1 => {
                self.scalar_load(wave, site, access, time)
            }
            Space::Constant => self.constant(access, time),
            Space::Global | Space::Scratch => match kind {
                SiteKind::Load => self.load(wave, site, access, time),
                SiteKind::Store => self.store(wave, access, before, time),
                SiteKind::Atomic => self.atomic(wave, site, access, atomic, time),
            },
        }
    }

    /// When a constant is there that is asked for at `time`.
    fn constant(&mut self, access: Access, time: f64) -> f64 {
        let device = self.replay.device;
        let l1 = &device.l1;
        let hits = f64::from(access.passes.saturating_sub(1)) * *l1.constant_cycles;
        let Some(caches) = &l1.constant_caches else {
            let begin = self.constant_port.take(time, hits);
            return begin + hits + *l1.constant_latency;
        };
        // Eight bytes at most for an instruction.
        let instructions = (f64::from(access.bytes) / 8.0).max(1.0);
        let line = |address: u64| address / *caches.line_bytes as u64;
        // Of work-items that ask for many places, the first and the last stand for the others.
        let asked = [line(access.address), line(access.last)];
        let near = asked.map(|line| self.constants[0].look(line, 0));
        let missed = near.iter().filter(|arrives| arrives.is_none()).count() as f64 / near.len() as f64;
        let lines = f64::from(access.passes).min(*caches.near_bytes / *caches.line_bytes);
        let misses = if access.passes > 1 {
            missed * lines * *caches.scattered_miss_cycles
        } else {
            missed * *caches.miss_cycles
        };
        let cycles = (hits + misses) * instructions;
        let done = self.constant_port.take(time, cycles) + cycles;
        let mut ready = done + *l1.constant_latency;
        for (line, near) in asked.into_iter().zip(near) {
            if let Some(arrives) = near {
                ready = ready.max(arrives);
                continue;
            }
            let arrives = match self.constants[1].look(line, 0) {
                Some(arrives) => arrives.max(done + *caches.far_latency),
                None => done + *device.l2.latency,
            };
            self.constants[0].arrive(line, 0, arrives);
            self.constants[1].arrive(line, 0, arrives);
            ready = ready.max(arrives);
        }
        ready
    }

    /// A load of one place for the whole wave, by the scalar cache.
    pub(super) fn scalar_load(&mut self, wave: usize, site: u32, access: Access, time: f64) -> f64 {
        let replay = self.replay;
        let latency = *replay.device.l1.constant_latency;
        let resident = &self.blocks[self.waves[wave].block];
        let work = &replay.works[resident.work];
        let Some(&sector) = work.sectors.get(access.first as usize).filter(|_| access.sectors > 0) else {
            return time + latency;
        };
        let line_shift = replay.movement.geometry.line_shift;
        let sector = replay.movement.sector(site, sector, resident.number, resident.deltas[site as usize]);
        let asked = &mut self.outcome.site_l1[site as usize];
        asked.0 += 1.0;
        if let Some(arrives) = self.scalar_cache.look(sector, line_shift) {
            asked.1 += 1.0;
            return arrives.max(time + latency);
        }
        let traffic = replay.traffic.of(site, resident.number);
        let requests = traffic.requests.max(1.0);
        let (past_l2, past_all) = (traffic.misses / requests, traffic.memory_misses / requests);
        let arrival = self.beyond(1.0, 1.0, (past_l2, past_all, traffic.late / requests), site, time);
        self.scalar_cache.arrive(sector, line_shift, arrival);
        arrival
    }

    pub(super) fn shared(&mut self, wave: usize, access: Access, kind: SiteKind, atomic: Atomic, time: f64) -> f64 {
        let device = self.replay.device;
        let lds = &device.lds;
        let (ideal, passes) = (f64::from(access.ideal), f64::from(access.passes));
        if kind == SiteKind::Atomic
            && let Some(retried) = &lds.retried
        {
            let turn = *retried.turn_cycles;
            match &retried.sum {
                _ if atomic.compares => {
                    let costs = (*retried.swap_cycles, *retried.swap_window_cycles, turn);
                    return self.retried(wave, access, costs, time);
                }
                Some(sum) if atomic.float => {
                    return self.retried(wave, access, (*sum.cycles, *sum.window_cycles, turn), time);
                }
                _ => {}
            }
        }
        let (cycles, latency) = if kind == SiteKind::Atomic {
            let (first, same) = if atomic.float {
                (*lds.atomic_float_cycles, *lds.atomic_float_same_cycles)
            } else {
                (*lds.atomic_cycles, *lds.atomic_same_cycles)
            };
            (first * ideal + same * (passes - ideal), *lds.atomic_latency)
        } else {
            (*lds.cycles * ideal + *lds.conflict_cycles * (passes - ideal), *lds.latency)
        };
        let more = if kind == SiteKind::Store { lds.store_cycles.as_ref().map_or(0.0, |cycles| **cycles) } else { 0.0 };
        let cycles = cycles + more;
        if let Some(bytes) = &lds.pair_bytes_per_cycle {
            // Conflicts keep the banks, not the way of the data.
            let of_banks = f64::from(*lds.banks as u32 * 4);
            let port = (*lds.cycles * ideal + more) * of_banks / **bytes;
            let pair = self.waves[wave].partition * 2 / self.partitions.len();
            let begin = self.ports[pair % 2].take(time, port);
            let begin = self.lds.take(begin, cycles);
            let least = f64::from(device.wave) * 4.0 / **bytes;
            return begin + latency + port.max(cycles) - least.min(port);
        }
        let pipe = if device.l1.one_pipe_with_lds { &mut self.l1 } else { &mut self.lds };
        let begin = pipe.take(time, cycles);
        if device.l1.one_pipe_with_lds {
            self.lds.busy += cycles;
        }
        begin + latency + cycles - *lds.cycles
    }

    /// An atomic of shared memory that is a loop: each turn does what needs no bank twice, and at one address one succeeds at a time.
    fn retried(&mut self, wave: usize, access: Access, (cycles, window, turn): (f64, f64, f64), time: f64) -> f64 {
        let replay = self.replay;
        let passes = f64::from(access.passes);
        let pipe = if replay.device.l1.one_pipe_with_lds { &mut self.l1 } else { &mut self.lds };
        let begin = pipe.take(time, passes * cycles);
        if replay.device.l1.one_pipe_with_lds {
            self.lds.busy += passes * cycles;
        }
        let block = self.waves[wave].block;
        let work = &replay.works[self.blocks[block].work];
        let mut done = begin + passes * turn;
        for &address in &work.sectors[access.first as usize..][..usize::from(access.pieces)] {
            done = done.max(self.retried.entry((block, address)).or_default().pass(begin, window));
        }
        self.held = done;
        done
    }

    pub(super) fn load(&mut self, wave: usize, site: u32, access: Access, time: f64) -> f64 {
        let replay = self.replay;
        let l1 = &replay.device.l1;
        let (sectors, lines) = (f64::from(access.sectors), f64::from(access.lines));
        let data = if l1.banked && access.space == Space::Global {
            f64::from(access.passes)
        } else {
            // What is wanted of the sectors.
            f64::from(access.ideal) * *l1.sector_bytes * self.rates.l1_byte
        };
        let data = match &l1.eight_byte_bytes_per_cycle {
            Some(bytes) if access.bytes == 8 => data.max(f64::from(access.lanes) * 8.0 / **bytes),
            _ => data,
        };
        let addresses = if l1.scattered_items_per_cycle.is_some() { f64::from(access.passes) } else { 0.0 };
        let cycles = (*l1.access_cycles).max(lines * *l1.line_cycles).max(data).max(addresses);
        let block = self.waves[wave].block;
        let resident = &self.blocks[block];
        let number = resident.number;
        let work = &replay.works[resident.work];
        let touched = &work.sectors[access.first as usize..][..usize::from(access.sectors)];
        let line_shift = replay.movement.geometry.line_shift;
        let delta = resident.deltas[site as usize];
        let mut ready = 0.0f64;
        let mut missing = 0.0;
        let mut new_lines = 0.0;
        let mut last_line = u64::MAX;
        let placed = |sector: u64| {
            if access.space == Space::Scratch {
                own_scratch(sector, block)
            } else {
                replay.movement.sector(site, sector, number, delta)
            }
        };
        for &sector in touched {
            let sector = placed(sector);
            match self.cache.look(sector, line_shift) {
                Some(arrives) => ready = ready.max(arrives + 1.0),
                None => {
                    missing += 1.0;
                    if sector >> line_shift != last_line {
                        last_line = sector >> line_shift;
                        new_lines += 1.0;
                    }
                }
            }
        }
        self.outcome.l1_requests += sectors;
        self.outcome.l1_hits += sectors - missing;
        let by_site = &mut self.outcome.site_l1[site as usize];
        by_site.0 += sectors;
        by_site.1 += sectors - missing;
        let cycles =
            if missing > 0.0 { cycles.max(*l1.miss_cycles).max(new_lines * *l1.miss_line_cycles) } else { cycles };
        let tags = self.l1.pass(time, cycles);
        ready = ready.max(tags + *l1.latency);
        if missing > 0.0 {
            let traffic = replay.traffic.of(site, number);
            let requests = traffic.requests.max(1.0);
            let (past_l2, past_all) = (traffic.misses / requests, traffic.memory_misses / requests);
            let late = 0.5 * traffic.late / requests;
            let arrival = self.beyond(missing, new_lines, (past_l2, past_all, late), site, tags);
            for &sector in touched {
                self.cache.arrive(placed(sector), line_shift, arrival);
            }
            ready = ready.max(arrival);
        }
        ready
    }

    /// Fetches sectors that the first-level cache does not have; returns when the last is there.
    pub(super) fn beyond(&mut self, sectors: f64, lines: f64, shares: (f64, f64, f64), site: u32, time: f64) -> f64 {
        let (past_l2, past_all, late) = shares;
        let device = self.replay.device;
        let bytes = sectors * *device.l1.sector_bytes;
        let requested = bytes.max(lines * *device.l2.request_bytes);
        // Of few lines, all or none: neighbours in memory come together. Of many, each for itself.
        let spread = &mut self.spread[site as usize];
        let any =
            if lines <= 2.0 { past_l2 + late } else { 1.0 - (1.0 - (past_l2 + late).clamp(0.0, 1.0)).powf(lines) };
        *spread += any;
        let waits = *spread >= 1.0;
        if waits {
            *spread -= 1.0;
        }
        let missed = if lines > 2.0 {
            past_l2
        } else if waits {
            past_l2 / (past_l2 + late)
        } else {
            0.0
        };
        // A line that is on its way has its place in the first-level cache already.
        let far = (past_l2 + late).min(1.0) * (*device.dram.latency - *device.l2.latency);
        let kept = lines * (*device.l2.latency + far) * self.rates.line_on_its_way;
        let at_unit = self.unit_read.pass(time, kept.max(bytes * self.rates.unit_read));
        let at_l2 = self.l2.pass(time, requested * self.rates.l2_read);
        let mut arrival = at_unit.max(at_l2) + *device.l2.latency;
        if waits && missed == 0.0 {
            arrival = arrival.max(time + *device.dram.latency + self.crowding(time));
        }
        if missed > 0.0 {
            let further = if past_l2 > 0.0 { past_all / past_l2 } else { 0.0 };
            if let Some(cache) = &device.memory_cache {
                let at = self.memory_cache.pass(time, bytes * missed * self.rates.memory_cache);
                if waits {
                    arrival = arrival.max(at + *cache.latency);
                }
            }
            if further > 0.0 {
                let counted = bytes * missed * further * self.rates.read_cost;
                let at = self.dram.pass(time, counted * self.rates.dram_read);
                if waits && further > 0.3 {
                    arrival = arrival.max(at + *device.dram.latency + self.crowding(time));
                }
            }
        }
        arrival
    }

    /// Cycles more that an access to the memory takes because others come at irregular times: as in a queue, without bound as the
    /// memory's time is used up. Turning from writes to reads costs more of it.
    pub(super) fn crowding(&self, time: f64) -> f64 {
        if time <= 0.0 {
            return 0.0;
        }
        let dram = &self.replay.device.dram;
        let used = (self.dram.busy / self.dram.free.max(time)).min(0.95);
        let writes = if self.dram.busy > 0.0 { self.dram_writes / self.dram.busy } else { 0.0 };
        let turns = 1.0 + (*dram.turning - 1.0) * 2.0 * writes.min(1.0 - writes);
        *dram.crowding_cycles * turns * used * used / (1.0 - used)
    }

    pub(super) fn store(&mut self, wave: usize, access: Access, before: Option<(u64, f64)>, time: f64) -> f64 {
        let replay = self.replay;
        let device = replay.device;
        let (sectors, lines) = (f64::from(access.sectors), f64::from(access.lines));
        let l1 = &device.l1;
        let partial = access.sectors > access.ideal;
        let (of_line, of_sector) = if partial {
            (*l1.partial_store_line_cycles, *l1.partial_store_sector_cycles)
        } else {
            (*l1.store_line_cycles, *l1.store_sector_cycles)
        };
        // Where pieces of sectors are written, those go out while the next line's tag is looked up.
        let pieces = l1.store_sector_bytes.as_ref().filter(|_| access.pieces > 0);
        let cycles = match pieces {
            Some(_) => (lines * of_line).max(f64::from(access.pieces) * of_sector).max(f64::from(access.passes)),
            None => lines * of_line + sectors * of_sector,
        };
        let block = self.waves[wave].block;
        self.blocks[block].stored |= access.space == Space::Global;
        let resident = &self.blocks[block];
        let work = &replay.works[resident.work];
        let touched = &work.sectors[access.first as usize..][..usize::from(access.sectors)];
        let line_shift = replay.movement.geometry.line_shift;
        // A store right behind one to the same lines goes the rest of the way together with it.
        let first_line = touched.first().map_or(u64::MAX, |sector| sector >> line_shift);
        let combined = l1.combined_stores.as_ref().filter(|combined| {
            lines <= *combined.lines
                && before.is_some_and(|(line, then)| line == first_line && time - then <= *combined.window_cycles)
        });
        self.waves[wave].stored = Some((first_line, time));
        let cycles = combined.map_or((*l1.access_cycles).max(cycles), |combined| *combined.cycles);
        let at = self.l1.pass(time, cycles);
        if access.space == Space::Scratch {
            // Kept in the first-level cache, and written through.
            for &sector in touched {
                self.cache.arrive(own_scratch(sector, block), line_shift, at);
            }
        }
        let whole = sectors * *device.l1.sector_bytes;
        let bytes = pieces.map_or(whole, |bytes| f64::from(access.pieces) * **bytes);
        let of_line = if partial { *device.l2.partial_write_line_bytes } else { *device.l2.write_line_bytes };
        if combined.is_some() {
            let bytes = f64::from(access.lanes) * f64::from(access.bytes);
            self.l2.pass(at, bytes * self.rates.l2_write);
        } else {
            self.unit_write.pass(at, bytes * self.rates.unit_write);
            self.l2.pass(at, (bytes + lines * of_line) * self.rates.l2_write);
            if device.memory_cache.is_some() {
                self.memory_cache.pass(at, bytes * self.rates.memory_cache);
            }
        }
        let counted = whole * self.rates.written_cost;
        if counted > 0.0 {
            let cycles = counted * self.rates.dram_write;
            self.dram.pass(at, cycles);
            self.dram_writes += cycles;
        }
        at
    }

    pub(super) fn atomic(&mut self, wave: usize, site: u32, access: Access, atomic: Atomic, time: f64) -> f64 {
        let replay = self.replay;
        let device = replay.device;
        let atomics = &device.atomics;
        let (lanes, sectors) = (f64::from(access.lanes), f64::from(access.sectors));
        // All on one address: summed before they leave the unit, where that is possible.
        let uniform = atomic.sums && access.passes == u16::from(access.lanes);
        let at_unit = if uniform { 1.0 } else { (sectors * *atomics.sector_cycles).min(lanes * *atomics.lane_cycles) };
        let begin = self.l1.take(time, at_unit.max(*device.l1.access_cycles));
        let active = self.rates.active;
        // Others change the value meanwhile: most of the work-items that wait for it try anew.
        let (tries, tries_of_part, rounds) = match &atomics.retried {
            Some(retried) if atomic.compares => {
                let others = replay.contenders;
                let tries = |attempts: f64| (others * attempts).max(1.0);
                (tries(*retried.attempts), tries(*retried.part_attempts), others * *retried.window_cycles)
            }
            _ => (1.0, 1.0, 0.0),
        };
        // Work-items on one address are one after another there too.
        let operations = if uniform { sectors } else { sectors.max(f64::from(access.pieces)) };
        let mut done = self.atomics.pass(begin, operations / *atomics.sectors_per_cycle * active * tries);
        done = done.max(self.at_places(wave, site, access, (atomic, uniform, tries_of_part), begin));
        self.ended = self.ended.max(done);
        if atomic.returns { done + (*atomics.latency).max(rounds) } else { begin }
    }
    /// Operations wait for each other where they change one address, and where one part of the second-level cache does them: those of
    /// all units, where all blocks use it. Returns when the last is done.
    fn at_places(
        &mut self,
        wave: usize,
        site: u32,
        access: Access,
        (atomic, uniform, tries): (Atomic, bool, f64),
        begin: f64,
    ) -> f64 {
        let replay = self.replay;
        let atomics = &replay.device.atomics;
        let resident = &self.blocks[self.waves[wave].block];
        let delta = resident.deltas[site as usize];
        let motion = replay.movement.motions[site as usize];
        let active = self.rates.active;
        let sector_shift = replay.movement.geometry.sector_shift;
        let parts = (*atomics.parts_of_kib as u64).max(1);
        let part_of = |address: u64| (address >> 10) * parts + (address >> 8) % parts;
        // Of places that are many, each unit's operations are some of those at any one: its share of the places stands for all.
        let places = match motion {
            Motion::Scattered { low, high } => {
                let all = (part_of(high) - part_of(low) + 1) as f64;
                Some(((all / active) as u64, all)).filter(|_| all > active)
            }
            Motion::Steps { .. } => None,
        };
        // Units whose blocks use the same bytes at the same time: neighbours are on different units.
        let shared_by = |bytes: f64| match motion {
            Motion::Scattered { .. } => places.map_or(active, |(places, all)| active * places as f64 / all),
            Motion::Steps { bytes: [step, ..], .. } if delta != 0 => {
                (bytes / step.unsigned_abs() as f64).clamp(1.0, active)
            }
            Motion::Steps { .. } => active,
        };
        let work = &replay.works[resident.work];
        let moved = |&sector: &u64| replay.movement.sector(site, sector, resident.number, delta);
        let touched: Vec<u64> =
            work.sectors[access.first as usize..][..usize::from(access.sectors)].iter().map(moved).collect();
        // Sectors are in order, so those of a part are next to each other.
        let mut touched_parts: Vec<u64> = touched.iter().map(|sector| part_of(sector << sector_shift)).collect();
        touched_parts.dedup();
        let depth = f64::from(access.pieces).max(f64::from(access.sectors));
        let each = if uniform {
            *atomics.uniform_cycles
        } else {
            depth * *atomics.same_part_cycles / touched_parts.len().max(1) as f64
        };
        let (by_part, by_sector) = (shared_by(1024.0 / parts as f64), shared_by(f64::from(1u32 << sector_shift)));
        let mut done = begin;
        for part in touched_parts {
            let place = Place::Part(places.map_or(part, |(places, _)| part % places));
            done = done.max(self.hot.entry(place).or_default().pass(begin, each * tries * by_part));
        }
        if uniform {
            return done;
        }
        let again = if atomic.float { *atomics.float_same_address_cycles } else { *atomics.same_address_cycles };
        let each = again * depth / f64::from(access.sectors.max(1));
        for sector in touched {
            let place = Place::Sector(places.map_or(sector, |(places, _)| sector % places));
            done = done.max(self.hot.entry(place).or_default().pass(begin, each * by_sector));
        }
        done
    }
}
