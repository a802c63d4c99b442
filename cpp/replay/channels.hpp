// Which send meets which receive: the k-th of a sender, receiver, communicator and tag meets the k-th.
#pragma once

#include <cstdint>
#include <vector>

namespace hockney {

struct Channel {
    std::int32_t from, to, communicator, tag;
};
inline bool operator==(const Channel& a, const Channel& b) {
    return a.from == b.from && a.to == b.to && a.communicator == b.communicator && a.tag == b.tag;
}

// Ends of messages whose other end has not come yet, found by their channels: a hash table with chains, of
// which those of one channel keep their order. With std::unordered_map of queues in its place a replay takes
// 1.5 times as long.
class Channels {
  public:
    // An end of a message without the other; `event` is its rank's.
    struct Lone {
        Channel channel;
        std::uint32_t event;
        std::int32_t number, next;
        bool is_send;
    };

    // The number of the message, the same for both of its ends; messages that are under way differ.
    std::int32_t number(const Channel& channel, bool is_send, std::uint64_t event) {
        if (alone_ >= chains_.size()) grow();
        Chain& chain = chains_[place(channel)];
        std::int32_t before = none;
        for (std::int32_t at = chain.first; at != none; before = at, at = all_[index(at)].next) {
            Lone& lone = all_[index(at)];
            if (!(lone.channel == channel)) continue;
            if (lone.is_send == is_send) break;
            (before == none ? chain.first : all_[index(before)].next) = lone.next;
            if (chain.last == at) chain.last = before;
            lone.next = free_;
            free_ = at;
            --alone_;
            return lone.number;
        }
        if (free_ == none) {
            free_ = static_cast<std::int32_t>(all_.size());
            all_.push_back({{}, 0, 0, none, false});
        }
        const std::int32_t at = free_;
        free_ = all_[index(at)].next;
        next_ = (next_ + 1) & (most_numbers - 1);
        all_[index(at)] = {channel, static_cast<std::uint32_t>(event), next_, none, is_send};
        append(chain, at);
        ++alone_;
        return next_;
    }

    // Calls `see` with each that has met nothing.
    template <class See>
    void each(const See& see) const {
        for (const Chain& chain : chains_)
            for (std::int32_t at = chain.first; at != none; at = all_[index(at)].next) see(all_[index(at)]);
    }

  private:
    static constexpr std::int32_t none = -1, most_numbers = 1 << 28;
    struct Chain {
        std::int32_t first = none, last = none;
    };

    static std::size_t index(std::int32_t at) { return static_cast<std::size_t>(at); }
    std::size_t place(const Channel& channel) const {
        const auto mixed = [](std::uint64_t hash, std::int32_t value) {
            hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x9E3779B97F4A7C15U;
            return hash ^ (hash >> 32U);
        };
        std::uint64_t hash = mixed(mixed(0, channel.from), channel.to);
        hash = mixed(mixed(hash, channel.communicator), channel.tag);
        return static_cast<std::size_t>(hash) & (chains_.size() - 1);
    }
    void append(Chain& chain, std::int32_t at) {
        (chain.last == none ? chain.first : all_[index(chain.last)].next) = at;
        chain.last = at;
    }
    void grow() {
        const std::vector<Chain> old = std::move(chains_);
        chains_.assign(old.empty() ? 1024 : 2 * old.size(), {});
        for (const Chain& chain : old)
            for (std::int32_t at = chain.first; at != none;) {
                const std::int32_t next = all_[index(at)].next;
                all_[index(at)].next = none;
                append(chains_[place(all_[index(at)].channel)], at);
                at = next;
            }
    }

    std::vector<Chain> chains_;
    std::vector<Lone> all_;
    std::size_t alone_ = 0;
    std::int32_t free_ = none, next_ = 0;
};

}  // namespace hockney
