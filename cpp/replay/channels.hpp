// Which send meets which receive: the k-th of a sender, receiver, communicator and tag meets the k-th.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "../schedule/channel.hpp"

namespace hockney {

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
