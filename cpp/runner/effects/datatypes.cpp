// datatypes: what it costs that the data of a message do not lie together.
//
//   effect operation=datatypes members=0,1 layout=vector blocks=16384 block_B=1 stride_B=8 way=send
//          planted_block_s=0 planted_line_s=0 repetitions=0 …
//
// Keys of the layout: datatypes/layout.hpp. Ways:
//   send      half a round trip of messages sent from the layout and received contiguous
//   receive   … sent contiguous and received into the layout
//   hand      … packed by a loop, then sent and received contiguous
//   pack      MPI_Pack alone, on the first member
//   unpack    MPI_Unpack alone, likewise
// The message itself is checked, and that nothing between the blocks was written. `planted_block_s` and
// `planted_line_s` are burnt for each block and each line at the place that is timed.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "../clock.hpp"
#include "datatypes/layout.hpp"
#include "effect.hpp"

namespace hockney::effect_datatypes {
namespace {

constexpr int tag = 1;
constexpr std::size_t page_B = 4096;
constexpr double sample_s = 50e-6;  // far above the clock's granularity
constexpr long most_rounds = 1000;
constexpr std::byte gap{0xA5};

std::byte pattern(long index, int writer) {
    const auto mixed = static_cast<unsigned long>(index + 1 + writer * 131L) * 0x9E3779B97F4A7C15UL;
    return static_cast<std::byte>(mixed >> 56);
}

// Memory that begins with a page, and so with a cache line.
class Region {
  public:
    explicit Region(long bytes)
        : bytes_((static_cast<std::size_t>(bytes) + page_B - 1) / page_B * page_B),
          memory_(static_cast<std::byte*>(std::aligned_alloc(page_B, bytes_))) {
        std::fill_n(memory_.get(), bytes_, gap);
    }
    std::byte* data() const { return memory_.get(); }
    std::size_t bytes() const { return bytes_; }

  private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::size_t bytes_;
    std::unique_ptr<std::byte, Free> memory_;
};

class Transfer {
  public:
    Transfer(const Request& request, MPI_Comm comm)
        : layout_(request),
          way_(request.text("way")),
          planted_s_(request.real("planted_block_s") * static_cast<double>(layout_.blocks()) +
                     request.real("planted_line_s") * static_cast<double>(layout_.lines())),
          comm_(comm),
          rank_(rank_of(comm)),
          spread_(checked_extent_B()),
          out_(packed_B()),
          in_(packed_B()) {
        fill();
    }

    const Layout& layout() const { return layout_; }

    // Seconds of one way, on the first member.
    double once(long rounds) {
        if (is_local() && rank_ != 0) return 0;
        if (!is_local()) meet(comm_);
        const double start_s = now_s();
        for (long round = 0; round < rounds; ++round) {
            if (way_ == "pack") {
                pack();
            } else if (way_ == "unpack") {
                unpack();
            } else {
                if (rank_ == 0) send();
                receive();
                if (rank_ == 1) send();
            }
        }
        return rank_ == 0 ? (now_s() - start_s) / static_cast<double>(is_local() ? rounds : 2 * rounds) : 0;
    }

    // How many rounds one sample needs.
    long rounds() {
        if (is_simulated) return 1;
        double once_s = 0;
        for (int warm = 0; warm < 3; ++warm) once_s = once(1);
        long found = std::clamp(static_cast<long>(sample_s / std::max(once_s, 1e-9)), 1L, most_rounds);
        MPI_Bcast(&found, 1, MPI_LONG, 0, comm_);
        return found;
    }

    // Whether what arrived is what was sent. Collective.
    bool holds() { return all_agree((is_local() && rank_ != 0) || arrived(), comm_); }

  private:
    bool is_local() const { return way_ == "pack" || way_ == "unpack"; }
    bool is_scattered() const { return way_ == "receive" || way_ == "unpack"; }
    // Who wrote what this rank receives.
    int writer() const { return is_local() ? rank_ : 1 - rank_; }

    long packed_B() const {
        int bytes = 0;
        MPI_Pack_size(1, layout_.type(), comm_, &bytes);
        int plain = 0;
        MPI_Pack_size(layout_.elements(), layout_.element(), comm_, &plain);
        return std::max({static_cast<long>(bytes), static_cast<long>(plain), layout_.bytes()});
    }

