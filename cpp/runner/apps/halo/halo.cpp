#include "halo.hpp"

#include "../../clock.hpp"
#include "../app.hpp"

namespace hockney {
namespace {

// The slot that faces slot `slot` at the neighbour.
int opposite(int slot) { return slot ^ 1; }

MPI_Datatype face_type(const Layout& layout, const Cells& face) {
    MPI_Datatype row, plane, type;
    MPI_Type_contiguous(static_cast<int>(face[0]), MPI_DOUBLE, &row);
    MPI_Type_create_hvector(static_cast<int>(face[1]), 1, 8 * layout.pitch, row, &plane);
    MPI_Type_create_hvector(static_cast<int>(face[2]), 1, 8 * layout.plane, plane, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&plane);
    MPI_Type_free(&row);
    return type;
}

long cells_in(const Cells& face) { return face[0] * face[1] * face[2]; }

Cells face_across(const Cells& cells, std::size_t direction) {
    Cells face = cells;
    face[direction] = 1;
    return face;
}

}  // namespace

Exchange exchange_of(const Request& request) {
    return static_cast<Exchange>(
        request.choice("halo", {"sendrecv", "nonblocking", "overlap", "persistent", "neighborhood"}));
}

Faces faces_of(const Request& request) {
    return static_cast<Faces>(request.choice("faces", {"datatype", "packed"}));
}

void require_exchange(Exchange exchange, Faces faces, MPI_Comm comm) {
    require_all(!is_simulated || exchange != Exchange::neighborhood, "constraint",
                "SimGrid's MPI has no neighbourhood collectives", comm);
    // The first message of such a request carries what was in its buffer when the request was made.
    require_all(!is_simulated || exchange != Exchange::persistent || faces == Faces::packed, "constraint",
                "SimGrid's MPI sends wrong data by persistent requests with data types", comm);
}

Halo::Halo(const ProcessGrid& grid, const Layout& layout, Exchange exchange, Faces faces,
           const std::vector<double*>& fields)
    : grid_(grid), layout_(layout), exchange_(exchange), faces_(faces) {
    for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t s = 0; s < 2; ++s) {
            if (grid.neighbours[d][s] == MPI_PROC_NULL) continue;
            Side side;
            side.neighbour = grid.neighbours[d][s];
            side.slot = static_cast<int>(2 * d + s);
            side.face = face_across(layout.cells, d);
            Cells inner{}, ghost{};
            inner[d] = s == 0 ? 0 : layout.cells[d] - 1;
            ghost[d] = s == 0 ? -1 : layout.cells[d];
            side.inner = layout.at(inner[0], inner[1], inner[2]);
            side.ghost = layout.at(ghost[0], ghost[1], ghost[2]);
            const std::size_t cells = static_cast<std::size_t>(cells_in(side.face));
            if (faces == Faces::datatype) {
                side.type = face_type(layout, side.face);
            } else {
                side.outgoing.assign(cells, 0.0);
                side.incoming.assign(cells, 0.0);
            }
            sides_.push_back(std::move(side));
        }
    if (exchange == Exchange::persistent) {
        if (fields.empty()) make_requests(nullptr);
        for (double* field : fields) make_requests(field);
    }
}

Halo::~Halo() {
    for (auto& [field, requests] : persistent_)
        for (MPI_Request& request : requests) MPI_Request_free(&request);
    for (Side& side : sides_)
        if (side.type != MPI_DATATYPE_NULL) MPI_Type_free(&side.type);
}

double Halo::bytes() const {
    double bytes = 0;
    for (const Side& side : sides_) bytes += 8.0 * static_cast<double>(cells_in(side.face));
    return bytes;
}

double Halo::buffers_B(const ProcessGrid& grid, Faces faces) {
    double bytes = 0;
    for (std::size_t d = 0; d < 3; ++d)
        for (const int neighbour : grid.neighbours[d])
            if (neighbour != MPI_PROC_NULL && faces == Faces::packed)
                bytes += 2 * 8.0 * static_cast<double>(cells_in(face_across(grid.cells, d)));
    return bytes;
}

void Halo::copy_out(Side& side, const double* field) {
    if (faces_ != Faces::packed || !field) return;
    const double start_s = now_s();
    double* to = side.outgoing.data();
    for (long z = 0; z < side.face[2]; ++z)
        for (long y = 0; y < side.face[1]; ++y) {
            const double* from = field + side.inner + y * layout_.pitch + z * layout_.plane;
            for (long x = 0; x < side.face[0]; ++x) *to++ = from[x];
        }
    pack_s_ += now_s() - start_s;
}

void Halo::copy_in(const Side& side, double* field) {
    if (faces_ != Faces::packed || !field) return;
    const double start_s = now_s();
    const double* from = side.incoming.data();
    for (long z = 0; z < side.face[2]; ++z)
        for (long y = 0; y < side.face[1]; ++y) {
            double* to = field + side.ghost + y * layout_.pitch + z * layout_.plane;
            for (long x = 0; x < side.face[0]; ++x) to[x] = *from++;
        }
    pack_s_ += now_s() - start_s;
}

