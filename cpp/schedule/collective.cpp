// The collective operations.
#include "collective.hpp"

namespace hockney {
namespace {

Bytes nothing(const Problem&, int) { return 0; }
// `Problem::bytes`: a block, or the whole vector.
Bytes one(const Problem& p, int) { return p.bytes; }
Bytes all(const Problem& p, int) { return p.bytes * p.ranks; }
Bytes others(const Problem& p, int) { return p.bytes * (p.ranks - 1); }
// In place, the root's block stays where it is.
Bytes one_except_in_place(const Problem& p, int rank) { return p.in_place && rank == p.root ? 0 : p.bytes; }
template <Bytes (*size)(const Problem&, int)>
Bytes at_root(const Problem& p, int rank) {
    return rank == p.root ? size(p, rank) : 0;
}
Bytes one_elsewhere(const Problem& p, int rank) { return rank == p.root ? 0 : p.bytes; }

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
        Collective("bcast", Direction::outward)
            .sized(nothing, one)
            .moving(one_elsewhere, at_root<one>)
            .from(roots)
            .one_buffer(),
        Collective("scatter", Direction::outward)
            .of_blocks()
            .sized(at_root<all>, one_except_in_place)
            .moving(one_elsewhere, at_root<others>)
            .from(my_block_of_root)
            .placed(InPlace::output_in_input),
        Collective("gather", Direction::inward)
            .of_blocks()
            .sized(one, at_root<all>)
            .moving(at_root<others>, one_elsewhere)
            .from(block_owner)
            .placed(InPlace::own_block_in_output),
        Collective("reduce", Direction::inward)
            .reducing()
            .sized(one, at_root<one>)
            .moving(at_root<one>, one_elsewhere)
            .from(everyones)
            .placed(InPlace::input_in_output),
        Collective("allreduce", Direction::between_all)
            .reducing()
            .sized(one, one)
            .moving(one, one)
            .from(everyones)
            .placed(InPlace::input_in_output),
        Collective("allgather", Direction::between_all)
            .of_blocks()
            .sized(one, all)
            .moving(others, one)
            .from(block_owner)
            .placed(InPlace::own_block_in_output),
        Collective("reduce_scatter", Direction::between_all)
            .reducing()
            .of_blocks()
            .sized(all, one)
            .moving(one, others)
            .from(my_block_of_everyone)
            .placed(InPlace::overwrites_input),
        Collective("alltoall", Direction::between_all)
            .of_blocks()
            .sized(all, all)
            .moving(others, others)
            .from(my_block_of_owner)
            .placed(InPlace::overwrites_input),
        Collective("barrier", Direction::between_all)
            .without_size()
            .sized(nothing, nothing)
            .moving(nothing, nothing)
            .from(roots),
    };
    return all_of_them;
}

const Collective* find_collective(const std::string& name) {
    for (const Collective& collective : collectives())
        if (name == collective.name) return &collective;
    return nullptr;
}

bool input_in_output(const Collective& collective, const Problem& problem, int rank, Bytes& offset_B) {
    offset_B = collective.in_place == InPlace::own_block_in_output ? rank * problem.bytes : 0;
    if (!problem.in_place || collective.in_place == InPlace::nothing ||
        collective.in_place == InPlace::output_in_input)
        return false;
    return !collective.rooted() || rank == problem.root;
}

}  // namespace hockney
