// Communicators in a trace: who is in them, and what tells those of the same ranks apart.
#include <sched.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "channel.hpp"
#include "library.hpp"
#include "trace.hpp"

namespace hockney::trace {

bool world_ranks(MPI_Group group, std::vector<int>& there) {
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    int size = 0;
    PMPI_Group_size(group, &size);
    std::vector<int> here(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) here[static_cast<std::size_t>(i)] = i;
    there = here;
    PMPI_Group_translate_ranks(group, size, here.data(), world, there.data());
    PMPI_Group_free(&world);
    return std::none_of(there.begin(), there.end(), [](int rank) { return rank < 0; });
}

bool shares_cores() {
    MPI_Comm host = MPI_COMM_NULL;
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    PMPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(hash_of({boot.begin(), boot.end()}) >> 33U), 0, &host);
    if (boot.empty()) {
        // As the library says, which may take containers for machines.
        MPI_Comm unnamed = std::exchange(host, MPI_COMM_NULL);
        PMPI_Comm_split_type(unnamed, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
        PMPI_Comm_free(&unnamed);
    }
    std::array<unsigned long, 128> mask{};
    int ranks = 1, processors = 0;
    PMPI_Comm_size(host, &ranks);
    const bool is_known = sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data())) == 0;
    if (!is_known) mask.fill(0);
    library::Allreduce(MPI_IN_PLACE, mask.data(), static_cast<int>(mask.size()), MPI_UNSIGNED_LONG, MPI_BOR,
                       host);
    PMPI_Comm_free(&host);
    for (const unsigned long part : mask) processors += __builtin_popcountl(part);
    return processors != 0 && ranks > processors;
}

namespace {

using Ranks = std::vector<int>;

std::int64_t next_comm = 0;
// How many were made of the same members.
auto& alike = *new std::unordered_map<std::size_t, std::uint64_t>;

// Runs of consecutive ranks.
void add_runs(std::vector<std::int64_t>& numbers, const Ranks& ranks) {
    const std::size_t count_at = numbers.size();
    numbers.push_back(0);
    std::int64_t end = 0;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t next = i + 1;
        while (next < ranks.size() && ranks[next] == ranks[next - 1] + 1) ++next;
        const std::int64_t first = ranks[i] - end;
        numbers.push_back(static_cast<std::int64_t>(wire(Signed{first})));
        numbers.push_back(static_cast<std::int64_t>(next - i));
        end = ranks[next - 1] + 1;
        ++numbers[count_at];
        i = next;
    }
}

// False where it is not a topology.
bool neighbours_of(MPI_Comm comm, Ranks& sources, Ranks& targets) {
    int kind = MPI_UNDEFINED, rank = 0, count = 0, other = 0, is_weighted = 0;
    PMPI_Topo_test(comm, &kind);
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &count);
        for (int dimension = 0; dimension < count; ++dimension) {
            int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
            PMPI_Cart_shift(comm, dimension, 1, &below, &above);
            sources.insert(sources.end(), {below, above});
        }
        targets = sources;
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &count);
        sources.resize(static_cast<std::size_t>(count));
        PMPI_Graph_neighbors(comm, rank, count, sources.data());
        targets = sources;
    } else if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &count, &other, &is_weighted);
        sources.resize(static_cast<std::size_t>(count));
        targets.resize(static_cast<std::size_t>(other));
        Ranks weights(sources.size() + 1), more_weights(targets.size() + 1);
        PMPI_Dist_graph_neighbors(comm, count, sources.data(), weights.data(), other, targets.data(),
                                  more_weights.data());
    }
    return kind != MPI_UNDEFINED;
}

void add_neighbours(std::vector<std::int64_t>& numbers, const Ranks& ranks) {
    const std::size_t count_at = numbers.size();
    numbers.push_back(0);
    for (const int rank : ranks) {
        if (rank < 0) continue;
        numbers.push_back(rank);
        ++numbers[count_at];
    }
}

std::int64_t define(MPI_Comm comm, Traced& traced) {
    MPI_Group group = MPI_GROUP_NULL, remote = MPI_GROUP_NULL;
    int rank = 0, is_inter = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_group(comm, &group);
    Ranks members, others;
    bool is_inside = world_ranks(group, members);
    PMPI_Group_free(&group);
    if (is_inter != 0) {
        PMPI_Comm_remote_group(comm, &remote);
        is_inside = world_ranks(remote, others) && is_inside;
        PMPI_Group_free(&remote);
    }
    if (!is_inside) return Traced::outside;
    std::vector<std::int64_t> numbers;
    add_runs(numbers, members);
    if (is_inter != 0) add_runs(numbers, others);
    const std::uint64_t ordinal = alike[hash_of(numbers)]++;
    std::uint64_t flags = is_inter != 0 ? between_groups : 0;
    if (is_inter == 0 && neighbours_of(comm, traced.sources, traced.targets)) {
        flags |= has_neighbours;
        add_neighbours(numbers, traced.sources);
        add_neighbours(numbers, traced.targets);
    }
    const std::int64_t number = next_comm++;
    Event event(Kind::comm, (4 + numbers.size()) * number_B);
    event.add(number, rank, ordinal, flags);
    for (const std::int64_t one : numbers) event.add(one);
    return number;
}

}  // namespace

std::int64_t comm_number(MPI_Comm comm, Channel& channel) {
    Traced& traced = channel.traced;
    if (traced.number == Traced::unknown) {
        const Once once;
        traced.number = define(comm, traced);
    }
    return traced.number;
}

std::int64_t duplicate_number(MPI_Comm comm, Channel& channel) {
    Traced as_this;
    return comm_number(comm, channel) < 0 ? Traced::outside : define(comm, as_this);
}

}  // namespace hockney::trace
