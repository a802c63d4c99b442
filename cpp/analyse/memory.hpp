// Symbolic memory: which element of whose input a place holds.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../schedule/schedule.hpp"

namespace hockney {

// Sets of ranks that contributed to an element, each known by a number. A set is a list of ranges of ranks.
class Contributors {
  public:
    static constexpr int undefined = -1;

    Contributors(int ranks, bool commutative) : ranks_(ranks), commutative_(commutative) {}

    int only(int rank) { return number({{rank, rank + 1}}); }
    int everyone() { return number({{0, ranks_}}); }
    // left ⊕ right; `undefined` where a rank is in both, or where the operator keeps rank order and `right`
    // does not continue `left`.
    int sum(int left, int right);
    // The first rank that is in both sets, or in the second one alone; -1: none is.
    int first_in_both(int left, int right) const;
    int first_lacking(int have, int want) const;

  private:
    using Ranges = std::vector<std::pair<int, int>>;
    static constexpr std::size_t most_ranges = 1 << 25;  // of all sets and sums: some GB
    int number(const Ranges& ranges);

    int ranks_;
    bool commutative_;
    std::vector<Ranges> sets_;
    std::map<Ranges, int> numbers_;
    std::unordered_map<std::uint64_t, int> sums_;
    std::size_t ranges_ = 0;
};

struct Element {
    int contributors = Contributors::undefined;
    Bytes index = 0;  // in the contributors' inputs, in elements
};

// A rank's three memories.
class Memories {
  public:
    Memories(const Bytes (&size_B)[3], Bytes element_B) : element_B_(element_B) {
        for (int memory = 0; memory < 3; ++memory)
            elements_[memory].resize(static_cast<std::size_t>(size_B[memory] / element_B));
    }

    Element& at(const Region& region, Bytes element) {
        return elements_[static_cast<int>(region.memory)]
                        [static_cast<std::size_t>(region.offset_B / element_B_ + element)];
    }
    const Element& at(const Region& region, Bytes element) const {
        return elements_[static_cast<int>(region.memory)]
                        [static_cast<std::size_t>(region.offset_B / element_B_ + element)];
    }
    // Elements 0, 1, … of these contributors.
    void fill(const Region& region, int contributors) {
        for (Bytes e = 0; e < region.length_B / element_B_; ++e) at(region, e) = {contributors, e};
    }
    template <typename Visit>
    void each(const Region& from, const Region& into, Visit visit) {
        for (Bytes e = 0; e < into.length_B / element_B_; ++e) visit(at(from, e), at(into, e));
    }

  private:
    Bytes element_B_;
    std::vector<Element> elements_[3];
};

}  // namespace hockney
