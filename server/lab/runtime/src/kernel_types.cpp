// A kernel whose address was taken where its type was lost, as in `params.func = reinterpret_cast<void *>(kernel)`.
//
// Its symbol's mangled name says what the parameters are. If all of them are numbers and pointers the call can be made by the
// x86-64 calling convention without their types: whole numbers and pointers fill six registers, floating-point numbers eight
// others, and the rest lie on the stack in order, eight bytes each.
#include "kernel_types.h"
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <memory>
#include <mutex>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace ks {
namespace {

constexpr unsigned kIntegers = 6, kVectors = 8, kOnStack = 16;
constexpr unsigned kMostParameters = kIntegers + kOnStack; ///< that fit even if all are whole numbers

enum class Form : uint8_t { kSigned, kUnsigned, kFloating };
struct Parameter {
    Form form;
    size_t bytes;
};
struct Parameters {
    std::vector<Parameter> all;
    std::vector<size_t> sizes; ///< as `BodyLayout` wants them
    BodyLayout layout;
};

/// A kernel with its arguments, each in eight bytes.
struct UntypedBody {
    const void *function;
    const Parameters *parameters;
    uint64_t slots[kMostParameters];

    void call() const;
    static void find(const void *body, const void **out) {
        const auto *self = static_cast<const UntypedBody *>(body);
        for (size_t i = 0; i < self->parameters->all.size(); ++i) {
            out[i] = &self->slots[i];
        }
    }
};

/// The argument as its register holds it: whole numbers extended, as clang relies on.
uint64_t extended(uint64_t slot, Parameter parameter) {
    const unsigned unused = 64 - 8 * static_cast<unsigned>(parameter.bytes);
    const uint64_t high = slot << unused;
    return parameter.form == Form::kSigned ? static_cast<uint64_t>(static_cast<int64_t>(high) >> unused)
                                           : high >> unused;
}

void UntypedBody::call() const {
    uint64_t r[kIntegers] = {}, s[kOnStack] = {};
    double v[kVectors] = {};
    unsigned integers = 0, vectors = 0, stacked = 0;
    for (size_t i = 0; i < parameters->all.size(); ++i) {
        const uint64_t value = extended(slots[i], parameters->all[i]);
        if (parameters->all[i].form == Form::kFloating && vectors < kVectors) {
            memcpy(&v[vectors++], &value, sizeof value);
        } else if (parameters->all[i].form != Form::kFloating && integers < kIntegers) {
            r[integers++] = value;
        } else {
            s[stacked++] = value;
        }
    }
    using U = uint64_t;
    using F = double;
    using Function = void (*)(U, U, U, U, U, U, F, F, F, F, F, F, F, F, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U);
    reinterpret_cast<Function>(const_cast<void *>(function))(
        r[0], r[1], r[2], r[3], r[4], r[5], v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], s[0], s[1], s[2], s[3],
        s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15]);
}

/// The object that an address lies in.
struct Place {
    uintptr_t address, base;
    std::string path;
};
int look_for_place(dl_phdr_info *info, size_t, void *data) {
    auto *place = static_cast<Place *>(data);
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &segment = info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD && place->address >= begin && place->address < begin + segment.p_memsz) {
            place->base = info->dlpi_addr;
            place->path = info->dlpi_name != nullptr && info->dlpi_name[0] != 0 ? info->dlpi_name : "/proc/self/exe";
            return 1;
        }
    }
    return 0;
}

Place place_of(const void *address) {
    Place place{reinterpret_cast<uintptr_t>(address), 0, ""};
    (void)dl_iterate_phdr(look_for_place, &place);
    return place;
}

/// The name of the function at `offset` in an ELF file that is mapped to memory, or null.
const char *symbol_at(const char *file, size_t bytes, uintptr_t offset) {
    const auto *header = reinterpret_cast<const ElfW(Ehdr) *>(file);
    if (bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_shoff + header->e_shnum * sizeof(ElfW(Shdr)) > bytes) {
        return nullptr;
    }
    const auto *sections = reinterpret_cast<const ElfW(Shdr) *>(file + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; ++i) {
        const ElfW(Shdr) &table = sections[i];
        if ((table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) || table.sh_link >= header->e_shnum) {
            continue;
        }
        const auto *symbols = reinterpret_cast<const ElfW(Sym) *>(file + table.sh_offset);
        for (size_t n = 0; n < table.sh_size / sizeof(ElfW(Sym)); ++n) {
            if (ELF64_ST_TYPE(symbols[n].st_info) == STT_FUNC && symbols[n].st_value == offset) {
                return file + sections[table.sh_link].sh_offset + symbols[n].st_name;
            }
        }
    }
    return nullptr;
}

/// The readable name with parameters, `void scale<float>(float*, int)`; empty if it cannot be told.
std::string readable_name(const void *function) {
    const Place place = place_of(function);
    const int descriptor = open(place.path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        return "";
    }
    const size_t bytes = static_cast<size_t>(status.st_size);
    void *file = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (file == MAP_FAILED) {
        return "";
    }
    std::string name;
    int failed = 0;
    const char *mangled = symbol_at(static_cast<const char *>(file), bytes, place.address - place.base);
    char *readable = mangled != nullptr ? abi::__cxa_demangle(mangled, nullptr, nullptr, &failed) : nullptr;
    if (readable != nullptr) {
        name = readable;
    }
    free(readable);
    munmap(file, bytes);
    return name;
}

