#include "traffic.hpp"

#include <numeric>

#include "../ranks.hpp"
#include "../tool_interface.hpp"

namespace hockney {

#ifdef HOCKNEY_NO_MPI_T

struct TrafficMeter::Counters {};

TrafficMeter::TrafficMeter(MPI_Comm) {}
TrafficMeter::~TrafficMeter() = default;
std::optional<Traffic> TrafficMeter::since() const { return {}; }

#else

// Two MPI_T performance variables; Open MPI keeps them for MPI_COMM_WORLD alone, one number for each of its
// ranks.
struct TrafficMeter::Counters {
    explicit Counters(MPI_Comm comm) {
        int ranks = 0;
        started = has_tool_interface() && MPI_T_pvar_session_create(&session) == MPI_SUCCESS;
        MPI_Comm_size(comm, &ranks);
        in_world.resize(static_cast<std::size_t>(ranks));
        std::vector<int> own(in_world.size());
        std::iota(own.begin(), own.end(), 0);
        MPI_Group group, everyone;
        MPI_Comm_group(comm, &group);
        MPI_Comm_group(world, &everyone);
        MPI_Group_translate_ranks(group, ranks, own.data(), everyone, in_world.data());
        MPI_Group_free(&group);
        MPI_Group_free(&everyone);
        if (started && open("pml_monitoring_messages_count", messages) &&
            open("pml_monitoring_messages_size", bytes))
            before = read();
    }
    ~Counters() {
        if (started) MPI_T_pvar_session_free(&session);
    }
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;

    bool open(const char* name, MPI_T_pvar_handle& handle) {
        int index = 0, count = 0, ranks = 0;
        MPI_Comm_size(world, &ranks);
        return MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &index) == MPI_SUCCESS &&
               MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count) == MPI_SUCCESS &&
               count == ranks && MPI_T_pvar_start(session, handle) == MPI_SUCCESS;
    }
    std::optional<std::vector<long> > read(MPI_T_pvar_handle handle) const {
        const int ranks = ranks_of(world);
        std::vector<unsigned long> values(static_cast<std::size_t>(ranks));
        if (MPI_T_pvar_read(session, handle, values.data()) != MPI_SUCCESS) return {};
        std::vector<long> chosen;
        for (const int rank : in_world)
            chosen.push_back(static_cast<long>(values[static_cast<std::size_t>(rank)]));
        return chosen;
    }
    std::optional<Traffic> read() const {
        const auto count = read(messages), size = read(bytes);
        if (!count || !size) return {};
        return Traffic{*count, *size};
    }

    MPI_Comm world = MPI_COMM_WORLD;
    std::vector<int> in_world;
    MPI_T_pvar_session session{};
    MPI_T_pvar_handle messages{}, bytes{};
    bool started = false;
    std::optional<Traffic> before;
};

TrafficMeter::TrafficMeter(MPI_Comm comm) : counters_(std::make_unique<Counters>(comm)) {}
TrafficMeter::~TrafficMeter() = default;

std::optional<Traffic> TrafficMeter::since() const {
    if (!counters_->before) return {};
    std::optional<Traffic> now = counters_->read();
    for (std::size_t i = 0; now && i < now->messages.size(); ++i) {
        now->messages[i] -= counters_->before->messages[i];
        now->bytes[i] -= counters_->before->bytes[i];
    }
    return now;
}

#endif

std::string matrix_json(const std::vector<long>& row, MPI_Comm comm) {
    const auto n = row.size();
    const int ranks = ranks_of(comm);
    std::vector<long> all(n * static_cast<std::size_t>(ranks));
    MPI_Gather(row.data(), static_cast<int>(n), MPI_LONG, all.data(), static_cast<int>(n), MPI_LONG, 0, comm);
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % n == 0) text += i == 0 ? "[" : "],[";
        text += (i % n == 0 ? "" : ",") + std::to_string(all[i]);
    }
    return "[" + text + "]]";
}

}  // namespace hockney
