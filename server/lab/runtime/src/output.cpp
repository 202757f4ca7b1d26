// The C library must not define these inline here: this file defines them itself.
#define __NO_INLINE__ 1
#include "output.h"
#include "worker.h"
#include <map>
#include <mutex>
#include <stdarg.h>
#include <stdio.h>
#include <string>

namespace ks {
namespace {

__thread std::string *unfiled;

struct Output {
    std::mutex mutex;
    std::map<uint64_t, std::string> pieces;
};
Output &output() {
    static Output *const all = new Output;
    return *all;
}

bool in_kernel() { return worker.launch != nullptr; }

void append(const char *text, size_t size) {
    if (unfiled == nullptr) {
        unfiled = new std::string;
    }
    unfiled->append(text, size);
}

int append_formatted(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    char small[512];
    const int size = vsnprintf(small, sizeof small, format, arguments);
    if (size >= 0 && static_cast<size_t>(size) < sizeof small) {
        append(small, static_cast<size_t>(size));
    } else if (size > 0) {
        std::string large(static_cast<size_t>(size) + 1, '\0');
        vsnprintf(large.data(), large.size(), format, again);
        append(large.data(), static_cast<size_t>(size));
    }
    va_end(again);
    return size;
}

int print(const char *format, va_list arguments) {
    return in_kernel() ? append_formatted(format, arguments) : vfprintf(stdout, format, arguments);
}

} // namespace

void collect_output(uint64_t first_block) {
    if (unfiled == nullptr || unfiled->empty()) {
        return;
    }
    Output &all = output();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.pieces[first_block] += *unfiled;
    unfiled->clear();
}

void flush_output() {
    Output &all = output();
    const std::lock_guard<std::mutex> lock(all.mutex);
    for (const auto &[first_block, text] : all.pieces) {
        fwrite(text.data(), 1, text.size(), stdout);
    }
    all.pieces.clear();
}

void flush_output_before_end() {
    Output &all = output();
    if (!all.mutex.try_lock()) {
        return;
    }
    for (const auto &[first_block, text] : all.pieces) {
        fwrite(text.data(), 1, text.size(), stdout);
    }
    all.pieces.clear();
    all.mutex.unlock();
    if (unfiled != nullptr) {
        fwrite(unfiled->data(), 1, unfiled->size(), stdout);
        unfiled->clear();
    }
    fflush(stdout);
}

} // namespace ks

// These stand before the C library's for everything that links this library. Host code gets what it always got; in a
// kernel the text is kept, whole calls at a time. Clang turns simple printf calls into puts and putchar.
extern "C" {
__attribute__((visibility("default"))) int printf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int size = ks::print(format, arguments);
    va_end(arguments);
    return size;
}
__attribute__((visibility("default"))) int __printf_chk(int, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int size = ks::print(format, arguments);
    va_end(arguments);
    return size;
}
__attribute__((visibility("default"))) int vprintf(const char *format, va_list arguments) {
    return ks::print(format, arguments);
}
__attribute__((visibility("default"))) int puts(const char *text) {
    if (!ks::in_kernel()) {
        const int result = fputs(text, stdout);
        return result < 0 ? result : fputc('\n', stdout);
    }
    // printf("%s\n", text) becomes this: a null string prints nothing, as on AMD devices.
    const std::string line = std::string(text != nullptr ? text : "") + '\n';
    ks::append(line.data(), line.size());
    return 1;
}
__attribute__((visibility("default"))) int putchar(int character) {
    if (!ks::in_kernel()) {
        return fputc(character, stdout);
    }
    const char c = static_cast<char>(character);
    ks::append(&c, 1);
    return static_cast<unsigned char>(c);
}
}
