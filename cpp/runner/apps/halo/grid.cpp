#include "grid.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace hockney {
namespace {

constexpr const char* names = "xyz";

}  // namespace

Cells cells_of(const Request& request, long most_along) {
    Cells cells{};
    for (std::size_t d = 0; d < 3; ++d) cells[d] = request.whole(std::string("n") + names[d], 1, most_along);
    return cells;
}

Grid grid_of(const Request& request, const Cells& cells, int ranks) {
    Grid grid{};
    long product = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        const long along = request.whole(std::string("p") + names[d], 1, ranks);
        grid[d] = static_cast<int>(along);
        product *= along;
    }
    if (product != ranks)
        throw BadRequest("the grid has " + std::to_string(product) + " processes, the run " +
                         std::to_string(ranks) + " ranks");
    for (std::size_t d = 0; d < 3; ++d)
        if (grid[d] > cells[d])
            throw BadRequest("more processes (" + std::to_string(grid[d]) + ") than cells (" +
                             std::to_string(cells[d]) + ") along " + names[d]);
    const Share x(cells[0], grid[0], 0), y(cells[1], grid[1], 0), z(cells[2], grid[2], 0);
    if (std::max({x.count * y.count, x.count * z.count, y.count * z.count}) > std::numeric_limits<int>::max())
        throw BadRequest("a face of a rank has more cells than a message can count; take more processes");
    return grid;
}

ProcessGrid::ProcessGrid(MPI_Comm from, const Grid& along_, const Cells& whole) : along(along_) {
    const int periods[3] = {0, 0, 0};
    int rank = 0;
    MPI_Cart_create(from, 3, along.data(), periods, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_coords(comm, rank, 3, at.data());
    for (std::size_t d = 0; d < 3; ++d) {
        MPI_Cart_shift(comm, static_cast<int>(d), 1, &neighbours[d][0], &neighbours[d][1]);
        const Share share(whole[d], along[d], at[d]);
        first[d] = share.first;
        cells[d] = share.count;
    }
}

Cuboid ProcessGrid::inner(std::vector<Cuboid>& shell) const {
    Cuboid rest{{0, 0, 0}, cells};
    for (std::size_t d = 3; d-- > 0;)
        for (const int side : {0, 1}) {
            if (!has_neighbour(static_cast<int>(d), side) || rest.from[d] >= rest.to[d]) continue;
            Cuboid layer = rest;
            if (side == 0)
                layer.to[d] = ++rest.from[d];
            else
                layer.from[d] = --rest.to[d];
            shell.push_back(layer);
        }
    return rest;
}

}  // namespace hockney
