"""The closed forms of the collectives' algorithms; an algorithm needs none."""

from __future__ import annotations

from hockney.models.collectives.closed_form import (
    EQUAL_CHAINS,
    EVEN_P,
    FULL_TREE,
    IN_TURNS,
    POWER_OF_RADIX,
    POWER_OF_TWO,
    ClosedForm,
    Collective,
    N,
    Optimum,
    P,
    S,
    alpha,
    beta,
    chains,
    collective_models,
    d,
    gamma,
    k,
    levels,
    n,
    q,
    r,
    segments_of,
)
from hockney.models.collectives.expression import ceiling

BRUCK = "Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE TPDS 8 (1997)"
CHAN = "Chan, Heimlich, Purkayastha and van de Geijn, Concurrency and Computation 19 (2007)"
CHEN = "Chen, Zhang, Zhang and Yuan, HPC-Asia 2005"
HOEFLER = "Hoefler, Cerquetti, Mehlan, Mietke and Rehm, ICPP Workshops 2005"
PJESIVAC = "Pješivac-Grbović et al., Cluster Computing 10 (2007)"
SCHEDULE = "its schedule"
THAKUR = "Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005)"
TRAEFF = "Träff, arXiv 2407.18004"


chain = chains * S + ceiling((P - 1) / chains) - 1
"""The root serves all chains in turn, each of at most ⌈(P − 1)/k⌉ ranks."""
exchange = (P - 1) * (alpha + n * beta)
"""P − 1 messages of one block."""
doubling = q * alpha + (P - 1) * n * beta
"""⌈log₂P⌉ messages that grow to P − 1 blocks in all."""
sent = alpha + n / S * beta
received = sent + n / S * gamma
"""A segment passed on, and one reduced besides."""

half = segments_of(n / 2)
collective_models.register("bcast")(
    Collective(
        Optimum(q * alpha + n * beta, CHAN),
        {
            "linear": ClosedForm(exchange, PJESIVAC),
            "chain": ClosedForm(chain * sent, PJESIVAC, EQUAL_CHAINS),
            "pipeline": ClosedForm((P - 2 + S) * sent, PJESIVAC),
            # Only a rank between two others takes turns.
            "blocking_pipeline": ClosedForm((2 * (S - 1) + P - 1) * sent, SCHEDULE, IN_TURNS),
            "binary": ClosedForm(2 * (d + S - 1) * sent, PJESIVAC, FULL_TREE),
            "split_binary": ClosedForm(
                (2 * (d + half - 1) + 1) * alpha + (2 * (d + half - 1) * n / (2 * half) + n / 2) * beta,
                PJESIVAC,
                FULL_TREE,
            ),
            "binomial": ClosedForm(q * S * alpha + q * n * beta, THAKUR),
            "knomial": ClosedForm(
                (k - 1) * levels * S * alpha + (k - 1) * levels * n * beta, PJESIVAC, POWER_OF_RADIX
            ),
            "halving_tree": ClosedForm(q * (alpha + n * beta), SCHEDULE),
            "pipelined_tree": ClosedForm((d * (S - 1) + q) * sent, SCHEDULE),
            "scatter_allgather": ClosedForm(
                2 * q * alpha + 2 * (P - 1) / P * n * beta, THAKUR, POWER_OF_TWO, "near it"
            ),
            "scatter_allgather_ring": ClosedForm((q + P - 1) * alpha + 2 * (P - 1) / P * n * beta, THAKUR),
            "circulant": ClosedForm((S - 1 + q) * sent, TRAEFF),
        },
    )
)

collective_models.register("scatter")(
    Collective(
        Optimum(doubling, CHAN),
        {
            "linear": ClosedForm(exchange, PJESIVAC),
            "linear_nonblocking": ClosedForm(exchange, PJESIVAC),
            "binomial": ClosedForm(doubling, CHAN),
        },
    )
)

collective_models.register("gather")(
    Collective(
        Optimum(doubling, CHAN),
        {
            "linear": ClosedForm(exchange, PJESIVAC),
            # Every block is asked for with an empty message.
            "linear_sync": ClosedForm(2 * (P - 1) * alpha + (P - 1) * n * beta, PJESIVAC),
            "binomial": ClosedForm(doubling, CHAN),
        },
    )
)

