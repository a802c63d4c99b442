#include "layout.hpp"

#include <climits>

#include "../halo/grid.hpp"

namespace hockney::sum3d {

Layout::Layout(const Request& request)
    : split_(request.text("split")),
      sizes_(cells_of(request, INT_MAX)),
      ranks_(static_cast<int>(request.whole("ranks"))) {
    if (request.choice("split", {"balanced", "cartesian", "blocks"}) != 0)
        grid_ = grid_of(request, sizes_, ranks_);
    if (sizes_[0] > INT_MAX / sizes_[1] || sizes_[0] * sizes_[1] > INT_MAX / sizes_[2])
        throw BadRequest("the matrix has more elements than MPI counts at once (2147483647)");
    if (elements() < ranks_) throw BadRequest("there are more ranks than elements");
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
