"""Starts the operator recorder in every Python process of a command; on PYTHONPATH for `run --record-ops` alone.

A sitecustomize that was there before runs as it would have run. Nothing here may stop the program.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location


def _next() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [p for p in sys.path if os.path.abspath(p or ".") != here])
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _record() -> None:
    folder, recorder = os.environ.get("NPU_DOCTOR_RECORD"), os.environ.get("NPU_DOCTOR_RECORDER")
    if not folder or not recorder:
        return
    spec = spec_from_file_location("npu_doctor_record", recorder, submodule_search_locations=[os.path.dirname(recorder)])
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        module.install(folder)


try:
    _record()
except Exception as problem:  # noqa: BLE001 - the program matters more than its record
    sys.stderr.write(f"npu-doctor: operators are not recorded: {problem}\n")
_next()
