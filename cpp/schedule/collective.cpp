// The ten collective operations.
#include "collective.hpp"

namespace hockney {
namespace {

Bytes nothing(const Problem&, int) { return 0; }
Bytes one(const Problem& p, int) { return p.bytes; }
Bytes all(const Problem& p, int) { return p.bytes * p.ranks; }
// In place, the root's block stays where it is.
Bytes one_except_in_place(const Problem& p, int rank) { return p.in_place && rank == p.root ? 0 : p.bytes; }
Bytes one_at_root(const Problem& p, int rank) { return rank == p.root ? p.bytes : 0; }
Bytes all_at_root(const Problem& p, int rank) { return rank == p.root ? all(p, rank) : 0; }

Origin roots(const Problem& p, int, Bytes index) { return {p.root, index}; }
Origin my_block_of_root(const Problem& p, int rank, Bytes index) { return {p.root, rank * p.bytes + index}; }
Origin everyones(const Problem&, int, Bytes index) { return {Origin::everyone, index}; }
Origin my_block_of_everyone(const Problem& p, int rank, Bytes index) {
    return {Origin::everyone, rank * p.bytes + index};
}
Origin block_owner(const Problem& p, int, Bytes index) {
    return {static_cast<int>(index / p.bytes), index % p.bytes};
}
Origin my_block_of_owner(const Problem& p, int rank, Bytes index) {
    return {static_cast<int>(index / p.bytes), rank * p.bytes + index % p.bytes};
}

}  // namespace

const std::vector<Collective>& collectives() {
    static const std::vector<Collective> all_of_them = {
        {"bcast", true, false, nothing, one, roots},
        {"scatter", true, false, all_at_root, one_except_in_place, my_block_of_root},
        {"gather", true, false, one, all_at_root, block_owner},
        {"reduce", true, true, one, one_at_root, everyones},
        {"allreduce", false, true, one, one, everyones},
        {"allgather", false, false, one, all, block_owner},
        {"reduce_scatter", false, true, all, one, my_block_of_everyone},
        {"alltoall", false, false, all, all, my_block_of_owner},
        {"barrier", false, false, nothing, nothing, roots},
    };
    return all_of_them;
}

const Collective* find_collective(const std::string& name) {
    for (const Collective& collective : collectives())
        if (name == collective.name) return &collective;
    return nullptr;
}

bool input_in_output(const Collective& collective, const Problem& problem, int rank, Bytes& offset_B) {
    const std::string name = collective.name;
    offset_B = name == "allgather" || name == "gather" ? rank * problem.bytes : 0;
    if (!problem.in_place || name == "bcast" || name == "scatter" || name == "barrier") return false;
    return !collective.rooted || rank == problem.root;
}

}  // namespace hockney
