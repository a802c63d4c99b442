#include "room.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "settings.hpp"

namespace hockney {
namespace {

// Never destroyed: programs may end MPI at their very end.
auto& unused_mutex = *new std::mutex;
auto& unused = *new std::vector<Room::Memory>;  // the smallest first
Bytes unused_B = 0;

bool is_smaller(const Room::Memory& one, Bytes size_B) { return one.size_B < size_B; }

}  // namespace

Room::Room(Bytes size_B) {
    if (size_B == 0) return;
    {
        const std::lock_guard<std::mutex> held(unused_mutex);
        auto found = std::lower_bound(unused.begin(), unused.end(), size_B, is_smaller);
        if (found == unused.end() && !unused.empty()) --found;  // a larger one takes its place
        if (found != unused.end()) {
            memory_ = std::move(*found);
            unused.erase(found);
            unused_B -= memory_.size_B;
        }
    }
    if (memory_.size_B >= size_B) return;
    memory_ = {};  // first: both at once are more than a call may take
    memory_.bytes.reset(new std::byte[static_cast<std::size_t>(size_B)]);
    memory_.size_B = size_B;
}

Room::~Room() {
    if (memory_.size_B == 0) return;
    const std::lock_guard<std::mutex> held(unused_mutex);
    // Calls of many threads leave no more than one of them may take.
    if (unused_B + memory_.size_B > settings().scratch_B) return;
    unused_B += memory_.size_B;
    const auto after = std::lower_bound(unused.begin(), unused.end(), memory_.size_B, is_smaller);
    unused.insert(after, std::move(memory_));
}

std::byte* Room::part(Bytes part_B) {
    std::byte* const here = memory_.bytes.get() + taken_B_;
    taken_B_ += rounded_B(part_B);
    return here;
}

}  // namespace hockney
