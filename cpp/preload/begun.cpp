// Processes that the program begins by functions of the C library which ask no handler of pthread_atfork().
#include "begun.hpp"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "layer.hpp"

namespace hockney {
namespace {

constexpr const char* names[beginnings] = {"fork()", "MPI_Comm_spawn", "system()", "popen()",
                                           "posix_spawn()"};
std::atomic<long> calls[beginnings];
long faults_before = 0;

// Page faults of children that ended and were waited for: none has none.
long faults_of_children() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

template <class Function>
Function* after(Function*, const char* name, Beginning how) {
    note_begun(how);
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void note_begun(Beginning how) {
    if (is_active) ++calls[how];
}

void expect_children() { faults_before = faults_of_children(); }

std::string begun() {
    std::ostringstream lines;
    long all = 0;
    for (int how = 0; how < beginnings; ++how) {
        if (calls[how] != 0) lines << "began\t" << names[how] << '\t' << calls[how] << '\n';
        all += calls[how];
    }
    if (all == 0 && faults_of_children() != faults_before)
        lines << "began\tvfork() or clone(), at least\t1\n";
    return lines.str();
}

}  // namespace hockney

#define HOCKNEY_SEEN extern "C" __attribute__((visibility("default")))
using hockney::after;

HOCKNEY_SEEN int system(const char* command) { return after(system, "system", hockney::by_system)(command); }
HOCKNEY_SEEN FILE* popen(const char* command, const char* mode) {
    return after(popen, "popen", hockney::by_popen)(command, mode);
}
HOCKNEY_SEEN int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const words[],
                             char* const environment[]) {
    return after(posix_spawn, "posix_spawn", hockney::by_posix_spawn)(child, path, actions, attributes, words,
                                                                      environment);
}
HOCKNEY_SEEN int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const words[],
                              char* const environment[]) {
    return after(posix_spawnp, "posix_spawnp", hockney::by_posix_spawn)(child, file, actions, attributes,
                                                                        words, environment);
}
#undef HOCKNEY_SEEN
