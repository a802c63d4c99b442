#include "layout.hpp"

#include <climits>

#include "../halo/cells.hpp"

namespace hockney::sum3d {
namespace {

constexpr std::array<char, 3> directions = {'x', 'y', 'z'};

}  // namespace

Layout::Layout(const Request& request)
    : split_(request.text("split")), ranks_(static_cast<int>(request.whole("ranks"))) {
    if (split_ != "balanced" && split_ != "cartesian" && split_ != "blocks")
        throw BadRequest("split must be balanced, cartesian or blocks");
    long elements = 1, processes = 1;
    for (std::size_t i = 0; i < 3; ++i) {
        sizes_[i] = request.whole(std::string("n") + directions[i]);
        grid_[i] = request.whole(std::string("p") + directions[i]);
        if (sizes_[i] < 1) throw BadRequest("sizes must be at least 1");
        if (grid_[i] < 1) throw BadRequest("the grid needs at least one process in each direction");
        if (sizes_[i] > INT_MAX / elements)
            throw BadRequest("the matrix has more elements than MPI counts at once (2147483647)");
        if (grid_[i] > ranks_ / processes)
            throw BadRequest("the grid has more processes than there are ranks");
        elements *= sizes_[i];
        processes *= grid_[i];
    }
    if (processes != ranks_) throw BadRequest("the grid has fewer processes than there are ranks");
    if (split_ == "balanced") {
        if (elements < ranks_) throw BadRequest("there are more ranks than elements");
        return;
    }
    for (std::size_t i = 0; i < 3; ++i)
        if (grid_[i] > sizes_[i])
            throw BadRequest(std::string("there are more processes than elements along ") + directions[i]);
}

Box Layout::box(int rank) const {
    const std::array<long, 3> at = {rank / (grid_[1] * grid_[2]), rank / grid_[2] % grid_[1],
                                    rank % grid_[2]};
    Box box;
    for (std::size_t i = 0; i < 3; ++i) {
        const Share share(sizes_[i], grid_[i], at[i]);
        box.start[i] = share.first;
        box.cells[i] = share.count;
    }
    return box;
}

long Layout::elements(int rank) const {
    if (split_ == "balanced") return Share(elements(), ranks_, rank).count;
    const Box mine = box(rank);
    return mine.cells[0] * mine.cells[1] * mine.cells[2];
}

long Layout::offset(int rank) const {
    long before = 0;
    for (int other = 0; other < rank; ++other) before += elements(other);
    return before;
}

}  // namespace hockney::sum3d
