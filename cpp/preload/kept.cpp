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

std::size_t Kept::row_of(const Key& key) {
    std::uint64_t mixed = (static_cast<std::uint64_t>(key.bytes) + key.what) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 29) ^ key.how) * 0xBF58476D1CE4E5B9ULL;
    return (mixed >> 32) % rows;
}

Kept::Slot* Kept::find(const Key& key) {
    if (slots_.empty()) return nullptr;
    for (int at = first_[row_of(key)]; at != none; at = slots_[static_cast<std::size_t>(at)].next) {
        Slot& slot = slots_[static_cast<std::size_t>(at)];
        if (!(slot.key == key)) continue;
        slot.used = next_use();
        if (at != newest_) {
            take_out(at);
            put_first(at);
        }
        return &slot;
    }
    return nullptr;
}

Kept::Slot& Kept::add(const Key& key) {
    if (slots_.empty()) {
        slots_.resize(places);
        first_.assign(rows, none);
        for (int at = places - 1; at >= 0; --at) {
            slots_[static_cast<std::size_t>(at)].next = free_;
            free_ = at;
        }
        const std::lock_guard<std::mutex> held(keepers_mutex);
        keepers.insert(this);
    }
    if (free_ == none) drop(oldest_);
    const int at = free_;
    Slot& slot = slots_[static_cast<std::size_t>(at)];
    free_ = slot.next;
    slot.key = key;
    slot.used = next_use();
    int& first = first_[row_of(key)];
    slot.next = first;
    first = at;
    put_first(at);
    return slot;
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
    std::uint64_t used = 0;
    for (Kept* const one : keepers) {
        // Another thread may be in a call there, which we do not wait for.
        std::unique_lock<std::mutex> held;
        if (one != this) held = std::unique_lock<std::mutex>(one->in_use_, std::try_to_lock);
        if (one != this && !held) continue;
        const int at = one->oldest_but(but);
        if (at == none) continue;
        const Slot& slot = one->slots_[static_cast<std::size_t>(at)];
        if (found != nullptr && slot.used >= used) continue;
        found = one;
        found_held = std::move(held);
        used = slot.used;
    }
    if (found == nullptr) return false;
    found->drop(found->oldest_but(but));
    return true;
}

int Kept::oldest_but(const Slot& but) const {
    // What is being added is the newest one: alone, it is the oldest one, too.
    return oldest_ != none && &slots_[static_cast<std::size_t>(oldest_)] != &but ? oldest_ : none;
}

void Kept::drop(int at) {
    Slot& slot = slots_[static_cast<std::size_t>(at)];
    int* before = &first_[row_of(slot.key)];
    while (*before != at) before = &slots_[static_cast<std::size_t>(*before)].next;
    *before = slot.next;
    take_out(at);
    if (slot.prepared) {
        slot.prepared->add_to(forgotten_);
        ++dropped_so_far;
    }
    kept_B -= slot.held_B;
    slot = Slot{};
    slot.next = free_;
    free_ = at;
}

void Kept::put_first(int at) {
    Slot& slot = slots_[static_cast<std::size_t>(at)];
    slot.newer = none;
    slot.older = newest_;
    (newest_ != none ? slots_[static_cast<std::size_t>(newest_)].newer : oldest_) = at;
    newest_ = at;
}

void Kept::take_out(int at) {
    const Slot& slot = slots_[static_cast<std::size_t>(at)];
    (slot.newer != none ? slots_[static_cast<std::size_t>(slot.newer)].older : newest_) = slot.older;
    (slot.older != none ? slots_[static_cast<std::size_t>(slot.older)].newer : oldest_) = slot.newer;
}

void Kept::add_to(Totals& totals) {
    const auto held = hold();
    for (const auto& [used, count] : forgotten_) totals[used].add(count);
    for (const Slot& slot : slots_)
        if (slot.prepared) slot.prepared->add_to(totals);
}

}  // namespace hockney
