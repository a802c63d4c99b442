#include "library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace hockney::library {
namespace {

// The first function that the library lacks.
const char* missing = nullptr;
// In place of each: a program that asks for one has been told that there is none.
int is_missing() { return MPI_ERR_OTHER; }

template <class Function>
void find(Function& function, const char* name, bool is_needed = true) {
    void* found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) {
        if (missing == nullptr && is_needed) missing = name;
        found = reinterpret_cast<void*>(is_missing);
    }
    function = reinterpret_cast<Function>(found);
}

// Before the program's first call, in a process that may never make one.
__attribute__((constructor)) void find_all() {
#define HOCKNEY_FIND(name, ...) find(name, "PMPI_" #name);
    HOCKNEY_COLLECTIVES(HOCKNEY_FIND)
    HOCKNEY_LIFE(HOCKNEY_FIND)
    HOCKNEY_SIZED_WATCHED(HOCKNEY_FIND)
    HOCKNEY_UNSIZED_WATCHED(HOCKNEY_FIND)
#undef HOCKNEY_FIND
    // A library may have been built without files.
#define HOCKNEY_FIND(name) find(name, "PMPI_" #name, false);
    HOCKNEY_NAMED(HOCKNEY_FIND)
    HOCKNEY_SIZED_NAMED(HOCKNEY_FIND)
#undef HOCKNEY_FIND
#if MPI_VERSION >= 4
#define HOCKNEY_FIND(name) find(name##_c, "PMPI_" #name "_c", false);
    HOCKNEY_SIZED_NAMED(HOCKNEY_FIND)
#undef HOCKNEY_FIND
#endif
#define HOCKNEY_FIND(name, ...) find(name##_c, "PMPI_" #name "_c");
    HOCKNEY_LARGE(HOCKNEY_FIND)
#if MPI_VERSION >= 4
    HOCKNEY_SIZED_WATCHED(HOCKNEY_FIND)
#endif
#undef HOCKNEY_FIND
}

// Addresses of one loaded file.
struct Range {
    std::atomic<std::uintptr_t> first{0}, end{0};
    std::atomic<Origin> origin{Origin::program};
};

constexpr int most_ranges = 64;
Range ranges[most_ranges];
std::atomic<int> known{0};
std::atomic_flag adding = ATOMIC_FLAG_INIT;

std::string folder_of(const std::string& path) {
    char* whole = realpath(path.c_str(), nullptr);
    std::string resolved = whole != nullptr ? whole : path;
    std::free(whole);
    return resolved.substr(0, resolved.rfind('/') + 1);
}

// Files of the bindings of Fortran: libmpi_mpifh, libmpi_usempif08, libmpi_f90 of Open MPI, libmpichfort and
// libmpifort of MPICH and what comes from it.
bool is_of_bindings(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.compare(0, 6, "libmpi") != 0) return false;
    for (const char* part : {"mpifh", "usempi", "fort", "f77", "f90"})
        if (name.find(part) != std::string::npos) return true;
    return false;
}

Origin origin_of_file(const char* path) {
    if (is_of_bindings(path)) return Origin::binding;
    Dl_info found{};
    if (dladdr(reinterpret_cast<void*>(Barrier), &found) == 0 || found.dli_fname == nullptr)
        return Origin::program;
    if (std::strcmp(found.dli_fname, path) == 0) return Origin::library;
    // The modules of Open MPI lie in a folder below the library's own.
    const std::string home = folder_of(found.dli_fname) + "openmpi/";
    return folder_of(path).compare(0, home.size(), home) == 0 ? Origin::library : Origin::program;
}

struct Search {
    std::uintptr_t address, first = 0, end = 0, moved_by = 0;
    const char* path = "";
};

int look(dl_phdr_info* file, std::size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    for (int i = 0; i < file->dlpi_phnum; ++i) {
        const auto& part = file->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        const std::uintptr_t first = file->dlpi_addr + part.p_vaddr;
        if (search.address < first || search.address >= first + part.p_memsz) continue;
        search.moved_by = file->dlpi_addr;
        search.first = first;
        search.end = first + part.p_memsz;
        search.path = file->dlpi_name != nullptr ? file->dlpi_name : "";
        return 1;
    }
    return 0;
}