collective_models.register("reduce")(
    Collective(
        Optimum(q * alpha + n * beta + (P - 1) / P * n * gamma, CHAN),
        {
            "linear": ClosedForm(exchange + (P - 1) * n * gamma, PJESIVAC),
            "chain": ClosedForm(chain * received, PJESIVAC),
            "pipeline": ClosedForm((P - 2 + S) * received, PJESIVAC),
            "binary": ClosedForm(2 * (d + S - 1) * received, PJESIVAC, FULL_TREE),
            "binomial": ClosedForm(q * S * alpha + q * n * (beta + gamma), THAKUR),
            # Ranks beyond the power of two hand their vector over first; the root has nothing to give back.
            "rabenseifner": ClosedForm(
                (2 * d + r) * alpha + (2 * (N - 1) / N + r) * n * beta + ((N - 1) / N + r) * n * gamma, THAKUR
            ),
        },
    )
)

halves = 2 * (P - 1) / P * n * beta + (P - 1) / P * n * gamma
"""A vector reduced block by block, and the blocks gathered."""
block = segments_of(n / P)
collective_models.register("allreduce")(
    Collective(
        Optimum(q * alpha + halves, CHAN),
        {
            "linear": ClosedForm(2 * (P - 1) * (alpha + n * beta) + (P - 1) * n * gamma, PJESIVAC),
            "reduce_bcast": ClosedForm(2 * q * S * alpha + 2 * q * n * beta + q * n * gamma, PJESIVAC),
            "recursive_doubling": ClosedForm((d + 2 * r) * (alpha + n * beta) + (d + r) * n * gamma, THAKUR),
            "ring": ClosedForm(2 * (P - 1) * alpha + halves, THAKUR),
            "segmented_ring": ClosedForm((P - 1) * (block + 1) * alpha + halves, PJESIVAC),
            "rabenseifner": ClosedForm(
                2 * (d + r) * alpha + 2 * ((N - 1) / N + r) * n * beta + ((N - 1) / N + r) * n * gamma, THAKUR
            ),
            "circulant": ClosedForm(2 * q * alpha + halves, TRAEFF),
        },
    )
)

collective_models.register("allgather")(
    Collective(
        Optimum(doubling, CHAN),
        {
            # Gathered at rank 0, which then sends everything to everybody.
            "linear": ClosedForm(2 * (P - 1) * alpha + (P - 1) * (P + 1) * n * beta, SCHEDULE),
            "ring": ClosedForm(exchange, THAKUR),
            "neighbor_exchange": ClosedForm(P / 2 * alpha + (P - 1) * n * beta, CHEN, EVEN_P, ""),
            "bruck": ClosedForm(doubling, BRUCK),
            "recursive_doubling": ClosedForm(doubling, THAKUR, POWER_OF_TWO),
            "circulant": ClosedForm(doubling, TRAEFF),
        },
    )
)

blocks = (P - 1) * n * (beta + gamma)
collective_models.register("reduce_scatter")(
    Collective(
        Optimum(q * alpha + blocks, CHAN),
        {
            "ring": ClosedForm((P - 1) * alpha + blocks, THAKUR),
            "pairwise": ClosedForm((P - 1) * alpha + blocks, THAKUR),
            "recursive_halving": ClosedForm(
                (d + 2 * r) * alpha + (P - 1 + r * (P + 1)) * n * beta + (P - 1 + r * P) * n * gamma,
                THAKUR,
                POWER_OF_TWO,
                "near it",
            ),
            "circulant": ClosedForm(q * alpha + blocks, TRAEFF),
        },
    )
)

collective_models.register("alltoall")(
    Collective(
        Optimum(doubling, CHAN),
        {
            "linear": ClosedForm(exchange, PJESIVAC),
            "linear_sync": ClosedForm(exchange, PJESIVAC),
            "pairwise": ClosedForm(exchange, THAKUR),
            "bruck": ClosedForm(q * alpha + q * P / 2 * n * beta, BRUCK, POWER_OF_TWO),
        },
    )
)

collective_models.register("barrier")(
    Collective(
        Optimum(q * alpha, CHAN),
        {
            "linear": ClosedForm(2 * (P - 1) * alpha, HOEFLER),
            "dissemination": ClosedForm(q * alpha, HOEFLER),
            # Ranks beyond the power of two announce themselves, and are told that it is done and acknowledge it.
            "recursive_doubling": ClosedForm((d + 3 * r) * alpha, HOEFLER),
            "tree": ClosedForm(2 * q * alpha, HOEFLER),
            "double_ring": ClosedForm(3 * P * alpha, HOEFLER),
        },
    )
)
