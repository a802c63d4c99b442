// What matches a message's ends besides their order.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace hockney
