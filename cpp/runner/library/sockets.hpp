// What this process has sent over its TCP connections, as the kernel counts it: a witness that no MPI library
// can mislead. Launched so that all messages travel by TCP, the connections tell who sends how much to whom.
#pragma once

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <mpi.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace hockney {

// Both ends of a connection, as 8 integers; the partner sees them swapped.
struct Ends {
    std::uint32_t here[5], there[5];
    bool operator<(const Ends& other) const { return std::memcmp(this, &other, sizeof *this) < 0; }
    Ends swapped() const {
        Ends other = *this;
        std::memcpy(other.here, there, sizeof here);
        std::memcpy(other.there, here, sizeof here);
        return other;
    }
};

inline bool address_of(int socket, int (*ask)(int, sockaddr*, socklen_t*), std::uint32_t* words) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (ask(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
    std::memset(words, 0, 5 * sizeof *words);
    if (address.ss_family == AF_INET) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
        words[0] = v4->sin_port;
        words[4] = v4->sin_addr.s_addr;
        return true;
    }
    if (address.ss_family != AF_INET6) return false;
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
    words[0] = v6->sin6_port;
    std::memcpy(words + 1, &v6->sin6_addr, 16);
    return true;
}

// Bytes given to a TCP connection so far: those that have arrived, and those under way. Negative where it is
// none.
inline long given_to(int socket) {
    tcp_info before{}, after{};
    int under_way = 0;
    do {
        for (tcp_info* info : {&before, &after}) {
            socklen_t length = sizeof *info;
            if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &length) != 0) return -1;
            if (info == &before && ioctl(socket, SIOCOUTQ, &under_way) != 0) return -1;
        }
    } while (before.tcpi_bytes_acked != after.tcpi_bytes_acked);
    return static_cast<long>(after.tcpi_bytes_acked) + under_way;
}

// Bytes given to each TCP connection of this process so far.
inline std::map<Ends, long> sent_by_connection() {
    std::map<Ends, long> sent;
    DIR* folder = opendir("/proc/self/fd");
    if (folder == nullptr) return sent;
    while (const dirent* entry = readdir(folder)) {
        const int descriptor = std::atoi(entry->d_name);
        Ends ends{};
        if (!address_of(descriptor, getsockname, ends.here) ||
            !address_of(descriptor, getpeername, ends.there))
            continue;
        if (const long given_B = given_to(descriptor); given_B >= 0) sent[ends] = given_B;
    }
    closedir(folder);
    return sent;
}

// Bytes from this rank to each rank since `before`; connections to other programs do not count. Collective.
inline std::vector<long> sent_to_ranks(const std::map<Ends, long>& before, const std::map<Ends, long>& now,
                                       MPI_Comm comm) {
    int ranks = 0, mine = static_cast<int>(now.size() * sizeof(Ends));
    MPI_Comm_size(comm, &ranks);
    std::vector<int> sizes(static_cast<std::size_t>(ranks)), starts(static_cast<std::size_t>(ranks));
    MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
    int total = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        starts[i] = total;
        total += sizes[i];
    }
    std::vector<Ends> own, all(static_cast<std::size_t>(total) / sizeof(Ends));
    for (const auto& [ends, bytes] : now) own.push_back(ends);
    MPI_Allgatherv(own.data(), mine, MPI_BYTE, all.data(), sizes.data(), starts.data(), MPI_BYTE, comm);
    std::vector<long> result(static_cast<std::size_t>(ranks), 0);
    for (std::size_t rank = 0; rank < result.size(); ++rank)
        for (std::size_t i = 0; i < static_cast<std::size_t>(sizes[rank]) / sizeof(Ends); ++i) {
            const auto found =
                now.find(all[static_cast<std::size_t>(starts[rank]) / sizeof(Ends) + i].swapped());
            if (found == now.end()) continue;
            const auto earlier = before.find(found->first);
            result[rank] += found->second - (earlier == before.end() ? 0 : earlier->second);
        }
    return result;
}

}  // namespace hockney
