// Ranks that stand for all while ranks exchange at distances of exclusive or. Those whose numbers end in the
// same bits are at the same times; they part where parts of a vector differ in size, and are one again when
// they are at the same times once more. So they stay few, though each rank has a history of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace hockney {

// The place of a rank is its number with the bits reversed: ranks that end in the same bits lie together.
inline std::int32_t place_of(std::int32_t rank, int ranks) {
    auto bits = static_cast<std::uint32_t>(rank);
    bits = (bits >> 1U & 0x55555555U) | (bits & 0x55555555U) << 1U;
    bits = (bits >> 2U & 0x33333333U) | (bits & 0x33333333U) << 2U;
    bits = (bits >> 4U & 0x0F0F0F0FU) | (bits & 0x0F0F0F0FU) << 4U;
    bits = (bits >> 8U & 0x00FF00FFU) | (bits & 0x00FF00FFU) << 8U;
    const std::uint64_t whole = bits >> 16U | bits << 16U;
    return static_cast<std::int32_t>(whole * static_cast<std::uint64_t>(ranks) >> 32U);
}

class Classes {
  public:
    explicit Classes(int ranks) : all_{{0, ranks, 0}}, of_(ranks) {}

    int count() const { return static_cast<int>(all_.size()); }
    int place(int number) const { return all_[static_cast<std::size_t>(number)].place; }
    int ranks(int number) const { return all_[static_cast<std::size_t>(number)].ranks; }
    // The class with which another exchanges at that distance.
    int peer(int number, int distance) const {
        return count() == 1 ? 0 : at(place(number) ^ place_of(distance, of_));
    }

    // Neighbours that are alike become one, then they part again: until each is uniform, and exchanges with
    // another of its size at each of the distances. Returns which each was.
    template <class IsAlike, class IsUniform>
    std::vector<std::int32_t> regroup(const IsAlike& is_alike, const IsUniform& is_uniform,
                                      const std::set<int>& distances) {
        merge(is_alike);
        std::vector<int> open;
        for (const Class& each : all_) open.push_back(each.place);
        while (!open.empty()) {
            const int here = open.back(), mine = at(here), size = ranks(mine);
            open.pop_back();
            if (size > 1 && !is_uniform(here, size)) {
                halve(mine, open);
                continue;
            }
            for (const int distance : distances) {
                const int there = here ^ place_of(distance, of_);
                while (ranks(at(there)) > size) halve(at(there), open);
            }
        }
        std::vector<std::int32_t> was;
        for (const Class& each : all_) was.push_back(each.was);
        return was;
    }

  private:
    struct Class {
        int place, ranks;  // the first, and how many follow
        std::int32_t was;
    };

    int at(int place) const {
        const auto next = std::upper_bound(all_.begin(), all_.end(), place,
                                           [](int of, const Class& each) { return of < each.place; });
        return static_cast<int>(next - all_.begin()) - 1;
    }

    void halve(int number, std::vector<int>& open) {
        Class& first = all_[static_cast<std::size_t>(number)];
        first.ranks /= 2;
        const Class second{first.place + first.ranks, first.ranks, first.was};
        open.push_back(first.place);
        open.push_back(second.place);
        all_.insert(all_.begin() + number + 1, second);
    }

    template <class IsAlike>
    void merge(const IsAlike& is_alike) {
        std::vector<Class> merged;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            all_[i].was = static_cast<std::int32_t>(i);
            merged.push_back(all_[i]);
            while (merged.size() > 1) {
                const Class &second = merged.back(), &first = merged[merged.size() - 2];
                if (first.ranks != second.ranks || (first.place & first.ranks) != 0 ||
                    !is_alike(first.was, second.was))
                    break;
                merged.pop_back();
                merged.back().ranks *= 2;
            }
        }
        all_ = std::move(merged);
    }

    std::vector<Class> all_;  // in the order of their places
    int of_;                  // ranks in all
};

}  // namespace hockney
