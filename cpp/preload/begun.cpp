// Processes that the program begins by functions of the C library which ask no handler of pthread_atfork().
#include "begun.hpp"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "layer.hpp"

namespace hockney {
namespace {

constexpr const char* names[beginnings] = {"fork()", "MPI_Comm_spawn", "system()", "popen()",
                                           "posix_spawn()"};
std::atomic<long> calls[beginnings];
long faults_before = 0;
// Some C libraries begin the process of one function by another.
thread_local bool is_within = false;

// Page faults of children that ended and were waited for: none has none.
long faults_of_children() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

template <class Function>
void resolve(Function*& own, const char* name) {
    own = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// The C library's.
struct Own {
    decltype(&::system) system;
    decltype(&::popen) popen;
    decltype(&::posix_spawn) posix_spawn, posix_spawnp;

    Own() {
        resolve(system, "system");
        resolve(popen, "popen");
        resolve(posix_spawn, "posix_spawn");
        resolve(posix_spawnp, "posix_spawnp");
    }
};
const Own& own() {
    static const Own functions;
    return functions;
}

template <class Function, class... Arguments>
auto begin(Beginning how, Function* function, Arguments... arguments) {
    note_begun(how);
    const bool was_within = std::exchange(is_within, true);
    const auto answer = function(arguments...);
    is_within = was_within;
    return answer;
}

}  // namespace

void note_begun(Beginning how) {
    if (is_active && !is_within) ++calls[how];
}

void expect_children() {
    own();
    faults_before = faults_of_children();
}

std::string begun() {
    std::ostringstream lines;
    long all = 0;
    for (int how = 0; how < beginnings; ++how) {
        if (calls[how] != 0) lines << "began\t" << names[how] << '\t' << calls[how] << '\n';
        all += calls[how];
    }
    // Whose, nothing says.
    if (all == 0 && faults_of_children() != faults_before)
        lines << "began\tvfork(), clone(), the MPI library or before MPI_Init, at least\t1\n";
    return lines.str();
}

}  // namespace hockney

#define HOCKNEY_SEEN extern "C" __attribute__((visibility("default")))
namespace hockney {

HOCKNEY_SEEN int system(const char* command) { return begin(by_system, own().system, command); }
HOCKNEY_SEEN FILE* popen(const char* command, const char* mode) {
    return begin(by_popen, own().popen, command, mode);
}
HOCKNEY_SEEN int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const words[],
                             char* const environment[]) {
    return begin(by_posix_spawn, own().posix_spawn, child, path, actions, attributes, words, environment);
}
HOCKNEY_SEEN int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const words[],
                              char* const environment[]) {
    return begin(by_posix_spawn, own().posix_spawnp, child, file, actions, attributes, words, environment);
}

}  // namespace hockney
#undef HOCKNEY_SEEN
