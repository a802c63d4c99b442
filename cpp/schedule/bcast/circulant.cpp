// bcast circulant: n blocks in n − 1 + ⌈log₂P⌉ rounds, the least possible, for any P (Träff, arXiv
// 2407.18004). In round k (mod q = ⌈log₂P⌉) every rank sends to rank + skip[k] and receives from rank −
// skip[k]; which block, follows from the rank alone. Every message is one block.
#include "../circulant.hpp"

#include "bcast.hpp"

namespace hockney::bcast_circulant {
namespace {

// Which block a rank gets in each of q rounds, relative to the phase; computed from skips, in O(q³) at most.
class ReceiveSchedule {
  public:
    ReceiveSchedule(int ranks, int v)
        : skips_(circulant_skips(ranks)), q_(static_cast<int>(skips_.size()) - 1) {
        // A rank's base block is the one new block of the first phase that reaches it.
        int base = q_;
        for (int k = q_ - 1, rest = v; k >= 0 && base == q_; --k) {
            if (rest < skips_[at(k)]) continue;
            rest -= skips_[at(k)];
            if (rest == 0) base = k;
        }
        target_ = Bytes{ranks} + v;
        for (int e = q_; e >= 0; --e)
            if (e != base) unused_.push_back(e);
        find(0, 2 * Bytes{ranks}, 0);
        for (int& block : blocks) block = block == q_ ? base : block - q_;
    }

    std::vector<int> blocks;

  private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    // Walks back from the target along the skips: the k-th block comes from the nearest rank at a distance of
    // at least skip[k] whose path uses an unused skip last. `path`: the rank so far; `nearest`: the rank
    // accepted last.
    void find(Bytes path, Bytes nearest, std::size_t place) {
        while (place < unused_.size()) {
            const int e = unused_[place];
            const Bytes end = path + skips_[at(e)];
            if (!done() && end <= target_ - skips_[blocks.size()] && end < nearest) {
                // What the deeper walk takes lies behind `place`.
                if (end <= target_ - skips_[blocks.size() + 1]) find(end, nearest, place + 1);
                if (done() || path > target_ - skips_[blocks.size() + 1]) return;
                nearest = end;
                blocks.push_back(e);
                unused_.erase(unused_.begin() + static_cast<long>(place));
                continue;
            }
            ++place;
        }
    }
    bool done() const { return static_cast<int>(blocks.size()) == q_; }

    std::vector<int> skips_;
    int q_;
    Bytes target_ = 0;
    std::vector<int> unused_;  // skips that are no path's last yet, largest first
};

void generate(const Problem& p, int rank, Builder& builder) {
    const Shift shift(p.ranks, p.root);
    const int v = shift.of(rank);
    const std::vector<int> skips = circulant_skips(p.ranks);
    const int q = static_cast<int>(skips.size()) - 1;
    if (q == 0) return;
    const Pieces segments = Pieces::segments(p.bytes, p.segment_B, p.element_B);
    const Region message = builder.output(0, p.bytes);
    const int n = segments.count();
    const ReceiveSchedule mine(p.ranks, v);
    std::vector<int> sends;
    for (int k = 0; k < q; ++k) {
        const int to = (v + skips[static_cast<std::size_t>(k)]) % p.ranks;
        sends.push_back(ReceiveSchedule(p.ranks, to).blocks[static_cast<std::size_t>(k)]);
    }
    std::vector<int> arrived(static_cast<std::size_t>(n), Builder::none);
    // So many rounds are left out at the start that the last phase is a whole one.
    const int skipped = (q - (n - 1) % q) % q;
    for (int round = skipped; round < n - 1 + q + skipped; ++round) {
        const auto k = static_cast<std::size_t>(round % q);
        const int phase = round / q * q - skipped;
        const int to = (v + skips[k]) % p.ranks, from = (v - skips[k] + p.ranks) % p.ranks;
        const int received = std::min(mine.blocks[k] + phase, n - 1),
                  sent = std::min(sends[k] + phase, n - 1);
        const int before = sent >= 0 ? arrived[static_cast<std::size_t>(sent)] : Builder::none;
        if (received >= 0 && v != 0)
            arrived[static_cast<std::size_t>(received)] =
                builder.receive(shift.back(from), segments.of(message, received));
        if (sent >= 0 && to != 0) builder.send(shift.back(to), segments.of(message, sent), {before});
    }
}

const Register registered(
    Algorithm("bcast", "circulant", generate).segmented().one_block().grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::bcast_circulant
