// Ranks that are alike but for a vector whose blocks differ by one element: they take the same steps, with
// parts of the vector that lie the same way from their own, where some are longer and some are empty. One
// rank's steps, with all blocks of the longer kind, tell what all do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "../schedule/schedule.hpp"
#include "classes.hpp"
#include "program.hpp"

namespace hockney {

class Uneven {
  public:
    // `is_shifted`: a rank's parts lie so many blocks further on, else at its number with its bits reversed.
    Uneven(const Problem& asked, bool is_shifted)
        : even_(asked),
          is_shifted_(is_shifted),
          larger_(static_cast<int>(asked.bytes / asked.element_B % asked.ranks)),
          block_B_((asked.bytes / asked.element_B / asked.ranks + 1) * asked.element_B) {
        even_.bytes = asked.ranks * block_B_;
    }

    // Where a rank's parts lie.
    std::int32_t place(std::int32_t rank) const { return is_shifted_ ? rank : place_of(rank, even_.ranks); }

    // All blocks of the longer kind.
    const Problem& even() const { return even_; }

    // The number of a part of rank 0's vector.
    std::uint32_t index(const Region& region) {
        const auto first = static_cast<int>(region.offset_B / block_B_ % even_.ranks);
        const Bytes least_B = block_B_ - even_.element_B, from_B = region.offset_B % block_B_;
        Part part{
            region.length_B / block_B_ * least_B, first, static_cast<int>(region.length_B / block_B_), {}};
        if (part.count == 0 || from_B > 0) {  // a segment of a block: the last one has the element more
            const bool is_last = from_B + region.length_B == block_B_;
            part = {
                region.length_B - (is_last ? even_.element_B : 0), is_last ? first : 0, is_last ? 1 : 0, {}};
        }
        if (parts_.empty() || !(parts_.back() == part)) {
            if (parts_.size() > most_sizes) throw TooLarge("a rank has too many parts of a vector");
            part.size.assign(is_shifted_ ? static_cast<std::size_t>(most_longer(part)) + 1 : 3, unknown);
            parts_.push_back(std::move(part));
        }
        return static_cast<std::uint32_t>(parts_.size() - 1);
    }

    // How long it is at another place, as a number of `sizes`; `empty` where nothing is left of it.
    std::uint32_t size(std::uint32_t number, std::int32_t place, Sizes& sizes) {
        Part& part = parts_[number];
        const int longer = part.count == 0 ? 0 : longer_in(part, place);
        const int kind = longer == 0 ? 0 : longer < most_longer(part) ? 1 : 2;
        std::uint32_t& size = part.size[static_cast<std::size_t>(is_shifted_ ? longer : kind)];
        if (size == unknown) {
            const Bytes size_B = part.least_B + longer * even_.element_B;
            size = size_B == 0 ? empty : sizes.index(size_B);
        }
        return size;
    }
    static constexpr std::uint32_t empty = UINT32_MAX;

    // Whether it is as long at all of so many places, a power of two: of bits reversed.
    bool is_uniform(std::uint32_t number, std::int32_t place, int places) const {
        const Part& part = parts_[number];
        const int least = (part.first ^ place) & -places;
        return places <= part.count || part.count == 0 || larger_ <= least || larger_ >= least + places;
    }

    // What its sizes are.
    void add_to(std::set<Bytes>& sizes_B, std::uint32_t number) const {
        const Part& part = parts_[number];
        const int most = most_longer(part);
        const auto add = [&](int longer) { sizes_B.insert(part.least_B + longer * even_.element_B); };
        for (int longer = 0; is_shifted_ && longer <= most; ++longer) add(longer);
        if (!is_shifted_)
            for (const int longer : {0, larger_ % std::max(part.count, 1), most}) add(longer);
    }

    // Ranks, from `first` on and round to 0, outside which it is empty.
    struct Holders {
        std::int32_t first, count;
    };
    Holders holders(std::uint32_t number) const {
        const Part& part = parts_[number];
        const int count = larger_ + part.count - 1;
        if (part.least_B > 0 || !is_shifted_ || count >= even_.ranks) return {0, even_.ranks};
        return {(2 * even_.ranks - part.first - part.count + 1) % even_.ranks, count};
    }

  private:
    static constexpr std::uint32_t unknown = UINT32_MAX - 1;
    // `count` whole blocks, or of 0 what is as long at every rank.
    struct Part {
        Bytes least_B;
        int first, count;
        // By how many of its blocks are longer; with reversed bits none are, all, or those of the part that
        // holds the last of them.
        std::vector<std::uint32_t> size;

        bool operator==(const Part& other) const {
            return least_B == other.least_B && first == other.first && count == other.count;
        }
    };

    int most_longer(const Part& part) const { return std::min(part.count, larger_); }
    int longer_in(const Part& part, std::int32_t place) const {
        const int to_last = even_.ranks - part.first;
        const int shifted = place < to_last ? place + part.first : place - to_last;
        const int first = is_shifted_ ? shifted : (part.first ^ place) & -part.count;
        const int end = first + part.count;
        return std::max(std::min(end, larger_) - first, 0) +
               std::max(std::min(end - even_.ranks, larger_), 0);
    }

    Problem even_;
    bool is_shifted_;
    int larger_;     // of the blocks, the first ones
    Bytes block_B_;  // of a longer one
    std::vector<Part> parts_;
};

}  // namespace hockney
