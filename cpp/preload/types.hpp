// What a reduction and a copy need to know of datatypes and operators.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>

#include "../schedule/schedule.hpp"

namespace hockney {

// Families of the predefined datatypes, as the standard's table of operators has them.
enum Family : std::uint8_t {
    no_family = 0,
    integer = 1,
    floating = 2,
    logical = 4,
    complex = 8,
    byte = 16,
    multi_language = 32,
    pair = 64,  // of a value and a place
    floating_pair = 128
};

struct Type {
    Bytes size_B = 0;
    // Elements that follow one another are their data and nothing else, in order.
    bool is_dense = false;
    // From one element to the next, and from its beginning to the end of its data; 0 where elements reach
    // into one another, or before their beginning.
    Bytes extent_B = 0, end_B = 0;
    Family family = no_family;
};

// Of two numbers that are not negative; the largest number for more than that.
inline Bytes product(Bytes a, Bytes b) {
    Bytes both = 0;
    return __builtin_mul_overflow(a, b, &both) ? std::numeric_limits<Bytes>::max() : both;
}

struct Operator {
    bool is_predefined = false, is_commutative = true;
    std::uint8_t families = 0;  // of the types that a predefined one is defined for
};

// Learns the predefined ones; after MPI_Init.
void learn_types();

// Of a handle that is not MPI_DATATYPE_NULL. No family but for predefined types.
Type type_of(MPI_Datatype type);
// Bytes of so many elements, which are looked at no further; 0 for what is no datatype, and the largest
// number for more than that.
Bytes bytes_of(Bytes count, MPI_Datatype type);
// Of a handle that is not MPI_OP_NULL.
Operator operator_of(MPI_Op op);

}  // namespace hockney
