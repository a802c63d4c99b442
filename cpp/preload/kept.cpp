#include "kept.hpp"

#include <atomic>
#include <set>

#include "settings.hpp"

namespace hockney {
namespace {

// Never destroyed: programs may end MPI at their very end.
auto& keepers_mutex = *new std::mutex;
auto& keepers = *new std::set<Kept*>;
std::atomic<Bytes> kept_B{0};
std::atomic<long> dropped_so_far{0};
std::atomic<std::uint64_t> uses{0};

std::uint64_t next_use() { return uses.fetch_add(1, std::memory_order_relaxed) + 1; }

}  // namespace

long Kept::dropped() { return dropped_so_far; }

Kept::~Kept() {
    const std::lock_guard<std::mutex> held(keepers_mutex);
    keepers.erase(this);
    for (const Slot& slot : slots_) kept_B -= slot.held_B;
}

Kept::Slot* Kept::find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    slots_.splice(slots_.begin(), slots_, found->second);
    found->second->used = next_use();
    return &*found->second;
}

Kept::Slot& Kept::add(const Key& key) {
    if (slots_.empty()) {
        const std::lock_guard<std::mutex> held(keepers_mutex);
        keepers.insert(this);
    }
    if (slots_.size() == places) drop_oldest();
    slots_.emplace_front();
    places_[key] = slots_.begin();
    slots_.front().key = key;
    slots_.front().used = next_use();
    return slots_.front();
}

void Kept::keep(Slot& slot) {
    slot.held_B = slot.prepared ? slot.prepared->held_B() : 0;
    if ((kept_B += slot.held_B) <= settings().kept_B) return;
    const std::lock_guard<std::mutex> held(keepers_mutex);
    while (kept_B > settings().kept_B && drop_one(slot)) {
    }
}

bool Kept::drop_one(const Slot& but) {
    Kept* found = nullptr;
    std::unique_lock<std::mutex> found_held;
    for (Kept* const one : keepers) {
        // Another thread may be in a call there, which we do not wait for.
        std::unique_lock<std::mutex> held;
        if (one != this) held = std::unique_lock<std::mutex>(one->in_use_, std::try_to_lock);
        if (one != this && !held) continue;
        // What is being added is the newest one: alone, it is the oldest one, too.
        if (one->slots_.empty() || &one->slots_.back() == &but) continue;
        if (found != nullptr && one->slots_.back().used >= found->slots_.back().used) continue;
        found = one;
        found_held = std::move(held);
    }
    if (found != nullptr) found->drop_oldest();
    return found != nullptr;
}

void Kept::drop_oldest() {
    const Slot& slot = slots_.back();
    if (slot.prepared) {
        slot.prepared->add_to(forgotten_);
        ++dropped_so_far;
    }
    kept_B -= slot.held_B;
    places_.erase(slot.key);
    slots_.pop_back();
}

void Kept::add_to(Totals& totals) {
    const auto held = hold();
    for (const auto& [used, count] : forgotten_) totals[used].add(count);
    for (const Slot& slot : slots_)
        if (slot.prepared) slot.prepared->add_to(totals);
}

}  // namespace hockney
