"""A Spack package: copy this folder to packages/py-hockney of a repository of yours, then in the checkout

    spack dev-build py-hockney@0.1.0

It has no address to fetch from, since no release is published. tests/packaging compares it with pyproject.toml.
"""

# ruff: noqa: F403, F405 - all packages of Spack begin so

from __future__ import annotations

from spack.package import *


class PyHockney(PythonPackage):
    """Measure, model, predict and tune MPI communication on your machine."""

    license("Apache-2.0")

    version("0.1.0")

    depends_on("cxx", type="build")
    depends_on("cmake@3.18:", type="build")
    # The MPI that is measured is named to `hockney measure --mpi`; this one is there from the start.
    depends_on("mpi", type=("build", "run"))

    depends_on("python@3.11:", type=("build", "link", "run"))
    depends_on("py-scikit-build-core@0.11:", type="build")
    depends_on("py-nanobind@2.4:", type="build")

    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-lazy-loader@0.4:", type=("build", "run"))
    depends_on("py-matplotlib@3.8:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-pandas@2.2:", type=("build", "run"))
    depends_on("py-pyarrow@15:", type=("build", "run"))
    depends_on("py-pydantic@2.7:", type=("build", "run"))
    depends_on("py-rich@14.1:", type=("build", "run"))
    depends_on("py-typing-extensions@4.10:", type=("build", "run"))
    depends_on("py-scipy@1.12:", type=("build", "run"))
    depends_on("py-typer@0.29:", type=("build", "run"))
