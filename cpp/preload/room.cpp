#include "room.hpp"

#include <mutex>
#include <utility>

namespace hockney {
namespace {

// Never destroyed: programs may end MPI at their very end.
auto& unused_mutex = *new std::mutex;
auto& unused = *new Room::Memory;  // the largest that a call has given back

}  // namespace

Room::Room(Bytes size_B) {
    if (size_B == 0) return;
    {
        const std::lock_guard<std::mutex> held(unused_mutex);
        std::swap(memory_, unused);
    }
    if (memory_.size_B >= size_B) return;
    memory_ = {};  // first: both at once are more than a call may take
    memory_.bytes.reset(new std::byte[static_cast<std::size_t>(size_B)]);
    memory_.size_B = size_B;
}

Room::~Room() {
    if (memory_.size_B == 0) return;
    // Calls of many threads leave no more than one of them may take.
    const std::lock_guard<std::mutex> held(unused_mutex);
    if (memory_.size_B > unused.size_B) std::swap(memory_, unused);
}

std::byte* Room::part(Bytes part_B) {
    std::byte* const here = memory_.bytes.get() + taken_B_;
    taken_B_ += rounded_B(part_B);
    return here;
}

}  // namespace hockney
