// The trace of a rank: a header of 256 bytes, then records of varints (LEB128; signed ones zigzag), then
// zeros. Shared by the layer, which writes it, and by what replays it; it knows nothing of MPI.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hockney::trace {

// Of the machine that wrote it: little-endian.
struct Header {
    char magic[8];
    std::uint32_t version, rank, ranks, flags;
    // What the layer itself adds to the time between two calls.
    std::uint64_t overhead_wall_ns, overhead_cpu_ns;
    std::uint64_t start_ns;  // when MPI_Init ended, after that of the first rank
    char host[64], mpi[128];
    // Kept up to date as events are written.
    std::uint64_t events;
    std::uint32_t state;   // State
    std::uint32_t text_B;  // of `refused`: the length of its text, which ends the file
};
constexpr std::size_t header_B = 256;
static_assert(sizeof(Header) == header_B, "records begin after the header");

constexpr char magic[8] = {'H', 'K', 'T', 'R', 'A', 'C', 'E', '1'};
constexpr std::uint32_t version = 1;
constexpr std::uint32_t has_cpu_times = 1;  // of flags

// How a trace ended; one that is open was written by a process that did not end, or was killed.
enum State : std::uint32_t { open = 0, ended = 1, limited = 2, refusing = 3 };

enum Kind : std::uint8_t {
    nothing = 0,  // the end of what was written
    // Definitions, which have no time.
    site = 1,
    comm = 2,
    name = 3,
    vector = 4,
    first_event = 16,
    send = 16,
    isend = 17,
    recv = 18,
    irecv = 19,
    sendrecv = 20,
    wait = 21,
    start = 22,
    send_init = 23,
    recv_init = 24,
    probe = 25,
    mprobe = 26,
    mrecv = 27,
    imrecv = 28,
    collective = 29,
    made = 30,
    freed = 31,
    dropped = 32,
    other = 33,
    finalize = 40,
    limit = 41,
    refused = 42,
};

enum Mode : std::uint8_t { standard = 0, synchronous = 1, buffered = 2, ready = 3 };
enum Wild : std::uint8_t { any_source = 1, any_tag = 2 };
enum CommFlag : std::uint8_t { between_groups = 1, has_neighbours = 2 };
enum CollectiveFlag : std::uint8_t { non_blocking = 1, in_place = 2, not_commutative = 4, has_vectors = 8 };
enum How : std::uint8_t { duplicated = 0, split = 1, created = 2, with_topology = 3, joined_groups = 4 };
enum Dropped : std::uint8_t { request_freed = 0, cancelled = 1 };

// Those that have schedules are as in asked.hpp.
enum Operation : std::uint8_t {
    bcast,
    scatter,
    gather,
    reduce,
    allreduce,
    allgather,
    reduce_scatter,
    alltoall,
    barrier,
    scan,
    exscan,
    allgatherv,
    gatherv,
    scatterv,
    alltoallv,
    neighbor_allgather,
    neighbor_alltoall,
};

constexpr std::int64_t proc_null = -1;  // a peer of `sendrecv` that there is not

}  // namespace hockney::trace
