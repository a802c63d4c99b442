#include "circulant.hpp"

#include <algorithm>

#include "trees.hpp"

namespace hockney {

std::vector<int> circulant_skips(int ranks) {
    std::vector<int> skips{ranks};
    while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);
    std::reverse(skips.begin(), skips.end());
    return skips;
}

int Rotated::load(const Region& vector, Builder& builder) const {
    const int upper = blocks_.count() - rank_;
    const int first = builder.copy(blocks_.of(vector, rank_, blocks_.count()), of(0, upper));
    return builder.copy(blocks_.of(vector, 0, rank_), of(upper, blocks_.count()), {first}) == Builder::none
               ? first
               : builder.latest();
}

void Rotated::store(const Region& vector, const std::vector<int>& after, Builder& builder) const {
    const int upper = blocks_.count() - rank_;
    builder.copy(of(0, upper), blocks_.of(vector, rank_, blocks_.count()), after);
    builder.copy(of(upper, blocks_.count()), blocks_.of(vector, 0, rank_), after);
}

std::vector<int> circulant_reduce_scatter(const Problem& p, int rank, const Rotated& vector, int loaded,
                                          Builder& builder) {
    const std::vector<int> skips = circulant_skips(p.ranks);
    // The first round is the largest.
    const Region partner_memory = builder.scratch(vector.of(0, p.ranks / 2).length_B);
    int reduced = loaded;
    std::vector<int> steps;
    for (std::size_t k = skips.size() - 1; k-- > 0;) {
        const int near = skips[k], far = skips[k + 1];
        const int to = (rank + near) % p.ranks, from = (rank - near + p.ranks) % p.ranks;
        const Region partial = part(partner_memory, 0, vector.of(0, far - near).length_B);
        const int arrived = builder.receive(from, partial, {reduced});
        steps.push_back(builder.send(to, vector.of(near, far), {reduced}));
        const int sum = builder.reduce(partial, vector.of(0, far - near), {arrived, reduced});
        if (sum != Builder::none) reduced = sum;
    }
    steps.push_back(reduced);
    return steps;
}

std::vector<int> circulant_allgather(const Problem& p, int rank, const Rotated& vector,
                                     const std::vector<int>& loaded, Builder& builder) {
    const std::vector<int> skips = circulant_skips(p.ranks);
    std::vector<int> have = loaded;
    for (std::size_t k = 0; k + 1 < skips.size(); ++k) {
        const int near = skips[k], far = skips[k + 1];
        const int to = (rank - near + p.ranks) % p.ranks, from = (rank + near) % p.ranks;
        const std::vector<int> before = have;
        have.push_back(builder.receive(from, vector.of(near, far), loaded));
        builder.send(to, vector.of(0, far - near), before);
    }
    return have;
}

}  // namespace hockney
