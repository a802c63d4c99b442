#include "group.hpp"

#include <array>

namespace hockney {

namespace {

MPI_Comm first_ranks(MPI_Comm world, int ranks) {
    constexpr int tag = 2;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group everyone, first;
    MPI_Comm_group(world, &everyone);
    int range[1][3] = {{0, ranks - 1, 1}};
    MPI_Group_range_incl(everyone, 1, range, &first);
    MPI_Comm_create_group(world, first, tag, &comm);
    MPI_Group_free(&first);
    MPI_Group_free(&everyone);
    return comm;
}

}  // namespace

Group::Group(MPI_Comm world, int ranks_) : comm(first_ranks(world, ranks_)), ranks(ranks_) {
    MPI_Comm_dup(comm, &control);
    MPI_Comm_rank(comm, &rank);
    clock = new GlobalClock(control);
}

Group::~Group() {
    delete clock;
    MPI_Comm_free(&control);
    MPI_Comm_free(&comm);
}

void exchange_burst(const Group& group, unsigned count) {
    constexpr int bytes = 1024, tag = 1;  // eager in every library
    std::array<char, bytes> sent{};
    std::array<std::array<char, bytes>, most_burst> received;
    std::array<MPI_Request, most_burst> requests;
    const int next = (group.rank + 1) % group.ranks, before = (group.rank + group.ranks - 1) % group.ranks;
    for (unsigned i = 0; i < count; ++i)
        MPI_Irecv(received[i].data(), bytes, MPI_BYTE, before, tag, group.control, &requests[i]);
    for (unsigned i = 0; i < count; ++i) MPI_Send(sent.data(), bytes, MPI_BYTE, next, tag, group.control);
    MPI_Waitall(static_cast<int>(count), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace hockney
