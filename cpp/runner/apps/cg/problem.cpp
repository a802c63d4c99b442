#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hockney::cg {

Problem::Problem(int dimensions, const Cells& whole, const ProcessGrid& grid)
    : spacing_(1.0 / static_cast<double>(*std::max_element(whole.begin(), whole.end()) + 1)) {
    for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t count = static_cast<std::size_t>(grid.cells[d]);
        value_[d].assign(count, 1);
        curvature_[d].assign(count, 0);
        if (static_cast<int>(d) >= dimensions) continue;
        const double length = static_cast<double>(whole[d] + 1) * spacing_;
        for (std::size_t i = 0; i < count; ++i) {
            const double s = static_cast<double>(grid.first[d] + static_cast<long>(i) + 1) * spacing_;
            value_[d][i] = s * (length - s) * std::exp(s);
            curvature_[d][i] = (s * s - (length - 4) * s + 2 - 2 * length) * std::exp(s);
        }
    }
}

Separable Problem::right_side() const {
    return {value_[0].data(), curvature_[0].data(), value_[1].data(),   curvature_[1].data(),
            value_[2].data(), curvature_[2].data(), spacing_ * spacing_};
}

double Problem::error(const Space& space, const double* x) const {
    double largest = 0;
    for (long k = 0; k < space.nz; ++k)
        for (long j = 0; j < space.ny; ++j) {
            const double outer =
                value_[1][static_cast<std::size_t>(j)] * value_[2][static_cast<std::size_t>(k)];
            for (long i = 0; i < space.nx; ++i) {
                const double error =
                    std::abs(x[space.at(i, j, k)] - outer * value_[0][static_cast<std::size_t>(i)]);
                // What is no number is larger than any, for the maximum over the ranks too.
                if (!(error <= largest))
                    largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
            }
        }
    return largest;
}

}  // namespace hockney::cg