/// Where the parameters' parenthesis opens, if the name ends in one.
size_t parameters_begin(const std::string &name) {
    int depth = 0;
    for (size_t i = name.size(); i-- > 0 && name.back() == ')';) {
        depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
        if (depth == 0) {
            return i;
        }
    }
    return std::string::npos;
}

std::vector<std::string> split(const std::string &list) {
    std::vector<std::string> parts;
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= list.size(); ++i) {
        const char c = i < list.size() ? list[i] : ',';
        depth += c == '<' || c == '(' || c == '[' ? 1 : c == '>' || c == ')' || c == ']' ? -1 : 0;
        if (c == ',' && (depth == 0 || i == list.size())) {
            parts.push_back(list.substr(begin, i - begin));
            begin = i + 2;
        }
    }
    return list.empty() ? std::vector<std::string>{} : parts;
}

bool parse(const std::string &type, Parameter *out) {
    static const std::map<std::string, Parameter> known = {
        {"bool", {Form::kUnsigned, 1}},           {"char", {Form::kSigned, 1}},
        {"signed char", {Form::kSigned, 1}},      {"unsigned char", {Form::kUnsigned, 1}},
        {"short", {Form::kSigned, 2}},            {"unsigned short", {Form::kUnsigned, 2}},
        {"int", {Form::kSigned, 4}},              {"unsigned int", {Form::kUnsigned, 4}},
        {"long", {Form::kSigned, 8}},             {"unsigned long", {Form::kUnsigned, 8}},
        {"long long", {Form::kSigned, 8}},        {"unsigned long long", {Form::kUnsigned, 8}},
        {"float", {Form::kFloating, 4}},          {"double", {Form::kFloating, 8}},
    };
    if (!type.empty() && type.back() == '*') {
        *out = {Form::kUnsigned, 8};
        return true;
    }
    const auto found = known.find(type);
    if (found == known.end()) {
        return false;
    }
    *out = found->second;
    return true;
}

/// Runs blocks for one unit of the program.
struct Runner {
    void (*run_blocks)(const Launch &, uint64_t, uint64_t);
    unsigned wave_size;
    bool for_all_units; ///< of its object
};
struct Kernel {
    const Parameters *parameters;
    Runner runner;
};

/// What is known of units, and of kernels found so far; kept as long as the program runs.
struct Found {
    std::mutex mutex;
    std::vector<Runner> runners;
    std::map<const void *, Kernel> kernels;
};
Found &found() {
    static auto *const all = new Found;
    return *all;
}

/// The runner of the unit that the kernel is in: of its object's only one, since nothing tells units apart.
bool find_runner(const void *function, Runner *out) {
    const uintptr_t base = place_of(function).base;
    unsigned count = 0;
    for (const Runner &runner : found().runners) {
        if (place_of(reinterpret_cast<const void *>(runner.run_blocks)).base == base) {
            *out = runner;
            count += count == 0 || !runner.for_all_units;
        }
    }
    return count == 1;
}

hipError_t launch_untyped(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                          hipStream_t stream) {
    Kernel kernel{};
    {
        const std::lock_guard<std::mutex> lock(found().mutex);
        kernel = found().kernels.at(function);
    }
    UntypedBody body{function, kernel.parameters, {}};
    for (size_t i = 0; i < body.parameters->all.size(); ++i) {
        memcpy(&body.slots[i], arguments[i], body.parameters->all[i].bytes);
    }
    Launch launch{grid, block, shared_bytes, stream, Mode::kFibers, nullptr, kernel.runner.run_blocks, &body,
                  &body.parameters->layout, function};
    launch.wave_size = kernel.runner.wave_size;
    return ks_launch(launch);
}

} // namespace

bool find_kernel(const void *function, PointerLaunch *out) {
    const std::string name = readable_name(function);
    const size_t begin = parameters_begin(name);
    if (begin == std::string::npos) {
        return false;
    }
    auto parameters = std::make_unique<Parameters>();
    for (const std::string &type : split(name.substr(begin + 1, name.size() - begin - 2))) {
        Parameter parameter{};
        if (!parse(type, &parameter)) {
            return false;
        }
        parameters->all.push_back(parameter);
        parameters->sizes.push_back(parameter.bytes);
    }
    if (parameters->all.size() > kMostParameters) {
        return false;
    }
    parameters->sizes.push_back(0);
    parameters->layout = {sizeof(UntypedBody), static_cast<unsigned>(parameters->all.size()), parameters->sizes.data(),
                          &UntypedBody::find, nullptr};
    // A template's name comes with its return type.
    const std::string plain = name.compare(0, 5, "void ") == 0 ? name.substr(5, begin - 5) : name.substr(0, begin);
    *out = {ks_kernel_name(nullptr, plain.c_str()), &launch_untyped};
    const std::lock_guard<std::mutex> lock(found().mutex);
    Kernel kernel{nullptr, {}};
    if (!find_runner(function, &kernel.runner)) {
        return false;
    }
    kernel.parameters = parameters.release();
    found().kernels[function] = kernel;
    return true;
}

} // namespace ks

extern "C" {
__attribute__((visibility("default"))) void ks_call_untyped(const void *body) {
    static_cast<const ks::UntypedBody *>(body)->call();
}
__attribute__((visibility("default"))) void ks_offer_runner(void (*run_blocks)(const ks::Launch &, uint64_t, uint64_t),
                                                            unsigned wave_size, bool for_all_units) {
    const std::lock_guard<std::mutex> lock(ks::found().mutex);
    ks::found().runners.push_back({run_blocks, wave_size, for_all_units});
}
}
