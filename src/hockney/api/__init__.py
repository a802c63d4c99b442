"""The one door: what notebooks and verbs call. A name is loaded when it is first used; `__init__.pyi` lists all."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