Origin add(std::uintptr_t address) {
    Search search{address};
    if (dl_iterate_phdr(look, &search) == 0) return Origin::program;  // code that was made while running
    const Origin origin = origin_of_file(search.path);
    // Whoever comes while another thread adds goes without: the next call asks again.
    if (adding.test_and_set(std::memory_order_acquire)) return origin;
    if (const int count = known.load(std::memory_order_relaxed); count < most_ranges) {
        ranges[count].first = search.first;
        ranges[count].end = search.end;
        ranges[count].origin = origin;
        known.store(count + 1, std::memory_order_release);
    }
    adding.clear(std::memory_order_release);
    return origin;
}

// Frames of this thread, from the layer's outwards.
struct Walk {
    const void* binding;  // where the layer returns to
    bool is_met = false;
    const void* site = nullptr;
};

_Unwind_Reason_Code visit(_Unwind_Context* frame, void* data) {
    auto& walk = *static_cast<Walk*>(data);
    const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
    if (!walk.is_met) {
        walk.is_met = address == walk.binding;
        return _URC_NO_REASON;
    }
    if (origin_of(address) == Origin::binding) return _URC_NO_REASON;
    walk.site = address;
    return _URC_NORMAL_STOP;
}

constexpr std::size_t most_version_B = 1 << 16;

// What the library says of itself, up to its version, where it is the one whose header this is.
std::string expected() {
#if defined(OMPI_MAJOR_VERSION)
    return "Open MPI v" + std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION) +
           "." + std::to_string(OMPI_RELEASE_VERSION);
#elif defined(I_MPI_VERSION)
    return "Intel(R) MPI Library";
#elif defined(MPICH_VERSION) && !defined(MVAPICH_VERSION) && !defined(MVAPICH2_VERSION) && \
    !defined(CRAY_MPICH_VERSION)
    return "MPICH Version: " MPICH_VERSION;
#else
    return "";
#endif
}

// The first line, with one space between words.
std::string line_of(const char* text) {
    std::string line;
    for (; *text != '\0' && *text != '\n'; ++text) {
        const char c = *text == '\t' ? ' ' : *text;
        if (c != ' ' || (!line.empty() && line.back() != ' ')) line += c;
    }
    return line;
}

}  // namespace

std::string lack() {
    // Each library writes as much as its own header says, which is not always this one.
    std::vector<char> text(most_version_B, '\0');
    int length = 0;
    PMPI_Get_library_version(text.data(), &length);
    const std::string found = line_of(text.data()), wanted = expected();
    // 5.0.1 is not 5.0.11.
    const bool goes_on = found.size() > wanted.size() && std::isdigit(found[wanted.size()]) != 0;
    if (!wanted.empty() && (found.compare(0, wanted.size(), wanted) != 0 || goes_on))
        return "the program runs on " + found.substr(0, found.find(',')) + ", not on " + wanted;
    if (missing != nullptr) return "the MPI library of this program has no " + std::string(missing);
    return "";
}

std::uintptr_t moved_by(const void* address) {
    Search search{reinterpret_cast<std::uintptr_t>(address)};
    dl_iterate_phdr(look, &search);
    return search.moved_by;
}

Origin origin_of(const void* place) {
    const auto address = reinterpret_cast<std::uintptr_t>(place);
    const int count = known.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i)
        if (address >= ranges[i].first.load(std::memory_order_relaxed) &&
            address < ranges[i].end.load(std::memory_order_relaxed))
            return ranges[i].origin.load(std::memory_order_relaxed);
    return add(address);
}

std::string unseen() {
    Dl_info own{}, other{};
    if (dladdr(reinterpret_cast<void*>(Barrier), &own) == 0) return "";
    // As compilers of Fortran name the routine.
    for (const char* name : {"mpi_barrier_", "mpi_barrier__", "mpi_barrier", "MPI_BARRIER"}) {
        void* const found = dlsym(RTLD_DEFAULT, name);
        if (found != nullptr && dladdr(found, &other) != 0 &&
            std::strcmp(own.dli_fname, other.dli_fname) == 0)
            return std::string("calls from Fortran, if there are any: the bindings are in ") + own.dli_fname +
                   " itself, whose own calls are left alone";
    }
    return "";
}

const void* program_site(const void* address) {
    if (origin_of(address) != Origin::binding) return address;
    Walk walk{address};
    _Unwind_Backtrace(visit, &walk);
    return walk.site != nullptr ? walk.site : address;
}

}  // namespace hockney::library
