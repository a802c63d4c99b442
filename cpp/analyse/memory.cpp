#include "memory.hpp"

#include <algorithm>

namespace hockney {

int Contributors::number(const Ranges& ranges) {
    const auto [found, is_new] = numbers_.try_emplace(ranges, static_cast<int>(sets_.size()));
    if (is_new) {
        sets_.push_back(ranges);
        ranges_ += ranges.size();
    }
    if (ranges_ + sums_.size() > most_ranges)
        throw TooLarge("the sums of a proof have more different contributors than are held at once");
    return found->second;
}

int Contributors::sum(int left, int right) {
    const std::uint64_t key = static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
    if (const auto found = sums_.find(key); found != sums_.end()) return found->second;
    Ranges all = sets_[static_cast<std::size_t>(left)];
    const Ranges& more = sets_[static_cast<std::size_t>(right)];
    const bool continues = all.size() == 1 && more.size() == 1 && all[0].second == more[0].first;
    all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end());
    Ranges joined;
    bool valid = commutative_ || continues;
    for (const auto& range : all) {
        if (!joined.empty() && range.first < joined.back().second) valid = false;
        if (!joined.empty() && range.first <= joined.back().second)
            joined.back().second = std::max(joined.back().second, range.second);
        else
            joined.push_back(range);
    }
    return sums_[key] = valid ? number(joined) : undefined;
}

int Contributors::first_in_both(int left, int right) const {
    for (const auto& [first, end] : sets_[static_cast<std::size_t>(left)])
        for (const auto& [other, other_end] : sets_[static_cast<std::size_t>(right)])
            if (std::max(first, other) < std::min(end, other_end)) return std::max(first, other);
    return -1;
}

int Contributors::first_lacking(int have, int want) const {
    for (const auto& [first, end] : sets_[static_cast<std::size_t>(want)]) {
        int rank = first;
        for (const auto& [other, other_end] : sets_[static_cast<std::size_t>(have)])
            if (other <= rank && rank < other_end) rank = other_end;
        if (rank < end) return rank;
    }
    return -1;
}

}  // namespace hockney
