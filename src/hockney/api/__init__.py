"""The one door: what notebooks and verbs call. `__init__.pyi` lists its names; each is loaded when first used."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
