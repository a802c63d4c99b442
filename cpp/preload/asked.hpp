// One call of the program, in words that are the same on all ranks: they must decide alike, each by itself.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

#include "../schedule/schedule.hpp"

namespace hockney {

// Positions in collectives(), whose operations these are.
enum class Operation : std::uint8_t {
    bcast,
    scatter,
    gather,
    reduce,
    allreduce,
    allgather,
    reduce_scatter,
    alltoall,
    barrier
};
constexpr int operations = 9;
const char* name_of(Operation operation);

// Why the library's own code runs.
enum class Why : std::uint8_t {
    served,  // it does not
    no_rule,
    empty,
    one_rank,
    intercommunicator,
    large,
    bitwise,
    gaps,
    unknown,
    irregular,
    refused,
    no_communicator,
    compared,
    scratch,
};
constexpr int whys = 14;
inline constexpr std::array<const char*, whys> reasons = {
    "",
    "no rule",
    "nothing to move",
    "one rank",
    "an intercommunicator",
    "2 GiB or more",
    "--bitwise",
    "a reduction of a datatype whose elements overlap",
    "arguments that the layer does not know",
    "blocks of different sizes",
    "the schedule does not do this",
    "no private communicator",
    "--compare",
    "more scratch memory than it may take",
};

struct Asked {
    Operation operation = Operation::barrier;
    Why why = Why::served;
    Bytes bytes = 0;  // as in Problem
    int root = 0;
    int element_B = 1;
    bool in_place = false, commutative = true;
    // What reductions are done with. Elements of a datatype with gaps are moved with their gaps: `bytes`,
    // which the table is asked for, are without.
    Bytes elements = 0;
    MPI_Datatype element = MPI_BYTE;
    MPI_Op op = MPI_OP_NULL;
};

// A buffer of this rank: `count` elements. Nothing of it is the same on other ranks.
struct Data {
    void* at = nullptr;
    Bytes count = 0;
    MPI_Datatype type = MPI_BYTE;
    // 0 where it can be moved as it is; else the bytes that it takes elsewhere: without its gaps, or, where
    // `spread_B` is not 0, with them, as a reduction needs it. So many bytes of it the program then has.
    Bytes staged_B = 0, spread_B = 0;
    // Only read: the program may have it where nothing can be written, though it is where others have theirs
    // written (the root of a broadcast).
    bool is_kept = false;
};

}  // namespace hockney
