// What the runtime tells the sanitizer (`sanitize/`), which only builds for `check --sanitize` contain: there KS_SANITIZE
// is 1 for addresses and 2 for races. In every other build these are nothing.
#pragma once
#include <ks/launch.h>

namespace ks::sanitizer {

/// Room behind dynamic shared memory, so that an overrun is noticed and harms nothing.
#ifdef KS_SANITIZE
inline constexpr size_t kSharedMargin = 1024;
#else
inline constexpr size_t kSharedMargin = 0;
#endif

#ifdef KS_SANITIZE

/// Around the blocks of a launch, and before each block, counted with x fastest.
void begin_launch(const Launch &launch);
void end_launch();
void begin_piece(uint64_t first_block);
void begin_block();
/// Every work-item of the block has ended.
void end_block();
/// Work-item `linear` runs from now on.
void runs(uint32_t linear);
/// Work-item `linear` waits at a call that returns to `pc`.
void waits(uint32_t linear, const void *pc);
/// All that wait at a barrier go on.
void barrier();
/// Work-items at two barriers meet.
void diverged(uint32_t first, uint32_t other);
/// The work-items of a wave that `active` names go on together.
void exchanged(unsigned wave, uint64_t active);
/// Memory that a stack begins to use anew.
void begin_stack(void *lowest, size_t bytes);

/// The arena took address space from the system; nothing in it is given out yet.
void reserved(void *memory, size_t bytes);
/// Room before and behind an allocation of `bytes`; a multiple of the arena's alignment.
size_t margin(size_t bytes);
/// hipMalloc and its kin gave out memory; `kind` says which.
void allocated(void *pointer, size_t bytes, const char *kind);
/// It was freed. Whether it must not be given out again now; such memory is released by take_released.
bool freed(void *pointer, size_t bytes);
/// Memory kept long enough; null: none.
void *take_released(size_t *bytes);
/// A free of what is not allocated: told when it was freed before.
void freed_wrongly(void *pointer);

/// A signal is about to end the program: says where the access was. Whether there is something said.
bool crashed(const void *address);
/// The program is about to end.
void write_counts();

#else

inline void begin_launch(const Launch &) {}
inline void end_launch() {}
inline void begin_piece(uint64_t) {}
inline void begin_block() {}
inline void end_block() {}
inline void runs(uint32_t) {}
inline void waits(uint32_t, const void *) {}
inline void barrier() {}
inline void exchanged(unsigned, uint64_t) {}
inline void begin_stack(void *, size_t) {}
inline size_t margin(size_t) { return 0; }
inline void reserved(void *, size_t) {}
inline void allocated(void *, size_t, const char *) {}
inline bool freed(void *, size_t) { return false; }
inline void *take_released(size_t *) { return nullptr; }
inline void freed_wrongly(void *) {}
inline bool crashed(const void *) { return false; }
inline void write_counts() {}

#endif

} // namespace ks::sanitizer
