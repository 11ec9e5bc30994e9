"""Where rows live: one folder a backend, and what the rest of the library may know of them."""

from boostlab.backend.cpu.formulas import values
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.rows import CpuRows
from boostlab.backend.cpu.sample import CpuSample
from boostlab.backend.cpu.threads import count_threads

__all__ = ["CpuRows", "CpuSample", "Masses", "count_threads", "values"]