    // The extent of the layout, before anything is allocated.
    long checked_extent_B() const {
        require_memory(static_cast<double>(layout_.extent_B() + 3 * layout_.bytes()), comm_);
        return layout_.extent_B();
    }

    // The message of `writer`, contiguous.
    void write(std::byte* to, int writer) const {
        for (long index = 0; index < layout_.bytes(); ++index) to[index] = pattern(index, writer);
    }

    void fill() {
        write(out_.data(), rank_);
        if (!is_scattered()) layout_.scatter(out_.data(), spread_.data());
        if (way_ == "unpack") {
            Region plain(layout_.bytes());
            write(plain.data(), rank_);
            MPI_Pack(plain.data(), layout_.elements(), layout_.element(), out_.data(), count(out_), &packed_,
                     comm_);
        }
    }

    static int count(const Region& region) { return static_cast<int>(region.bytes()); }

    void pack() {
        packed_ = 0;
        MPI_Pack(spread_.data(), 1, layout_.type(), in_.data(), count(in_), &packed_, comm_);
        stay_away(planted_s_);
    }

    void unpack() {
        int position = 0;
        MPI_Unpack(out_.data(), packed_, &position, spread_.data(), 1, layout_.type(), comm_);
        stay_away(planted_s_);
    }

    void send() {
        stay_away(planted_s_);
        if (way_ == "send") {
            MPI_Send(spread_.data(), 1, layout_.type(), 1 - rank_, tag, comm_);
            return;
        }
        if (way_ == "hand") layout_.gather(spread_.data(), out_.data());
        MPI_Send(out_.data(), layout_.elements(), layout_.element(), 1 - rank_, tag, comm_);
    }

    void receive() {
        if (way_ == "receive")
            MPI_Recv(spread_.data(), 1, layout_.type(), 1 - rank_, tag, comm_, MPI_STATUS_IGNORE);
        else
            MPI_Recv(in_.data(), layout_.elements(), layout_.element(), 1 - rank_, tag, comm_,
                     MPI_STATUS_IGNORE);
    }

    bool arrived() {
        Region plain(layout_.bytes());
        if (way_ == "pack") {
            int position = 0;
            MPI_Unpack(in_.data(), packed_, &position, plain.data(), layout_.elements(), layout_.element(),
                       comm_);
        } else if (is_scattered()) {
            layout_.gather(spread_.data(), plain.data());
            // What is left must be as it was before any message came.
            const Region gaps(layout_.bytes());
            layout_.scatter(gaps.data(), spread_.data());
            for (std::size_t index = 0; index < spread_.bytes(); ++index)
                if (spread_.data()[index] != gap) return false;
        } else {
            std::copy_n(in_.data(), layout_.bytes(), plain.data());
        }
        for (long index = 0; index < layout_.bytes(); ++index)
            if (plain.data()[index] != pattern(index, writer())) return false;
        return true;
    }

    Layout layout_;
    std::string way_;
    double planted_s_;
    MPI_Comm comm_;
    int rank_, packed_ = 0;
    Region spread_;    // the layout
    Region out_, in_;  // the message, contiguous or packed
};

std::string run(const Request& request, MPI_Comm comm) {
    request.choice("way", {"send", "receive", "hand", "pack", "unpack"});
    const StoppingRule rule = repetitions(request);
    Transfer transfer(request, comm);
    const long rounds = transfer.rounds();
    const Repeated repeated = repeat(rule, comm, [&] { return transfer.once(rounds); });
    const Layout& layout = transfer.layout();
    JsonObject record;
    record.add("type", "record").add("bytes", layout.bytes()).add("blocks", layout.blocks());
    record.add("lines", layout.lines()).add("accesses", layout.accesses());
    record.add("extent_B", layout.extent_B()).add("rounds", rounds).add("verified", transfer.holds());
    add_times(record, repeated);
    return record.str();
}

const RegisterEffect registered("datatypes", {run});

}  // namespace
}  // namespace hockney::effect_datatypes
