// Where the unknowns of one process stand in memory, and the sweeps over them.
#pragma once

#include "../halo/field.hpp"

namespace hockney::cg {

// The unknowns of one process: in two directions of space one plane, whose neighbours in z nobody reads.
struct Space : Layout {
    int dimensions;
    long nx, ny, nz;

    Space(int dimensions_, const Cells& cells_)
        : Layout(cells_), dimensions(dimensions_), nx(cells_[0]), ny(cells_[1]), nz(cells_[2]) {}
    // Rows whose p, three planes deep, stays in the caches.
    long block_rows() const;
    double unknowns() const { return static_cast<double>(nx) * static_cast<double>(ny * nz); }
};

inline Cuboid whole(const Space& space) { return {{0, 0, 0}, space.cells}; }

// A vector of zeros. `stagger`: vectors that are swept together start at different places within a page,
// since equal ones would compete for the same sets of a cache.
class Vector {
  public:
    Vector(const Space& space, int stagger);
    double* data() const { return field_.data() + offset_; }
    void clear(const Space& space) const;
    // Of memory that is ever touched.
    static double bytes(const Space& space);

  private:
    long offset_;
    Field field_;
};

// The right-hand side as products of one function for each direction (see problem.hpp): row (y, z) of it is
// outer · second[x] + inner · first[x].
struct Separable {
    const double* first;   // g of x
    const double* second;  // −g″ of x, both by this process's own x
    const double* first_y;
    const double* second_y;
    const double* first_z;
    const double* second_z;
    double scale;  // h²
};

// Whether results pass by the caches: it saves reading what is about to be overwritten.
enum class Stores { plain, streaming };

// The sweeps for one instruction set. All visit the unknowns of a box; those named `…_dot` return this
// process's part of the scalar product that is written behind them.
struct Sweeps {
    const char* name;
    // Whether results can pass by the caches; where they cannot, both kinds of stores are the same.
    bool streams;
    // q = A p; p · q
    double (*apply_dot)(const Space&, const Cuboid&, const double* p, double* q, Stores);
    // a · b
    double (*dot)(const Space&, const Cuboid&, const double* a, const double* b);
    // y += α a
    void (*add)(const Space&, const Cuboid&, double alpha, const double* a, double* y);
    // y += α a; y · y
    double (*add_dot)(const Space&, const Cuboid&, double alpha, const double* a, double* y);
    // p = r + β p
    void (*direction)(const Space&, const Cuboid&, const double* r, double beta, double* p);
    // x += α p; p = r + β p
    void (*joint)(const Space&, const Cuboid&, double alpha, double beta, const double* r, double* p,
                  double* x);
    // x += α p; p = r + β p; q = A p, one plane (2-D: one row) behind; p · q. Whole process only; the layers
    // of p are the new ones already.
    double (*single_dot)(const Space&, double alpha, double beta, const double* r, double* p, double* x,
                         double* q, Stores);
    // r = b − A x; r · r
    double (*residual_dot)(const Space&, const Cuboid&, const Separable& b, const double* x, double* r);
    // z = q + β z; s = w + β s; p = r + β p; x += α p; r −= α s; w −= α z; r · r and w · r
    void (*pipelined_dots)(const Space&, const Cuboid&, double alpha, double beta, const double* q, double* z,
                           double* s, double* p, double* x, double* r, double* w, double dots[2]);
    // The same memory traffic without neighbours: for what the machine's memory allows.
    double (*copy_dot)(const Space&, const Cuboid&, const double* p, double* q, Stores);
    double (*joint_copy_dot)(const Space&, const Cuboid&, double alpha, double beta, const double* r,
                             double* p, double* x, double* q, Stores);
};

// The sweeps for the best instruction set of this processor.
const Sweeps& sweeps();

}  // namespace hockney::cg