const void* Halo::source(const Side& side, const double* field) const {
    return faces_ == Faces::packed ? side.outgoing.data() : field + side.inner;
}

void* Halo::target(Side& side, double* field) const {
    return faces_ == Faces::packed ? side.incoming.data() : field + side.ghost;
}

int Halo::count(const Side& side) const {
    return faces_ == Faces::packed ? static_cast<int>(cells_in(side.face)) : 1;
}

MPI_Datatype Halo::type(const Side& side) const { return faces_ == Faces::packed ? MPI_DOUBLE : side.type; }

// A message's tag is the slot that it leaves from.
void Halo::make_requests(double* field) {
    std::vector<MPI_Request>& requests = persistent_[field];
    requests.resize(2 * sides_.size());
    for (std::size_t n = 0; n < sides_.size(); ++n) {
        Side& side = sides_[n];
        MPI_Recv_init(target(side, field), count(side), type(side), side.neighbour, opposite(side.slot),
                      grid_.comm, &requests[n]);
        MPI_Send_init(source(side, field), count(side), type(side), side.neighbour, side.slot, grid_.comm,
                      &requests[sides_.size() + n]);
    }
}

void Halo::send_receive(double* field) {
    // What goes down along a direction goes down everywhere at once, then what goes up: no side waits for one
    // that serves another.
    for (int slot = 0; slot < 6; ++slot) {
        Side *to = nullptr, *from = nullptr;
        for (Side& side : sides_) {
            if (side.slot == slot) to = &side;
            if (side.slot == opposite(slot)) from = &side;
        }
        if (!to && !from) continue;
        if (to) copy_out(*to, field);
        const double start_s = now_s();
        MPI_Sendrecv(to ? source(*to, field) : nullptr, to ? count(*to) : 0, to ? type(*to) : MPI_DOUBLE,
                     to ? to->neighbour : MPI_PROC_NULL, slot, from ? target(*from, field) : nullptr,
                     from ? count(*from) : 0, from ? type(*from) : MPI_DOUBLE,
                     from ? from->neighbour : MPI_PROC_NULL, slot, grid_.comm, MPI_STATUS_IGNORE);
        mpi_s_ += now_s() - start_s;
        if (from) copy_in(*from, field);
    }
}

void Halo::exchange_neighbourhood(double* field) {
    std::array<int, 6> sends{}, receives{};
    std::array<MPI_Aint, 6> from{}, to{};
    std::array<MPI_Datatype, 6> types{};
    types.fill(MPI_DOUBLE);
    for (Side& side : sides_) copy_out(side, field);
    const double start_s = now_s();
    for (Side& side : sides_) {
        const std::size_t slot = static_cast<std::size_t>(side.slot);
        sends[slot] = receives[slot] = count(side);
        types[slot] = type(side);
        MPI_Get_address(source(side, field), &from[slot]);
        MPI_Get_address(target(side, field), &to[slot]);
    }
    MPI_Neighbor_alltoallw(MPI_BOTTOM, sends.data(), from.data(), types.data(), MPI_BOTTOM, receives.data(),
                           to.data(), types.data(), grid_.comm);
    mpi_s_ += now_s() - start_s;
    for (const Side& side : sides_) copy_in(side, field);
}

void Halo::start(double* field) {
    if (exchange_ == Exchange::sendrecv) return send_receive(field);
    if (exchange_ == Exchange::neighborhood) return exchange_neighbourhood(field);
    const bool is_persistent = exchange_ == Exchange::persistent;
    const std::size_t sides = sides_.size();
    double start_s = now_s();
    std::vector<MPI_Request>& requests = is_persistent ? persistent_.at(field) : requests_;
    requests.resize(2 * sides);
    for (std::size_t n = 0; n < sides; ++n) {
        Side& side = sides_[n];
        if (is_persistent)
            MPI_Start(&requests[n]);
        else
            MPI_Irecv(target(side, field), count(side), type(side), side.neighbour, opposite(side.slot),
                      grid_.comm, &requests[n]);
    }
    mpi_s_ += now_s() - start_s;
    for (std::size_t n = 0; n < sides; ++n) {
        Side& side = sides_[n];
        copy_out(side, field);
        start_s = now_s();
        if (is_persistent)
            MPI_Start(&requests[sides + n]);
        else
            MPI_Isend(source(side, field), count(side), type(side), side.neighbour, side.slot, grid_.comm,
                      &requests[sides + n]);
        mpi_s_ += now_s() - start_s;
    }
}

void Halo::finish(double* field) {
    if (exchange_ == Exchange::sendrecv || exchange_ == Exchange::neighborhood) return;
    const double start_s = now_s();
    std::vector<MPI_Request>& requests =
        exchange_ == Exchange::persistent ? persistent_.at(field) : requests_;
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    mpi_s_ += now_s() - start_s;
    for (const Side& side : sides_) copy_in(side, field);
}

}  // namespace hockney
