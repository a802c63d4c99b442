#include "cost.hpp"

#include <algorithm>

namespace hockney {

double Curve::at(Bytes size) const {
    if (size_B.empty()) return 0;
    const auto m = static_cast<double>(size);
    if (size_B.size() == 1 || m <= size_B.front()) return time_s.front();
    const auto above = std::lower_bound(size_B.begin() + 1, size_B.end() - 1, m);
    const auto i = static_cast<std::size_t>(above - size_B.begin());
    const double share = (m - size_B[i - 1]) / (size_B[i] - size_B[i - 1]);
    return time_s[i - 1] + share * (time_s[i] - time_s[i - 1]);
}

void Costs::add(Bytes size_B, const CostCurves& curves) {
    for (const std::vector<Curve>& of_locality : curves.message)
        for (const Curve& curve : of_locality) time_s.push_back(curve.at(size_B));
    this->size_B.push_back(size_B);
    time_s.push_back(curves.copy.at(size_B));
    time_s.push_back(curves.reduce.at(size_B));
}

}  // namespace hockney
