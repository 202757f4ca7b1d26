#include "../src/trace.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ks::trace {
namespace {

/// From here on a fill is mapped.
constexpr size_t kSmallest = 8 << 20;
constexpr size_t kPage = 4096;
/// What is mapped again and again.
constexpr size_t kPiece = 4 << 20;

void write(char *at, size_t bytes, uint32_t pattern, size_t offset) {
    for (size_t i = 0; i < bytes; ++i) {
        at[i] = static_cast<char>(pattern >> 8 * ((offset + i) % sizeof pattern));
    }
}

/// A new file of the size of a piece, without a name; -1 where none can be made. (Files of no folder are not for programs
/// under test.)
int make_file() {
    constexpr const char *kName = ".fill";
    const int file = open(kName, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        unlink(kName);
    }
    return file >= 0 && ftruncate(file, kPiece) == 0 ? file : -1;
}

/// A file that holds the pattern; -1 where there is none.
int piece_of(uint32_t pattern) {
    static int file = -1;
    static uint32_t holds;
    static uint32_t *memory;
    if (file >= 0 && holds == pattern) {
        return file;
    }
    if (file >= 0) {
        // What is mapped already stays as it is.
        munmap(memory, kPiece);
        close(file);
    }
    file = make_file();
    if (file < 0) {
        return -1;
    }
    void *mapped = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) {
        close(file);
        return file = -1;
    }
    memory = static_cast<uint32_t *>(mapped);
    for (size_t i = 0; i < kPiece / sizeof pattern; ++i) {
        memory[i] = pattern;
    }
    holds = pattern;
    return file;
}

} // namespace

bool fill(char *at, size_t bytes, uint32_t pattern) {
    if (bytes < kSmallest) {
        return false;
    }
    const uintptr_t begin = reinterpret_cast<uintptr_t>(at);
    const size_t before = (kPage - begin % kPage) % kPage;
    const size_t whole = (bytes - before) / kPage * kPage;
    // A page begins with the pattern's first byte.
    if (before % sizeof pattern != 0) {
        return false;
    }
    const int protection = PROT_READ | PROT_WRITE;
    if (pattern == 0) {
        if (mmap(at + before, whole, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
            MAP_FAILED) {
            return false;
        }
    } else {
        const int file = piece_of(pattern);
        if (file < 0) {
            return false;
        }
        for (size_t done = 0; done < whole; done += kPiece) {
            const size_t count = whole - done < kPiece ? whole - done : kPiece;
            if (mmap(at + before + done, count, protection, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file, 0) ==
                MAP_FAILED) {
                return false; // Then all of it is written.
            }
        }
    }
    write(at, before, pattern, 0);
    write(at + before + whole, bytes - before - whole, pattern, before + whole);
    return true;
}

} // namespace ks::trace
