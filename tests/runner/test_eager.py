"""The eager limit as each library states it."""

from __future__ import annotations

from hockney.runner.eager import eager_limits_B

OPENMPI_5 = {"btl_sm_eager_limit": "4096", "btl_vader_eager_limit": "4096", "btl_tcp_eager_limit": "65536"}


# 80 B of 5.x are for the headers; tests/runner/effects/test_synchronisation.py asks the library.
def test_open_mpi_states_one_for_each_channel() -> None:
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5) == {"shared_memory": 4016, "network": 65456}
    assert eager_limits_B("openmpi", "5.0.11", {"btl_vader_eager_limit": "8192"}) == {"shared_memory": 8112}


def test_a_variant_without_shared_memory_uses_the_networks() -> None:
    tcp = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, tcp) == {"shared_memory": 65456, "network": 65456}
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "btl", "sm,self"])["shared_memory"] == 4016
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "btl", "^tcp"])["shared_memory"] == 4016


def test_a_choice_by_environment_or_exclusion_counts_too() -> None:
    assert (
        eager_limits_B("openmpi", "5.0.11", OPENMPI_5, [], {"OMPI_MCA_btl": "tcp,self"})["shared_memory"] == 65456
    )
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "btl", "^sm,vader"])["shared_memory"] == 65456
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "pml", "ucx"]) == {}
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, [], {"OMPI_MCA_pml": "cm"}) == {}


def test_defaults_that_say_nothing_say_nothing() -> None:
    assert eager_limits_B("mpich", "5.0.2", {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "-1"}) == {}
    assert eager_limits_B("mpich", "5.0.2", {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "16384"}) == {"network": 16384}
    assert eager_limits_B("unknown", "", OPENMPI_5) == {}


def test_older_headers_are_shorter() -> None:
    older = {"btl_vader_eager_limit": "4096"}
    assert eager_limits_B("openmpi", "4.1.4", older) == {"shared_memory": 4040}
    assert eager_limits_B("openmpi", "3.1.6", older) == {"shared_memory": 4040}, "as the oldest that is known"
    assert eager_limits_B("openmpi", "main", older) == {"shared_memory": 4016}, "as the newest that is known"
    assert eager_limits_B("openmpi", "4.1.4", {"btl_vader_eager_limit": "40"}) == {}
