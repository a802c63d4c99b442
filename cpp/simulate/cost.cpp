#include "cost.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

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

bool cost_anything(const Curve& curve) {
    return std::any_of(curve.time_s.begin(), curve.time_s.end(), [](double time_s) { return time_s > 0; });
}
bool cost_anything(const CostCurves& costs, Term term) {
    return std::any_of(costs.message.begin(), costs.message.end(), [term](const std::vector<Curve>& terms) {
        return cost_anything(terms[static_cast<std::size_t>(term)]);
    });
}

void Costs::add(Bytes size_B, const CostCurves& curves, double factor, bool is_synchronous) {
    if (size_B == tick_B) {
        time_s.resize(time_s.size() + row());
        time_s.back() = 1e-9;
        return this->size_B.push_back(size_B);
    }
    const auto add_one = [&](const Curve& curve) {
        const double cost_s = curve.at(size_B);
        if (!(std::abs(cost_s) <= longest_s))
            throw std::invalid_argument("the cost of " + std::to_string(size_B) + " bytes is no time");
        // Handshakes below 0 are marks.
        time_s.push_back(cost_s < 0 ? cost_s : factor * cost_s);
    };
    for (const std::vector<Curve>& of_locality : curves.message) {
        for (const Curve& curve : of_locality) add_one(curve);
        double& handshake_s = *(time_s.end() - term_count + static_cast<std::ptrdiff_t>(Term::handshake));
        if (is_synchronous && handshake_s < 0)
            handshake_s = factor * of_locality[static_cast<std::size_t>(Term::transfer)].at(0);
    }
    this->size_B.push_back(size_B);
    add_one(curves.copy);
    add_one(curves.reduce);
}

}  // namespace hockney
