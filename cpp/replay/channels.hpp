// Which send meets which receive: the k-th of a sender, receiver, communicator and tag meets the k-th.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

namespace hockney {

struct Channel {
    std::int32_t from, to, communicator, tag;
};
inline bool operator==(const Channel& a, const Channel& b) {
    return a.from == b.from && a.to == b.to && a.communicator == b.communicator && a.tag == b.tag;
}
struct ChannelHash {
    std::size_t operator()(const Channel& channel) const {
        std::uint64_t hash = 0;
        for (const std::int32_t part : {channel.from, channel.to, channel.communicator, channel.tag}) {
            hash = (hash ^ static_cast<std::uint32_t>(part)) * 0x9E3779B97F4A7C15U;
            hash ^= hash >> 32U;
        }
        return static_cast<std::size_t>(hash);
    }
};

// Ends of messages whose other end has not come yet.
class Channels {
  public:
    struct Lone {
        std::int32_t number;
        std::uint32_t event;  // its rank's
    };

    // The number of the message, the same for both of its ends; messages that are under way differ.
    std::int32_t number(const Channel& channel, bool is_send, std::uint64_t event) {
        const auto known = alone_[is_send ? 0 : 1].find(channel);
        if (known != alone_[is_send ? 0 : 1].end()) {
            const std::int32_t number = known->second.front().number;
            known->second.pop_front();
            if (known->second.empty()) alone_[is_send ? 0 : 1].erase(known);
            return number;
        }
        next_ = (next_ + 1) & ((1 << 28) - 1);
        alone_[is_send ? 1 : 0][channel].push_back({next_, static_cast<std::uint32_t>(event)});
        return next_;
    }

    // Calls `see` with each that has met nothing.
    template <class See>
    void each(const See& see) const {
        for (const bool is_send : {false, true})
            for (const auto& [channel, lone] : alone_[is_send ? 1 : 0])
                see(channel, is_send, lone.front().event);
    }

  private:
    std::unordered_map<Channel, std::list<Lone>, ChannelHash> alone_[2];  // receives, sends
    std::int32_t next_ = 0;
};

}  // namespace hockney
