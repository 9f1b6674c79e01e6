"""Records the last operators of a PyTorch program: names, tensor types, shapes, strides and scalar arguments.

    python -m doctor.record [--out DIR] [--last N] [--keep] train.py ...      a script
    python -m doctor.record -m package.module ...                             a module
    npu-doctor run --record-ops -- torchrun train.py                          every Python process of a command

This folder stands alone: it imports nothing of npu-doctor, needs Python 3.8 and torch 2.1, and may be copied anywhere
(`python -m record train.py` beside the copy).

Every operator is written into a small memory-mapped file before it runs and marked when it has returned. The kernel
keeps that file whatever becomes of the process, so a crash in native code, SIGKILL or the OOM killer leaves the
operator that was running. When Python can still act, the record is completed with the error and written as JSON.
Contents of tensors are never read, but for the range of the integers of an operator that raised on the CPU.
"""

from .recorder import Recorder
from .ring import FORMAT, HEADER, SLOT, parse_slots
from .start import install

__all__ = ["FORMAT", "HEADER", "SLOT", "Recorder", "install", "parse_slots"]
