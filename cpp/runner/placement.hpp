// Where this rank runs: host, processor, and what the kernel says about packages, NUMA domains and caches.
#pragma once

#include <string>
#include <vector>

namespace hockney {

// One JSON object; fields that the system does not tell are left out.
std::string placement_json(int rank);

// What tells ranks apart that do not share a clock: the running kernel. (Containers and network namespaces of
// one machine share it.)
std::string clock_domain();

// Bytes of memory that can still be used on this host; 0 where unknown.
double available_memory_B();

// Size of this rank's last-level cache in bytes; a stated default where unknown.
double last_level_cache_B();

// A cache that holds data, of the processor that this rank is on now.
struct DataCache {
    int level;
    double size_B;
    std::vector<long> shared;  // the processors that share it
};

// From the innermost; empty where the system does not tell.
std::vector<DataCache> data_caches();

}  // namespace hockney
