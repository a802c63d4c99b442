// Where this rank runs: host, processor, and what the kernel says about packages, NUMA domains and caches.
#pragma once

#include <string>
#include <vector>

namespace hockney {

// One JSON object; fields that the system does not tell are left out. `progress_threads` names the switches
// of threads beside this rank that are on.
std::string placement_json(int rank, const std::vector<std::string>& progress_threads);

// The processors that the calling thread may run on, ascending; empty where the system does not tell.
std::vector<long> affinity();

// The other hardware threads of the cores of these processors, ascending; empty where there are none, or the
// system does not tell.
std::vector<long> other_threads(const std::vector<long>& processors);

// What affinity() was before any library of this process could change it: OpenMP's binds the first thread to
// its place while it is loaded.
std::vector<long> launched_affinity();

// The processors of this host as a JSON array of objects: `cpu`, `package`, `numa`, and `cache` and `core` by
// the lowest processor that shares the last-level cache or the core. Empty on a simulated host.
std::string processors_json();

// This host as one JSON object: `processors`, each of its `caches` once, and `files` of its devices. Empty on
// a simulated host.
std::string node_json();

// Of a file; empty where there is none.
std::string first_line(const std::string& path);

// Bytes of memory that can still be used on this host; 0 where unknown.
double available_memory_B();

// Size of this rank's last-level cache in bytes; a stated default where unknown.
double last_level_cache_B();

struct Cache {
    int level;
    std::string type;  // Data, Instruction, Unified
    double size_B;
    std::vector<long> shared;  // the processors that share it

    bool holds_data() const { return type != "Instruction"; }
};
// Of the processor that this rank is on now, from the innermost; empty where the system does not tell.
std::vector<Cache> own_caches();

}  // namespace hockney
