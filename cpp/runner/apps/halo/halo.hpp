// Halo exchange: the outermost cells of a box go to the neighbours, theirs come into the ghosts. Six faces at
// most, no edges and corners: what a star of radius one reads.
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "field.hpp"
#include "grid.hpp"

namespace hockney {

// How the messages are sent.
enum class Exchange {
    sendrecv,      // MPI_Sendrecv, side after side
    nonblocking,   // all receives and sends at once, then a wait for all
    overlap,       // likewise; the caller computes what needs no ghosts before it finishes
    persistent,    // likewise, with requests made once
    neighborhood,  // one MPI_Neighbor_alltoallw
};
// How a face that is not contiguous becomes a message.
enum class Faces { datatype, packed };

// By the keys `halo` and `faces`.
Exchange exchange_of(const Request& request);
Faces faces_of(const Request& request);

// Collective: throws Refusal where this MPI cannot exchange so.
void require_exchange(Exchange exchange, Faces faces, MPI_Comm comm);

class Halo {
  public:
    // `fields` are those that will be exchanged. Without any, messages are sent that carry nothing (`packed`
    // only), which is all a simulation needs.
    Halo(const ProcessGrid& grid, const Layout& layout, Exchange exchange, Faces faces,
         const std::vector<double*>& fields);
    ~Halo();
    Halo(const Halo&) = delete;
    Halo& operator=(const Halo&) = delete;

    // Between the two, neither the ghosts nor the outermost cells may be written, nor the ghosts read.
    void start(double* field);
    void finish(double* field);

    // What this rank sends in one exchange.
    long messages() const { return static_cast<long>(sides_.size()); }
    double bytes() const;
    // Seconds in copies between field and buffers, and inside MPI, since the last call of reset().
    double pack_s() const { return pack_s_; }
    double mpi_s() const { return mpi_s_; }
    void reset() { pack_s_ = mpi_s_ = 0; }

    // Bytes of the buffers that an exchange like this one needs.
    static double buffers_B(const ProcessGrid& grid, Faces faces);

  private:
    // One neighbour.
    struct Side {
        int neighbour = MPI_PROC_NULL;
        int slot = 0;               // 0 to 5: below and above along x, y, z; its tag
        long inner = 0, ghost = 0;  // the first cell of the face that is sent, received
        Cells face{};
        MPI_Datatype type = MPI_DATATYPE_NULL;
        std::vector<double> outgoing, incoming;
    };

    void copy_out(Side& side, const double* field);
    void copy_in(const Side& side, double* field);
    const void* source(const Side& side, const double* field) const;
    void* target(Side& side, double* field) const;
    int count(const Side& side) const;
    MPI_Datatype type(const Side& side) const;
    void make_requests(double* field);
    void send_receive(double* field);
    void exchange_neighbourhood(double* field);

    const ProcessGrid& grid_;
    const Layout layout_;
    const Exchange exchange_;
    const Faces faces_;
    std::vector<Side> sides_;
    // The receives of all sides, then the sends. Those of `persistent` stay, for each field.
    std::vector<MPI_Request> requests_;
    std::map<const double*, std::vector<MPI_Request>> persistent_;
    double pack_s_ = 0, mpi_s_ = 0;
};

}  // namespace hockney
